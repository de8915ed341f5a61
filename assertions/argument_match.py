"""Assertion `argument_match`: a tool was called with the expected arguments.

`value: file://…/assertions/argument_match.py` with a `config` such as

    tool: create_spoke_pull_request
    args: {source_spoke: spoke-web-dev, title: {$regex: "^Add"}}

Which call has to fit is shown in `assertions/tool_calls/arguments.py`, all options in `docs/assertions.md`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assertions.evidence import Evidence
from assertions.remember import remembered
from assertions.run_check import run_check
from assertions.tool_calls.arguments import NAME, judge, read_config
from assertions.verdict import CheckResult

_settings = remembered(read_config)


def check(evidence: Evidence, config: Mapping[str, Any]) -> CheckResult:
    return judge(evidence, _settings(config))


def get_assert(output: Any, context: Mapping[str, Any]) -> dict[str, Any]:
    return run_check(NAME, check, output, context)
