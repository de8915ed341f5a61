"""Keeps credentials out of everything that is written: records, logs, reasons, the ledger, error texts.

Two kinds of secrets are masked. *Known* ones, whatever they look like: the values of all variables that the table of
settings calls secret, and what was handed over with `remember`. And *unknown* ones that have the form of a credential
(tokens of known services, `Authorization` headers, connection strings, passwords in addresses, private keys), because
a model or a tool can repeat something that this process never held.

E-mail addresses are masked only when EVALS_REDACT_EMAILS says yes: a case may be about one.
"""

from __future__ import annotations

import os
import re
from functools import lru_cache
from typing import Any

MASK = "[redacted]"
MASK_EMAIL = "[e-mail]"
SHORTEST = 8
"""Characters. A shorter value is no credential, and masking it would tear up ordinary words."""
SHORT = 64
"""Characters of a text that is likely to come again."""

_remembered: set[str] = set()

_SECRET_NAME = r"(?i)(?:key|token|secret|password|passwd|pwd|pat|authorization|credentials?|cookie|signature)$"

_I = re.I | re.A

_SHAPES: tuple[tuple[tuple[str, ...], str, int, str], ...] = (
    (
        ("-----begin",),
        r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[\w+/=\s\\:,]*(?:-----END [A-Z ]{0,30}PRIVATE KEY-----)?",
        re.A,
        MASK,
    ),
    (("eyj",), r"(?<![\w-])eyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*){1,3}", re.A, MASK),
    (
        ("bearer", "basic"),
        r"\b(bearer|basic)(\s+)(?=[\w.~+/=-]{0,200}?[\d=])[\w.~+/=-]{12,}",
        _I,
        rf"\1\2{MASK}",
    ),
    (("sk-",), r"\bsk-[\w-]{20,}", re.A, MASK),
    (
        ("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-"),
        r"\b(?:gh[pousr]_[A-Za-z0-9]{30,}|github_pat_\w{40,}|glpat-[\w-]{20,})",
        re.A,
        MASK,
    ),
    (("azdo",), r"\b[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}\b", re.A, MASK),
    (
        ("key=", "keyname=", "password=", "pwd=", "secret=", "signature=", "sig="),
        r"\b((?:account|sharedaccess|shared|api|access)key(?:name)?|sharedaccesssignature|password|pwd|"
        r"client_?secret|sig)(=)[^;&\s\"'<>]{4,}",
        _I,
        rf"\1\2{MASK}",
    ),
    (
        (
            *("apikey", "api-key", "api_key", "authorization", "password"),
            *("accesstoken", "access-token", "access_token", "refreshtoken", "refresh-token", "refresh_token"),
            *("clientsecret", "client-secret", "client_secret"),
        ),
        r"((?:api[-_]?key|authorization|access[-_]?token|refresh[-_]?token|client[-_]?secret|password)"
        r"[\"']?\s{0,3}:\s{0,3}[\"']?)(?=[^\s\"',;}]{0,200}?\d)[^\s\"',;}]{8,}",
        _I,
        rf"\1{MASK}",
    ),
    (("://",), r"://[^/\s:@]{0,200}:[^/\s@]{1,400}@", 0, f"://{MASK}@"),
    (
        ("/subscriptions/",),
        r"(/subscriptions/)[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}",
        re.I,
        rf"\1{MASK}",
    ),
)
"""Texts of which one must occur (in lower case) for the pattern to be worth trying, the pattern with its flags, and
what stands there instead. Patterns are compiled when they are first needed: most processes need none."""

_PAT = r"(?<![A-Za-z0-9])[a-z2-7]{52}(?![A-Za-z0-9])"
"""A personal access token of Azure DevOps. Nothing in it tells it apart but its length and its letters."""
_PAT_LENGTH = 52
_EMAIL = r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}"


def remember(secret: str | None) -> None:
    """Mask this value from now on, in this process. Values shorter than `SHORTEST` are not masked."""
    if secret and len(secret) >= SHORTEST:
        _remembered.add(secret)


def remember_named(name: str, value: str) -> None:
    """Mask this value from now on if its name (of a variable, or a header) says that it is a credential."""
    if re.search(_SECRET_NAME, name):
        remember(value)


def redact(text: str) -> str:
    """`text` with every credential masked. Never raises; the time it takes grows with the length only."""
    return _redact(text, _known(), _emails_too())


def redact_value(value: Any) -> Any:
    """JSON data with every text in it redacted, keys included."""
    return _redact_value(value, _known(), _emails_too())


