"""Start the fork server of a run's provider workers, for the length of a block."""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from endpoints.private_sockets import NotPrivate, private_folder, remove_dead
from endpoints.settings import CHECKOUT
from evals.command_line import CommandError

_END_SECONDS = 10.0


@contextmanager
def fork_server() -> Iterator[None]:
    """Workers that promptfoo starts inside find it by EVALS_FORK_SERVER. It ends with the block, or with this process.

    Raises:
        CommandError: the folder of the sockets is not private.
    """
    if not hasattr(os, "fork") or sys.platform == "darwin":
        # There the system's own libraries do not survive a fork; each worker imports for itself.
        yield
        return
    try:
        remove_dead("workers-*.sock")
        path = private_folder() / f"workers-{secrets.token_hex(6)}.sock"
    except NotPrivate as error:
        raise CommandError(f"{error}.") from None
    command = [sys.executable, "-m", "providers.fork_server", str(path)]
    # A session of its own: Ctrl-C in the terminal must not end a worker before promptfoo has ended its rows.
    server = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, cwd=CHECKOUT, start_new_session=True
    )
    os.environ["EVALS_FORK_SERVER"] = str(path)
    try:
        yield
    finally:
        del os.environ["EVALS_FORK_SERVER"]
        assert server.stdin is not None
        server.stdin.close()
        try:
            server.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()
