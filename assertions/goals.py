"""Assertion `goals`: the steps of a simulation were reached, by the record's own account of each of them.

`value: file://…/assertions/goals.py`; without a config every step must be reached. `at_least: 2` is content with the
first two. The account in the record is the provider's: a step counts only with a reason that quotes the agent.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assertions.evidence import Evidence
from assertions.run_check import run_check
from assertions.scenarios.goals import NAME, judge
from assertions.verdict import CheckResult


def check(evidence: Evidence, config: Mapping[str, Any]) -> CheckResult:
    return judge(evidence, config.get("at_least"))


def get_assert(output: Any, context: Mapping[str, Any]) -> dict[str, Any]:
    return run_check(NAME, check, output, context)
