"""Tokens of Entra ID for Azure OpenAI, through the optional package azure-identity."""

from __future__ import annotations

import asyncio
import functools
import logging
import os
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from endpoints import SettingsError
from endpoints.redaction import brief
from endpoints.sign_in import fresh_token
from models.protocol import ModelFailure

if TYPE_CHECKING:
    from azure.core.credentials import TokenCredential

MODEL_SCOPE = "https://cognitiveservices.azure.com/.default"
MISSING = (
    "Entra ID needs the package azure-identity: install it into the .venv of the checkout "
    "(uv pip install --python .venv azure-identity, or .venv/bin/pip install azure-identity)"
)


class EntraError(RuntimeError):
    """There is no token. The text is one sentence that says why and what to do."""


def common_options() -> dict[str, Any]:
    """What every credential is made with. An authority of one's own is unknown to the public cloud's directory."""
    return {"disable_instance_discovery": True} if os.environ.get("AZURE_AUTHORITY_HOST") else {}


@functools.cache
def default_credential() -> TokenCredential:
    """Whoever is signed in on this machine already: environment, workload or managed identity, Azure CLI and others.
    It keeps its tokens until they expire.

    Raises:
        EntraError: azure-identity is not installed.
    """
    try:
        from azure.identity import DefaultAzureCredential
    except ImportError:
        raise EntraError(MISSING) from None
    # Its warnings say at length what the error says again.
    logging.getLogger("azure").setLevel(logging.ERROR)
    return DefaultAzureCredential(**common_options())


def token_of(credential: TokenCredential, scope: str) -> str:
    """A token for the scope, from what the credential has kept or from Entra ID.

    Raises:
        EntraError: nobody is signed in, the scope is refused, or Entra ID does not answer.
    """
    from azure.core.exceptions import AzureError

    try:
        return credential.get_token(scope).token
    except AzureError as refused:
        # Its text is a page long and names every way that was tried.
        reason = brief(" ".join(refused.message.split()), 200)
        raise EntraError(f"no sign-in with Entra ID works here (try az login): {reason}") from None


def entra_tokens() -> Callable[[], Awaitable[str]]:
    """A source of tokens for Azure OpenAI: from the run that signed in, else from this machine's own sign-in.

    It raises ModelFailure (`authentication`) when it is asked and there is no token.
    """

    def token() -> str:
        try:
            return fresh_token("model") or token_of(default_credential(), MODEL_SCOPE)
        except (SettingsError, EntraError) as problem:
            raise ModelFailure("authentication", str(problem)) from None

    async def token_off_the_loop() -> str:
        return await asyncio.to_thread(token)

    return token_off_the_loop
