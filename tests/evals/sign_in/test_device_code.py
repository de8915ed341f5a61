"""Signing in where there is no browser: a code that is typed elsewhere."""

from __future__ import annotations

import os
import threading
import time
from typing import Any

import pytest
import requests
from authlib.integrations.requests_client import OAuth2Session

from evals.command_line import CommandError
from evals.sign_in.browser import has_browser
from evals.sign_in.device_code import Started, poll
from evals.sign_in.provider import discover
from evals.sign_in.session import signed_in, way_in
from evals.sign_in.tokens import SignInError
from tests.support.openid_provider import USER, OpenIdProvider


def type_the_code(provider: OpenIdProvider) -> threading.Thread:
    """A person reads the terminal and types the code into the provider's page, on another machine."""

    def read_and_type() -> None:
        deadline = time.monotonic() + 30
        while not provider.devices:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        (device,) = provider.devices.values()
        requests.post(f"{provider.url}/device", {"user_code": device["user_code"]}, timeout=10)

    thread = threading.Thread(target=read_and_type)
    thread.start()
    return thread


def test_a_person_signs_in_with_a_code_that_is_shown(
    provider: OpenIdProvider, capsys: pytest.CaptureFixture[str]
) -> None:
    thread = type_the_code(provider)
    with signed_in(device=True) as sentence:
        assert os.environ["EVALS_PORTAL_TOKEN"] in provider.valid
    thread.join()
    assert sentence == f"Signed in as {USER} (renewed while the run goes on)."
    printed = capsys.readouterr().err
    (device,) = provider.devices.values()
    assert f"open {provider.url}/device in any browser and enter the code {device['user_code']} (within 10" in printed
    assert [secret for secret in provider.issued if secret in printed] == []
    assert provider.asks("/device_authorization")[0]["scope"] == "openid profile offline_access"
    assert provider.asks("/authorize") == []


def test_a_provider_that_names_nobody_still_signs_in(provider: OpenIdProvider) -> None:
    provider.token_answer = {"id_token": None}
    thread = type_the_code(provider)
    with signed_in(device=True) as sentence:
        assert sentence.startswith("Signed in as somebody whom the provider does not name (")
    thread.join()


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"offers_devices": False}, "The provider offers no device code, and there is no browser here"),
        ({"denies": True}, "The provider refused the sign-in: access_denied"),
        ({"client_id": "another"}, r"The provider gives no device code \(HTTP 400 invalid_client\)"),
        ({"claims": {"aud": "another-program"}}, "The provider's id token is not to be trusted"),
        ({"device_seconds": 1}, "Nobody signed in while the code was valid"),
    ],
)
def test_what_is_not_right_signs_nobody_in(provider: OpenIdProvider, wrong: dict[str, Any], sentence: str) -> None:
    for name, setting in wrong.items():
        setattr(provider, name, setting)
    thread = type_the_code(provider) if "claims" in wrong else None
    with pytest.raises(CommandError, match=sentence), signed_in(device=True):
        pass
    if thread is not None:
        thread.join()


def polled(provider: OpenIdProvider, lasts: float = 100.0) -> list[float]:
    """The waits between the questions, without waiting."""
    waits: list[float] = []
    session = OAuth2Session(provider.client_id)
    poll(session, discover(provider.url), Started("the-code", 2.0, lasts), waits.append)
    return waits


def test_it_asks_no_more_often_than_the_provider_wants(provider: OpenIdProvider) -> None:
    provider.devices["the-code"] = {"user_code": "A", "user": USER}
    provider.slow_downs = 2
    assert polled(provider) == [2.0, 7.0, 12.0]


def test_a_code_that_the_provider_has_forgotten_ends_the_wait(provider: OpenIdProvider) -> None:
    with pytest.raises(SignInError, match="Nobody signed in while the code was valid"):
        polled(provider)


@pytest.mark.parametrize(
    ("environment", "platform", "expected"),
    [
        ({}, "linux", False),
        ({"BROWSER": "firefox"}, "linux", True),
        ({"BROWSER": "firefox", "SSH_CONNECTION": "a"}, "darwin", True),
        ({}, "darwin", True),
        ({"SSH_CONNECTION": "a"}, "darwin", False),
        ({"SSH_TTY": "/dev/pts/1"}, "win32", False),
    ],
)
def test_a_browser_on_the_far_side_of_ssh_is_none(environment: dict[str, str], platform: str, expected: bool) -> None:
    assert has_browser(environment, platform) is expected


@pytest.mark.parametrize(
    ("variables", "device", "expected"),
    [
        ({"BROWSER": "firefox"}, False, "browser"),
        ({"BROWSER": "firefox"}, True, "device"),
        ({}, False, "device"),
        ({"BROWSER": "firefox", "CI": "true"}, False, "nobody"),
        ({"CI": "true"}, True, "device"),
        ({"BROWSER": "firefox", "CI": "false"}, False, "browser"),
    ],
)
def test_the_way_in_is_the_browser_unless_there_is_none_or_nobody(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], device: bool, expected: str
) -> None:
    for name in ("BROWSER", "CI", "DISPLAY", "WAYLAND_DISPLAY", "WSL_DISTRO_NAME"):
        monkeypatch.delenv(name, raising=False)
    for name, text in variables.items():
        monkeypatch.setenv(name, text)
    assert way_in(device) == expected
