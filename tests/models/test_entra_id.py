"""Azure OpenAI without a key: the token of a signed-in identity is used instead."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from endpoints import ModelEndpoint
from models import entra, service
from models.deadline import Deadline
from models.protocol import ModelFailure, ModelRequest
from models.settings import parse_model_settings
from tests.support.identity_endpoint import identity_endpoint
from tests.support.scripted_model import Say, scripted_model

TOKEN = "token-of-the-managed-identity"


@pytest.fixture
def identity(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """A managed identity; yields the resources it was asked for."""
    with identity_endpoint(lambda _: TOKEN, monkeypatch) as asked:
        yield asked


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
