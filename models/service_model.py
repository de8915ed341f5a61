"""A model of a service, whatever sends its requests: what it is asked, how its answers are read, what it can not do."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from models.chat_api import chat_body, chat_reply
from models.deadline import Deadline
from models.http_calls import Post, Refused, Send, call, failure_of
from models.protocol import ModelFailure, ModelReply, ModelRequest
from models.responses_api import responses_body, responses_reply
from models.settings import Capabilities, ModelSettings

MAX_MALFORMED = 2
"""How often a reply that cannot be read is asked for again."""


class ServiceModel:
    """One model of one service. Capabilities that the service refused stay dropped for its lifetime."""

    def __init__(self, post: Post, settings: ModelSettings, secrets: list[str]) -> None:
        self._post = post
        self._settings = settings
        self._capabilities = settings.capabilities
        self._secrets = secrets

    @property
    def name(self) -> str:
        return self._settings.model

    @property
    def settings(self) -> ModelSettings:
        return self._settings

    async def complete(self, request: ModelRequest, deadline: Deadline) -> ModelReply:
        """See `Model.complete`."""
        notes: list[str] = []
        attempts = 0
        for malformed in range(1, MAX_MALFORMED + 2):
            answered, tried = await self._answer(request, deadline, notes)
            attempts += tried
            try:
                reply = self._read(answered[0], answered[1])
            except ModelFailure as failure:
                if malformed > MAX_MALFORMED or deadline.passed:
                    raise ModelFailure(failure.kind, failure.problem, attempts) from None
                notes.append(f"model {self.name}: asked again because {failure.problem}")
                continue
            return replace(reply, notes=tuple(notes))
        raise AssertionError("unreachable: the last reading returns or raises")

    async def _answer(
        self, request: ModelRequest, deadline: Deadline, notes: list[str]
    ) -> tuple[tuple[dict[str, Any], float], int]:
        while True:
            try:
                answered = await call(
                    self._sender(request),
                    deadline,
                    retries=self._settings.retries,
                    read_timeout_s=self._settings.read_timeout_s,
                    secrets=self._secrets,
                )
            except Refused as refused:
                narrower = self._narrower(refused)
                if narrower is None:
                    raise failure_of(refused) from None
                self._capabilities = narrower
                notes.append(
                    f"model {self.name}: {refused.parameter} was refused and left out; "
                    "say so under `capabilities` in the configuration"
                )
                continue
            if answered.reasons:
                notes.append(f"model {self.name}: {len(answered.reasons)} retries ({'; '.join(answered.reasons)})")
            return (answered.data, answered.latency_ms), answered.attempts

    def _narrower(self, refused: Refused) -> Capabilities | None:
        if refused.code not in ("unsupported_parameter", "unsupported_value"):
            return None
        return self._capabilities.without(refused.parameter)

    def _sender(self, request: ModelRequest) -> Send:
        if self._settings.api == "responses":
            path, body = "/responses", responses_body(request, self._settings, self._capabilities)
        else:
            path, body = "/chat/completions", chat_body(request, self._settings, self._capabilities)
        return lambda timeout: self._post(path, body, timeout)

    def _read(self, data: dict[str, Any], latency_ms: float) -> ModelReply:
        if self._settings.api == "responses":
            return responses_reply(data, self._settings, latency_ms)
        return chat_reply(data, self._settings, latency_ms)
