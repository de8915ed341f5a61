"""`evals view`: promptfoo's viewer, reachable from this machine only."""

from __future__ import annotations

import os
import sys

from endpoints.settings import promptfoo_home
from evals.command_line import parser
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
    folder = promptfoo_home()
    folder.mkdir(parents=True, exist_ok=True)
    command = promptfoo_command("view", "--port", str(chosen.port), "--yes" if chosen.open else "--no")
    print(f"Results of {folder}; Ctrl-C ends the viewer.", flush=True)
    sys.stderr.flush()
    os.execve(command[0], command, environment())
