"""Assertion `task_completion`: goal reached, nothing invented, expectations met, every step of a simulation reached.

The config is described in `schemas/task_completion.schema.json`, the semantics in `judging/user_goal.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assertions.evidence import Evidence
from assertions.judging.user_goal import COMPLETION, judge_completion
from assertions.run_check import run_check
from assertions.verdict import CheckResult


def check(evidence: Evidence, config: Mapping[str, Any]) -> CheckResult:
    return judge_completion(evidence, config)


def get_assert(output: Any, context: Mapping[str, Any]) -> dict[str, Any]:
    return run_check(COMPLETION, check, output, context)
