"""LangChain messages: as objects, as `message_to_dict` writes them, or as `dumps` does.

`AIMessage.tool_calls` are `{name, args, id}`, `invalid_tool_calls` those whose arguments could not be read;
`ToolMessage.status` tells a failed tool. Calls that stand elsewhere only (`additional_kwargs`, blocks of the content),
and an answer to a call that is not there, make the calls unknown.
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

ROLES = {
    "human": "user",
    "ai": "assistant",
    "system": "system",
    "tool": "tool",
    "function": "tool",
    "AIMessageChunk": "assistant",
    "HumanMessageChunk": "user",
}
_CLASSES = {"HumanMessage": "human", "AIMessage": "ai", "SystemMessage": "system", "ToolMessage": "tool"}


def matches(value: Any) -> bool:
    """Whether this looks like LangChain messages."""
    if not isinstance(value, list) or not value:
        return False
    plain = [_plain(item) for item in value]
    return all(item is not None and word(item.get("type")) in ROLES for item in plain)


def read(value: Any) -> Episode:
    """Read messages.

    Raises:
        UnknownShape: one of them is no such message.
    """
    if not isinstance(value, list):
        raise UnknownShape("the conversation is no list")
    messages = []
    for item in value:
        plain = _plain(item)
        if plain is None or word(plain.get("type")) not in ROLES:
            raise UnknownShape(f"a message has the type {plain.get('type')!r}" if plain else "an item is no message")
        messages.append(plain)
    answers = Answers()
    for place, one in enumerate(messages):
        if one.get("tool_call_id"):
            answers.add(str(one["tool_call_id"]), place, one)
    calls: list[ToolCall] = []
    kept: list[dict[str, Any]] = []
    problem = ""
    turn = step = 0
    for place, message in enumerate(messages):
        role = ROLES[message["type"]]
        turn += role == "user"
        kept.append({"role": role, "content": text_of(message.get("content")), "turn": max(turn, 1)})
        if role == "assistant":
            step += 1
            problem = problem or _told_elsewhere(message)
            calls += [
                _call(one, max(turn, 1), step, answers.take(str(one.get("id")), place))
                for one in _listed(message, "tool_calls")
            ]
            calls += [
                tool_call(one.get("name"), _broken(one), id=one.get("id"), turn=max(turn, 1), step=step, batch=step)
                for one in _listed(message, "invalid_tool_calls")
            ]
            for one in _listed(message, "invalid_tool_calls"):
                answers.take(str(one.get("id")), place)
    unasked = answers.unasked()
    if not problem and unasked is not None:
        problem = f"a tool message answers a call that is not there ({unasked!r})"
    return unknown(f"langchain: {problem}", kept) if problem else episode(calls, kept)


def _told_elsewhere(message: Mapping[str, Any]) -> str:
    """What is wrong when a message tells of calls in another place than its lists."""
    listed = [*_listed(message, "tool_calls"), *_listed(message, "invalid_tool_calls")]
    more = message.get("additional_kwargs")
    if not listed and isinstance(more, Mapping) and (more.get("tool_calls") or more.get("function_call")):
        return "a message has calls in additional_kwargs only"
    strange = strange_content(message.get("content"), frozenset(word(one.get("id")) for one in listed) - {""})
    return f"a message has content of the type {strange!r}, which none of its tool_calls stands for" if strange else ""


def _plain(item: Any) -> Mapping[str, Any] | None:
    """The fields of a message, with its `type`, whatever form it has."""
    if isinstance(item, Mapping):
        if isinstance(item.get("data"), Mapping) and isinstance(item.get("type"), str):
            return {**item["data"], "type": item["type"]}
        if item.get("lc") == 1 and isinstance(item.get("kwargs"), Mapping):
            path = item.get("id")
            name = str(path[-1]) if isinstance(path, list) and path else ""
            return {**item["kwargs"], "type": item["kwargs"].get("type", _CLASSES.get(name, name))}
        return item
    fields = (
        "type",
        "content",
        "tool_calls",
        "invalid_tool_calls",
        "tool_call_id",
        "status",
        "name",
        "additional_kwargs",
    )
    if hasattr(item, "type") and hasattr(item, "content"):
        return {name: getattr(item, name) for name in fields if hasattr(item, name)}
    return None


def _listed(message: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    value = message.get(key)
    return objects(value, key) if value else []


def _broken(call: Mapping[str, Any]) -> str:
    """Arguments that LangChain could not read are not read here either, even when they would be an empty text."""
    text = call.get("args")
    return text if isinstance(text, str) and text.strip() else "(unreadable)"


def _call(item: Mapping[str, Any], turn: int, step: int, answer: Mapping[str, Any] | None) -> ToolCall:
    known: dict[str, Any] = {"id": item.get("id"), "turn": turn, "step": step, "batch": step}
    if answer is None:
        problem = "no tool message answers it"
        return tool_call(
            item.get("name"), item.get("args"), status=ToolStatus.TRANSPORT_ERROR, problem=problem, **known
        )
    status = ToolStatus.TOOL_ERROR if answer.get("status") == "error" else ToolStatus.OK
    content = answer.get("content")
    result = read_result(content if isinstance(content, str) else text_of(content))
    return tool_call(item.get("name"), item.get("args"), status=status, result=result, **known)
