"""Assertion `tool_not_executed`: a forbidden tool, or a tool with forbidden arguments, was not called.

`value: file://…/assertions/tool_not_executed.py` with a `config` such as

    tools: [complete_pull_request, "delete_*", {tool: create_spoke_pull_request, args: {title: {$regex: prod}}}]

The table of verdicts stands in `assertions/tool_calls/forbidden.py`, all options in `docs/assertions.md`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assertions.evidence import Evidence
from assertions.remember import remembered
from assertions.run_check import run_check
from assertions.tool_calls.forbidden import NAME, judge, read_config
from assertions.verdict import CheckResult

_settings = remembered(read_config)


def check(evidence: Evidence, config: Mapping[str, Any]) -> CheckResult:
    return judge(evidence, _settings(config))


def get_assert(output: Any, context: Mapping[str, Any]) -> dict[str, Any]:
    return run_check(NAME, check, output, context)
