"""Assertion `groundedness`: the agent says only what its sources say, in a judge's eyes.

The config is described in `schemas/groundedness.schema.json`, the semantics in `judging/groundedness.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assertions.evidence import Evidence
from assertions.judging.groundedness import NAME, judge
from assertions.run_check import run_check
from assertions.verdict import CheckResult


def check(evidence: Evidence, config: Mapping[str, Any]) -> CheckResult:
    return judge(evidence, config)


def get_assert(output: Any, context: Mapping[str, Any]) -> dict[str, Any]:
    return run_check(NAME, check, output, context)
