"""promptfoo's viewer, as `evals view` starts it."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.support.promptfoo import CHECKOUT


@contextmanager
def viewer(results: Path) -> Iterator[str]:
    """Show what is in promptfoo's folder `results`; yields the viewer's address."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PROMPTFOO_")}
    with subprocess.Popen(
        [sys.executable, "-m", "evals", "view", "--port", str(port)],
        cwd=CHECKOUT,
        env={**kept, "PROMPTFOO_CONFIG_DIR": str(results)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        try:
            wait_for_answer(f"http://127.0.0.1:{port}/health", process)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
            process.wait(timeout=60)


def wait_for_answer(address: str, process: subprocess.Popen[Any]) -> None:
    """Return when somebody answers at `address`; `process` may not end before."""
    deadline = time.monotonic() + 120
    while True:
        try:
            with urllib.request.urlopen(address, timeout=5):
                return
        except OSError:
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.1)
