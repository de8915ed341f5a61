"""Azure OpenAI without a key: the token of a signed-in identity is used instead."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from endpoints import ModelEndpoint
from models import entra, service
from models.deadline import Deadline
from models.protocol import ModelFailure, ModelRequest
from models.settings import parse_model_settings
from tests.support.scripted_model import Say, scripted_model

TOKEN = "token-of-the-managed-identity"


@pytest.fixture
def identity(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The identity endpoint that Azure gives to a program that runs there; yields the scopes it was asked for."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.extend(parse_qs(urlsplit(self.path).query)["resource"])
            body = {"access_token": TOKEN, "expires_on": str(int(time.time()) + 3600), "token_type": "Bearer"}
            content = json.dumps(body).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: Any) -> None:
            """Quiet: a test's output is its own."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    monkeypatch.setenv("IDENTITY_ENDPOINT", f"http://127.0.0.1:{server.server_address[1]}/token")
    monkeypatch.setenv("IDENTITY_HEADER", "header-of-the-test")
    entra.default_credential.cache_clear()
    try:
        yield asked
    finally:
        entra.default_credential.cache_clear()
        server.shutdown()
        server.server_close()
        thread.join()


async def ask(url: str, times: int) -> list[str]:
    endpoint = ModelEndpoint("azure", url, None, "2024-10-21")
    async with service.open_model(endpoint, parse_model_settings({"model": "deployment"})) as model:
        request = ModelRequest(messages=[{"role": "user", "content": "hello"}])
        return [(await model.complete(request, Deadline.after(20))).text for _ in range(times)]


def test_without_a_key_azure_gets_the_token_of_the_signed_in_identity(identity: list[str]) -> None:
    with scripted_model(Say("a"), Say("b")) as model:
        assert asyncio.run(ask(model.url.removesuffix("/v1"), 2)) == ["a", "b"]
    assert [asked.headers["authorization"] for asked in model.asked] == [f"Bearer {TOKEN}"] * 2
    assert "api-key" not in model.asked[0].headers
    assert identity == ["https://cognitiveservices.azure.com"]


def test_where_nobody_is_signed_in_the_failure_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    # Only the ways that need no other machine are left to try.
    monkeypatch.setenv("AZURE_TOKEN_CREDENTIALS", "dev")
    entra.default_credential.cache_clear()
    with scripted_model() as model, pytest.raises(ModelFailure) as raised:
        asyncio.run(ask(model.url.removesuffix("/v1"), 1))
    entra.default_credential.cache_clear()
    assert raised.value.kind == "authentication"
    assert raised.value.problem.startswith("no sign-in with Entra ID works here (try az login): ")
    assert model.asked == []
