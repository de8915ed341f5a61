"""Credentials are masked wherever they stand; what only looks like one is left alone."""

from __future__ import annotations

import base64
import json
from urllib.parse import quote, urlencode

import pytest

from endpoints import redaction
from endpoints.redaction import brief, describe, redact, redact_value

JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P"
PAT = "abcdefghijklmnopqrstuvwxyz234567abcdefghijklmnopqrst"
STORAGE_KEY = "Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4" + "A1" * 27 + "=="


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"Authorization: Bearer {JWT}", "Authorization: Bearer [redacted]"),
        (f"token {JWT} expired", "token [redacted] expired"),
        ("Authorization: Basic OmFiY2RlZmdoaWprbG1ub3A=", "Authorization: Basic [redacted]"),
        ("key sk-proj-abcDEF0123456789abcDEF01 is wrong", "key [redacted] is wrong"),
        ("ghp_" + "a1B2" * 9, "[redacted]"),
        ("github_pat_" + "a1B2_" * 9, "[redacted]"),
        ("glpat-" + "a1B2" * 6, "[redacted]"),
        (f"the token {PAT}.", "the token [redacted]."),
        ("x" * 76 + "AZDO" + "abcd", "[redacted]"),
        (
            f"AccountName=a;AccountKey={STORAGE_KEY};EndpointSuffix=b",
            "AccountName=a;AccountKey=[redacted];EndpointSuffix=b",
        ),
        ("Server=db;User=sa;Password=Pa55word!;Encrypt=yes", "Server=db;User=sa;Password=[redacted];Encrypt=yes"),
        ("https://x.blob.test/c?sv=1&sig=abc%2Fdef%3D&se=2", "https://x.blob.test/c?sv=1&sig=[redacted]&se=2"),
        ("https://user:hunter2@host/path", "https://[redacted]@host/path"),
        ('{"api-key": "0123456789abcdef"}', '{"api-key": "[redacted]"}'),
        ("x-api-key: 0123456789abcdef", "x-api-key: [redacted]"),
        (
            "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\n-----END RSA PRIVATE KEY----- rest",
            "[redacted] rest",
        ),
        (
            "/subscriptions/12345678-1234-1234-1234-123456789abc/resourceGroups/x",
            "/subscriptions/[redacted]/resourceGroups/x",
        ),
    ],
)
def test_the_form_of_a_credential_is_masked(text: str, expected: str) -> None:
    assert redact(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "Basic authentication is switched off; bearer authentication is required.",
        "costCenter CC-1234, addressSpace 10.0.0.0/16, ask-the-platform-team-for-help",
        "sha256 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "http://127.0.0.1:8080/landing-zones/platform/_git/spokes/pullrequest/41",
        "The password: must be long. The key: see the documentation.",
        "team-payments@platform.example",
        "fe8f1f63-6d0f-4e3c-a6fd-1f0f0c7a9a11",
        '{"networkSecurityGroup": "nsg-payments-dev", "port": "443"}',
    ],
)
def test_ordinary_text_is_left_alone(text: str) -> None:
    assert redact(text) == text


ODD = 'pla"in wörds\\with/a+b?token'


@pytest.mark.parametrize(
    "shown",
    [
        ODD,
        json.dumps(ODD)[1:-1],
        json.dumps(json.dumps(ODD)),
        json.dumps(ODD, ensure_ascii=False),
        quote(ODD),
        quote(ODD, safe=""),
        urlencode({"t": ODD}),
        repr(ODD),
        *(
            base64.b64encode(f"{before}{ODD}{after}".encode()).decode()
            for before in ("", ":", "me:")
            for after in ("", "!")
        ),
        base64.urlsafe_b64encode(ODD.encode()).decode(),
    ],
)
def test_the_value_of_a_secret_setting_is_masked_in_every_form_in_which_it_travels(
    shown: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVALS_PORTAL_TOKEN", ODD)
    masked = redact(f"sent {shown} to the portal")
    assert "[redacted]" in masked
    kept = masked.removeprefix("sent ").removesuffix(" to the portal").replace("[redacted]", "")
    assert len(kept) <= 10
    assert redaction.find_known(f"sent {shown}")


def test_a_value_that_is_no_text_in_any_encoding_is_masked_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVALS_PORTAL_TOKEN", "token-\udcff-of-bytes")
    assert redact("sent token-\udcff-of-bytes") == "sent [redacted]"


def test_a_text_is_masked_before_it_is_cut() -> None:
    assert brief(f"the token {PAT} is wrong", 20) == "the token [redacted]"
    assert brief("short", 20) == "short"


def test_a_setting_that_is_no_secret_is_not_masked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVALS_PORTAL_URL", "https://portal.example")
    assert redact("see https://portal.example") == "see https://portal.example"


def test_a_very_short_value_is_not_masked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVALS_MODEL_API_KEY", "none")
    assert redact("there are none") == "there are none"


def test_what_was_handed_over_is_masked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(redaction, "_remembered", set())
    redaction.remember("made for this run")
    redaction.remember("")
    redaction.remember(None)
    assert redact("token: made for this run") == "token: [redacted]"


def test_json_is_masked_in_keys_and_values_and_keeps_its_shape() -> None:
    value = {"a": [f"x {PAT}", 1, None, True], PAT: {"b": 1.5}}
    assert redact_value(value) == {"a": ["x [redacted]", 1, None, True], "[redacted]": {"b": 1.5}}


def test_addresses_of_people_are_masked_on_request(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVALS_REDACT_EMAILS", "yes")
    assert redact("mail team-payments@platform.example, now") == "mail [e-mail], now"


def test_all_causes_of_an_exception_are_masked() -> None:
    def fail() -> None:
        try:
            try:
                raise ValueError(f"header Bearer {JWT}")
            except ValueError:
                known: dict[str, str] = {}
                known[PAT]
        except KeyError as error:
            raise RuntimeError("the request failed") from error

    with pytest.raises(RuntimeError) as caught:
        fail()
    assert describe(caught.value) == (
        "RuntimeError: the request failed; caused by KeyError: '[redacted]'; "
        "caused by ValueError: header Bearer [redacted]"
    )


def test_a_chain_that_bites_its_tail_ends() -> None:
    one, two = ValueError("one"), ValueError("two")
    one.__cause__, two.__cause__ = two, one
    assert describe(one) == "ValueError: one; caused by ValueError: two"


@pytest.mark.parametrize(
    "text",
    [
        "a" * 300_000,
        "bearer " * 40_000,
        "-----BEGIN PRIVATE KEY-----" * 10_000,
        "eyJ" * 90_000,
        "x eyJa.b" * 40_000,
        "api_key:" * 40_000,
        "password=" * 40_000,
    ],
)
def test_hostile_texts_come_back_without_a_hang(text: str) -> None:
    assert isinstance(redact(text), str)


def test_what_is_masked_already_is_no_credential() -> None:
    assert redaction.find("https://user:hunter2@host and Password=Pa55word!") == [5, 30]
    assert redaction.find(redact("https://user:hunter2@host and Password=Pa55word!")) == []