def find(text: str) -> list[int]:
    """Where credentials begin in `text`, in ascending order: known ones and those that have the form of one.

    What is masked already is none.
    """
    found = set(find_known(text))
    lowered = text.lower()
    for hints, pattern, flags, _ in _SHAPES:
        if any(hint in lowered for hint in hints):
            found |= {match.start() for match in re.finditer(pattern, text, flags) if MASK not in match[0]}
    return sorted(found | {match.start() for match in re.finditer(_PAT, text)})


def find_known(text: str) -> list[int]:
    """Where values begin that this process holds as a secret, whatever they look like."""
    found = []
    for form in _known():
        start = text.find(form)
        while start != -1:
            found.append(start)
            start = text.find(form, start + len(form))
    return sorted(found)


def brief(text: str, length: int) -> str:
    """The first `length` characters of `text`, masked before it is cut: half a credential is not recognised."""
    return redact(text)[:length]


def describe(error: BaseException) -> str:
    """Type and text of an exception and of all that caused it, redacted: `A: …; caused by B: …`."""
    parts: list[str] = []
    current: BaseException | None = error
    seen: set[int] = set()
    while current is not None and id(current) not in seen and len(parts) < 8:
        seen.add(id(current))
        parts.append(f"{type(current).__name__}: {current}")
        current = current.__cause__ or (None if current.__suppress_context__ else current.__context__)
    return redact("; caused by ".join(parts))


def _redact(text: str, known: tuple[str, ...], emails: bool) -> str:
    if len(text) < SHORTEST:
        return text
    for form in known:
        if form in text:
            text = text.replace(form, MASK)
    lowered = text.lower()
    for hints, pattern, flags, replacement in _SHAPES:
        for hint in hints:
            if hint in lowered:
                text = re.sub(pattern, replacement, text, flags=flags)
                break
    if len(text) >= _PAT_LENGTH:
        text = re.sub(_PAT, MASK, text)
    if emails and "@" in text:
        text = re.sub(_EMAIL, MASK_EMAIL, text)
    return text


def _redact_text(text: str, known: tuple[str, ...], emails: bool) -> str:
    """For keys and values, of which JSON data holds the same short ones over and over."""
    return _redact_short(text, known, emails) if len(text) <= SHORT else _redact(text, known, emails)


@lru_cache(maxsize=4096)
def _redact_short(text: str, known: tuple[str, ...], emails: bool) -> str:
    return _redact(text, known, emails)


def _redact_value(value: Any, known: tuple[str, ...], emails: bool) -> Any:
    if isinstance(value, str):
        return _redact_text(value, known, emails)
    if isinstance(value, dict):
        return {
            _redact_text(key, known, emails) if isinstance(key, str) else key: _redact_value(item, known, emails)
            for key, item in value.items()
        }
    if isinstance(value, list | tuple):
        return [_redact_value(item, known, emails) for item in value]
    return value


def _known() -> tuple[str, ...]:
    return _forms_of(frozenset(_remembered | _configured()))


def _configured() -> set[str]:
    from endpoints.settings import SETTINGS

    values = (os.environ.get(setting.name, "").strip() for setting in SETTINGS if setting.secret)
    return {value for value in values if len(value) >= SHORTEST}


@lru_cache(maxsize=8)
def _forms_of(secrets: frozenset[str]) -> tuple[str, ...]:
    """The secrets as they are and as they travel, the longest first: inside JSON, JSON inside JSON, an address, and
    base64 (such as the password of basic authentication), wherever in the encoded text they begin.
    """
    if not secrets:
        return ()
    import base64
    import json
    from urllib.parse import quote, quote_plus

    forms: set[str] = set()
    for secret in secrets:
        for ascii_only in (True, False):
            escaped = json.dumps(secret, ensure_ascii=ascii_only)[1:-1]
            forms |= {escaped, json.dumps(escaped, ensure_ascii=ascii_only)[1:-1]}
        data = secret.encode("utf-8", "surrogatepass")
        forms |= {secret, repr(secret)[1:-1], quote(data), quote(data, safe=""), quote_plus(data)}
        for before, shared in ((0, 0), (1, 2), (2, 3)):
            # The first and the last character may also hold bits of what stands beside the secret.
            encoded = base64.b64encode(bytes(before) + data)[shared : (before + len(data)) * 8 // 6].decode("ascii")
            forms |= {encoded, encoded.replace("+", "-").replace("/", "_")}
    return tuple(sorted(forms, key=len, reverse=True))


def _emails_too() -> bool:
    from endpoints.settings import value

    return (value("EVALS_REDACT_EMAILS") or "").lower() in ("1", "true", "yes", "on")
