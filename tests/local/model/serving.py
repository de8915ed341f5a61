"""A model server on a free loopback port for as long as a block lasts."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import httpx2
import uvicorn

from local.model.app import build_app

KEY = "key-of-a-test"


@cache
def http() -> httpx2.Client:
    """One client for all requests: each of its own would read the machine's certificates anew, for 45 ms."""
    return httpx2.Client(timeout=60)


@contextmanager
def served_model(key: str = KEY) -> Iterator[str]:
    """Serve the stand-ins with uvicorn; yields the base URL, ending in /v1."""
    # As `local.ports` has it: with its protocol named, so that no answer is held back for 40 ms.
    listener = socket.socket(proto=socket.IPPROTO_TCP)
    listener.bind(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(build_app(key), log_config=None, lifespan="off"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive(), "the server did not start"
        time.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
    finally:
        server.should_exit = True
        thread.join(timeout=10)
        listener.close()
