"""What every adapter builds: tool calls with arguments as JSON objects, and an episode around them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from episodes.record import Episode, StopReason, ToolCall, ToolStatus


class UnknownShape(ValueError):
    """The data is not of this adapter's shape, or not readable as such. The text says where."""


def tool_call(
    name: Any,
    arguments: Any,
    *,
    id: Any = "",
    turn: int = 0,
    step: int = 0,
    batch: int = 0,
    server: Any = "",
    status: ToolStatus = ToolStatus.OK,
    result: Any = None,
    problem: str = "",
) -> ToolCall:
    """One call. `arguments` may be an object or JSON text; what is neither becomes a call that could not be parsed.

    Raises:
        UnknownShape: it has no name.
    """
    if not isinstance(name, str) or not name:
        raise UnknownShape("a tool call has no name")
    parsed, raw = read_arguments(arguments)
    if parsed is None:
        status, problem = ToolStatus.PARSE_ERROR, problem or "its arguments are no JSON object"
    return ToolCall(
        id=id if isinstance(id, str) else "",
        turn=turn,
        step=step,
        batch=batch,
        server=server if isinstance(server, str) else "",
        name=name,
        arguments=parsed,
        arguments_raw=raw,
        status=status,
        result=result,
        problem=problem,
    )


def read_arguments(arguments: Any) -> tuple[dict[str, Any] | None, str]:
    """The arguments as an object (None: they are none) and as text. Nothing, or an empty text, is an empty object."""
    if arguments is None:
        return {}, ""
    if isinstance(arguments, Mapping):
        return dict(arguments), json.dumps(arguments, ensure_ascii=False, default=str)
    if not isinstance(arguments, str):
        return None, json.dumps(arguments, ensure_ascii=False, default=str)
    if not arguments.strip():
        return {}, arguments
    try:
        value = json.loads(arguments)
    except (ValueError, RecursionError):
        return None, arguments
    return (value if isinstance(value, dict) else None), arguments


def read_result(text: Any) -> Any:
    """A result that is JSON text of an object or list as data; everything else as it is."""
    if isinstance(text, str) and text.lstrip()[:1] in ("{", "["):
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            return text
    return text


def text_of(content: Any) -> str:
    """The text of a message's content, whether it is a string or a list of parts."""
    if isinstance(content, str):
        return content
    if isinstance(content, Sequence):
        parts = [
            part if isinstance(part, str) else part.get("text") for part in content if isinstance(part, str | dict)
        ]
        return "\n".join(part for part in parts if isinstance(part, str))
    return ""


def word(value: Any) -> str:
    """A role or type as text; empty for what is no text, which would not even be hashable."""
    return value if isinstance(value, str) else ""


def objects(value: Any, what: str) -> list[Mapping[str, Any]]:
    """Raises UnknownShape unless `value` is a list of objects."""
    if not isinstance(value, list) or not all(isinstance(item, Mapping) for item in value):
        raise UnknownShape(f"{what} is no list of objects")
    return value


class Answers:
    """The answers to calls, by the calls' ids. An id may be used again: each call takes the first answer behind it."""

    def __init__(self) -> None:
        self._waiting: dict[str, list[tuple[int, Mapping[str, Any]]]] = {}

    def add(self, call_id: str, place: int, answer: Mapping[str, Any]) -> None:
        self._waiting.setdefault(call_id, []).append((place, answer))

    def take(self, call_id: str, place: int) -> Mapping[str, Any] | None:
        """The answer to the call of this id at `place`; None when nothing behind it answers it."""
        waiting = self._waiting.get(call_id, [])
        for index, (where, answer) in enumerate(waiting):
            if where > place:
                del waiting[index]
                return answer
        return None

    def unasked(self) -> str | None:
        """The id of an answer that no call took: a call was made that is not in the record. None if all were taken."""
        return next((call_id for call_id, waiting in self._waiting.items() if waiting), None)


def strange_content(content: Any, known_calls: frozenset[str] = frozenset()) -> str:
    """The type of a part of a message's content that may be a call in another API's way; empty when there is none.

    `known_calls` are the ids of calls that the message lists in its own way as well.
    """
    if not isinstance(content, Sequence) or isinstance(content, str):
        return ""
    for part in content:
        if not isinstance(part, Mapping) or {word(part.get("id")), word(part.get("call_id"))} & known_calls:
            continue
        kind = word(part.get("type")) or ("text" if "text" in part else next(map(str, part), ""))
        if kind not in PLAIN_CONTENT:
            return kind
    return ""


PLAIN_CONTENT = frozenset(
    {
        "audio", "document", "file", "image", "image_url", "input_audio", "input_file", "input_image", "input_text",
        "output_text", "reasoning", "reasoning_content", "redacted_thinking", "refusal", "summary_text", "text",
        "thinking", "video", "video_url",
    }
)  # fmt: skip
"""Parts of a message that are no calls."""


def episode(
    calls: Sequence[ToolCall] | None,
    messages: Sequence[Mapping[str, Any]] = (),
    *,
    case_id: str = "",
    warnings: Sequence[str] = (),
) -> Episode:
    """The episode. How the conversation ended is not told by any of these shapes: it counts as ended by the user."""
    return Episode(
        case_id=case_id,
        step_id="",
        stop_reason=StopReason.USER_STOP,
        messages=tuple(dict(message) for message in messages),
        tool_calls=None if calls is None else tuple(calls),
        warnings=tuple(warnings),
    )


def unknown(problem: str, messages: Sequence[Mapping[str, Any]] = ()) -> Episode:
    """An episode whose tool calls are unknown, and why."""
    return episode(None, messages, warnings=(f"tool calls are unknown: {problem}",))
