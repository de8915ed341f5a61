"""Signing in with Entra ID: azure-identity itself, talking to a provider on this machine."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from endpoints import ModelEndpoint
from endpoints.settings import SETTINGS
from endpoints.sign_in import fresh_token
from evals.command_line import CommandError
from evals.sign_in.entra import name_in
from evals.sign_in.session import signed_in
from models import entra
from models.deadline import Deadline
from models.protocol import ModelRequest
from models.service import open_model
from models.settings import parse_model_settings
from tests.support.certificate import loopback_certificate
from tests.support.identity_endpoint import identity_endpoint
from tests.support.openid_provider import USER, OpenIdProvider, openid_provider
from tests.support.scripted_model import Say, scripted_model

PORTAL_SCOPE = "api://portal/.default"


@pytest.fixture
def entra_settings(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A portal and a model that both want Entra ID, on a machine where nobody is signed in."""
    for name in (*(setting.name for setting in SETTINGS), "CI"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("EVALS_SIGN_IN", "entra")
    monkeypatch.setenv("EVALS_SIGN_IN_SCOPE", PORTAL_SCOPE)
    monkeypatch.setenv("EVALS_PORTAL_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", "http://127.0.0.1:9")
    # Only a way that needs no other machine is tried.
    monkeypatch.setenv("AZURE_TOKEN_CREDENTIALS", "EnvironmentCredential")
    entra.default_credential.cache_clear()
    yield
    entra.default_credential.cache_clear()


def unsigned(claims: dict[str, Any]) -> str:
    parts = [base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in ({}, claims)]
    return ".".join([*parts, "signature"])


@pytest.fixture
def identity(monkeypatch: pytest.MonkeyPatch, entra_settings: None) -> Iterator[list[str]]:
    """A managed identity; yields the resources it was asked for."""
    assert entra_settings is None
    monkeypatch.setenv("AZURE_TOKEN_CREDENTIALS", "ManagedIdentityCredential")
    with identity_endpoint(
        lambda resource: unsigned({"app_displayname": "pipeline", "aud": resource}), monkeypatch
    ) as asked:
        yield asked


@pytest.fixture
def cloud(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, entra_settings: None) -> Iterator[OpenIdProvider]:
    """An authority over HTTPS, which azure-identity insists on."""
    assert entra_settings is None
    context, trusted = loopback_certificate(tmp_path)
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(trusted))
    with openid_provider(context) as provider:
        monkeypatch.setenv("AZURE_AUTHORITY_HOST", provider.url)
        monkeypatch.setenv("AZURE_TENANT_ID", "tenant")
        monkeypatch.setenv("EVALS_SIGN_IN_CLIENT_ID", provider.client_id)
        yield provider


def ask_model(url: str) -> str:
    async def once() -> str:
        endpoint = ModelEndpoint("azure", url, None, "2024-10-21")
        async with open_model(endpoint, parse_model_settings({"model": "deployment"})) as model:
            request = ModelRequest(messages=[{"role": "user", "content": "hello"}])
            return (await model.complete(request, Deadline.after(20))).text

    return asyncio.run(once())


def test_whoever_is_signed_in_on_this_machine_is_taken_for_portal_and_model(identity: list[str]) -> None:
    with signed_in() as sentence, scripted_model(Say("hi")) as model:
        assert sentence == "Signed in as pipeline (renewed while the run goes on)."
        assert identity == ["api://portal", "https://cognitiveservices.azure.com"]
        portal, azure = (unsigned({"app_displayname": "pipeline", "aud": resource}) for resource in identity)
        assert os.environ["EVALS_PORTAL_TOKEN"] == fresh_token("portal") == portal
        assert ask_model(model.url.removesuffix("/v1")) == "hi"
    assert model.asked[0].headers["authorization"] == f"Bearer {azure}"
    assert len(identity) == 2


def test_a_pipeline_may_be_signed_in_by_its_own_identity(identity: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")
    monkeypatch.setenv("AZURE_OPENAI_API_KEY", "key-of-the-model")
    with signed_in():
        assert fresh_token("model") is None
    assert identity == ["api://portal"]


def test_else_a_person_signs_in_once_for_both(cloud: OpenIdProvider, capsys: pytest.CaptureFixture[str]) -> None:
    def type_the_code() -> None:
        deadline = time.monotonic() + 30
        while not cloud.devices:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        (device,) = cloud.devices.values()
        cloud.confirm_device(device["user_code"])

    thread = threading.Thread(target=type_the_code)
    thread.start()
    with signed_in(device=True) as sentence:
        assert sentence == f"Signed in as {USER} (renewed while the run goes on)."
        assert {fresh_token("portal"), fresh_token("model")} <= cloud.valid
        assert fresh_token("portal") != fresh_token("model")
    thread.join()
    (device,) = cloud.devices.values()
    assert cloud.asks("/device_authorization")[0]["scope"].split()[0] == PORTAL_SCOPE
    printed = capsys.readouterr().err
    assert f"open {cloud.url}/device in any browser and enter the code {device['user_code']}" in printed
    assert [secret for secret in cloud.issued if secret in printed] == []


def test_a_refused_sign_in_is_one_sentence(cloud: OpenIdProvider) -> None:
    cloud.denies = True
    refused = pytest.raises(CommandError, match=r"Entra ID refused the sign-in: .*access_denied")
    with refused as raised, signed_in(device=True):
        pass
    assert str(raised.value).isprintable()


@pytest.mark.usefixtures("entra_settings")
def test_a_pipeline_without_an_identity_waits_for_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")
    sentence = r"For the portal, no sign-in with Entra ID works here \(try az login\)"
    with pytest.raises(CommandError, match=sentence), signed_in():
        pass


@pytest.mark.usefixtures("entra_settings")
def test_without_its_package_the_sentence_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "azure.identity", None)
    sentence = "EVALS_SIGN_IN is entra, and Entra ID needs the package azure-identity: install it"
    with pytest.raises(CommandError, match=sentence), signed_in():
        pass


@pytest.mark.parametrize("token", ["", "opaque", "a.b.c", "a.bm90IGpzb24.c", unsigned({}), "a.WzFd.c"])
def test_a_token_that_names_nobody_is_somebodys(token: str) -> None:
    assert name_in(token) == "somebody"
