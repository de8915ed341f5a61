"""Start the fork server of a run, for the length of a block."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from endpoints.private_sockets import NotPrivate, private_folder, remove_dead
from endpoints.settings import CHECKOUT, FORKED_PYTHON
from evals.command_line import CommandError
from evals.installation import environment

LONGEST_SOCKET = 107
"""Bytes of a socket's path, on Linux."""

_END_SECONDS = 10.0


@contextmanager
def fork_server() -> Iterator[None]:
    """What promptfoo starts inside finds it by EVALS_FORK_SERVER. It ends with the block, or with this process.

    promptfoo's Python becomes the one that is forked, unless another one than this is asked for.

    Raises:
        CommandError: the folder of the sockets is not private.
    """
    if not hasattr(os, "fork") or sys.platform == "darwin":
        # There the system's own libraries do not survive a fork; each worker imports for itself.
        yield
        return
    try:
        remove_dead("forks-*.sock")
        path = private_folder() / f"forks-{os.urandom(6).hex()}.sock"
    except NotPrivate as error:
        raise CommandError(f"{error}.") from None
    if len(os.fsencode(path)) > LONGEST_SOCKET:
        # The folder of temporary files has a long name. A run with a local stack says so itself.
        yield
        return
    command = [sys.executable, "-P", "-m", "evals.forking.server", str(path)]
    own = {"EVALS_FORK_SERVER": str(path)}
    ours = (sys.executable, str(FORKED_PYTHON))
    if os.environ.get("PROMPTFOO_PYTHON", sys.executable) in ours and os.access(FORKED_PYTHON, os.X_OK):
        own |= {"EVALS_PYTHON": sys.executable, "PROMPTFOO_PYTHON": str(FORKED_PYTHON)}
    # A session of its own: Ctrl-C in the terminal must not end a worker before promptfoo has ended its rows.
    server = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        cwd=CHECKOUT,
        env=environment(),
        start_new_session=True,
    )
    before = {name: os.environ.get(name) for name in own}
    os.environ.update(own)
    try:
        yield
    finally:
        for name, text in before.items():
            if text is None:
                del os.environ[name]
            else:
                os.environ[name] = text
        assert server.stdin is not None
        server.stdin.close()
        try:
            server.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()
