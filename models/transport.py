"""HTTP connections: one TLS context for the process, because making one costs more than a whole model call."""

from __future__ import annotations

import functools
import ssl

import httpx2

CONNECT_TIMEOUT_S = 10.0


@functools.cache
def tls_context() -> ssl.SSLContext:
    """The process's TLS context with the usual certificate authorities. Takes some 40 ms the first time."""
    return httpx2.create_ssl_context()


def http_client(
    read_timeout_s: float, *, token: str = "", headers: dict[str, str] | None = None, follow_redirects: bool = False
) -> httpx2.AsyncClient:
    """A new connection pool. The caller closes it. `token` is sent as a bearer token with every request."""
    authorization = {"Authorization": f"Bearer {token}"} if token else {}
    return httpx2.AsyncClient(
        verify=tls_context(),
        timeout=httpx2.Timeout(read_timeout_s, connect=CONNECT_TIMEOUT_S),
        headers={**(headers or {}), **authorization},
        follow_redirects=follow_redirects,
    )
