"""`python -m providers.fork_server SOCKET`: import once what an episode needs, and fork a worker for whoever asks.

The libraries take seconds to import, and promptfoo starts several Python workers. Here they are imported while
promptfoo itself starts; each of its workers then gets a process of its own that has them already, with that worker's
environment, working folder and output. It ends with its worker. This server ends when its stdin is closed.

On the socket: one byte with the worker's stdout and stderr, one line with `{executable, environment, folder, path}`,
answered by `{"problem": text | null}`; then a line with the arguments of `run_here` for each answer line.
"""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import sys
import threading
import time
from pathlib import Path
from typing import Any

READ_AT_ONCE = ("SSL_CERT_FILE", "SSL_CERT_DIR", "OPENSSL_CONF")
"""Variables that have had their effect before a process is forked."""

_BACKLOG = 64


def main(arguments: list[str]) -> int:
    """Serve until stdin is closed. Returns the exit code; a worker's process leaves through here as well."""
    path, server = Path(arguments[0]), os.getpid()
    # It listens before it imports: a worker that is early waits for its first answer instead of starting to import too.
    with _listener(path) as listener:
        try:
            from providers.warm_up import import_all

            import_all()
            signal.signal(signal.SIGCHLD, signal.SIG_IGN)
            return _serve(listener)
        finally:
            if os.getpid() == server:
                path.unlink(missing_ok=True)


def _listener(path: Path) -> socket.socket:
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    mask = os.umask(0o177)
    try:
        listener.bind(str(path))
    finally:
        os.umask(mask)
    listener.listen(_BACKLOG)
    return listener


def _serve(listener: socket.socket) -> int:
    poller = select.poll()
    poller.register(listener, select.POLLIN)
    poller.register(sys.stdin, select.POLLIN | select.POLLHUP)
    while True:
        ready = {number for number, _ in poller.poll()}
        if sys.stdin.fileno() in ready:
            return 0
        connection, _ = listener.accept()
        with connection:
            if os.fork() == 0:
                listener.close()
                return _Worker(connection).work()


class _Worker:
    """What a forked process does: answer one worker's calls, one at a time, until that worker is gone."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._busy = False
        self._alone = False

    def work(self) -> int:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        _, outputs, _, _ = socket.recv_fds(self._connection, 1, 2)
        if len(outputs) != 2:
            return 1
        _take_over(outputs)
        with self._connection.makefile("rw", encoding="utf-8", newline="\n") as lines:
            problem = _become(json.loads(lines.readline()))
            _write(lines, {"problem": problem})
            if problem is not None:
                return 1
            threading.Thread(target=self._leave_with_it, name="watch", daemon=True).start()
            from providers.worker import run_here

            for line in lines:
                self._busy = True
                if self._alone:
                    return 1
                _write(lines, run_here(**json.loads(line)))
                self._busy = False
        return 0

    def _leave_with_it(self) -> None:
        """End in mid-episode when the worker was killed, as the episode would have if it had run there.

        An episode whose worker was gone before it was read is not begun.
        """
        poller = select.poll()
        poller.register(self._connection, select.POLLRDHUP)
        poller.poll()
        self._alone = True
        if self._busy:
            os._exit(1)


def _take_over(outputs: list[int]) -> None:
    nothing = os.open(os.devnull, os.O_RDONLY)
    for mine, theirs in zip((0, 1, 2), (nothing, *outputs), strict=True):
        os.dup2(theirs, mine)
        os.close(theirs)


def _become(worker: dict[str, Any]) -> str | None:
    """Take over the worker's environment; the reason why it can not be this process, if there is one."""
    if worker["executable"] != sys.executable:
        return f"the worker's Python is {worker['executable']}, this one is {sys.executable}"
    for name in READ_AT_ONCE:
        if worker["environment"].get(name) != os.environ.get(name):
            return f"the worker's {name} is not the one that was in force here"
    if threading.active_count() != 1:
        return "a thread was running when the process was forked"
    os.environ.clear()
    os.environ.update(worker["environment"])
    time.tzset()
    os.chdir(worker["folder"])
    sys.path[:] = worker["path"]
    from models import offline

    if offline.wanted():
        offline.refuse_outside_connections()
    return None


def _write(lines: Any, answer: dict[str, Any]) -> None:
    lines.write(json.dumps(answer) + "\n")
    lines.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
