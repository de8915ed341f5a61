"""The Responses API: our request as its body, and its answer as our reply.

History stays ours: every request carries the whole conversation and asks the service to store nothing. Reasoning items
come back encrypted and are sent again with the next request under the message key `items`.
"""

from __future__ import annotations

from typing import Any

from models.both_apis import assistant_message, parameters, strict_schema, usage_of
from models.protocol import Message, ModelFailure, ModelReply, ModelRequest, RequestedCall
from models.settings import Capabilities, ModelSettings

ITEMS_KEY = "items"
"""Key of an assistant message that holds the service's own output items. It is never part of a record."""


def responses_body(request: ModelRequest, settings: ModelSettings, capabilities: Capabilities) -> dict[str, Any]:
    """The body of `POST /responses`; what the deployment does not take is left out."""
    body: dict[str, Any] = {
        "model": settings.model,
        "input": [item for message in request.messages for item in _input_items(message)],
        "store": False,
        "include": ["reasoning.encrypted_content"],
    }
    if request.tools:
        body["tools"] = [_tool(tool) for tool in request.tools]
    body |= parameters(request, settings, capabilities, "max_output_tokens")
    schema = strict_schema(request, capabilities)
    if schema is not None:
        body["text"] = {"format": {"type": "json_schema", **schema}}
    return body


def responses_reply(data: dict[str, Any], settings: ModelSettings, latency_ms: float) -> ModelReply:
    """Read the answer.

    Raises:
        ModelFailure: `server`, when the service says that it failed; `malformed_reply` otherwise.
    """
    if data.get("status") == "failed":
        error = data.get("error") if isinstance(data.get("error"), dict) else {}
        message = error.get("message") if isinstance(error, dict) else None
        raise ModelFailure("server", f"the service failed: {message or 'no reason given'}")
    output = data.get("output")
    if not isinstance(output, list) or not all(isinstance(item, dict) for item in output):
        raise ModelFailure("malformed_reply", "the answer has no list of output items")
    calls = tuple(_calls(output))
    text, refusal = _said(output)
    back = assistant_message(text, calls)
    if any(item.get("type") == "reasoning" for item in output):
        back[ITEMS_KEY] = output
    return ModelReply(
        text=text,
        calls=calls,
        finish_reason=_finish_reason(data, bool(calls)),
        message=back,
        usage=usage_of(data.get("usage"), settings, "input_tokens", "output_tokens"),
        latency_ms=latency_ms,
        model=str(data.get("model") or settings.model),
        refusal=refusal,
    )


def _input_items(message: Message) -> list[dict[str, Any]]:
    if ITEMS_KEY in message:
        return list(message[ITEMS_KEY])
    role, content = message.get("role"), message.get("content") or ""
    if role == "tool":
        return [{"type": "function_call_output", "call_id": message.get("tool_call_id"), "output": content}]
    items = [] if role == "assistant" and not content else [{"role": role, "content": content}]
    for call in message.get("tool_calls") or ():
        function = call["function"]
        items.append(
            {
                "type": "function_call",
                "call_id": call["id"],
                "name": function["name"],
                "arguments": function["arguments"],
            }
        )
    return items


def _tool(tool: Any) -> dict[str, Any]:
    # Chat Completions nests the function, and takes it as not strict unless told; Responses does neither.
    return {"type": "function", "strict": False, **tool["function"]}


def _calls(output: list[dict[str, Any]]) -> list[RequestedCall]:
    calls: list[RequestedCall] = []
    for index, item in enumerate(output):
        if item.get("type") != "function_call":
            continue
        name, call_id, arguments = item.get("name"), item.get("call_id"), item.get("arguments")
        if not isinstance(name, str) or not name or not isinstance(call_id, str) or not call_id:
            raise ModelFailure("malformed_reply", f"output[{index}] is a function call without name or call_id")
        calls.append(RequestedCall(call_id, name, arguments if isinstance(arguments, str) else ""))
    return calls


def _said(output: list[dict[str, Any]]) -> tuple[str, str]:
    parts = [
        part
        for item in output
        if item.get("type") == "message" and isinstance(item.get("content"), list)
        for part in item["content"]
        if isinstance(part, dict)
    ]
    text = "".join(str(part.get("text") or "") for part in parts if part.get("type") == "output_text")
    refusal = "".join(str(part.get("refusal") or "") for part in parts if part.get("type") == "refusal")
    return text, refusal


def _finish_reason(data: dict[str, Any], has_calls: bool) -> str:
    if data.get("status") == "incomplete":
        details = data.get("incomplete_details")
        reason = details.get("reason") if isinstance(details, dict) else None
        return "content_filter" if reason == "content_filter" else "length"
    return "tool_calls" if has_calls else "stop"
