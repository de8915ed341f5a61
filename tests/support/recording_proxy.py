"""An HTTP proxy in front of one service that keeps what passes, in order, for several services together."""

from __future__ import annotations

import http.client
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import Literal
from urllib.parse import urlsplit

NOT_PASSED_ON = {"host", "connection", "transfer-encoding", "content-length"}


@dataclass(frozen=True)
class Passed:
    """One body that passed. `to_service` is True for a request and False for an answer."""

    service: str
    to_service: bool
    text: str


class Traffic:
    """Everything that passed, in order."""

    def __init__(self) -> None:
        self._lock = Lock()
        self.passed: list[Passed] = []

    def keep(self, passed: Passed) -> None:
        with self._lock:
            self.passed.append(passed)

    def first_with(self, text: str) -> Passed | None:
        return next((passed for passed in self.passed if text in passed.text), None)


@contextmanager
def recording_proxy(service: str, target: str, traffic: Traffic) -> Iterator[str]:
    """Forward to the address `target` and keep all bodies under the name `service`; yields the proxy's address."""
    parts = urlsplit(target)
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(service, parts.netloc, traffic))
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}{parts.path}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _handler(service: str, netloc: str, traffic: Traffic) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            self._forward("POST")

        def do_GET(self) -> None:
            self._forward("GET")

        def do_DELETE(self) -> None:
            self._forward("DELETE")

        def _forward(self, method: Literal["GET", "POST", "DELETE"]) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            traffic.keep(Passed(service, to_service=True, text=body.decode("utf-8")))
            connection = http.client.HTTPConnection(netloc, timeout=60)
            headers = {name: text for name, text in self.headers.items() if name.lower() not in NOT_PASSED_ON}
            headers["Accept-Encoding"] = "identity"
            connection.request(method, self.path, body, headers)
            answer = connection.getresponse()
            content = answer.read()
            connection.close()
            traffic.keep(Passed(service, to_service=False, text=content.decode("utf-8")))
            self.send_response(answer.status)
            for name, text in answer.getheaders():
                if name.lower() not in NOT_PASSED_ON:
                    self.send_header(name, text)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: object) -> None:
            """Nothing: what passed is kept, not printed."""

    return Handler
