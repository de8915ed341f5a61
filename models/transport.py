"""HTTP connections: one TLS context for the process, because making one costs more than a whole model call."""

from __future__ import annotations

import functools
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable

import httpx2

CONNECT_TIMEOUT_S = 10.0

MAX_ANSWER_BYTES = 32 * 1024 * 1024
"""Largest single answer that is read: a service that does not stop must not fill the memory. A stream of events has a
limit for each event instead."""

EVENT_STREAM = "text/event-stream"


class AnswerTooLarge(httpx2.ReadError):
    """An answer had more than MAX_ANSWER_BYTES, and reading stopped there."""


@functools.cache
def tls_context() -> ssl.SSLContext:
    """The process's TLS context with the usual certificate authorities. Takes some 40 ms the first time."""
    return httpx2.create_ssl_context()


def http_client(
    read_timeout_s: float,
    *,
    token: str = "",
    headers: dict[str, str] | None = None,
    follow_redirects: bool = False,
    on_response: Callable[[httpx2.Response], Awaitable[None]] | None = None,
    event_streams: bool = False,
) -> httpx2.AsyncClient:
    """A new connection pool. The caller closes it. `token` is sent as a bearer token with every request.

    `on_response` gets each response before its body is read. With `event_streams`, the caller limits the events of a
    stream itself.
    """
    authorization = {"Authorization": f"Bearer {token}"} if token else {}
    cap = functools.partial(_cap, event_streams=event_streams)
    hooks: list[Callable[..., Awaitable[None]]] = [cap, *([on_response] if on_response else [])]
    return httpx2.AsyncClient(
        verify=tls_context(),
        timeout=httpx2.Timeout(read_timeout_s, connect=CONNECT_TIMEOUT_S),
        headers={**(headers or {}), **authorization},
        follow_redirects=follow_redirects,
        event_hooks={"response": hooks},
    )


async def _cap(response: httpx2.Response, *, event_streams: bool) -> None:
    if not event_streams or not response.headers.get("Content-Type", "").startswith(EVENT_STREAM):
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        response.stream = _Capped(response.stream)


class _Capped(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        read = 0
        async for part in self._stream:
            read += len(part)
            if read > MAX_ANSWER_BYTES:
                raise AnswerTooLarge(f"more than {MAX_ANSWER_BYTES} bytes")
            yield part

    async def aclose(self) -> None:
        await self._stream.aclose()
