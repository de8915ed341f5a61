"""A portal for those who have signed in: it looks at the token, and passes the request on to the local portal."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import urlsplit

from tests.support.loopback_server import served

KEPT = ("content-type", "mcp-session-id")
"""Headers of an answer that are passed on, as the local portal spells them."""


@dataclass
class TokenGate:
    """`let_in` are the tokens with which somebody got through, in order of their first use."""

    url: str = ""
    let_in: list[str] = field(default_factory=list)
    turned_away: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    """Of all requests that got through; the latest of each name."""


@contextmanager
def token_gate(
    upstream: str, upstream_token: str, accepted: Collection[str], change: Callable[[bytes], bytes] = bytes
) -> Iterator[TokenGate]:
    """The gate on a free port. `accepted` is looked at again for each request; `change` gets each answer's body."""
    gate = TokenGate()
    host = urlsplit(upstream).netloc

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True
        wbufsize = -1

        def _pass_on(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            token = self.headers.get("Authorization", "").removeprefix("Bearer ")
            if token not in accepted:
                gate.turned_away += 1
                return self._send(401, {}, b"")
            if token not in gate.let_in:
                gate.let_in.append(token)
            gate.headers.update(self.headers.items())
            headers = {name: text for name, text in self.headers.items() if name.lower() not in ("host", "connection")}
            headers["Authorization"] = f"Bearer {upstream_token}"
            connection = HTTPConnection(host, timeout=60)
            with contextlib.closing(connection):
                connection.request(self.command, self.path, body, headers)
                answer = connection.getresponse()
                content = change(answer.read())
            kept = {name: text for name, text in answer.getheaders() if name.lower() in KEPT}
            return self._send(answer.status, kept, content)

        do_GET = do_HEAD = do_POST = do_PATCH = do_DELETE = _pass_on

        def _send(self, status: int, headers: dict[str, str], content: bytes) -> None:
            with contextlib.suppress(OSError):
                self.send_response(status)
                for name, text in headers.items():
                    self.send_header(name, text)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(content)

        def log_message(self, format: str, *args: Any) -> None:
            """Quiet: a test's output is its own."""

    with served(Handler) as gate.url:
        yield gate
