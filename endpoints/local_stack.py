"""Join the local stack of a data folder, or start it: one stack per folder, whoever comes first.

The stack is a process of its own (`python -m local serve`). Its addresses and the tokens that it made for this run are
handed over on a Unix socket in a folder that only this user can enter, so that no token reaches the disk. Two processes
that need it at the same time are kept apart by a file lock; the second one joins what the first one started.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from endpoints.private_sockets import NotPrivate, ask, private_folder
from endpoints.settings import CHECKOUT, FORKED_PYTHON

LABEL = "local"
"""How the ledger names the local pull-request host, whose port may differ from run to run."""

START_SECONDS = 60.0
"""How long the stack may take to answer. It takes about one second; a busy machine may need many times that."""


class StackError(RuntimeError):
    """The local stack can not be reached or started. The text says what to do."""


@dataclass(frozen=True)
class Stack:
    """What the running stack hands over. URLs have no trailing slash."""

    pid: int
    portal_url: str
    mcp_url: str
    model_url: str
    pull_request_api: str
    repositories: tuple[str, ...]
    portal_token: str = field(repr=False)
    model_key: str = field(repr=False)
    pull_request_token: str = field(repr=False)


def join(home: Path, leases: Sequence[int]) -> Stack:
    """Return the stack of the data folder `home`, started if need be, kept alive by the processes `leases`.

    Raises:
        StackError: it did not start within START_SECONDS, or its folder is not safe to use.
    """
    path = socket_path(home)
    stack = _ask(path, leases)
    if stack is not None:
        return stack
    home.mkdir(parents=True, exist_ok=True)
    with _locked(home / "stack.lock"):
        stack = _ask(path, leases)
        return stack if stack is not None else _start(home, path, leases)


def running(home: Path) -> Stack | None:
    """The stack of `home` if it runs; it is neither started nor leased."""
    return _ask(socket_path(home), [])


def socket_path(home: Path) -> Path:
    """The socket of a data folder. It lies in the temporary folder because the path of a socket must be short.

    Raises:
        StackError: the folder belongs to somebody else or others can enter it.
    """
    try:
        folder = private_folder()
    except NotPrivate as error:
        raise StackError(str(error)) from None
    return folder / f"{hashlib.sha256(str(home.resolve()).encode()).hexdigest()[:16]}.sock"


def _ask(path: Path, leases: Sequence[int]) -> Stack | None:
    """Ask the stack for its addresses; None when nothing listens, or when it is just ending."""
    data = ask(path, {"leases": list(leases)})
    if data is None:
        return None
    return Stack(
        pid=data["pid"],
        portal_url=data["portalUrl"],
        mcp_url=data["mcpUrl"],
        model_url=data["modelUrl"],
        pull_request_api=data["pullRequestApi"],
        repositories=tuple(data["repositories"]),
        portal_token=data["portalToken"],
        model_key=data["modelKey"],
        pull_request_token=data["pullRequestToken"],
    )


def _start(home: Path, path: Path, leases: Sequence[int]) -> Stack:
    data = home / "portal"
    data.mkdir(parents=True, exist_ok=True)
    log_path = home / "stack.log"
    command = [*_python(), "-m", "local", "serve", "--data", str(data), "--socket", str(path)]
    for pid in leases:
        command += ["--lease-pid", str(pid)]
    with log_path.open("ab") as log:
        start_of_log = log.tell()
        # Its own session and no inherited pipes: promptfoo waits for the pipes of whoever started it, and Ctrl-C in the
        # terminal must reach the cleanup before it reaches the portal.
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd=CHECKOUT,
            start_new_session=True,
        )
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        stack = _ask(path, leases)
        if stack is not None:
            return stack
        if process.poll() is not None:
            raise StackError(f"the local portal and model ended while they started: {_end_of(log_path, start_of_log)}")
        time.sleep(0.02)
    process.terminate()
    raise StackError(
        f"the local portal and model did not answer within {START_SECONDS:.0f} seconds; "
        f"{log_path} says: {_end_of(log_path, start_of_log)}"
    )


def _python() -> list[str]:
    """In a run the stack is forked from what the run has imported already."""
    return [str(FORKED_PYTHON)] if os.environ.get("EVALS_PYTHON") == sys.executable else [sys.executable]


def _end_of(log: Path, start: int) -> str:
    text = log.read_bytes()[start:].decode("utf-8", "replace").strip()
    return " | ".join(text.splitlines()[-5:]) or "(its log is empty)"


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    import fcntl

    with path.open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
