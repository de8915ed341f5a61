"""Hands the tokens of this process to the run's own processes, on a socket that only this user can reach.

One line of JSON each way: `{"token": "portal"}`, and `{"token": "…"}`, `{"token": null}` or `{"problem": "…"}`.
"""

from __future__ import annotations

import contextlib
import json
import secrets
import socketserver
import threading
from typing import cast

from endpoints.private_sockets import NotPrivate, private_folder, remove_dead, same_user
from endpoints.sign_in import Purpose
from evals.sign_in.tokens import SignInError, Tokens

_MAX_LINE = 1024
_SECONDS = 10.0


class TokenSocket:
    """Listens while it is entered as a context manager.

    Raises:
        SignInError: the folder of the sockets is not private.
    """

    def __init__(self, tokens: Tokens) -> None:
        class Handler(socketserver.StreamRequestHandler):
            timeout = _SECONDS

            def handle(self) -> None:
                if not same_user(self.connection):
                    return
                # Whoever asks a broken question, or has gone, sees the connection close.
                with contextlib.suppress(OSError, ValueError, TypeError, KeyError):
                    question = json.loads(self.rfile.readline(_MAX_LINE))
                    self.wfile.write(json.dumps(_answer(tokens, question["token"])).encode() + b"\n")

        class Server(socketserver.ThreadingUnixStreamServer):
            daemon_threads = True
            block_on_close = False
            request_queue_size = 64

        try:
            folder = private_folder()
        except NotPrivate as error:
            raise SignInError(f"{error}.") from None
        remove_dead("sign-in-*.sock")
        self.path = folder / f"sign-in-{secrets.token_hex(6)}.sock"
        self._server = Server(str(self.path), Handler)
        self.path.chmod(0o600)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    def __enter__(self) -> TokenSocket:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
        self.path.unlink(missing_ok=True)


def _answer(tokens: Tokens, purpose: str) -> dict[str, str | None]:
    if purpose not in ("portal", "model"):
        return {"token": None}
    try:
        return {"token": tokens.fresh(cast(Purpose, purpose))}
    except SignInError as error:
        return {"problem": str(error)}
