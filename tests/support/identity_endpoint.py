"""The identity endpoint that Azure gives to a program that runs there."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from models import entra
from tests.support.loopback_server import served


@contextmanager
def identity_endpoint(token_for: Callable[[str], str], patch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """This machine has a managed identity; yields the resources it was asked for. `token_for` makes their tokens."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            (resource,) = parse_qs(urlsplit(self.path).query)["resource"]
            asked.append(resource)
            token = {"access_token": token_for(resource), "token_type": "Bearer"}
            content = json.dumps({**token, "expires_on": str(int(time.time()) + 3600)}).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: Any) -> None:
            """Quiet: a test's output is its own."""

    with served(Handler) as url:
        patch.setenv("IDENTITY_ENDPOINT", f"{url}/token")
        patch.setenv("IDENTITY_HEADER", "header-of-the-test")
        entra.default_credential.cache_clear()
        try:
            yield asked
        finally:
            entra.default_credential.cache_clear()
