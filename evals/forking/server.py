"""`python -m evals.forking.server SOCKET`: import once what the processes of a run need, and fork one for whoever asks.

The libraries take up to seconds to import, and promptfoo starts a Python process for each assertion, hook and worker.
Here they are imported while promptfoo itself starts; whoever asks gets a process of its own that has them already, with
the asker's environment, working folder and streams. It ends with its asker. This server ends when its stdin is closed.

On the socket: one byte with file descriptors, then

- `PROGRAM`, with stdin, stdout and stderr: what `endpoints/forked_python.py` says, for a script as a whole;
- `WORKER`, with stdout and stderr: one line with `{executable, environment, folder, path}`, answered by
  `{"problem": text | null}`; then the calls of `providers.worker_process`.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import pkgutil
import select
import signal
import socket
import sys
from pathlib import Path

from evals.forking import program
from evals.forking.takeover import become, take_over

PROGRAM, WORKER = b"p", b"w"

_ROOMS = ("assertions", "episodes", "formats", "hooks")
"""What promptfoo starts processes for, with every module of it."""

_LIBRARIES = (
    *("asyncio", "jsonschema", "jsonschema_rs", "requests", "yaml"),
    *("mcp.server.mcpserver", "sqlite3", "starlette.applications", "uvicorn.loops.auto", "uvicorn.protocols.http.auto"),
    "uvloop",
)
"""What these import late, or promptfoo's wrapper script itself; and what the local stack is made of."""

_BACKLOG = 64


def main(arguments: list[str]) -> int:
    """Serve until stdin is closed. Returns the exit code; a worker's process leaves through here as well."""
    path, server = Path(arguments[0]), os.getpid()
    program.leave.register()
    # It listens before it imports: who is early waits for the first answer instead of starting to import too.
    with _listener(path) as listener:
        try:
            _import_all()
            signal.signal(signal.SIGCHLD, signal.SIG_IGN)
            return _serve(listener)
        finally:
            if os.getpid() == server:
                path.unlink(missing_ok=True)


def _import_all() -> None:
    from providers.warm_up import import_all

    # None of what is imported becomes garbage, and looking for it takes a tenth of the time.
    gc.disable()
    import_all()
    for name in (*_LIBRARIES, *_ROOMS):
        importlib.import_module(name)
    for room in _ROOMS:
        for module in pkgutil.walk_packages(sys.modules[room].__path__, f"{room}."):
            importlib.import_module(module.name)
    # What is alive now stays so: a process that looks for garbage must not touch, and so copy, all of it.
    gc.collect()
    gc.freeze()
    gc.enable()


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
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                return _answer(connection)


def _answer(connection: socket.socket) -> int:
    """What a forked process does. Returns its exit code."""
    kind, streams, _, _ = socket.recv_fds(connection, 1, 3)
    if kind == PROGRAM and len(streams) == 3:
        return program.run(connection, streams)
    if kind != WORKER or len(streams) != 2:
        return 1
    take_over([os.open(os.devnull, os.O_RDONLY), *streams])
    with connection.makefile("rw", encoding="utf-8", newline="\n") as lines:
        worker = json.loads(lines.readline())
        problem = become(worker["executable"], worker["environment"], worker["folder"])
        lines.write(json.dumps({"problem": problem}) + "\n")
        lines.flush()
        if problem is not None:
            return 1
        sys.path[:] = worker["path"]
        from providers.worker_process import serve

        return serve(connection, lines)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
