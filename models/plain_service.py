"""A model behind an endpoint for a process that asks one question and ends: the judge of an assertion.

Importing the official client costs such a process several times what the question itself does. Requests, retries,
failures and answers are those of every other model (`ServiceModel`); only the sending is plain.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from endpoints import ModelEndpoint
from episodes.hosts.transport import NoAnswerError, Request, Transport, transport_for
from models.http_calls import BadStatus, NoAnswer, Post
from models.protocol import Model
from models.service_model import ServiceModel
from models.settings import ModelSettings

CONNECT_SECONDS = 10.0


@asynccontextmanager
async def open_plain_model(endpoint: ModelEndpoint, settings: ModelSettings) -> AsyncIterator[Model]:
    """The model that `settings` names at `endpoint`; its connection is closed at the end."""
    transport = transport_for(endpoint.base_url)
    secrets = [endpoint.api_key or "", endpoint.base_url]
    try:
        yield ServiceModel(_post_by(transport, endpoint, settings), settings, secrets)
    finally:
        transport.close()


def _post_by(transport: Transport, endpoint: ModelEndpoint, settings: ModelSettings) -> Post:
    async def post(path: str, body: dict[str, Any], timeout: float) -> str:
        headers = {"Content-Type": "application/json", **settings.headers, **await _authorization(endpoint)}
        request = Request(
            "POST",
            _address(endpoint, settings, path),
            {"api-version": endpoint.api_version or ""} if endpoint.kind == "azure" else {},
            headers,
            json.dumps(body).encode(),
            min(CONNECT_SECONDS, timeout),
            timeout,
        )
        try:
            answer = await asyncio.to_thread(transport.send, request)
        except NoAnswerError as error:
            if "Timeout" in str(error) or "timeout" in str(error):
                raise NoAnswer("timeout", f"no answer within {timeout:.1f} s") from None
            raise NoAnswer("connection", f"the connection failed ({error})") from None
        text = answer.content.decode("utf-8", "replace")
        if answer.status >= 400:
            raise BadStatus(answer.status, answer.headers, _read(text))
        return text

    return post


def _address(endpoint: ModelEndpoint, settings: ModelSettings, path: str) -> str:
    base = endpoint.base_url.rstrip("/")
    if endpoint.kind != "azure":
        return base + path
    # Chat Completions name the deployment in the address, Responses in the body.
    return f"{base}/openai/deployments/{settings.model}{path}" if settings.api == "chat" else f"{base}/openai{path}"


async def _authorization(endpoint: ModelEndpoint) -> dict[str, str]:
    if endpoint.kind == "azure" and endpoint.api_key:
        return {"api-key": endpoint.api_key}
    if endpoint.kind == "azure":
        from models.entra import entra_tokens

        return {"Authorization": f"Bearer {await entra_tokens()()}"}
    return {"Authorization": f"Bearer {endpoint.api_key}"} if endpoint.api_key else {}


def _read(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None
