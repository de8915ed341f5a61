"""Chat Completions messages (`role`, `content`, `tool_calls`, `tool_call_id`), the older `function_call` included.

A turn begins with each message of the user, a batch is one message of the assistant. A call ran when a tool message
answers it; what nobody answered was sent, and its fate is unknown. Content that may be a call of another API, and an
answer to a call that is not there, make the calls unknown.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assertions.adapters.parts import (
    Answers,
    UnknownShape,
    episode,
    objects,
    read_result,
    strange_content,
    text_of,
    tool_call,
    unknown,
    word,
)
from episodes.record import Episode, ToolCall, ToolStatus

ROLES = frozenset({"system", "developer", "user", "assistant", "tool", "function"})


def matches(value: Any) -> bool:
    """Whether this looks like such a conversation: a list of messages, each with a role of this API."""
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(item, Mapping) and word(item.get("role")) in ROLES for item in value)
        and not any("type" in item and item.get("type") != "message" for item in value)
    )


def read(value: Any) -> Episode:
    """Read a conversation.

    Raises:
        UnknownShape: it is no list of such messages, or a call in it can not be read.
    """
    messages = objects(value, "the conversation")
    answers = _answers(messages)
    calls: list[ToolCall] = []
    kept: list[dict[str, Any]] = []
    strange = ""
    turn = step = 0
    for place, message in enumerate(messages):
        role = word(message.get("role"))
        if role not in ROLES:
            raise UnknownShape(f"a message has the role {message.get('role')!r}")
        if role == "user":
            turn += 1
        kept.append({**message, "turn": max(turn, 1) if role != "system" else turn})
        if role not in ("tool", "function"):
            strange = strange or strange_content(message.get("content"))
        if role == "assistant":
            step += 1
            calls += [
                _call(item, max(turn, 1), step, answers.take(str(item.get("id")), place)) for item in _asked(message)
            ]
    if strange:
        problem = f"a message has content of the type {strange!r}, which is no call of this API"
        return unknown(f"openai-chat: {problem}", kept)
    unasked = answers.unasked()
    if unasked is not None:
        name = unasked.removeprefix(_BY_NAME)
        return unknown(f"openai-chat: a tool message answers a call that is not there ({name!r})", kept)
    return episode(calls, kept)


_BY_NAME = "function:"
"""What stands before the name where an answer names the function instead of the call."""


def _asked(message: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    calls = message.get("tool_calls")
    if calls:
        return objects(calls, "tool_calls")
    single = message.get("function_call")
    if isinstance(single, Mapping):
        return [{"id": f"{_BY_NAME}{single.get('name')}", "function": single}]
    return []


def _answers(messages: list[Mapping[str, Any]]) -> Answers:
    found = Answers()
    asked = any(map(_asked, messages))
    for place, message in enumerate(messages):
        if message.get("role") == "tool" and isinstance(message.get("tool_call_id"), str):
            found.add(message["tool_call_id"], place, message)
        elif message.get("role") == "function" or (message.get("role") == "tool" and not asked):
            found.add(f"{_BY_NAME}{message.get('name')}", place, message)
    return found


def _call(item: Mapping[str, Any], turn: int, step: int, answer: Mapping[str, Any] | None) -> ToolCall:
    function = item.get("function") if item.get("type", "function") == "function" else item.get(str(item.get("type")))
    if not isinstance(function, Mapping):
        raise UnknownShape(f"a tool call of the type {item.get('type')!r} can not be read")
    arguments = function.get("arguments", {"input": function["input"]} if "input" in function else None)
    return tool_call(
        function.get("name"),
        arguments,
        id=item.get("id"),
        turn=turn,
        step=step,
        batch=step,
        status=ToolStatus.TRANSPORT_ERROR if answer is None else _status(answer),
        result=None if answer is None else read_result(text_of(answer.get("content"))),
        problem="no tool message answers it" if answer is None else "",
    )


def _status(answer: Mapping[str, Any]) -> ToolStatus:
    # Not part of the API, but several frameworks mark a failed tool on its message.
    failed = answer.get("is_error") is True or answer.get("isError") is True or answer.get("status") == "error"
    return ToolStatus.TOOL_ERROR if failed else ToolStatus.OK
