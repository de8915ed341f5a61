"""Be signed in for the length of a block, where the environment asks for it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal

from endpoints.settings import sign_in_kind, value
from endpoints.sign_in import Purpose, needed
from evals.command_line import CommandError

if TYPE_CHECKING:
    from evals.sign_in.tokens import Tokens

How = Literal["browser", "device", "nobody"]


def way_in(device: bool = False) -> How:
    """How a person can sign in here: nobody sits in front of a pipeline."""
    from evals.sign_in.browser import has_browser

    if device:
        return "device"
    if os.environ.get("CI", "").lower() not in ("", "0", "false"):
        return "nobody"
    return "browser" if has_browser() else "device"


@contextmanager
def signed_in(purposes: Sequence[Purpose] = ("portal", "model"), *, device: bool = False) -> Iterator[str]:
    """Sign in for those of `purposes` that need it, and hand the tokens to every process that is started inside.

    Yields a sentence about who is signed in; an empty one when no sign-in is needed. Nothing is written anywhere.

    Raises:
        CommandError: nobody could be signed in.
    """
    wanted = [purpose for purpose in needed() if purpose in purposes]
    if not wanted:
        yield ""
        return
    # Late: most runs sign nobody in, and the libraries take a while to load.
    from evals.sign_in.token_socket import TokenSocket
    from evals.sign_in.tokens import SignInError

    try:
        tokens = _tokens(wanted, way_in(device))
    except SignInError as error:
        raise CommandError(str(error)) from None
    try:
        sentence = f"Signed in as {tokens.who} ({tokens.lasts})."
        _tell(sentence)
        with TokenSocket(tokens) as socket, _environment(tokens, str(socket.path)):
            yield sentence
    except SignInError as error:
        raise CommandError(str(error)) from None
    finally:
        tokens.close()


def _tokens(purposes: Sequence[Purpose], how: How) -> Tokens:
    if sign_in_kind() == "entra":
        from evals.sign_in import entra

        return entra.sign_in(purposes, how, _tell)
    if how == "nobody":
        raise CommandError(
            "The portal needs a sign-in, and nobody can sign in where CI is set: set EVALS_PORTAL_TOKEN there."
        )
    from evals.sign_in import openid
    from evals.sign_in.provider import discover

    client = openid.Client(
        value("EVALS_SIGN_IN_CLIENT_ID") or "",
        value("EVALS_SIGN_IN_SCOPE") or "",
        int(value("EVALS_SIGN_IN_PORT") or 0),
    )
    return openid.sign_in(discover(value("EVALS_SIGN_IN_ISSUER") or ""), client, how, _tell)


@contextmanager
def _environment(tokens: Tokens, socket: str) -> Iterator[None]:
    """What the run's processes find in their environment: the first token, and where to ask for later ones."""
    given = {"EVALS_SIGN_IN_SOCKET": socket}
    first = tokens.fresh("portal")
    if first is not None:
        given["EVALS_PORTAL_TOKEN"] = first
    os.environ.update(given)
    try:
        yield
    finally:
        for name in given:
            os.environ.pop(name, None)


def _tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
