"""Chat Completions: our request as its body, and its answer as our reply."""

from __future__ import annotations

import json
from typing import Any

from models.both_apis import assistant_message, parameters, strict_schema, usage_of
from models.protocol import ModelFailure, ModelReply, ModelRequest, RequestedCall
from models.settings import Capabilities, ModelSettings


def chat_body(request: ModelRequest, settings: ModelSettings, capabilities: Capabilities) -> dict[str, Any]:
    """The body of `POST /chat/completions`; what the deployment does not take is left out."""
    body: dict[str, Any] = {"model": settings.model, "messages": list(request.messages)}
    if request.tools:
        body["tools"] = list(request.tools)
    body |= parameters(request, settings, capabilities, capabilities.token_limit)
    seed = settings.seed if request.seed is None else request.seed
    if seed is not None and capabilities.seed:
        body["seed"] = seed
    schema = strict_schema(request, capabilities)
    if schema is not None:
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    return body


def chat_reply(data: dict[str, Any], settings: ModelSettings, latency_ms: float) -> ModelReply:
    """Read the answer.

    Raises:
        ModelFailure: `malformed_reply`, saying which part is not as it should be.
    """
    choices = data.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(choice, dict) or not isinstance(message, dict):
        raise ModelFailure("malformed_reply", f"the answer has no choices[0].message: {_shape(data)}")
    calls = tuple(_calls(message))
    text = _text(message.get("content"))
    refusal = message.get("refusal")
    return ModelReply(
        text=text,
        calls=calls,
        finish_reason=str(choice.get("finish_reason") or "unknown"),
        message=assistant_message(text, calls),
        usage=usage_of(data.get("usage"), settings, "prompt_tokens", "completion_tokens"),
        latency_ms=latency_ms,
        model=str(data.get("model") or settings.model),
        refusal=refusal if isinstance(refusal, str) else "",
    )


def _calls(message: dict[str, Any]) -> list[RequestedCall]:
    asked = message.get("tool_calls") or []
    if not isinstance(asked, list):
        raise ModelFailure("malformed_reply", f"tool_calls is a {type(asked).__name__} instead of a list")
    calls: list[RequestedCall] = []
    for index, item in enumerate(asked):
        function = item.get("function") if isinstance(item, dict) else None
        name = function.get("name") if isinstance(function, dict) else None
        if not isinstance(function, dict) or not isinstance(name, str) or not name:
            raise ModelFailure("malformed_reply", f"tool_calls[{index}] has no function name")
        # Some services send the arguments as an object; as text they go the same way as everybody else's.
        raw = function.get("arguments")
        arguments = raw if isinstance(raw, str) else "" if raw is None else json.dumps(raw, ensure_ascii=False)
        # A call without an id, or with one used twice, could not be answered: it gets one of ours.
        given = item.get("id")
        taken = {call.id for call in calls}
        usable = isinstance(given, str) and given and given not in taken
        calls.append(RequestedCall(given if usable else f"call_{index}_{len(taken)}", name, arguments))
    return calls


def _text(content: Any) -> str:
    """Content is a text, null, or a list of parts of which those of type text count."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, dict)]
        return "".join(part for part in parts if isinstance(part, str))
    return ""


def _shape(data: dict[str, Any]) -> str:
    return f"its keys are {', '.join(sorted(map(str, data))) or '(none)'}"
