"""Assertion `tool_sequence`: the expected tools were called, in the expected order.

`value: file://…/assertions/tool_sequence.py` with a `config` such as

    mode: in_order
    steps: [get_spoke, {tool: validate_spoke, max: 3}, create_spoke_pull_request]

The truth table of the five modes stands in `assertions/tool_calls/sequence.py`, all options in `docs/assertions.md`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assertions.evidence import Evidence
from assertions.remember import remembered
from assertions.run_check import run_check
from assertions.tool_calls.sequence import NAME, judge
from assertions.tool_calls.sequence_config import read_config
from assertions.verdict import CheckResult

_settings = remembered(read_config)


def check(evidence: Evidence, config: Mapping[str, Any]) -> CheckResult:
    return judge(evidence, _settings(config))


def get_assert(output: Any, context: Mapping[str, Any]) -> dict[str, Any]:
    return run_check(NAME, check, output, context)
