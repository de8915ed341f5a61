"""Assertion `golden_turn`: what the agent said and did in each turn is what a golden conversation expects.

The config is described in `schemas/golden_turn.schema.json`, the semantics in `golden/judgement.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assertions.evidence import Evidence
from assertions.golden.expectations import NAME, read_config
from assertions.golden.judgement import judge
from assertions.run_check import run_check
from assertions.verdict import CheckResult

__all__ = ["check", "get_assert", "read_config"]


def check(evidence: Evidence, config: Mapping[str, Any]) -> CheckResult:
    return judge(evidence, config)


def get_assert(output: Any, context: Mapping[str, Any]) -> dict[str, Any]:
    return run_check(NAME, check, output, context)
