"""The tool calls that promptfoo's own providers report: `metadata.toolCalls` as `{id, name, input, output, is_error}`.

They are reported only when there were some, so a missing list means that nobody knows, and an empty one that there
were none. Turns, and which calls were asked for together, are not told.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assertions.adapters.parts import episode, objects, read_result, text_of, tool_call
from episodes.record import Episode, ToolStatus


def matches(value: Any) -> bool:
    """Whether these are the metadata of such a provider."""
    calls = value.get("toolCalls") if isinstance(value, Mapping) else None
    return isinstance(calls, list) and all(
        isinstance(call, Mapping) and "name" in call and ("input" in call or "output" in call) for call in calls
    )


def read(value: Any) -> Episode:
    """Read a provider's metadata.

    Raises:
        UnknownShape: `toolCalls` is no list of calls.
    """
    calls = []
    for number, call in enumerate(
        objects(value.get("toolCalls") if isinstance(value, Mapping) else None, "toolCalls"), 1
    ):
        output = call.get("output")
        status = ToolStatus.OK if output is not None else ToolStatus.TRANSPORT_ERROR
        if call.get("is_error") is True:
            status = ToolStatus.TOOL_ERROR
        calls.append(
            tool_call(
                call.get("name"),
                call.get("input"),
                id=call.get("id"),
                step=number,
                batch=number,
                status=status,
                result=read_result(text_of(output) if isinstance(output, list) else output),
                problem=str(output)[:300] if status is ToolStatus.TOOL_ERROR else "",
            )
        )
    return episode(calls)
