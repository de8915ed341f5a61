"""Items of the Responses API: messages, `function_call` with `function_call_output`, and the tools that OpenAI hosts.

Every item that stands for a tool counts as a call, shells included. An item of a type that is not known here may be
one too, so it makes the calls unknown.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assertions.adapters.parts import UnknownShape, episode, objects, read_result, text_of, tool_call, unknown, word
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
    {
        "message",
        "reasoning",
        "mcp_list_tools",
        "mcp_approval_request",
        "mcp_approval_response",
        "compaction",
        "item_reference",
    }
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
    outputs = {
        item["call_id"]: item for item in items if word(item.get("type")) in OUTPUTS and word(item.get("call_id"))
    }
    calls: list[ToolCall] = []
    messages: list[dict[str, Any]] = []
    strange: list[str] = []
    turn, batch, in_batch = 0, 0, False
    for item in items:
        kind = word(item.get("type", "message" if "role" in item else None))
        if kind == "message":
            turn += item.get("role") == "user"
            messages.append({"role": item.get("role"), "content": text_of(item.get("content")), "turn": max(turn, 1)})
            in_batch = False
        elif kind in ASKED | HOSTED:
            # Calls that follow each other without an answer between them were asked for together.
            batch += not in_batch
            in_batch = kind in ASKED
            calls.append(_call(item, kind, max(turn, 1), batch, outputs))
        elif kind in OUTPUTS:
            in_batch = False
        elif kind not in NO_CALLS:
            strange.append(str(item.get("type")))
    if strange:
        return unknown(f"an item has the type {strange[0]!r}, which may be a tool call", messages)
    return episode(calls, messages)


def _items(value: Any) -> Any:
    if isinstance(value, Mapping) and isinstance(value.get("output"), list):
        before = value.get("input")
        if isinstance(before, str):
            before = [{"type": "message", "role": "user", "content": before}]
        return [*(before if isinstance(before, list) else []), *value["output"]]
    return value


def _call(
    item: Mapping[str, Any], kind: str, turn: int, batch: int, outputs: Mapping[str, Mapping[str, Any]]
) -> ToolCall:
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
    answer = outputs.get(str(item.get("call_id")))
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
