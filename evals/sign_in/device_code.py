"""Signing in with a short code that is typed on another machine (RFC 8628)."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import requests
from authlib.common.security import is_secure_transport
from authlib.integrations.base_client import OAuthError
from authlib.integrations.requests_client import OAuth2Session

from endpoints.redaction import remember
from evals.sign_in.provider import TIMEOUT_SECONDS, Provider
from evals.sign_in.tokens import SignInError, shown

GRANT = "urn:ietf:params:oauth:grant-type:device_code"
DEFAULT_INTERVAL = 5.0
SLOWER_SECONDS = 5.0
"""What `slow_down` adds to the interval."""
LONGEST_SECONDS = 1800.0


@dataclass(frozen=True)
class Started:
    """A sign-in that waits for a person. Times in seconds."""

    device_code: str = field(repr=False)
    interval: float
    lasts: float


def start(session: OAuth2Session, provider: Provider, tell: Callable[[str], None]) -> Started:
    """Ask for a code, and say where it is to be typed.

    Raises:
        SignInError: the provider gives none.
    """
    answer = requests.post(
        provider.device_authorization_endpoint,
        data={"client_id": session.client_id, "scope": session.scope},
        headers={"Accept": "application/json"},
        timeout=TIMEOUT_SECONDS,
        allow_redirects=False,
    )
    data = answer.json()
    if not isinstance(data, dict) or answer.status_code != 200:
        error = data.get("error", "") if isinstance(data, dict) else ""
        raise SignInError(f"The provider gives no device code (HTTP {answer.status_code} {shown(error)}).")
    page = str(data["verification_uri"])
    if not is_secure_transport(page):
        raise SignInError("The provider's page for the device code does not begin with https://.")
    started = Started(
        str(data["device_code"]),
        max(float(data.get("interval", DEFAULT_INTERVAL)), 0.0),
        min(float(data["expires_in"]), LONGEST_SECONDS),
    )
    remember(started.device_code)
    tell(
        f"To sign in, open {shown(page)} in any browser and enter the code {shown(data['user_code'])} "
        f"(within {started.lasts / 60:.0f} minutes)."
    )
    return started


def poll(
    session: OAuth2Session, provider: Provider, started: Started, sleep: Callable[[float], None] = time.sleep
) -> Mapping[str, Any]:
    """Ask again and again whether the person is done, as slowly as the provider wants, and return the tokens.

    Raises:
        SignInError: nobody signed in in time.
        OAuthError: the provider, or the person, refused.
    """
    interval = started.interval
    end = time.monotonic() + started.lasts
    while time.monotonic() < end:
        sleep(interval)
        try:
            token: Mapping[str, Any] = session.fetch_token(
                provider.token_endpoint,
                grant_type=GRANT,
                device_code=started.device_code,
                allow_redirects=False,
            )
        except OAuthError as error:
            if error.error == "slow_down":
                interval += SLOWER_SECONDS
            elif error.error == "expired_token":
                break
            elif error.error != "authorization_pending":
                raise
        except requests.ConnectionError:
            # A network that comes and goes is no refusal; the specification wants fewer questions then.
            interval += SLOWER_SECONDS
        else:
            return token
    raise SignInError("Nobody signed in while the code was valid: start again.")
