"""A model behind an endpoint: OpenAI, Azure OpenAI, or any compatible address, through the official client."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

import httpx2
import openai

from endpoints import ModelEndpoint
from models.chat_api import chat_body, chat_reply
from models.deadline import Deadline
from models.entra import entra_tokens
from models.http_calls import Refused, call, failure_of
from models.protocol import Model, ModelFailure, ModelReply, ModelRequest
from models.responses_api import responses_body, responses_reply
from models.settings import Capabilities, ModelSettings
from models.transport import http_client

MAX_MALFORMED = 2
"""How often a reply that cannot be read is asked for again."""


class ServiceModel:
    """One model of one service. Capabilities that the service refused stay dropped for its lifetime."""

    def __init__(self, client: openai.AsyncOpenAI, settings: ModelSettings, secrets: list[str]) -> None:
        self._client = client
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

    def _sender(self, request: ModelRequest) -> Callable[[float], Any]:
        if self._settings.api == "responses":
            path, body = "/responses", responses_body(request, self._settings, self._capabilities)
        else:
            path, body = "/chat/completions", chat_body(request, self._settings, self._capabilities)
        # The client's typed methods walk through every message and every tool schema of each request, which takes
        # longer than the request itself; the plain verb sends the body as it is.
        return lambda timeout: self._client.post(path, cast_to=httpx2.Response, body=body, options={"timeout": timeout})

    def _read(self, data: dict[str, Any], latency_ms: float) -> ModelReply:
        if self._settings.api == "responses":
            return responses_reply(data, self._settings, latency_ms)
        return chat_reply(data, self._settings, latency_ms)


@asynccontextmanager
async def open_model(endpoint: ModelEndpoint, settings: ModelSettings) -> AsyncIterator[Model]:
    """The model that `settings` names at `endpoint`, with connections of its own that are closed at the end."""
    async with AsyncExitStack() as stack:
        connections = await stack.enter_async_context(
            http_client(settings.read_timeout_s, headers=dict(settings.headers))
        )
        # Retries are ours, because they must end before the episode's deadline.
        common: dict[str, Any] = {"http_client": connections, "max_retries": 0}
        client: openai.AsyncOpenAI
        if endpoint.kind == "azure":
            if endpoint.api_key:
                common["api_key"] = endpoint.api_key
            else:
                common["azure_ad_token_provider"] = entra_tokens()
            client = openai.AsyncAzureOpenAI(
                azure_endpoint=endpoint.base_url, api_version=endpoint.api_version, **common
            )
        else:
            # The client refuses an empty key; a local service without one does not look at it.
            client = openai.AsyncOpenAI(base_url=endpoint.base_url, api_key=endpoint.api_key or "none", **common)
        host = urlsplit(endpoint.base_url).netloc
        yield ServiceModel(client, settings, [endpoint.api_key or "", endpoint.base_url, host])
