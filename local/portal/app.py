"""The portal as one web application: tools over MCP, the REST interface, and the pages of pull requests."""

from __future__ import annotations

import functools

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route

from local.portal.addresses import ORGANISATION
from local.portal.devops.router import Router
from local.portal.guard import IDENTITY, PAGE, Guard, Tokens
from local.portal.page import HEADERS, missing_page, pull_request_page
from local.portal.pull_requests import PullRequestError
from local.portal.state import PortalState
from local.portal.tools import build_server

MAX_BODY = 4 * 1024 * 1024
"""Bytes of a request's content that are read; more is answered with 413."""

_METHODS = ["GET", "HEAD", "POST", "PATCH", "PUT", "DELETE", "OPTIONS"]


def build_app(state: PortalState, tokens: Tokens, port: int) -> Guard:
    """The portal for an open state, listening on `port`. Start it with its lifespan: the MCP endpoint needs it."""
    app = build_server(state).streamable_http_app(
        streamable_http_path="/mcp", json_response=True, stateless_http=True, host="127.0.0.1"
    )
    app.router.routes.extend(_routes(state))
    return Guard(app, tokens, port)


def _routes(state: PortalState) -> list[Route]:
    router = Router(state)

    async def organisation(request: Request) -> Response:
        if PAGE.fullmatch(request.scope["path"]):
            return await run_in_threadpool(_page, state, request.scope["path"])
        content = bytearray()
        async for chunk in request.stream():
            content += chunk
            if len(content) > MAX_BODY:
                return PlainTextResponse("The request is too large.\n", 413)
        answer = functools.partial(
            router.answer,
            request.method,
            request.scope["path"],
            request.scope["query_string"].decode("latin-1"),
            request.headers.get("accept", ""),
            bytes(content),
            request.scope[IDENTITY],
        )
        # Most reads take a fraction of a millisecond; changing threads twice for them would take longer.
        return answer() if router.is_quick(request.method, request.scope["path"]) else await run_in_threadpool(answer)

    return [
        Route(f"/{ORGANISATION}", organisation, methods=_METHODS),
        Route(f"/{ORGANISATION}/{{path:path}}", organisation, methods=_METHODS),
    ]


def _page(state: PortalState, path: str) -> Response:
    number = int(path.rstrip("/").rpartition("/")[2])
    try:
        row = state.pull_requests.get(number)
    except PullRequestError:
        return HTMLResponse(missing_page(), 404, headers=HEADERS)
    html = pull_request_page(row, state.pull_requests.changes(row), state.repository)
    return HTMLResponse(html, headers=HEADERS)
