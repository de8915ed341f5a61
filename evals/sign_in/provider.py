"""An OpenID provider, as its own discovery document describes it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import requests
from authlib.common.security import is_secure_transport
from authlib.oidc.discovery import get_well_known_url

from evals.sign_in.tokens import SignInError, shown

TIMEOUT_SECONDS = 30.0
"""For one answer of the provider."""


@dataclass(frozen=True)
class Provider:
    """Addresses are empty where the provider has no such thing. `scopes` is None when it does not list them."""

    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    jwks_uri: str
    device_authorization_endpoint: str
    revocation_endpoint: str
    scopes: frozenset[str] | None
    refuses_s256: bool


def discover(issuer: str) -> Provider:
    """Ask the provider for its addresses.

    Raises:
        SignInError: it does not answer, calls itself something else, or has addresses that are not encrypted.
    """
    if not is_secure_transport(issuer):
        raise SignInError("EVALS_SIGN_IN_ISSUER must begin with https:// (http:// only on this machine).")
    document = fetch_json(get_well_known_url(issuer, external=True), "EVALS_SIGN_IN_ISSUER")
    # Exactly, as the specification wants it: somebody else's document must not be taken for this provider's.
    if document.get("issuer") != issuer:
        raise SignInError(
            f"The provider of EVALS_SIGN_IN_ISSUER calls itself {shown(document.get('issuer'))}: set "
            "EVALS_SIGN_IN_ISSUER to exactly that, if it is the right one."
        )
    scopes, methods = document.get("scopes_supported"), document.get("code_challenge_methods_supported")
    return Provider(
        issuer=issuer,
        authorization_endpoint=_address(document, "authorization_endpoint"),
        token_endpoint=_address(document, "token_endpoint", required=True),
        jwks_uri=_address(document, "jwks_uri", required=True),
        device_authorization_endpoint=_address(document, "device_authorization_endpoint"),
        revocation_endpoint=_address(document, "revocation_endpoint"),
        scopes=frozenset(map(str, scopes)) if isinstance(scopes, list) else None,
        refuses_s256=isinstance(methods, list) and "S256" not in methods,
    )


def fetch_json(url: str, what: str) -> dict[str, Any]:
    """A JSON object of the provider. Redirects are not followed.

    Raises:
        SignInError: there is none; `what` names the place in the sentence.
    """
    try:
        answer = requests.get(url, timeout=TIMEOUT_SECONDS, allow_redirects=False)
        document = answer.json() if answer.status_code == 200 else None
    except requests.JSONDecodeError:
        document = None
    except requests.RequestException as error:
        raise SignInError(f"The provider of {what} does not answer ({type(error).__name__}).") from None
    if not isinstance(document, dict):
        raise SignInError(f"What answers at {what} is no OpenID provider (HTTP {answer.status_code}, no JSON object).")
    return document


def _address(document: Mapping[str, Any], name: str, *, required: bool = False) -> str:
    address = document.get(name) or ""
    if not address and not required:
        return ""
    if not isinstance(address, str) or not is_secure_transport(address) or not address.isprintable():
        raise SignInError(
            f"The provider of EVALS_SIGN_IN_ISSUER describes itself wrongly: its {name} must begin with https://."
        )
    return address
