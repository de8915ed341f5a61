"""A provider, and a person who does in the browser what is asked of them, without one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import pytest
import requests

from endpoints.settings import SETTINGS
from evals.sign_in import openid
from tests.support.openid_provider import USER, OpenIdProvider, openid_provider

PORTAL = "http://127.0.0.1:9"


@dataclass
class Person:
    """Opens the address, signs in, and follows where the provider sends them. `before` is done first."""

    before: Callable[[str], object] = str
    addresses: list[str] = field(default_factory=list)
    answers: list[requests.Response] = field(default_factory=list)

    def open(self, address: str) -> None:
        self.addresses.append(address)
        self.before(address)
        page = requests.get(address, timeout=10)
        self.answers.append(page)
        if page.ok:
            self.answers.append(requests.post(address, {"user": USER}, timeout=10))


@pytest.fixture
def person(monkeypatch: pytest.MonkeyPatch) -> Person:
    person = Person()
    monkeypatch.setattr(openid, "open_browser", person.open)
    return person


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch, person: Person) -> Iterator[OpenIdProvider]:
    """A provider that the environment names, a portal that needs it, and a person in front of the browser."""
    assert person.addresses == []
    for setting in SETTINGS:
        monkeypatch.delenv(setting.name, raising=False)
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setenv("BROWSER", "true")
    monkeypatch.setenv("EVALS_PORTAL_URL", PORTAL)
    monkeypatch.setenv("EVALS_PULL_REQUEST_API", PORTAL)
    monkeypatch.setenv("EVALS_PULL_REQUEST_TOKEN", "host-secret")
    monkeypatch.setenv("EVALS_REPOSITORIES", "r")
    with openid_provider() as running:
        monkeypatch.setenv("EVALS_SIGN_IN_ISSUER", running.url)
        monkeypatch.setenv("EVALS_SIGN_IN_CLIENT_ID", running.client_id)
        yield running
