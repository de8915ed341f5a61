"""The sign-in in the browser: what is sent, who is let in, and what is not believed."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import requests
from joserfc.jwk import RSAKey

from endpoints import SettingsError, resolve
from evals.command_line import CommandError
from evals.sign_in import openid
from evals.sign_in.loopback import Loopback
from evals.sign_in.session import signed_in
from tests.evals.sign_in.conftest import Person
from tests.support.openid_provider import USER, OpenIdProvider


def test_the_run_gets_the_token_in_its_environment_for_as_long_as_it_lasts(
    provider: OpenIdProvider, capsys: pytest.CaptureFixture[str]
) -> None:
    with signed_in() as sentence:
        assert sentence == f"Signed in as {USER} (renewed while the run goes on)."
        assert os.environ["EVALS_PORTAL_TOKEN"] in provider.valid
        assert Path(os.environ["EVALS_SIGN_IN_SOCKET"]).stat().st_mode & 0o777 == 0o600
    assert "EVALS_PORTAL_TOKEN" not in os.environ
    assert "EVALS_SIGN_IN_SOCKET" not in os.environ
    printed = capsys.readouterr()
    assert sentence in printed.err
    assert [secret for secret in provider.issued if secret in printed.out + printed.err] == []


def test_it_asks_with_pkce_a_state_a_nonce_and_an_address_on_this_machine(
    provider: OpenIdProvider, person: Person
) -> None:
    for _ in range(2):
        with signed_in():
            pass
    first, second = ({name: one for name, (one,) in parse_qs(urlsplit(it).query).items()} for it in person.addresses)
    assert first["response_type"] == "code"
    assert first["code_challenge_method"] == "S256"
    assert first["scope"] == "openid profile offline_access"
    assert urlsplit(first["redirect_uri"]).hostname == "127.0.0.1"
    for fresh in ("state", "nonce", "code_challenge", "redirect_uri"):
        assert first[fresh] != second[fresh], fresh
    # The provider has compared the verifier with the challenge; it is not in the address.
    assert provider.asks("/token")[0]["code_verifier"] not in person.addresses[0]


def test_the_sign_in_can_be_renewed_no_more_when_the_run_has_ended(provider: OpenIdProvider) -> None:
    with signed_in():
        assert len(provider.renewable) == 1
    assert provider.renewable == set()


def test_no_sign_in_is_made_where_a_token_is_set(provider: OpenIdProvider, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVALS_PORTAL_TOKEN", "a-token-of-a-pipeline")
    with signed_in() as sentence:
        assert sentence == ""
        assert resolve_token() == "a-token-of-a-pipeline"
    assert provider.asked == []


def resolve_token() -> str:
    # The model is the local one, which would be started for this.
    os.environ["EVALS_MODEL_BASE_URL"] = "http://127.0.0.1:9"
    try:
        return resolve().portal.token
    finally:
        del os.environ["EVALS_MODEL_BASE_URL"]


@pytest.mark.usefixtures("provider")
def test_without_a_sign_in_nothing_is_sent_to_the_portal() -> None:
    with pytest.raises(SettingsError, match="Nobody is signed in to the portal: start with `npm run eval`"):
        resolve_token()


@pytest.mark.usefixtures("provider")
def test_a_fixed_port_can_be_asked_for(person: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    with Loopback("state") as free:
        port = urlsplit(free.redirect_uri).port
        monkeypatch.setenv("EVALS_SIGN_IN_PORT", str(port))
        with pytest.raises(CommandError, match=f"EVALS_SIGN_IN_PORT: port {port} can not be used"), signed_in():
            pass
    with signed_in():
        assert urlsplit(parse_qs(urlsplit(person.addresses[-1]).query)["redirect_uri"][0]).port == port


@pytest.mark.usefixtures("provider")
def test_what_is_not_the_providers_answer_is_turned_away_and_the_wait_goes_on(person: Person) -> None:
    refused: list[requests.Response] = []

    def intrude(address: str) -> None:
        asked = parse_qs(urlsplit(address).query)
        back, state = asked["redirect_uri"][0], asked["state"][0]
        for target in (f"{back}?code=x&state=wrong", f"{back}?code=x", f"{back}/favicon.ico?state={state}"):
            refused.append(requests.get(target, timeout=10))
        refused.append(requests.get(f"{back}?code=x&code=y&state={state}", timeout=10))

    person.before = intrude
    with signed_in() as sentence:
        assert USER in sentence
    assert [answer.status_code for answer in refused] == [404] * 4
    page = person.answers[-1]
    assert page.status_code == 200
    assert page.headers["Cache-Control"] == "no-store"
    assert page.headers["Content-Security-Policy"].startswith("default-src 'none'")


def test_nothing_of_the_request_is_shown_on_the_page() -> None:
    with Loopback("the-state") as loopback:
        page = requests.get(f"{loopback.redirect_uri}?state=the-state&error=%3Cscript%3E", timeout=10)
        assert loopback.wait(10) == {"state": "the-state", "error": "<script>"}
    assert "<script>" not in page.text


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"denies": True}, "The provider refused the sign-in: access_denied not today"),
        ({"extra_parameters": {"iss": "https://other.example"}}, "The answer comes from another provider"),
        ({"claims": {"nonce": "another"}}, r"not to be trusted \(InvalidClaimError: .*nonce"),
        ({"claims": {"nonce": None}}, r"not to be trusted \(MissingClaimError: .*nonce"),
        ({"claims": {"iss": "https://other.example"}}, r"not to be trusted \(InvalidClaimError: .*iss"),
        ({"claims": {"aud": "another-program"}}, r"not to be trusted \(InvalidClaimError: .*aud"),
        ({"claims": {"exp": 1_000_000_000}}, r"not to be trusted \(ExpiredTokenError"),
        ({"claims": {"at_hash": "AAAAAAAAAAAAAAAAAAAAAA"}}, r"not to be trusted \(InvalidClaimError: .*at_hash"),
        ({"published_key": RSAKey.generate_key(2048, {"kid": "first"})}, r"not to be trusted \(BadSignatureError"),
        ({"published_key": RSAKey.generate_key(2048, {"kid": "second"})}, r"not to be trusted \(InvalidKeyIdError"),
        ({"token_answer": {"id_token": None}}, "not to be trusted"),
        ({"token_answer": {"id_token": "eyJhbGciOiJub25lIn0.e30."}}, r"not to be trusted \(UnsupportedAlgorithmError"),
        ({"token_answer": {"access_token": None}}, "can not be used: ValueError: there is no access token in it"),
        ({"token_answer": {"access_token": "a\nb"}}, "can not be used: ValueError: there is no access token in it"),
        ({"token_answer": {"token_type": "mac"}}, "can not be used: ValueError: its access token is not a bearer"),
        ({"token_answer": {"expires_in": "soon"}}, "can not be used: ValueError"),
        ({"document": {"issuer": "https://other.example"}}, "calls itself https://other.example: set EVALS_SIGN_IN_"),
        ({"document": {"token_endpoint": "http://host.example/token"}}, "its token_endpoint must begin with https://"),
        ({"document": {"jwks_uri": ""}}, "its jwks_uri must begin with https://"),
        ({"document": {"code_challenge_methods_supported": ["plain"]}}, "does not offer the authorization code flow"),
    ],
)
def test_what_is_not_right_signs_nobody_in(
    provider: OpenIdProvider, wrong: dict[str, Any], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, setting in wrong.items():
        setattr(provider, name, setting)
    with pytest.raises(CommandError, match=sentence) as raised, signed_in():
        pass
    assert "EVALS_PORTAL_TOKEN" not in os.environ
    shown = str(raised.value) + capsys.readouterr().err
    assert [secret for secret in provider.issued if secret in shown] == []


def test_an_error_of_the_provider_can_not_write_to_the_terminal_as_it_likes(provider: OpenIdProvider) -> None:
    provider.denies = True
    provider.extra_parameters = {"error_description": "\x1b[2J" + "long " * 100}
    with pytest.raises(CommandError) as raised, signed_in():
        pass
    assert str(raised.value).isprintable()
    assert len(str(raised.value)) < 200


@pytest.mark.usefixtures("provider")
def test_nobody_waits_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openid, "open_browser", str)
    monkeypatch.setattr(openid, "BROWSER_SECONDS", 0.05)
    with pytest.raises(CommandError, match="Nobody signed in within 0 minutes"), signed_in():
        pass


@pytest.mark.parametrize(
    ("issuer", "sentence"),
    [
        ("http://127.0.0.1:9", r"The provider of EVALS_SIGN_IN_ISSUER does not answer \(ConnectionError\)"),
        ("http://provider.example", "EVALS_SIGN_IN_ISSUER must begin with https://"),
        ("{}/nothing", "What answers at EVALS_SIGN_IN_ISSUER calls itself|The provider of .* calls itself"),
        ("{}/", "calls itself http://127.0.0.1:[0-9]+: set EVALS_SIGN_IN_ISSUER to exactly that"),
    ],
)
def test_a_wrong_issuer_is_named_with_its_variable(
    provider: OpenIdProvider, monkeypatch: pytest.MonkeyPatch, issuer: str, sentence: str
) -> None:
    monkeypatch.setenv("EVALS_SIGN_IN_ISSUER", issuer.format(provider.url))
    with pytest.raises(CommandError, match=sentence), signed_in():
        pass


def test_where_ci_is_set_nobody_is_waited_for(provider: OpenIdProvider, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")
    with pytest.raises(CommandError, match="nobody can sign in where CI is set: set EVALS_PORTAL_TOKEN"), signed_in():
        pass
    assert provider.asked == []


def test_offline_access_is_not_asked_of_a_provider_that_does_not_know_it(provider: OpenIdProvider) -> None:
    provider.document = {"scopes_supported": ["openid", "profile"]}
    provider.gives_refresh_token = False
    with signed_in() as sentence:
        assert "because the provider gives nothing to renew it with" in sentence
    assert provider.asks("/authorize")[0]["scope"] == "openid profile"


def test_scopes_of_ones_own_are_asked_for_with_openid(
    provider: OpenIdProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVALS_SIGN_IN_SCOPE", "portal.read portal.write")
    with signed_in():
        assert provider.asks("/authorize")[0]["scope"] == "openid portal.read portal.write"
