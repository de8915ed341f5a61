"""Where an episode runs: in promptfoo's worker itself, or in a process that the run's fork server has forked for it.

`evals run` starts a fork server (`evals.forking.server`) and says in EVALS_FORK_SERVER where it listens. Without one,
as with a bare `promptfoo eval`, or when it can not serve this worker, the worker imports what it needs and runs the
episode itself. The result is the same.
"""

from __future__ import annotations

import importlib
import json
import os
import socket
import sys
import time
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from endpoints.settings import value
from models import offline
from providers.stderr_log import get_logger
from providers.warm_up import start_warm_up

if TYPE_CHECKING:
    from providers.envelope import EpisodeBody, ProviderCall

logger = get_logger()

IMPORT_SECONDS = 60.0
"""How long a worker waits for the fork server to have everything imported; it takes about two seconds."""


def prepare() -> None:
    """Called when promptfoo loads a provider file: get a forked process, or else begin to import."""
    global _process
    if offline.wanted():
        offline.refuse_outside_connections()
    path = value("EVALS_FORK_SERVER")
    _process = None
    try:
        _process = _Process(path) if path else None
    except OSError as problem:
        logger.warning("no fork server at %s (%s): the worker imports everything itself", path, problem)
    if _process is None:
        start_warm_up()


def run(
    body: str,
    prompt: Any,
    options: Mapping[str, Any] | None,
    context: Mapping[str, Any] | None,
    *,
    entry_keys: Collection[str] = (),
) -> dict[str, Any]:
    """Run one episode and return promptfoo's result; never raises.

    `body` names the coroutine function of `providers.envelope.EpisodeBody`, as `module:function`. The other arguments
    are those of `run_episode`.
    """
    global _process
    started = time.monotonic()
    arguments = {"prompt": prompt, "options": options, "context": context, "started": started}
    if _process is not None:
        try:
            return _process.run({"body": body, **arguments, "entry_keys": list(entry_keys)})
        except _NotServed as problem:
            logger.warning("%s: the worker imports everything itself", problem)
            _process = None
        except (OSError, ValueError) as problem:
            prepare()
            return _lost(problem, **arguments, entry_keys=entry_keys)
    return run_here(body, **arguments, entry_keys=entry_keys)


def run_here(body: str, **arguments: Any) -> dict[str, Any]:
    """Run one episode in this process."""
    from providers.envelope import run_episode

    async def late(call: ProviderCall) -> str | None:
        module, function = body.split(":")
        own: EpisodeBody = getattr(importlib.import_module(module), function)
        return await own(call)

    return run_episode(late, **arguments)


def _lost(problem: Exception, **arguments: Any) -> dict[str, Any]:
    from episodes.record import StopReason
    from providers.agent_protocol import EpisodeStopped
    from providers.envelope import run_episode

    async def body(_call: ProviderCall) -> str:
        raise EpisodeStopped(
            StopReason.PROVIDER_ERROR,
            f"the process of this worker ended in mid-episode ({problem}); what it had done is not on record",
        )

    return run_episode(body, **arguments)


class _NotServed(Exception):
    """The fork server gives this worker no process. The text says why."""


class _Process:
    """The forked process of this worker. It ends when the connection does."""

    def __init__(self, path: str) -> None:
        self._served = False
        self._connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._connection.settimeout(IMPORT_SECONDS)
        self._connection.connect(path)
        socket.send_fds(self._connection, [b"w"], [1, 2])
        self._lines = self._connection.makefile("rw", encoding="utf-8", newline="\n")
        self._write(
            {
                "executable": sys.executable,
                "environment": dict(os.environ),
                "folder": str(Path.cwd()),
                "path": sys.path,
            }
        )

    def run(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Raises _NotServed when nothing was begun, and OSError or ValueError when the process ended in mid-episode."""
        if not self._served:
            try:
                problem = self._read()["problem"]
            except TimeoutError as late:
                raise _NotServed(f"the fork server did not answer within {IMPORT_SECONDS:g} s") from late
            except (OSError, ValueError) as gone:
                raise _NotServed(f"the fork server ended ({gone})") from gone
            if problem is not None:
                raise _NotServed(problem)
            self._connection.settimeout(None)
            self._served = True
        try:
            self._write(arguments)
            return self._read()
        except (BrokenPipeError, ConnectionResetError) as gone:
            # It was gone before it had read the whole line (a reset says that some of it was never read), and it reads
            # a whole line before it begins. One that ends later only closes the connection.
            raise _NotServed(f"the process of this worker ended between two episodes ({gone})") from gone

    def _write(self, message: Mapping[str, Any]) -> None:
        self._lines.write(json.dumps(message) + "\n")
        self._lines.flush()

    def _read(self) -> dict[str, Any]:
        line = self._lines.readline()
        if not line.endswith("\n"):
            raise ValueError("its connection was closed")
        message: dict[str, Any] = json.loads(line)
        return message


_process: _Process | None = None
