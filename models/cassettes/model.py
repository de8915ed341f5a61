"""A model whose answers come from a cassette, or go onto it. Only what is named here is ever written.

Of an answer, the message is written, and text and calls only where they do not follow from it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from episodes.record import RoleUsage
from models.cassettes.cassette import Cassette, NoRecording
from models.deadline import Deadline
from models.protocol import Model, ModelFailure, ModelReply, ModelRequest, RequestedCall
from models.settings import ModelSettings

MESSAGE_KEYS = ("role", "content", "name", "tool_calls", "tool_call_id", "refusal")
"""Keys of a message that are written. Encrypted reasoning of a service is not among them."""


class RecordedModel:
    """One model in one case. `live` opens the real one, and is called only when it is needed."""

    def __init__(
        self, boundary: str, settings: ModelSettings, cassette: Cassette, live: Callable[[], Awaitable[Model]]
    ) -> None:
        self._boundary = boundary
        self._settings = settings
        self._cassette = cassette
        self._open_live = live
        self._live: Model | None = None

    @property
    def name(self) -> str:
        return self._settings.model

    async def complete(self, request: ModelRequest, deadline: Deadline) -> ModelReply:
        """See `Model.complete`. Raises `ModelFailure` of kind `recording` for a request that was not recorded."""
        described = describe_request(request, self._settings)
        try:
            answer = self._cassette.take(self._boundary, described)
        except NoRecording as missing:
            raise ModelFailure("recording", str(missing)) from None
        if answer is not None:
            return self._reply(answer)
        if self._live is None:
            self._live = await self._open_live()
        reply = await self._live.complete(request, deadline)
        self._cassette.add(self._boundary, described, _answer(reply))
        return reply

    def _reply(self, answer: Mapping[str, Any]) -> ModelReply:
        prompt, completion = int(answer["promptTokens"]), int(answer["completionTokens"])
        message = answer["message"]
        return ModelReply(
            text=answer["text"] if "text" in answer else _text_of(message),
            calls=tuple(
                RequestedCall(call["id"], call["name"], call["arguments"])
                for call in (answer["calls"] if "calls" in answer else _calls_of(message))
            ),
            finish_reason=answer["finishReason"],
            message=dict(message),
            usage=RoleUsage(prompt, completion, 1, self._settings.prices.cost(self.name, prompt, completion)),
            latency_ms=0.0,
            model=answer["model"],
            refusal=answer.get("refusal", ""),
            replayed=True,
        )


def describe_request(request: ModelRequest, settings: ModelSettings) -> dict[str, Any]:
    """Everything of a request that can change its answer, and nothing of where it goes."""
    temperature = settings.temperature if request.temperature is None else request.temperature
    parameters = {
        "temperature": temperature,
        "max_tokens": settings.max_tokens if request.max_tokens is None else request.max_tokens,
        "seed": settings.seed if request.seed is None else request.seed,
        "tool_choice": request.tool_choice,
        "parallel_tool_calls": request.parallel_tool_calls,
        "response_schema": None if request.response_schema is None else dict(request.response_schema),
    }
    return {
        "model": settings.model,
        "api": settings.api,
        "messages": [written_message(message) for message in request.messages],
        "tools": list(request.tools),
        "parameters": {key: value for key, value in parameters.items() if value is not None},
    }


def written_message(message: Mapping[str, Any]) -> Mapping[str, Any]:
    """The message as it may be written: itself, when there is nothing in it that may not."""
    if all(key in MESSAGE_KEYS for key in message):
        return message
    return {key: message[key] for key in MESSAGE_KEYS if key in message}


def _answer(reply: ModelReply) -> dict[str, Any]:
    message = dict(written_message(reply.message))
    answer: dict[str, Any] = {
        "message": message,
        "finishReason": reply.finish_reason,
        "model": reply.model,
        "promptTokens": reply.usage.prompt_tokens,
        "completionTokens": reply.usage.completion_tokens,
    }
    calls = [{"id": call.id, "name": call.name, "arguments": call.arguments_raw} for call in reply.calls]
    if reply.text != _text_of(message):
        answer["text"] = reply.text
    if calls != _calls_of(message):
        answer["calls"] = calls
    if reply.refusal:
        answer["refusal"] = reply.refusal
    return answer


def _text_of(message: Mapping[str, Any]) -> Any:
    return message.get("content") or ""


def _calls_of(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [
        {"id": call["id"], "name": call["function"]["name"], "arguments": call["function"]["arguments"]}
        for call in message.get("tool_calls") or ()
    ]
