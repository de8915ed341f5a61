"""An OpenID provider on loopback: discovery, signed id tokens, PKCE, renewal with rotation, device codes, revocation.

It is as strict as a good one. What a test sets on `OpenIdProvider` makes it misbehave in one way.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import html
import json
import secrets
import ssl
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import KeySet, RSAKey

from tests.support.loopback_server import served

CLIENT_ID = "evals-on-this-machine"
USER = "ada@example.org"
_PAGE = '<!doctype html><html lang="en"><title>Provider</title><form method="post">{}<button>{}</button></form></html>'
_DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code"


class _Refused(Exception):
    """Answers with an OAuth error."""


@functools.cache
def _signing_key() -> RSAKey:
    # Making one takes longer than a whole sign-in.
    return RSAKey.generate_key(2048, {"kid": "first", "use": "sig"}, private=True)


@dataclass
class OpenIdProvider:
    """What the provider knows, and how it is to behave."""

    url: str = ""
    client_id: str = CLIENT_ID
    token_seconds: int | None = 3600
    gives_refresh_token: bool = True
    offers_devices: bool = True
    denies: bool = False
    slow_downs: int = 0
    device_seconds: int = 600
    claims: dict[str, Any] = field(default_factory=dict)
    """Claims of id tokens that are different from the true ones; None leaves one out."""
    document: dict[str, Any] = field(default_factory=dict)
    """Entries of the discovery document that are different from the true ones."""
    token_answer: dict[str, Any] = field(default_factory=dict)
    extra_parameters: dict[str, str] = field(default_factory=dict)
    """Of the way back to the client."""
    key: RSAKey = field(default_factory=_signing_key)
    published_key: RSAKey | None = None

    asked: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    """Every request with its parameters, in order."""
    valid: set[str] = field(default_factory=set)
    """Access tokens that a service would accept."""
    issued: list[str] = field(default_factory=list)
    """Every secret that was ever handed out: codes and tokens."""
    renewable: set[str] = field(default_factory=set)
    codes: dict[str, dict[str, str]] = field(default_factory=dict)
    devices: dict[str, dict[str, str]] = field(default_factory=dict)

    def asks(self, path: str) -> list[dict[str, str]]:
        return [parameters for asked, parameters in self.asked if asked == path]

    def discovery(self) -> dict[str, Any]:
        names = {"authorization": "authorize", "token": "token", "revocation": "revoke"}
        if self.offers_devices:
            names["device_authorization"] = "device_authorization"
        return {
            "issuer": self.url,
            **{f"{name}_endpoint": f"{self.url}/{path}" for name, path in names.items()},
            "jwks_uri": f"{self.url}/jwks",
            "response_types_supported": ["code"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["RS256"],
            "code_challenge_methods_supported": ["S256"],
            "scopes_supported": ["openid", "profile", "offline_access"],
            **self.document,
        }

    def jwks(self) -> Mapping[str, Any]:
        return KeySet([self.published_key or self.key]).as_dict(private=False)

    def authorize(self, asked: Mapping[str, str], user: str) -> str:
        """The address that the browser is sent back to, once the person has pressed the button."""
        back = {"state": asked["state"], "iss": self.url}
        if self.denies:
            back |= {"error": "access_denied", "error_description": "not today"}
        else:
            code = self._secret()
            self.codes[code] = {**asked, "user": user}
            back["code"] = code
        return f"{asked['redirect_uri']}?{urlencode({**back, **self.extra_parameters})}"

    def may_authorize(self, asked: Mapping[str, str]) -> bool:
        redirect = urlsplit(asked.get("redirect_uri", ""))
        return (
            asked.get("response_type") == "code"
            and asked.get("client_id") == self.client_id
            and asked.get("code_challenge_method") == "S256"
            and len(asked.get("code_challenge", "")) == 43
            and bool(asked.get("state") and asked.get("nonce"))
            and "openid" in asked.get("scope", "").split()
            and (redirect.scheme, redirect.hostname) == ("http", "127.0.0.1")
        )

    def start_device(self, asked: Mapping[str, str]) -> dict[str, Any]:
        if asked.get("client_id") != self.client_id:
            raise _Refused("invalid_client")
        code, user_code = self._secret(), f"{secrets.token_hex(2)}-{secrets.token_hex(2)}".upper()
        self.devices[code] = {"user_code": user_code, **asked}
        return {
            "device_code": code,
            "user_code": user_code,
            "verification_uri": f"{self.url}/device",
            "expires_in": self.device_seconds,
            "interval": 1,
            "message": f"open {self.url}/device and enter {user_code}",
        }

    def confirm_device(self, user_code: str, user: str = USER) -> bool:
        """A person types the code on their own machine."""
        for device in self.devices.values():
            if device["user_code"] == user_code:
                device["user"] = user
                return True
        return False

    def token(self, asked: Mapping[str, str]) -> dict[str, Any]:
        if asked.get("client_id") != self.client_id:
            raise _Refused("invalid_client")
        match asked.get("grant_type"):
            case "authorization_code":
                return self._for_code(asked)
            case "refresh_token":
                if asked.get("refresh_token") not in self.renewable:
                    raise _Refused("invalid_grant")
                self.renewable.discard(asked["refresh_token"])
                return self._tokens(USER, None)
            case grant if grant == _DEVICE_GRANT:
                return self._for_device(asked)
        raise _Refused("unsupported_grant_type")

    def _for_code(self, asked: Mapping[str, str]) -> dict[str, Any]:
        given = self.codes.pop(asked.get("code", ""), None)
        verifier = asked.get("code_verifier", "").encode()
        challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier).digest()).decode().rstrip("=")
        if given is None or given["redirect_uri"] != asked.get("redirect_uri") or given["code_challenge"] != challenge:
            raise _Refused("invalid_grant")
        return self._tokens(given["user"], given["nonce"])

    def _for_device(self, asked: Mapping[str, str]) -> dict[str, Any]:
        device = self.devices.get(asked.get("device_code", ""))
        if device is None:
            raise _Refused("expired_token")
        if self.denies:
            raise _Refused("access_denied")
        if self.slow_downs:
            self.slow_downs -= 1
            raise _Refused("slow_down")
        if "user" not in device:
            raise _Refused("authorization_pending")
        return self._tokens(device["user"], None)

    def _tokens(self, user: str, nonce: str | None) -> dict[str, Any]:
        access = self._secret()
        self.valid.add(access)
        now = int(time.time())
        digest = hashlib.sha256(access.encode()).digest()[:16]
        claims = {
            "iss": self.url,
            "sub": "4711",
            "aud": self.client_id,
            "iat": now,
            "exp": now + 600,
            "preferred_username": user,
            "at_hash": base64.urlsafe_b64encode(digest).decode().rstrip("="),
            "nonce": nonce,
            **self.claims,
        }
        claims = {name: claim for name, claim in claims.items() if claim is not None}
        id_token = jwt.encode({"alg": "RS256", "kid": self.key.kid}, claims, self.key)
        self.issued.append(id_token)
        answer: dict[str, Any] = {"access_token": access, "token_type": "Bearer", "id_token": id_token}
        if self.token_seconds is not None:
            answer["expires_in"] = self.token_seconds
        if self.gives_refresh_token:
            answer["refresh_token"] = self._secret()
            self.renewable.add(answer["refresh_token"])
        return {name: part for name, part in {**answer, **self.token_answer}.items() if part is not None}

    def _secret(self) -> str:
        made = secrets.token_urlsafe(32)
        self.issued.append(made)
        return made


@contextmanager
def openid_provider(certificate: ssl.SSLContext | None = None) -> Iterator[OpenIdProvider]:
    """The provider on a free port; over HTTPS with a certificate."""
    provider = OpenIdProvider()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True
        # Headers and body in one packet; two would wait 40 ms for each other.
        wbufsize = -1

        def do_GET(self) -> None:
            path, asked = self._asked(urlsplit(self.path).query)
            if path.endswith("/.well-known/openid-configuration"):
                return self._json(200, provider.discovery())
            match path:
                case "/jwks":
                    return self._json(200, provider.jwks())
                case "/authorize" if provider.may_authorize(asked):
                    return self._page(_PAGE.format(f'<input name="user" value="{html.escape(USER)}">', "Sign in"))
                case "/authorize":
                    return self._json(400, {"error": "invalid_request"})
                case "/device":
                    return self._page(_PAGE.format('<input name="user_code">', "Allow"))
            return self._json(404, {})

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
            path, asked = self._asked(body)
            try:
                match path:
                    case "/authorize":
                        question = _flat(urlsplit(self.path).query)
                        return self._redirect(provider.authorize(question, asked["user"]))
                    case "/token":
                        return self._json(200, provider.token(asked))
                    case "/device_authorization" if provider.offers_devices:
                        return self._json(200, provider.start_device(asked))
                    case "/device":
                        known = provider.confirm_device(asked["user_code"])
                        return self._page(f"<p>{'Thank you' if known else 'There is no such code'}</p>")
                    case "/revoke":
                        provider.renewable.discard(asked["token"])
                        return self._json(200, {})
            except _Refused as refused:
                return self._json(400, {"error": str(refused)})
            return self._json(404, {})

        def _asked(self, query: str) -> tuple[str, dict[str, str]]:
            path, asked = urlsplit(self.path).path, _flat(query)
            provider.asked.append((path, asked))
            return path, asked

        def _json(self, status: int, data: Any) -> None:
            self._send(status, "application/json", json.dumps(data).encode())

        def _page(self, page: str) -> None:
            self._send(200, "text/html; charset=utf-8", page.encode())

        def _redirect(self, address: str) -> None:
            self._send(303, "text/plain", b"", Location=address)

        def _send(self, status: int, kind: str, content: bytes, **headers: str) -> None:
            self.send_response(status)
            for name, text in {"Content-Type": kind, "Content-Length": str(len(content)), **headers}.items():
                self.send_header(name, text)
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: Any) -> None:
            """Quiet: a test's output is its own."""

    with served(Handler, certificate) as provider.url:
        yield provider


def _flat(query: str) -> dict[str, str]:
    return {name: values[-1] for name, values in parse_qs(query).items()}
