"""A long run: tokens that are renewed, and processes that ask for them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from authlib.integrations.requests_client import OAuth2Session

from endpoints import SettingsError, redaction
from endpoints.sign_in import fresh_token
from evals.sign_in.openid_tokens import OpenIdTokens
from evals.sign_in.provider import discover
from evals.sign_in.session import signed_in
from evals.sign_in.tokens import LIFE_SECONDS, SignInError
from tests.support.openid_provider import OpenIdProvider

ASK = "import json, endpoints.sign_in as s; print(json.dumps(s.fresh_token('portal')))"
SHORT = 2
"""Seconds that a token lives. Such a one is renewed when a tenth of its life has gone."""

AGEING = 0.5
"""Seconds after which it certainly is."""


def test_a_process_of_the_run_gets_a_token_that_was_renewed_since_it_started(provider: OpenIdProvider) -> None:
    provider.token_seconds = SHORT
    with signed_in():
        first = os.environ["EVALS_PORTAL_TOKEN"]
        time.sleep(AGEING)
        asked = subprocess.run([sys.executable, "-c", ASK], capture_output=True, text=True, check=True, timeout=60)
        token = json.loads(asked.stdout)
    assert token in provider.valid
    assert token != first
    assert provider.asks("/token")[-1]["grant_type"] == "refresh_token"
    assert "scope" not in provider.asks("/token")[-1]


def test_a_token_that_is_good_for_an_episode_is_kept(provider: OpenIdProvider) -> None:
    provider.token_seconds = int(LIFE_SECONDS) + 60
    with signed_in():
        assert fresh_token("portal") == fresh_token("portal") == os.environ["EVALS_PORTAL_TOKEN"]
    assert len(provider.asks("/token")) == 1


def test_a_token_whose_end_is_not_told_is_kept(provider: OpenIdProvider) -> None:
    provider.token_seconds = None
    provider.gives_refresh_token = False
    with signed_in() as sentence:
        assert sentence.endswith("(the provider does not say for how long).")
        assert fresh_token("portal") == os.environ["EVALS_PORTAL_TOKEN"]


def test_many_who_ask_at_once_renew_once(provider: OpenIdProvider) -> None:
    provider.token_seconds = SHORT
    with signed_in():
        time.sleep(AGEING)
        provider.token_seconds = 3600
        before = len(provider.asks("/token"))
        with ThreadPoolExecutor(16) as pool:
            tokens = set(pool.map(lambda _: fresh_token("portal"), range(64)))
    assert len(tokens) == 1
    assert len(provider.asks("/token")) == before + 1


def test_a_renewed_token_is_masked_wherever_this_process_writes(provider: OpenIdProvider) -> None:
    provider.token_seconds = SHORT
    with signed_in():
        time.sleep(AGEING)
        token = fresh_token("portal")
        (renewing,) = provider.renewable
    for secret in (token, renewing, *provider.issued):
        assert redaction.redact(f"it was {secret}, I think") == "it was [redacted], I think"


def test_when_the_sign_in_has_ended_whoever_asks_is_told_so(provider: OpenIdProvider) -> None:
    provider.token_seconds = SHORT
    with signed_in():
        provider.renewable.clear()
        time.sleep(AGEING)
        with pytest.raises(SettingsError, match=r"The sign-in has ended \(invalid_grant\): start again"):
            fresh_token("portal")


def test_without_anything_to_renew_it_with_the_sign_in_ends_with_its_token(provider: OpenIdProvider) -> None:
    begun = int(time.time())
    clock = [float(begun)]
    token = {"access_token": "access-token-of-the-start", "expires_at": begun + 3600}
    with OAuth2Session(provider.client_id) as session:
        held = OpenIdTokens(session, discover(provider.url), token, "ada", lambda: clock[0])
        clock[0] = begun + 3500.0
        assert held.fresh("portal") == "access-token-of-the-start"
        clock[0] = begun + 3590.0
        with pytest.raises(SignInError, match="the provider gives nothing to renew it with"):
            held.fresh("portal")


def test_while_the_provider_is_away_a_token_is_handed_out_until_its_end(provider: OpenIdProvider) -> None:
    begun = int(time.time())
    clock = [float(begun)]
    renewing = "refresh-token-of-the-start"
    token = {"access_token": "access-token-of-the-start", "refresh_token": renewing, "expires_at": begun + 3600}
    provider.renewable.add(renewing)
    with OAuth2Session(provider.client_id) as session:
        held = OpenIdTokens(session, discover(provider.url), token, "ada", lambda: clock[0])
        provider.token_answer = {"access_token": None}
        clock[0] = begun + 3500.0
        assert held.fresh("portal") == "access-token-of-the-start"
        assert provider.renewable != {renewing}
        provider.renewable.add(renewing)
        clock[0] = begun + 3590.0
        with pytest.raises(SignInError, match="The sign-in could not be renewed"):
            held.fresh("portal")
        provider.renewable.add(renewing)
        provider.token_answer = {}
        assert held.fresh("portal") in provider.valid


def test_where_no_run_hands_out_tokens_there_is_none(tmp_path: Path) -> None:
    assert fresh_token("portal", {}) is None
    assert fresh_token("portal", {"EVALS_SIGN_IN_SOCKET": str(tmp_path / "gone.sock")}) is None
