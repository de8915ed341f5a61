"""How the tests grade calls by an assertion whose tests fill more than one file."""

from __future__ import annotations

from typing import Any

from assertions import argument_match, tool_sequence
from assertions.run_check import grade
from assertions.verdict import CheckResult
from episodes.record import ToolCall
from tests.assertions.makers import evidence_of


def judge_arguments(config: dict[str, Any], *calls: ToolCall | str, **more: Any) -> CheckResult:
    return grade("argument_match", argument_match.check, evidence_of(calls, **more), config)


def judge_sequence(config: dict[str, Any], *calls: ToolCall | str, **more: Any) -> CheckResult:
    return grade("tool_sequence", tool_sequence.check, evidence_of(calls, **more), config)
