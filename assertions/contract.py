"""Assertion `contract`: everything that must be true of one case, in one process, one component per part.

The config is described in `schemas/contract.schema.json`, the semantics in `contracts/judgement.py` (the whole),
`contracts/golden_task.py` and `contracts/answer_facts.py` (the plain terms).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assertions.contracts.judgement import NAME, judge, read_config
from assertions.evidence import Evidence
from assertions.run_check import run_check
from assertions.verdict import CheckResult

__all__ = ["check", "get_assert", "read_config"]


def check(evidence: Evidence, config: Mapping[str, Any]) -> CheckResult:
    return judge(evidence, config)


def get_assert(output: Any, context: Mapping[str, Any]) -> dict[str, Any]:
    return run_check(NAME, check, output, context)
