"""The HTTP server of the stand-ins: paths, keys, errors and faults.

Served, without streaming: `POST /v1/chat/completions`, `GET /v1/models`, `GET /v1/models/{model}`, and for Azure
clients `POST /openai/deployments/{deployment}/chat/completions?api-version=…` with the header `api-key`.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import os
from collections.abc import Awaitable, Callable
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from .faults import Attempts, Dice, Faults, parse_faults
from .problems import RequestProblem
from .protocol import CREATED, completion, draft, parse_request
from .standins import STANDINS

_MOST_BYTES = 16 * 1024 * 1024
FAULTS_HEADER = "x-standin-faults"
ATTEMPT_HEADER = "x-standin-attempt"
FAULTS_VARIABLE = "LOCAL_MODEL_FAULTS"

Handler = Callable[[Request], Awaitable[Response]]


class _Server:
    def __init__(self, key: str, faults: Faults) -> None:
        self._key = key
        self._faults = faults
        self._attempts = Attempts()

    async def chat(self, request: Request) -> Response:
        self._authorise(request)
        return await self._complete(request, None)

    async def azure_chat(self, request: Request) -> Response:
        self._authorise(request)
        if not request.query_params.get("api-version"):
            raise RequestProblem.invalid("The query parameter api-version is missing.", "api-version")
        return await self._complete(request, request.path_params["deployment"])

    async def models(self, request: Request) -> Response:
        self._authorise(request)
        return JSONResponse({"object": "list", "data": [_model(name) for name in STANDINS]})

    async def model(self, request: Request) -> Response:
        self._authorise(request)
        name = request.path_params["model"]
        if name not in STANDINS:
            raise RequestProblem.unknown_model(name, list(STANDINS), azure=False)
        return JSONResponse(_model(name))

    async def _complete(self, request: Request, deployment: str | None) -> Response:
        parsed = parse_request(await _json(request), deployment=deployment)
        standin = STANDINS.get(parsed.model)
        if standin is None:
            raise RequestProblem.unknown_model(parsed.model, list(STANDINS), azure=deployment is not None)
        dice = self._dice(request, parsed.digest)
        if dice.faults.latency:
            await asyncio.sleep(dice.faults.latency / 1000)
        dice.refuse()
        ready = dice.damage(draft(parsed, standin(parsed)))
        return JSONResponse(completion(parsed, ready))

    def _dice(self, request: Request, digest: str) -> Dice:
        header = request.headers.get(FAULTS_HEADER)
        faults = self._faults
        if header is not None:
            try:
                faults = parse_faults(header)
            except ValueError as problem:
                raise RequestProblem.invalid(f"{FAULTS_HEADER}: {problem}", FAULTS_HEADER) from problem
        given = request.headers.get(ATTEMPT_HEADER)
        if given is None:
            return Dice(faults, digest, self._attempts.next(f"{faults}/{digest}"))
        if not given.isdecimal():
            raise RequestProblem.invalid(f"{ATTEMPT_HEADER} must be a whole number.", ATTEMPT_HEADER)
        return Dice(faults, digest, int(given))

    def _authorise(self, request: Request) -> None:
        # Azure clients send `api-key`, or a bearer token when they signed in; the others send a bearer key.
        given = request.headers.get("api-key")
        if given is None:
            scheme, _, given = request.headers.get("authorization", "").partition(" ")
            given = given.strip() if scheme.lower() == "bearer" else ""
        if not hmac.compare_digest(given.encode(), self._key.encode()):
            raise RequestProblem.unauthorised("'Authorization: Bearer KEY' or 'api-key: KEY'")


def build_app(key: str) -> Starlette:
    """The application that serves all stand-ins.

    Args:
        key: what a client must send as bearer token or `api-key`; never empty.

    Raises:
        ValueError: the key is empty, or `LOCAL_MODEL_FAULTS` can not be read.
    """
    if not key:
        raise ValueError("the model server needs a key; an empty one would let everybody in")
    try:
        faults = parse_faults(os.environ.get(FAULTS_VARIABLE, ""))
    except ValueError as problem:
        raise ValueError(f"{FAULTS_VARIABLE}: {problem}") from problem
    server = _Server(key, faults)
    routes = [
        Route("/v1/chat/completions", server.chat, methods=["POST"]),
        Route("/v1/models", server.models, methods=["GET"]),
        Route("/v1/models/{model}", server.model, methods=["GET"]),
        Route("/openai/deployments/{deployment}/chat/completions", server.azure_chat, methods=["POST"]),
    ]
    return Starlette(
        routes=routes,
        exception_handlers={RequestProblem: _problem_answer, HTTPException: _http_answer, Exception: _crash_answer},
    )


def _model(name: str) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": CREATED, "owned_by": "local"}


async def _json(request: Request) -> object:
    body = await request.body()
    if len(body) > _MOST_BYTES:
        raise RequestProblem(413, f"The body is larger than {_MOST_BYTES} bytes.", "invalid_request_error", None)
    try:
        return json.loads(body)
    except ValueError as problem:
        raise RequestProblem.invalid(f"The body is not JSON: {problem}.", None) from problem


async def _problem_answer(_request: Request, problem: Exception) -> Response:
    # Starlette hands over the registered class only; the check tells the type checker so.
    assert isinstance(problem, RequestProblem)
    return JSONResponse(problem.body(), status_code=problem.status, headers=problem.headers)


async def _http_answer(request: Request, problem: Exception) -> Response:
    assert isinstance(problem, HTTPException)
    text = f"{problem.detail}: {request.method} {request.url.path}."
    error = RequestProblem(problem.status_code, text, "invalid_request_error", None, headers=problem.headers)
    return JSONResponse(error.body(), status_code=error.status, headers=error.headers)


async def _crash_answer(_request: Request, problem: Exception) -> Response:
    # Starlette logs the traceback itself; the client learns only what kind of fault it was.
    error = RequestProblem(500, f"The stand-in failed: {type(problem).__name__}.", "server_error", "internal_error")
    return JSONResponse(error.body(), status_code=500)
