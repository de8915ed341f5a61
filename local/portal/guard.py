"""Who may ask what: the check that every request passes before anything else looks at it.

- The `Host` header must name the portal itself (against DNS rebinding), else 421.
- An `Origin` header, which browsers send along, must be the portal's own, else 403. `null` is not.
- `/mcp` needs the portal's token as bearer token.
- The REST interface needs the token of the pull-request service, as bearer token or as the password of basic
  authentication (how Azure DevOps takes personal access tokens).
- One thing needs no token: a GET of a pull request's page, from this machine. A developer clicks its address in the
  viewer, and a browser has no token to send. The page is read-only, loads nothing, and can not be embedded.
"""

from __future__ import annotations

import base64
import binascii
import hmac
import ipaddress
import re
from dataclasses import dataclass

from starlette.datastructures import Headers
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from local.portal.addresses import ORGANISATION, PROJECT, REPOSITORY
from local.portal.identity import PORTAL, SERVICE, Identity

PAGE = re.compile(rf"/{ORGANISATION}/{PROJECT}/_git/{REPOSITORY}/pullrequest/[1-9][0-9]{{0,17}}/?", re.IGNORECASE)
"""Paths that are readable without a token."""

IDENTITY = "portal.identity"
"""Key of the ASGI scope under which the account of the request is found."""


@dataclass(frozen=True)
class Tokens:
    """The two tokens of this run. They are never written anywhere."""

    portal: str
    service: str

    def __repr__(self) -> str:
        return "Tokens(…)"


class Guard:
    """ASGI middleware around the whole portal."""

    def __init__(self, app: ASGIApp, tokens: Tokens, port: int) -> None:
        self._app = app
        self._hosts = frozenset({f"127.0.0.1:{port}", f"localhost:{port}"})
        self._origins = frozenset(f"http://{host}" for host in self._hosts)
        self._portal = tokens.portal.encode()
        self._service = tokens.service.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return
        refusal = self._refusal(scope)
        await (refusal or self._app)(scope, receive, send)

    def _refusal(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        if headers.get("host", "").lower() not in self._hosts:
            return PlainTextResponse("This address does not belong to the portal.\n", 421)
        if "origin" in headers and headers["origin"].lower() not in self._origins:
            return PlainTextResponse("Requests from other sites are refused.\n", 403)
        path: str = scope["path"]
        if PAGE.fullmatch(path):
            allowed = scope["method"] in ("GET", "HEAD") and _from_this_machine(scope)
            return None if allowed else PlainTextResponse("The page of a pull request can only be read.\n", 405)
        identity = self._identity(path, headers.get("authorization", ""))
        if identity is None:
            return _unauthorized(path)
        scope[IDENTITY] = identity
        return None

    def _identity(self, path: str, authorization: str) -> Identity | None:
        if path == "/mcp" or path.startswith("/mcp/"):
            return PORTAL if _same(_bearer(authorization), self._portal) else None
        return SERVICE if _same(_bearer(authorization) or _basic(authorization), self._service) else None


def _same(given: bytes, expected: bytes) -> bool:
    return bool(given) and hmac.compare_digest(given, expected)


def _bearer(authorization: str) -> bytes:
    scheme, _, token = authorization.partition(" ")
    return token.strip().encode("utf-8", "replace") if scheme.lower() == "bearer" else b""


def _basic(authorization: str) -> bytes:
    scheme, _, encoded = authorization.partition(" ")
    if scheme.lower() != "basic":
        return b""
    try:
        return base64.b64decode(encoded.strip(), validate=True).partition(b":")[2]
    except (binascii.Error, ValueError):
        return b""


def _from_this_machine(scope: Scope) -> bool:
    client = scope.get("client")
    try:
        return client is not None and ipaddress.ip_address(client[0]).is_loopback
    except ValueError:
        return False


def _unauthorized(path: str) -> Response:
    if path == "/mcp" or path.startswith("/mcp/"):
        body = {"error": "invalid_token", "error_description": "The portal's bearer token is missing or wrong."}
        return JSONResponse(body, 401, headers={"WWW-Authenticate": "Bearer"})
    refusal: dict[str, str | None] = {
        "$id": "1",
        "innerException": None,
        "message": "TF400813: The user is not authorized to access this resource.",
        "typeName": "Microsoft.TeamFoundation.Framework.Server.UnauthorizedRequestException, "
        "Microsoft.TeamFoundation.Framework.Server",
        "typeKey": "UnauthorizedRequestException",
    }
    response = JSONResponse(refusal, 401)
    response.headers.append("WWW-Authenticate", "Bearer")
    response.headers.append("WWW-Authenticate", 'Basic realm="portal"')
    return response
