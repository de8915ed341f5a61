"""A model behind an endpoint: OpenAI, Azure OpenAI, or any compatible address, through the official client."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

import httpx2
import openai

from endpoints import ModelEndpoint
from episodes.json_safe import in_utf8
from models.entra import entra_tokens
from models.http_calls import BadStatus, NoAnswer, Post
from models.protocol import Model
from models.service_model import ServiceModel
from models.settings import ModelSettings
from models.transport import http_client


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
        yield ServiceModel(_post_through(client), settings, secrets_of(endpoint))


def secrets_of(endpoint: ModelEndpoint) -> list[str]:
    """What must not stand in an error text."""
    return [endpoint.api_key or "", endpoint.base_url, urlsplit(endpoint.base_url).netloc]


def _post_through(client: openai.AsyncOpenAI) -> Post:
    async def post(path: str, body: dict[str, Any], timeout: float) -> str:
        try:
            # The client's typed methods walk through every message and every tool schema of each request, which takes
            # longer than the request itself; the plain verb sends the body as it is.
            try:
                answer = await client.post(path, cast_to=httpx2.Response, body=body, options={"timeout": timeout})
            except UnicodeEncodeError:
                # Half a surrogate pair that somebody said can not be sent. The record shows it, and warns, in this way.
                text = in_utf8(json.dumps(body, ensure_ascii=False))
                answer = await client.post(
                    path, cast_to=httpx2.Response, body=json.loads(text), options={"timeout": timeout}
                )
        except openai.APITimeoutError:
            raise NoAnswer("timeout", f"no answer within {timeout:.1f} s") from None
        except openai.APIConnectionError as error:
            raise NoAnswer("connection", f"the connection failed ({_root(error)})") from None
        except openai.APIStatusError as error:
            raise BadStatus(error.status_code, error.response.headers, error.body) from None
        return answer.text

    return post


def _root(error: BaseException) -> str:
    """The name of the innermost cause: it says what happened without saying where."""
    while error.__cause__ is not None:
        error = error.__cause__
    return type(error).__name__
