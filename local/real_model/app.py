"""What stands in front of the engine: a key, bounds for each request, and the reading of calls that came as text.

An answer in which calls were read from text says so: `calls_read_from_text` is their number, and the id of each begins
with `from_text_`, so that it can be told from a call that the model made itself wherever the record is read.
"""

from __future__ import annotations

import asyncio
import hmac
import json
from collections.abc import Coroutine
from dataclasses import dataclass, field
from typing import Any

import httpx2
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from .text_calls import read_calls

ID_PREFIX = "from_text_"
"""How the id of a call begins that was read from text."""

ANSWER_SECONDS = 1800.0
"""A last bound for one answer. Whoever asks has a nearer one; what nobody waits for is not computed any further."""

_LIMITS = ("max_tokens", "max_completion_tokens")
_CLIENT_IS_GONE = 499


@dataclass(frozen=True)
class Engine:
    """Where the engine answers, the model that it has, and how many tokens an answer may have at most."""

    address: str
    model: str
    most_tokens: int
    key: str = field(repr=False)


def build_app(key: str, engine: Engine) -> Starlette:
    """The application: `POST /v1/chat/completions` and `GET /v1/models` for whoever has the key."""
    front = _Front(key, engine)
    return Starlette(
        routes=[
            Route("/v1/chat/completions", front.chat, methods=["POST"]),
            Route("/v1/models", front.models, methods=["GET"]),
        ]
    )


class _Front:
    def __init__(self, key: str, engine: Engine) -> None:
        self._key = key
        self._engine = engine

    async def models(self, request: Request) -> Response:
        if not self._admitted(request):
            return _problem(401, "The key is missing or wrong.", "invalid_api_key")
        return _json({"object": "list", "data": [{"id": self._engine.model, "object": "model", "owned_by": "local"}]})

    async def chat(self, request: Request) -> Response:
        if not self._admitted(request):
            return _problem(401, "The key is missing or wrong.", "invalid_api_key")
        try:
            body = json.loads(await request.body())
        except ValueError:
            body = None
        if not isinstance(body, dict):
            return _problem(400, "The body must be a JSON object.", "invalid_request")
        if body.get("model") != self._engine.model:
            text = f"There is no model {body.get('model')!r} here, only {self._engine.model}."
            return _problem(404, text, "model_not_found")
        if body.get("stream"):
            return _problem(400, "Answers are not streamed here.", "unsupported_value")
        return await _unless_gone(request, self._answer(_bounded(body, self._engine.most_tokens)))

    async def _answer(self, body: dict[str, Any]) -> Response:
        try:
            # A client of its own for each answer: closing it closes the connection, by which the engine knows that
            # nobody waits any more.
            async with httpx2.AsyncClient(timeout=httpx2.Timeout(ANSWER_SECONDS, connect=10.0)) as client:
                answered = await client.post(
                    f"{self._engine.address}/v1/chat/completions",
                    json=body,
                    headers={"Authorization": f"Bearer {self._engine.key}"},
                )
            data = answered.json()
        except (httpx2.HTTPError, ValueError) as error:
            return _problem(502, f"The engine did not answer: {type(error).__name__}.", "engine_failed")
        if answered.status_code != 200:
            return _engine_problem(answered.status_code, data)
        return _json(with_text_calls(data, _offered(body)))

    def _admitted(self, request: Request) -> bool:
        scheme, _, given = request.headers.get("authorization", "").partition(" ")
        return scheme.lower() == "bearer" and hmac.compare_digest(given.strip().encode(), self._key.encode())


def with_text_calls(answer: Any, offered: frozenset[str]) -> Any:
    """The engine's answer, with calls that its text consists of as `tool_calls`; unchanged when there are none.

    An answer that was cut off, or that has real calls, is never touched.
    """
    given = answer.get("choices") if isinstance(answer, dict) else None
    choices = given if isinstance(given, list) else []
    choice = choices[0] if choices else None
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(choice, dict) or not isinstance(message, dict) or not offered:
        return answer
    content = message.get("content")
    if choice.get("finish_reason") != "stop" or message.get("tool_calls") or not isinstance(content, str):
        return answer
    calls = read_calls(content, offered)
    if not calls:
        return answer
    stem = str(answer.get("id") or "").removeprefix("chatcmpl-")
    made = [
        {
            "id": f"{ID_PREFIX}{stem}_{number}",
            "type": "function",
            "function": {"name": call.name, "arguments": call.arguments},
        }
        for number, call in enumerate(calls)
    ]
    read = {**choice, "finish_reason": "tool_calls", "message": {**message, "content": None, "tool_calls": made}}
    return {**answer, "choices": [read, *choices[1:]], "calls_read_from_text": len(made)}


def _offered(body: dict[str, Any]) -> frozenset[str]:
    """The names of the tools that this request offers; none when it forbids calls."""
    tools = body.get("tools")
    if not isinstance(tools, list) or body.get("tool_choice") == "none":
        return frozenset()
    functions = [tool.get("function") for tool in tools if isinstance(tool, dict)]
    names = [function.get("name") for function in functions if isinstance(function, dict)]
    return frozenset(name for name in names if isinstance(name, str))


def _bounded(body: dict[str, Any], most: int) -> dict[str, Any]:
    """The request with a limit of the answer's length: its own, or ours where that is lower."""
    asked = [value for key in _LIMITS if isinstance(value := body.get(key), int) and not isinstance(value, bool)]
    kept = {key: value for key, value in body.items() if key not in _LIMITS}
    return {**kept, "max_tokens": max(1, min([most, *asked]))}


async def _unless_gone(request: Request, answering: Coroutine[Any, Any, Response]) -> Response:
    """The answer; given up when the client goes away before it is there."""
    answer = asyncio.ensure_future(answering)
    gone = asyncio.ensure_future(_disconnected(request))
    try:
        await asyncio.wait({answer, gone}, return_when=asyncio.FIRST_COMPLETED)
        if answer.done():
            return answer.result()
        return Response(status_code=_CLIENT_IS_GONE)
    finally:
        answer.cancel()
        gone.cancel()
        await asyncio.gather(answer, gone, return_exceptions=True)


async def _disconnected(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _engine_problem(status: int, data: Any) -> Response:
    error = data.get("error") if isinstance(data, dict) else None
    details = error if isinstance(error, dict) else {}
    kind = str(details.get("type") or "engine_failed")
    # The name that OpenAI's service has for it.
    code = "context_length_exceeded" if kind == "exceed_context_size_error" else kind
    return _problem(status, str(details.get("message") or "The engine gave no reason."), code)


def _problem(status: int, message: str, code: str) -> Response:
    kind = "invalid_request_error" if status < 500 else "server_error"
    return _json({"error": {"message": message, "type": kind, "param": None, "code": code}}, status)


def _json(data: Any, status: int = 200) -> Response:
    # Escaped, so that whatever a model writes can be sent.
    return Response(json.dumps(data).encode("ascii"), status, media_type="application/json")
