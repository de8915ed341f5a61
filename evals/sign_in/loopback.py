"""The address on this machine to which the browser comes back with the provider's answer (RFC 8252)."""

from __future__ import annotations

import hmac
import queue
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from evals.sign_in.tokens import SignInError

PATH = "/signed-in"
_PAGE = """\
<!doctype html>
<html lang="en"><meta charset="utf-8"><title>{title}</title>
<body style="font: 1.2em sans-serif; margin: 4em"><h1>{title}</h1><p>{text}</p></body></html>
"""
# Nothing of the request is shown, so that nobody can make this page say anything.
_DONE = _PAGE.format(title="Back to the terminal", text="You can close this window; the terminal says how it went.")
_REFUSED = _PAGE.format(title="Not expected", text="No sign-in of this machine belongs to this address.")


class Loopback:
    """Listens on 127.0.0.1 for the one answer that carries `state`. A context manager.

    Raises:
        SignInError: the port is taken.
    """

    def __init__(self, state: str, port: int = 0) -> None:
        answers: queue.SimpleQueue[dict[str, str]] = queue.SimpleQueue()

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                answer = _answer(self.path, state)
                if answer is None:
                    return self._send(404, _REFUSED)
                self._send(200, _DONE)
                return answers.put(answer)

            def _send(self, status: int, page: str) -> None:
                content = page.encode()
                self.send_response(status)
                self.send_header("Content-Type", "text/html; charset=utf-8")
                self.send_header("Content-Length", str(len(content)))
                self.send_header("Cache-Control", "no-store")
                self.send_header("Referrer-Policy", "no-referrer")
                self.send_header("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'")
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_: Any) -> None:
                """Nothing: the line would hold the authorization code."""

        class Server(ThreadingHTTPServer):
            # A browser may keep a connection open that it never uses.
            daemon_threads = True
            block_on_close = False

        self._answers = answers
        try:
            self._server = Server(("127.0.0.1", port), Handler)
        except OSError as error:
            raise SignInError(f"EVALS_SIGN_IN_PORT: port {port} can not be used ({error.strerror}).") from None
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    @property
    def redirect_uri(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}{PATH}"

    def wait(self, seconds: float) -> dict[str, str] | None:
        """The parameters of the answer; None when there was none in time."""
        try:
            return self._answers.get(timeout=seconds)
        except queue.Empty:
            return None

    def __enter__(self) -> Loopback:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def _answer(target: str, state: str) -> dict[str, str] | None:
    """The parameters, or None when the request is not the provider's answer to our question."""
    parts = urlsplit(target)
    pairs = parse_qsl(parts.query)
    parameters = dict(pairs)
    if parts.path != PATH or len(pairs) != len(parameters):
        return None
    return parameters if hmac.compare_digest(parameters.get("state", "").encode(), state.encode()) else None
