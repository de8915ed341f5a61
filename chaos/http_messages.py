"""As much of HTTP/1.1 as the gateway needs: one request, one answer, and the connection is closed."""

from __future__ import annotations

import asyncio
import base64
from dataclasses import dataclass
from http import HTTPStatus

MOST_BYTES = 32 * 1024 * 1024
CREATING_TOOLS = (b"create_spoke_pull_request",)


class BadMessage(ValueError):
    """The bytes are no request that the gateway can read."""


@dataclass(frozen=True)
class Request:
    """`head` are the lines before the body, the request line first."""

    head: tuple[str, ...]
    body: bytes

    @property
    def creates(self) -> bool:
        """Whether it is a tool call that opens a pull request."""
        return b'"tools/call"' in self.body and any(tool in self.body for tool in CREATING_TOOLS)

    def carries(self, token: str) -> bool:
        """Whether the token is there, plain or as the password of basic authentication."""
        forms = (token, base64.b64encode(f":{token}".encode()).decode("ascii"))
        lines = [line for line in self.head if line.lower().startswith("authorization:")]
        return any(line.endswith(f" {form}") for line in lines for form in forms)

    def forwarded(self, host: str, authorization: str) -> bytes:
        """The request for the service behind: its own name and credentials, and no second request to follow."""
        dropped = (
            "host:",
            "authorization:",
            "connection:",
            "content-length:",
            "transfer-encoding:",
            "accept-encoding:",
        )
        kept = [line for line in self.head[1:] if not line.lower().startswith(dropped)]
        own = [f"Host: {host}", f"Authorization: {authorization}", "Connection: close"]
        if self.body or not self.head[0].startswith(("GET ", "DELETE ", "OPTIONS ")):
            own.append(f"Content-Length: {len(self.body)}")
        return "\r\n".join([self.head[0], *kept, *own, "", ""]).encode("latin-1") + self.body


async def read_request(reader: asyncio.StreamReader) -> Request:
    """Read one request with its whole body.

    Raises:
        BadMessage: it is not HTTP, or too long.
        asyncio.IncompleteReadError: the caller went away.
    """
    try:
        raw = await reader.readuntil(b"\r\n\r\n")
    except asyncio.LimitOverrunError as error:
        raise BadMessage("the head is too long") from error
    head = tuple(raw.decode("latin-1").split("\r\n")[:-2])
    names = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:])}
    if names.get("transfer-encoding", "").lower() == "chunked":
        return Request(head, await _chunks(reader))
    length = names.get("content-length", "0")
    if not length.isdigit() or int(length) > MOST_BYTES:
        raise BadMessage(f"a body of {length} bytes")
    return Request(head, await reader.readexactly(int(length)))


async def _chunks(reader: asyncio.StreamReader) -> bytes:
    body = b""
    while True:
        size = int((await reader.readuntil(b"\r\n")).split(b";")[0], 16)
        if size > MOST_BYTES - len(body):
            raise BadMessage("a body that does not end")
        body += (await reader.readexactly(size + 2))[:-2]
        if size == 0:
            return body


def response(status: int, body: str, headers: dict[str, str] | None = None) -> bytes:
    """An answer of the gateway's own."""
    content = body.encode()
    lines = [f"HTTP/1.1 {status} {HTTPStatus(status).phrase}", f"Content-Length: {len(content)}", "Connection: close"]
    named = {"Content-Type": "application/json", **(headers or {})}
    return "\r\n".join([*lines, *(f"{name}: {value}" for name, value in named.items()), "", ""]).encode() + content


def rewritten_head(head: bytes) -> bytes:
    """The head of an answer from behind, saying that the connection ends with it."""
    lines = [line for line in head.split(b"\r\n") if not line.lower().startswith((b"connection:", b"keep-alive:"))]
    return b"\r\n".join([*lines, b"Connection: close"])
