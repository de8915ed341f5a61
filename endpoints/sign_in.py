"""Tokens of the person who has signed in, asked from the run that holds them, each time one is needed.

`npm run eval` signs in, keeps what it gets in memory and puts the first token into the environment of the run. A child
cannot get a new environment, so a token that was renewed since is asked for on a socket that only this user can reach;
EVALS_SIGN_IN_SOCKET says where it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from endpoints import redaction
from endpoints.private_sockets import ask
from endpoints.settings import SettingsError, sign_in_kind, value

Purpose = Literal["portal", "model"]
"""What a token is for."""

ANSWER_SECONDS = 60.0
"""How long the run may take to answer. It answers at once, unless it has to renew the token at the provider."""


def needed(environment: Mapping[str, str] | None = None) -> tuple[Purpose, ...]:
    """What somebody has to sign in for: services that are configured without a token or key, where a sign-in is."""
    kind = sign_in_kind(environment)
    lacking: dict[Purpose, bool] = {
        "portal": kind is not None and _lacks("EVALS_PORTAL_URL", "EVALS_PORTAL_TOKEN", environment),
        "model": kind == "entra" and _lacks("AZURE_OPENAI_ENDPOINT", "AZURE_OPENAI_API_KEY", environment),
    }
    return tuple(purpose for purpose, lacks in lacking.items() if lacks)


def fresh_token(purpose: Purpose, environment: Mapping[str, str] | None = None) -> str | None:
    """A token that is good for an episode from now; None when no run hands out tokens for this purpose.

    Raises:
        SettingsError: the sign-in has ended and cannot be renewed.
    """
    socket = value("EVALS_SIGN_IN_SOCKET", environment)
    answer = ask(Path(socket), {"token": purpose}, ANSWER_SECONDS) if socket else None
    if answer is None:
        return None
    if answer.get("problem"):
        raise SettingsError(str(answer["problem"]))
    token = answer.get("token")
    redaction.remember(token)
    return token


def _lacks(address: str, secret: str, environment: Mapping[str, str] | None) -> bool:
    return bool(value(address, environment)) and not value(secret, environment)
