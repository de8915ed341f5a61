"""Assertion `user_goal`: the person has got what they wanted, in a judge's eyes.

The config is described in `schemas/user_goal.schema.json`, the semantics in `judging/user_goal.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assertions.evidence import Evidence
from assertions.judging.user_goal import NAME, judge
from assertions.run_check import run_check
from assertions.verdict import CheckResult


def check(evidence: Evidence, config: Mapping[str, Any]) -> CheckResult:
    return judge(evidence, config)


def get_assert(output: Any, context: Mapping[str, Any]) -> dict[str, Any]:
    return run_check(NAME, check, output, context)
