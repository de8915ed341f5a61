"""How one request reaches a pull-request host: with `requests`, or, on this machine, without it.

Importing `requests` costs a process about 90 ms, more than an assertion or a hook does otherwise, and each of them is a
new process. A host on this machine's loopback interface needs none of what `requests` is for (TLS, proxies, pools), so
it is asked with the standard library.
"""

from __future__ import annotations

import http.client
import ipaddress
from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol
from urllib.parse import urlencode, urlsplit

from episodes.frozen import frozen

if TYPE_CHECKING:
    from requests import PreparedRequest


MAX_ANSWER_BYTES = 32 * 1024 * 1024
"""Largest answer that is read: a host that does not stop must not fill the memory."""


CHUNK_BYTES = 1024 * 1024
_TOO_LARGE = "AnswerTooLarge"


class NoAnswerError(Exception):
    """No answer came. The text is the kind of trouble only: the original one can hold the address with its query."""


@frozen
class Request:
    """One request. `query` is added to the one in `url`; the two times are in seconds."""

    method: str
    url: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes | None
    connect_s: float
    read_s: float


@frozen
class Response:
    """One answer. Names of headers are in lower case."""

    status: int
    headers: Mapping[str, str]
    content: bytes


class Transport(Protocol):
    """Sends single requests, follows no redirect, and raises NoAnswerError. Not for several threads at once."""

    def send(self, request: Request) -> Response: ...

    def close(self) -> None: ...


def transport_for(base_url: str) -> Transport:
    """The transport for an API's base address."""
    return LoopbackTransport(base_url) if is_loopback(base_url) else SessionTransport()


def is_loopback(url: str) -> bool:
    """Whether an address is plain HTTP to this machine."""
    parts = urlsplit(url)
    if parts.scheme != "http":
        return False
    try:
        return parts.hostname == "localhost" or ipaddress.ip_address(parts.hostname or "").is_loopback
    except ValueError:
        return False


class LoopbackTransport:
    """One connection, kept alive, to a server on this machine."""

    def __init__(self, base_url: str) -> None:
        parts = urlsplit(base_url)
        self._host, self._port = parts.hostname or "", parts.port or 80
        self._connection: http.client.HTTPConnection | None = None

    def send(self, request: Request) -> Response:
        parts = urlsplit(request.url)
        target = (parts.path or "/") + "".join(f"?{text}" for text in [_query(parts.query, request.query)] if text)
        try:
            connection = self._connected(request.connect_s, request.read_s)
            connection.request(request.method, target, request.body, dict(request.headers))
            answer = connection.getresponse()
            content = answer.read(MAX_ANSWER_BYTES + 1)
            if len(content) > MAX_ANSWER_BYTES:
                self.close()
                raise NoAnswerError(_TOO_LARGE)
            return Response(answer.status, {name.lower(): value for name, value in answer.headers.items()}, content)
        except (OSError, http.client.HTTPException) as error:
            self.close()
            raise NoAnswerError(type(error).__name__) from None

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _connected(self, connect_s: float, read_s: float) -> http.client.HTTPConnection:
        if self._connection is None:
            self._connection = http.client.HTTPConnection(self._host, self._port, timeout=connect_s)
            self._connection.connect()
        elif self._connection.sock is None:
            self._connection.connect()
        self._connection.sock.settimeout(read_s)
        return self._connection


class SessionTransport:
    """`requests`, with its proxies, certificates and connection pool."""

    def __init__(self) -> None:
        import requests

        self._no_answer = requests.RequestException
        self._session = requests.Session()
        # As an auth object that changes nothing, so that a .netrc file can not replace the header that is given.
        self._session.auth = _unchanged

    def send(self, request: Request) -> Response:
        try:
            answer = self._session.request(
                request.method,
                request.url,
                params=dict(request.query),
                headers=dict(request.headers),
                data=request.body,
                timeout=(request.connect_s, request.read_s),
                allow_redirects=False,
                stream=True,
            )
            content = b""
            # Decoded as it comes, so that a small packed answer can not become a huge one.
            for part in answer.iter_content(CHUNK_BYTES):
                content += part
                if len(content) > MAX_ANSWER_BYTES:
                    answer.close()
                    raise NoAnswerError(_TOO_LARGE)
        except self._no_answer as error:
            raise NoAnswerError(type(error).__name__) from None
        headers = {name.lower(): value for name, value in answer.headers.items()}
        return Response(answer.status_code, headers, content)

    def close(self) -> None:
        self._session.close()


def _unchanged(request: PreparedRequest) -> PreparedRequest:
    return request


def _query(given: str, more: Mapping[str, str]) -> str:
    return "&".join(part for part in (given, urlencode(more)) if part)
