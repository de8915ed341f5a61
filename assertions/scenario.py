"""Assertion `scenario`: what an open conversation with one goal must, or must not, bring about.

`value: file://…/assertions/scenario.py` with a `config` such as

    expectations:
      - message: {contains: pull request}
        after_tool: create_spoke_pull_request
      - tool_call: {tool: validate_spoke, args: {source_spoke: spoke-crm-test}}
      - tool_call: complete_pull_request
        must: false
      - variable: {name: validated, equals: true}
        after_tool: validate_spoke
      - message: {contains: two reviewers}
        if_variable: {environment: production}

The table of verdicts stands in `assertions/scenarios/judgement.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assertions.evidence import Evidence
from assertions.run_check import run_check
from assertions.scenarios.expectations import NAME, read_config
from assertions.scenarios.judgement import judge
from assertions.verdict import CheckResult

__all__ = ["check", "get_assert", "read_config"]


def check(evidence: Evidence, config: Mapping[str, Any]) -> CheckResult:
    return judge(evidence, read_config(config))


def get_assert(output: Any, context: Mapping[str, Any]) -> dict[str, Any]:
    return run_check(NAME, check, output, context)
