"""What Chat Completions and the Responses API have in common."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from episodes.record import RoleUsage
from models.protocol import ModelRequest, RequestedCall
from models.settings import Capabilities, ModelSettings


def parameters(
    request: ModelRequest, settings: ModelSettings, capabilities: Capabilities, limit_name: str
) -> dict[str, Any]:
    """The part of a body that both take alike; what the deployment does not take is left out.

    `limit_name` is what the API calls the limit of the answer's length.
    """
    body: dict[str, Any] = {}
    if request.tools:
        if request.tool_choice:
            body["tool_choice"] = request.tool_choice
        if request.parallel_tool_calls is not None and capabilities.parallel_tool_calls:
            body["parallel_tool_calls"] = request.parallel_tool_calls
    temperature = settings.temperature if request.temperature is None else request.temperature
    if temperature is not None and capabilities.temperature:
        body["temperature"] = temperature
    limit = settings.max_tokens if request.max_tokens is None else request.max_tokens
    if limit is not None and capabilities.token_limit != "none":
        body[limit_name] = limit
    return body


def strict_schema(request: ModelRequest, capabilities: Capabilities) -> dict[str, Any] | None:
    """The schema of a structured answer; None when none is asked for, or the deployment does not take one."""
    if request.response_schema is None or not capabilities.structured_output:
        return None
    return {"name": request.response_schema_name, "schema": dict(request.response_schema), "strict": True}


def assistant_message(text: str, calls: Sequence[RequestedCall]) -> dict[str, Any]:
    """The reply as a message of the history."""
    message: dict[str, Any] = {"role": "assistant", "content": text or (None if calls else "")}
    if calls:
        message["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments_raw}}
            for call in calls
        ]
    return message


def usage_of(data: Any, settings: ModelSettings, prompt_name: str, completion_name: str) -> RoleUsage:
    """What one answered request took; 0 where the service does not say. The names are those of the API."""
    usage = data if isinstance(data, dict) else {}
    details = usage.get(f"{prompt_name}_details")
    cached = _tokens(details.get("cached_tokens")) if isinstance(details, dict) else 0
    prompt, completion = _tokens(usage.get(prompt_name)), _tokens(usage.get(completion_name))
    return RoleUsage(prompt, completion, 1, settings.prices.cost(settings.model, prompt, completion, cached))


def _tokens(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
