"""The HTTP server that everything here is served by."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import uvicorn
    from starlette.types import ASGIApp

STOP_SECONDS = 2
"""How long requests that are being answered may take once the server is told to stop."""


def server_of(app: ASGIApp) -> uvicorn.Server:
    """A server for an application: quiet, and without a hand on the signals, because it may share its process."""
    import uvicorn

    class Server(uvicorn.Server):
        @contextlib.contextmanager
        def capture_signals(self) -> Iterator[None]:
            yield

    return Server(
        uvicorn.Config(
            app,
            log_config=None,
            access_log=False,
            lifespan="on",
            ws="none",
            proxy_headers=False,
            server_header=False,
            timeout_keep_alive=120,
            timeout_graceful_shutdown=STOP_SECONDS,
        )
    )
