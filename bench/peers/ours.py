"""Our own verdict on a row: its assertion, really run on a record of its calls."""

from __future__ import annotations

import json
from importlib import import_module

from assertions.evidence import Evidence
from assertions.run_check import grade
from assertions.verdict import CheckResult
from bench.peers.rows import Call, Row
from episodes.record import Episode, StopReason, ToolCall, ToolStatus


def our_result(row: Row) -> CheckResult:
    """What the row's assertion says."""
    return grade(row.assertion, import_module(f"assertions.{row.assertion}").check, evidence(row), row.config)


def evidence(row: Row) -> Evidence:
    """The row's calls as the record of an episode whose user speaks once for each turn."""
    calls = None if row.actual is None else tuple(_call(place, call) for place, call in enumerate(row.actual, 1))
    turns = max((call.turn for call in calls or ()), default=1)
    asked = [{"role": "user", "content": f"message {turn}", "turn": turn} for turn in range(1, turns + 1)]
    answered = {"role": "assistant", "content": row.said, "turn": turns}
    episode = Episode(
        case_id=row.id,
        step_id="test-0-prompt-0-repeat-0",
        stop_reason=StopReason.USER_STOP,
        messages=(*asked, answered),
        tool_calls=calls,
    )
    return Evidence(episode, row.said, {}, row.id)


def _call(place: int, call: Call) -> ToolCall:
    raw = "" if call.arguments is None else json.dumps(call.arguments)
    status = ToolStatus(call.status)
    return ToolCall(f"call_{place}", call.turn, 0, call.batch, "portal", call.name, call.arguments, raw, status)
