"""The tokens of a sign-in at an OpenID provider: held in memory, renewed when asked for, revoked at the end."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

import requests
from authlib.integrations.base_client import OAuthError
from authlib.integrations.requests_client import OAuth2Session

from endpoints.redaction import remember
from endpoints.sign_in import Purpose
from evals.sign_in.provider import Provider
from evals.sign_in.tokens import LIFE_SECONDS, SignInError, reason, shown

LAST_SECONDS = 30.0
"""A token with so much left is still handed out when the provider cannot be reached to renew it."""

REVOKE_SECONDS = 5.0


class OpenIdTokens:
    """The tokens of one sign-in. Only the access token ever leaves this object."""

    def __init__(
        self,
        session: OAuth2Session,
        provider: Provider,
        token: Mapping[str, Any],
        who: str,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._session = session
        self._provider = provider
        self._lock = threading.Lock()
        self._now = now
        self._take(token)
        self.who = who

    @property
    def lasts(self) -> str:
        if self._token.get("refresh_token"):
            return "renewed while the run goes on"
        if self._life is None:
            return "the provider does not say for how long"
        end = time.strftime("%H:%M", time.localtime(self._now() + self._life))
        return f"until {end}, because the provider gives nothing to renew it with"

    def fresh(self, purpose: Purpose) -> str | None:
        """See `Tokens.fresh`."""
        if purpose != "portal":
            return None
        with self._lock:
            left = self._left()
            # The 90 % keep a provider whose tokens are short from being asked for a new one each time.
            if left is not None and self._life is not None and left < min(LIFE_SECONDS, 0.9 * self._life):
                self._renew(left)
            return str(self._token["access_token"])

    def close(self) -> None:
        """Revoke the token that could renew this sign-in, where the provider knows how."""
        with self._lock:
            renewing = self._token.get("refresh_token")
            address = self._provider.revocation_endpoint
            revoke: Callable[..., Any] = self._session.revoke_token
            try:
                if renewing and address:
                    revoke(address, renewing, "refresh_token", timeout=REVOKE_SECONDS, allow_redirects=False)
            except (OAuthError, requests.RequestException, ValueError):
                return  # It ends by itself; a run is not to fail because of it.
            finally:
                self._session.close()

    def _take(self, token: Mapping[str, Any]) -> None:
        for name in ("access_token", "refresh_token", "id_token"):
            remember(token.get(name))
        # A copy: the session puts whatever the provider answers in the place of its own.
        self._token = dict(token)
        self._life = self._left()

    def _left(self) -> float | None:
        """Seconds until the access token expires; None when the provider does not say."""
        expires_at = self._token.get("expires_at")
        return float(expires_at) - self._now() if isinstance(expires_at, int) else None

    def _renew(self, left: float) -> None:
        renewing = self._token.get("refresh_token")
        if not renewing:
            if left > LAST_SECONDS:
                return
            raise SignInError("The sign-in has ended, and the provider gives nothing to renew it with: start again.")
        try:
            # No scope: that of the sign-in stays.
            token = self._session.refresh_token(
                self._provider.token_endpoint, renewing, scope=None, allow_redirects=False
            )
            check_bearer(token)
        except OAuthError as error:
            raise SignInError(f"The sign-in has ended ({shown(error.error)}): start again.") from None
        except (requests.RequestException, ValueError, TypeError) as error:
            if left > LAST_SECONDS:
                return
            raise SignInError(f"The sign-in could not be renewed ({reason(error)}): start again.") from None
        self._take(token)


def check_bearer(token: Mapping[str, Any]) -> None:
    """Raises ValueError when this is no token that can be sent in a header."""
    text = token.get("access_token")
    if not isinstance(text, str) or not text or not text.isascii() or not text.isprintable() or " " in text:
        raise ValueError("there is no access token in it")
    if str(token.get("token_type", "")).lower() != "bearer":
        raise ValueError("its access token is not a bearer token")
