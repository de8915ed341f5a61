"""Signing in with Microsoft Entra ID, through the optional package azure-identity.

Whoever is signed in on this machine already (a managed identity, the Azure CLI …) is taken; else a person signs in.
"""

from __future__ import annotations

import base64
import binascii
import contextlib
import json
import threading
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from endpoints.redaction import remember
from endpoints.settings import value
from endpoints.sign_in import Purpose
from evals.sign_in.tokens import SignInError, shown
from models.entra import MODEL_SCOPE, EntraError, common_options, default_credential, token_of

if TYPE_CHECKING:
    from azure.core.credentials import TokenCredential

_NAMES = ("upn", "preferred_username", "unique_name", "app_displayname", "appid", "oid")


class EntraTokens:
    """Tokens of one credential, which keeps and renews them itself, each for its own scope."""

    lasts = "renewed while the run goes on"

    def __init__(self, credential: TokenCredential, scopes: Mapping[Purpose, str], who: str = "") -> None:
        self._credential = credential
        self._scopes = scopes
        self._lock = threading.Lock()
        # All at once: who may not have one of them should hear it before the run starts.
        tokens = [self.fresh(purpose) for purpose in scopes]
        self.who = shown(who or name_in(str(tokens[0])))

    def fresh(self, purpose: Purpose) -> str | None:
        """See `Tokens.fresh`."""
        scope = self._scopes.get(purpose)
        if scope is None:
            return None
        try:
            with self._lock:
                token = token_of(self._credential, scope)
        except EntraError as error:
            raise SignInError(f"For the {purpose}, {shown(error)}.") from None
        remember(token)
        return token

    def close(self) -> None:
        """Nothing is kept anywhere but in this process."""


def sign_in(purposes: Sequence[Purpose], how: str, tell: Callable[[str], None]) -> EntraTokens:
    """Take the machine's own sign-in, else let a person sign in: `how` is browser, device, or nobody.

    Raises:
        SignInError: the package is missing, or nobody could be signed in.
    """
    scopes = {purpose: MODEL_SCOPE if purpose == "model" else _portal_scope() for purpose in purposes}
    try:
        return EntraTokens(default_credential(), scopes)
    except EntraError as error:
        raise SignInError(f"EVALS_SIGN_IN is entra, and {error}.") from None
    except SignInError:
        if how == "nobody":
            raise
    return _person(scopes, how, tell)


def _person(scopes: Mapping[Purpose, str], how: str, tell: Callable[[str], None]) -> EntraTokens:
    from azure.core.exceptions import AzureError
    from azure.identity import DeviceCodeCredential, InteractiveBrowserCredential

    # A run that goes on must not open a browser again in the middle.
    options: dict[str, Any] = {**common_options(), "disable_automatic_authentication": True}
    for key, name in (("client_id", "EVALS_SIGN_IN_CLIENT_ID"), ("tenant_id", "AZURE_TENANT_ID")):
        if value(name):
            options[key] = value(name)

    def show_code(page: str, code: str, expires: datetime) -> None:
        until = f"{expires:%H:%M} UTC"
        tell(f"To sign in, open {shown(page)} in any browser and enter the code {shown(code)} (until {until}).")

    credential: DeviceCodeCredential | InteractiveBrowserCredential
    if how == "device":
        credential = DeviceCodeCredential(prompt_callback=show_code, **options)
    else:
        tell("Sign in in the browser that opens now.")
        credential = InteractiveBrowserCredential(**options)
    try:
        record = credential.authenticate(scopes=[next(iter(scopes.values()))])
    except AzureError as error:
        raise SignInError(f"Entra ID refused the sign-in: {shown(error.message)}.") from None
    return EntraTokens(credential, scopes, record.username)


def _portal_scope() -> str:
    scope = value("EVALS_SIGN_IN_SCOPE")
    if scope is None:
        raise SignInError("EVALS_SIGN_IN_SCOPE is not set: it must name the portal, such as api://portal/.default.")
    return scope


def name_in(token: str) -> str:
    """Whom an access token names. Only to be shown: nobody has checked its signature."""
    with contextlib.suppress(IndexError, ValueError, binascii.Error):
        part = token.split(".")[1]
        claims = json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
        if isinstance(claims, dict):
            return str(next((claims[name] for name in _NAMES if claims.get(name)), "somebody"))
    return "somebody"
