"""Signing in at an OpenID provider: authorization code with PKCE in the browser, or a device code without one.

The protocol's own parts (requests, PKCE, the reading of answers and claims) are Authlib's.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import requests
from authlib.integrations.base_client import OAuthError
from authlib.integrations.requests_client import OAuth2Session

from endpoints.redaction import remember
from evals.sign_in.browser import open_browser
from evals.sign_in.device_code import poll, start
from evals.sign_in.id_token import signed_in_name
from evals.sign_in.loopback import Loopback
from evals.sign_in.openid_tokens import OpenIdTokens, check_bearer
from evals.sign_in.provider import TIMEOUT_SECONDS, Provider
from evals.sign_in.tokens import SignInError, reason, shown

BROWSER_SECONDS = 300.0
"""How long a person may take in the browser."""

Tell = Callable[[str], None]
"""Says a line to the person."""

_Answer = tuple[Mapping[str, Any], str | None]
"""The provider's tokens, and the nonce that its id token must carry, if any."""


@dataclass(frozen=True)
class Client:
    """This program, as the provider knows it. `port` 0 takes any free one."""

    client_id: str
    scope: str = ""
    port: int = 0

    def scope_at(self, provider: Provider) -> str:
        """What to ask for. `offline_access` brings a token to renew with; some providers refuse to know it."""
        if self.scope:
            return self.scope if "openid" in self.scope.split() else f"openid {self.scope}"
        offline = provider.scopes is None or "offline_access" in provider.scopes
        return "openid profile offline_access" if offline else "openid profile"


def sign_in(provider: Provider, client: Client, how: Literal["browser", "device"], tell: Tell) -> OpenIdTokens:
    """Let a person sign in.

    Raises:
        SignInError: nobody did, or what the provider sent is not to be trusted.
    """
    session = OAuth2Session(
        client.client_id,
        scope=client.scope_at(provider),
        code_challenge_method="S256",
        default_timeout=TIMEOUT_SECONDS,
    )
    try:
        token, nonce = (_in_browser if how == "browser" else _by_device_code)(session, provider, client, tell)
        check_bearer(token)
        if how == "device" and not token.get("id_token"):
            # The device flow is not part of OpenID Connect, and not every provider adds an id token.
            who = "somebody whom the provider does not name"
        else:
            who = signed_in_name(token.get("id_token"), provider, client.client_id, token["access_token"], nonce)
        return OpenIdTokens(session, provider, token, who)
    except OAuthError as error:
        raise SignInError(f"The provider refused the sign-in: {shown(error)}.") from None
    except (requests.RequestException, ValueError, TypeError, KeyError) as error:
        raise SignInError(f"The provider's answer can not be used: {reason(error)}.") from None


def _in_browser(session: OAuth2Session, provider: Provider, client: Client, tell: Tell) -> _Answer:
    if not provider.authorization_endpoint or provider.refuses_s256:
        raise SignInError("The provider does not offer the authorization code flow with PKCE (S256): use --device.")
    state, nonce, verifier = (secrets.token_urlsafe(32) for _ in range(3))
    with Loopback(state, client.port) as loopback:
        session.redirect_uri = loopback.redirect_uri
        address, _ = session.create_authorization_url(
            provider.authorization_endpoint, state=state, code_verifier=verifier, nonce=nonce
        )
        tell(f"Sign in in the browser that opens now. If none does, open this address on this machine:\n  {address}")
        open_browser(address)
        answer = loopback.wait(BROWSER_SECONDS)
    if answer is None:
        raise SignInError(
            f"Nobody signed in within {BROWSER_SECONDS / 60:.0f} minutes. On a machine without a browser, use --device."
        )
    code = _code_in(answer, provider)
    token = session.fetch_token(
        provider.token_endpoint,
        grant_type="authorization_code",
        code=code,
        redirect_uri=session.redirect_uri,
        code_verifier=verifier,
        allow_redirects=False,
    )
    return token, nonce


def _code_in(answer: Mapping[str, str], provider: Provider) -> str:
    """The authorization code. The answer's `state` has been looked at by whoever received it."""
    # A provider that names itself must be the one that was asked (RFC 9207).
    if answer.get("iss", provider.issuer) != provider.issuer:
        raise SignInError(f"The answer comes from another provider ({shown(answer['iss'])}).")
    if "error" in answer:
        description = answer.get("error_description", "")
        raise SignInError(f"The provider refused the sign-in: {shown(answer['error'])} {shown(description)}".rstrip())
    remember(answer.get("code"))
    return answer["code"]


def _by_device_code(session: OAuth2Session, provider: Provider, _client: Client, tell: Tell) -> _Answer:
    if not provider.device_authorization_endpoint:
        raise SignInError(
            "The provider offers no device code, and there is no browser here: sign in on a machine with a browser, or "
            "set EVALS_PORTAL_TOKEN."
        )
    return poll(session, provider, start(session, provider, tell)), None
