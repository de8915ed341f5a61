"""A fork server of a test's own."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support.promptfoo import CHECKOUT

SECONDS = 60.0


@contextmanager
def fork_server() -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """Its socket and its process; it must have ended well, unless the test killed it."""
    with tempfile.TemporaryDirectory(prefix="fs") as folder:  # the path of a socket must be short
        path = Path(folder) / "f.sock"
        command = [sys.executable, "-P", "-m", "evals.forking.server", str(path)]
        server = subprocess.Popen(command, stdin=subprocess.PIPE, cwd=CHECKOUT)
        try:
            until(path.exists)
            yield str(path), server
        finally:
            assert server.stdin is not None
            server.stdin.close()
            if server.wait(SECONDS) != -9:
                assert server.returncode == 0
                assert not path.exists()


def until(condition: Callable[[], object]) -> None:
    """Wait for something that must come."""
    deadline = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def gone(pid: int) -> bool:
    """Whether a process has ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True
