"""Small records for the tests of the assertions."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from assertions.evidence import Evidence
from episodes.record import Episode, StopReason, ToolCall, ToolStatus


def call(name: str, /, _status: str = "ok", _turn: int = 1, _batch: int = 0, **arguments: Any) -> ToolCall:
    """One call; what it is called with is given by keyword. A batch of 0 is replaced by `evidence_of`."""
    return ToolCall(
        id="",
        turn=_turn,
        step=0,
        batch=_batch,
        server="portal",
        name=name,
        arguments=arguments,
        arguments_raw=json.dumps(arguments),
        status=ToolStatus(_status),
    )


def unparsable(name: str, raw: str, _turn: int = 1) -> ToolCall:
    """A call whose arguments were not a JSON object."""
    return ToolCall("", _turn, 0, 0, "portal", name, None, raw, ToolStatus.PARSE_ERROR)


def evidence_of(
    calls: Sequence[ToolCall | str] | None,
    output: str = "Done.",
    turns: int | None = None,
    variables: dict[str, Any] | None = None,
) -> Evidence:
    """Evidence with these calls (a bare name is a successful call without arguments); calls without a batch of their
    own are sequential. `turns` says how many turns the conversation had, by its messages."""
    from dataclasses import replace

    settled: list[ToolCall] | None = None
    if calls is not None:
        settled = []
        for index, item in enumerate(calls, 1):
            made = call(item) if isinstance(item, str) else item
            settled.append(replace(made, id=f"call_{index}", batch=made.batch or 1000 + index))
    messages = [{"role": "user", "content": f"message {turn}", "turn": turn} for turn in range(1, (turns or 1) + 1)]
    episode = Episode(
        case_id="C01",
        step_id="test-0-prompt-0-repeat-0",
        stop_reason=StopReason.USER_STOP,
        messages=tuple(messages),
        tool_calls=None if settled is None else tuple(settled),
    )
    return Evidence(episode, output, variables or {}, "C01")
