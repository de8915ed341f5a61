"""A handler served over HTTP on a free port of this machine, for the length of a block."""

from __future__ import annotations

import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class _Server(ThreadingHTTPServer):
    # Clients keep connections open, or break them off, as they like.
    daemon_threads = True
    block_on_close = False

    def handle_error(self, *_: Any) -> None:
        """Quiet: a test's output is its own."""


@contextmanager
def served(handler: type[BaseHTTPRequestHandler], certificate: ssl.SSLContext | None = None) -> Iterator[str]:
    """Yields the address, without a path; HTTPS with a certificate."""
    server = _Server(("127.0.0.1", 0), handler)
    if certificate is not None:
        server.socket = certificate.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield f"http{'s' if certificate else ''}://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
