"""`evals view`: promptfoo's viewer, reachable from this machine only."""

from __future__ import annotations

import errno
import os
import socket
import sys

from endpoints.settings import promptfoo_home
from evals.command_line import CommandError, parser
from evals.installation import environment, promptfoo_command

_DESCRIPTION = """\
Show the results of all runs of this checkout in promptfoo's viewer. The viewer listens on 127.0.0.1 only;
promptfoo's own would answer on every network that this machine is on."""

_EXAMPLES = """\
  npm run eval:view
  npm run eval:view -- --port 16000 --open"""


def main(arguments: list[str]) -> int:
    """Becomes the viewer; Ctrl-C ends it."""
    options = parser("view", _DESCRIPTION, _EXAMPLES)
    options.add_argument("-p", "--port", type=int, default=15500, help="port to listen on (default 15500)")
    options.add_argument("--open", action="store_true", help="open it in the browser")
    chosen = options.parse_args(arguments)
    _refuse_bad_port(chosen.port)
    folder = promptfoo_home()
    folder.mkdir(parents=True, exist_ok=True)
    command = promptfoo_command("view", "--port", str(chosen.port), "--yes" if chosen.open else "--no")
    print(f"Results of {folder}; Ctrl-C ends the viewer.", flush=True)
    sys.stderr.flush()
    os.execve(command[0], command, environment())


def _refuse_bad_port(port: int) -> None:
    """promptfoo would end with a stack trace, or without a word on how to take another port."""
    if not 0 < port < 65536:
        raise CommandError(f"--port {port}: a port is a number from 1 to 65535.")
    try:
        socket.create_server(("127.0.0.1", port)).close()
    except OSError as error:
        if error.errno != errno.EADDRINUSE:
            raise CommandError(f"Port {port} of this machine can not be used: {error.strerror}.") from None
        raise CommandError(
            f"Port {port} of this machine is in use, perhaps by another viewer: look at http://127.0.0.1:{port}, or "
            "choose another port with `npm run eval:view -- --port N`."
        ) from None
