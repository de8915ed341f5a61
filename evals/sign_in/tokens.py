"""What every way to sign in comes to: somebody, and tokens that are renewed when they are asked for."""

from __future__ import annotations

from typing import Protocol

from endpoints.redaction import describe, redact
from endpoints.sign_in import Purpose

LIFE_SECONDS = 330.0
"""A token that is handed out is good for at least so long, where the provider allows it: an episode takes less."""

MAX_SHOWN = 100


class SignInError(Exception):
    """Nobody could be signed in, or the sign-in has ended. The text says why and what to do; it holds no secret."""


class Tokens(Protocol):
    """Held by the process that signed in, and asked from many threads."""

    @property
    def who(self) -> str:
        """The person or program that is signed in, fit to be shown."""
        ...

    @property
    def lasts(self) -> str:
        """How long the sign-in lasts, in words."""
        ...

    def fresh(self, purpose: Purpose) -> str | None:
        """A token that is good for an episode; None for a purpose that nobody signed in for.

        Raises:
            SignInError: it cannot be renewed any more.
        """
        ...

    def close(self) -> None:
        """Give back what the provider would otherwise keep valid. Never raises."""
        ...


def shown(text: object) -> str:
    """Text of a provider, fit for a terminal: one short line without control characters and credentials."""
    plain = "".join(letter if letter.isprintable() else " " for letter in redact(str(text)))
    return plain if len(plain) <= MAX_SHOWN else plain[:MAX_SHOWN] + "…"


def reason(error: BaseException) -> str:
    """Why something failed, fit for a terminal."""
    plain = "".join(letter if letter.isprintable() else " " for letter in describe(error))
    return plain if len(plain) <= 3 * MAX_SHOWN else plain[: 3 * MAX_SHOWN] + "…"
