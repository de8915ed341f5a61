"""Is an id token the provider's answer to our question, and whom does it name?"""

from __future__ import annotations

from typing import Any

from authlib.oidc.core import CodeIDToken
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet

from evals.sign_in.provider import Provider, fetch_json
from evals.sign_in.tokens import SignInError, shown

ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "Ed25519"]
"""Signatures with a key pair only: with a shared secret, whoever can check a token could have made it."""

LEEWAY_SECONDS = 60
"""How far the clocks may differ."""

_NAMES = ("preferred_username", "email", "name", "sub")


def signed_in_name(
    id_token: object, provider: Provider, client_id: str, access_token: str, nonce: str | None = None
) -> str:
    """Check signature, issuer, audience, times, nonce and the access token's hash; return who it is, fit to be shown.

    `nonce` is None where the flow has none (device code).

    Raises:
        SignInError: the token is not to be trusted.
    """
    try:
        published: Any = fetch_json(provider.jwks_uri, "EVALS_SIGN_IN_ISSUER")
        token = jwt.decode(str(id_token), KeySet.import_key_set(published), algorithms=ALGORITHMS)
        claims = _checked(token, provider.issuer, client_id, access_token, nonce)
    except (JoseError, AttributeError, KeyError, TypeError, ValueError) as error:
        what = type(error).__name__
        raise SignInError(f"The provider's id token is not to be trusted ({what}: {shown(error)}).") from None
    return shown(next((claims[name] for name in _NAMES if claims.get(name)), "somebody"))


def _checked(token: jwt.Token, issuer: str, client_id: str, access_token: str, nonce: str | None) -> dict[str, Any]:
    claims = CodeIDToken(
        token.claims,
        token.header,
        options={"iss": {"essential": True, "value": issuer}, "aud": {"essential": True, "value": client_id}},
        params={"nonce": nonce, "client_id": client_id, "access_token": access_token},
    )
    claims.validate(leeway=LEEWAY_SECONDS)
    return dict(claims)
