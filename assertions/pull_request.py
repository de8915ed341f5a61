"""Assertion `pull_request`: a pull request that a tool result proves, shown in the answer, and as wanted at its host.

The config is described in `schemas/pull_request.schema.json`, the semantics in `pull_requests/judgement.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assertions.evidence import Evidence
from assertions.pull_requests.judgement import NAME, judge
from assertions.run_check import run_check
from assertions.verdict import CheckResult


def check(evidence: Evidence, config: Mapping[str, Any]) -> CheckResult:
    return judge(evidence, config)


def get_assert(output: Any, context: Mapping[str, Any]) -> dict[str, Any]:
    return run_check(NAME, check, output, context)
