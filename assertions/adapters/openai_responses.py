"""Items of the Responses API: messages, `function_call` with `function_call_output`, and the tools that OpenAI hosts.

Every item that stands for a tool counts as a call, shells included. An item of a type that is not known here may be
one too, so it makes the calls unknown; so do an answer to a call that is not there, and a response that continues
another one.
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
    text_of,
    tool_call,
    unknown,
    word,
)
from episodes.record import Episode, ToolCall, ToolStatus

OUTPUTS = frozenset(
    {
        "function_call_output",
        "custom_tool_call_output",
        "local_shell_call_output",
        "shell_call_output",
        "computer_call_output",
        "apply_patch_call_output",
    }
)
ASKED = frozenset(
    {"function_call", "custom_tool_call", "local_shell_call", "shell_call", "computer_call", "apply_patch_call"}
)
"""Calls whose answer is an item of its own."""
HOSTED = frozenset(
    {"web_search_call", "file_search_call", "code_interpreter_call", "image_generation_call", "mcp_call"}
)
"""Calls that the service ran itself; the item tells how they went."""
NO_CALLS = frozenset(
    {"message", "reasoning", "mcp_list_tools", "mcp_approval_request", "mcp_approval_response", "compaction"}
)


def matches(value: Any) -> bool:
    """Whether this looks like items, or like a response that holds some."""
    items = _items(value)
    return (
        isinstance(items, list)
        and bool(items)
        and all(isinstance(item, Mapping) and ("type" in item or "role" in item) for item in items)
        and any(word(item.get("type")) in ASKED | HOSTED | OUTPUTS | NO_CALLS for item in items)
    )


def read(value: Any) -> Episode:
    """Read items, or `{input, output}` of a request with its response.

    Raises:
        UnknownShape: they are no list of objects.
    """
    items = objects(_items(value), "the items")
    answers = Answers()
    for place, item in enumerate(items):
        if word(item.get("type")) in OUTPUTS and word(item.get("call_id")):
            answers.add(item["call_id"], place, item)
    approvals = _approvals(items)
    calls: list[ToolCall] = []
    messages: list[dict[str, Any]] = []
    strange: list[str] = []
    turn, batch, in_batch = 0, 0, False
    for place, item in enumerate(items):
        kind = word(item.get("type", "message" if "role" in item else None))
        if kind == "message":
            turn += item.get("role") == "user"
            messages.append({"role": item.get("role"), "content": text_of(item.get("content")), "turn": max(turn, 1)})
            in_batch = False
        elif kind in ASKED | HOSTED:
            # Calls that follow each other without an answer between them were asked for together.
            batch += not in_batch
            in_batch = kind in ASKED
            answer = answers.take(str(item.get("call_id")), place) if kind in ASKED else None
            calls.append(_call(item, kind, max(turn, 1), batch, answer))
        elif kind == "mcp_approval_request":
            batch += not in_batch
            in_batch = True
            calls += _waiting(item, max(turn, 1), batch, approvals)
        elif kind in OUTPUTS:
            in_batch = False
        elif kind not in NO_CALLS:
            strange.append(str(item.get("type")))
    if strange:
        return unknown(f"an item has the type {strange[0]!r}, which may be a tool call", messages)
    unasked = answers.unasked()
    if unasked is not None:
        return unknown(f"an item answers a call that is not there ({unasked!r})", messages)
    before = value.get("previous_response_id") if isinstance(value, Mapping) else None
    if before:
        return unknown(f"the response continues {before!r}, whose items are not here", messages)
    return episode(calls, messages)


def _approvals(items: list[Mapping[str, Any]]) -> dict[str, ToolStatus | None]:
    """What became of calls that were to be approved, by the request's id; None where another item tells it."""
    found: dict[str, ToolStatus | None] = {}
    for item in items:
        request = word(item.get("approval_request_id"))
        if item.get("type") == "mcp_approval_response" and item.get("approve") is True:
            found.setdefault(request, ToolStatus.TRANSPORT_ERROR)
        elif item.get("type") == "mcp_call" and request:
            found[request] = None
    return found


def _waiting(
    item: Mapping[str, Any], turn: int, batch: int, approvals: Mapping[str, ToolStatus | None]
) -> list[ToolCall]:
    """The call that a request for approval stands for; none when an item of its own tells of it."""
    status = approvals.get(word(item.get("id")), ToolStatus.NOT_EXECUTED)
    if status is None:
        return []
    problem = "it was not approved" if status is ToolStatus.NOT_EXECUTED else "no item answers it"
    server, place = item.get("server_label"), {"turn": turn, "step": batch, "batch": batch}
    known: dict[str, Any] = {"id": item.get("id"), "server": server, **place}
    return [tool_call(item.get("name"), item.get("arguments"), status=status, problem=problem, **known)]


def _items(value: Any) -> Any:
    if isinstance(value, Mapping) and isinstance(value.get("output"), list):
        before = value.get("input")
        if isinstance(before, str):
            before = [{"type": "message", "role": "user", "content": before}]
        return [*(before if isinstance(before, list) else []), *value["output"]]
    return value


def _call(item: Mapping[str, Any], kind: str, turn: int, batch: int, answer: Mapping[str, Any] | None) -> ToolCall:
    name = item.get("name") or kind.removesuffix("_call")
    known: dict[str, Any] = {"id": item.get("call_id") or item.get("id"), "turn": turn, "step": batch, "batch": batch}
    if kind in HOSTED:
        failed = item.get("error") or item.get("status") in ("failed", "incomplete")
        return tool_call(
            name,
            _arguments(item, kind),
            server=item.get("server_label"),
            status=ToolStatus.TOOL_ERROR if failed else ToolStatus.OK,
            result=read_result(item.get("output", item.get("results"))),
            problem=str(item["error"]) if item.get("error") else "",
            **known,
        )
    if answer is None:
        status, problem = ToolStatus.TRANSPORT_ERROR, "no item answers it"
    else:
        status, problem = (ToolStatus.TOOL_ERROR if answer.get("status") == "failed" else ToolStatus.OK), ""
    result = None if answer is None else read_result(_output(answer.get("output")))
    return tool_call(name, _arguments(item, kind), status=status, problem=problem, result=result, **known)


def _arguments(item: Mapping[str, Any], kind: str) -> Any:
    if kind in ("function_call", "mcp_call"):
        return item.get("arguments")
    if kind == "custom_tool_call":
        return {"input": item.get("input")}
    described = {"action", "queries", "query", "code", "operation"}
    found = {key: item[key] for key in described if key in item}
    action = found.get("action")
    return dict(action) if len(found) == 1 and isinstance(action, Mapping) else found


def _output(output: Any) -> Any:
    return text_of(output) if isinstance(output, list) else output


__all__ = ["UnknownShape", "matches", "read"]
