"""The real model's process: started for one run, ended with it."""

from __future__ import annotations

import contextlib
import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from endpoints.settings import CHECKOUT
from evals.command_line import CommandError
from evals.real_model.fetching import Fetched

CONTEXT_TOKENS = 16_384
"""Longest conversation. Instructions, skills and tools of the spoke agent are 2,200 of them."""

ANSWER_TOKENS = 2_048
"""Longest answer; a whole configuration has some 1,500."""

START_SECONDS = 330.0
END_SECONDS = 10.0


@dataclass(frozen=True)
class Serving:
    """Where the model answers."""

    url: str
    key: str = field(repr=False)


@contextlib.contextmanager
def serving(fetched: Fetched, name: str, log: Path) -> Iterator[Serving]:
    """Run the model until the context ends. It also ends by itself when this process is killed.

    Raises:
        CommandError: it did not start; the sentence has the end of its log.
    """
    command = [sys.executable, "-m", "local", "real-model", "--name", name]
    command += ["--python", str(fetched.python), "--model", str(fetched.model)]
    command += ["--context", str(CONTEXT_TOKENS), "--most-tokens", str(ANSWER_TOKENS)]
    command += ["--threads", str(free_processors()), "--lease-pid", str(os.getpid())]
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("wb") as written:
        # Its own session: Ctrl-C is for the run, whose cases end in order while the model still answers.
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=written,
            cwd=CHECKOUT,
            start_new_session=True,
        )
    try:
        yield _address(process, log)
    finally:
        _end(process)


def free_processors(processors: int | None = None, load: float | None = None) -> int:
    """How many threads the model gets: as many as there are processors with nothing to do, and one at least.

    They wait for each other some hundred times for each token, and on a processor that has other work as well each wait
    takes a slice of its time: on a busy machine two threads were ten times slower than one.
    """
    count = processors or os.cpu_count() or 1
    busy = os.getloadavg()[0] if load is None else load
    return max(1, min(count, round(count - busy)))


def _address(process: subprocess.Popen[bytes], log: Path) -> Serving:
    assert process.stdout is not None
    deadline = time.monotonic() + START_SECONDS
    while not select.select([process.stdout], [], [], 0.2)[0]:
        if time.monotonic() > deadline:
            raise CommandError(f"The model did not start within {START_SECONDS:.0f} s; its log is {log}.")
    try:
        answer = json.loads(process.stdout.readline())
        return Serving(answer["url"], answer["key"])
    except (ValueError, KeyError, TypeError):
        last = " | ".join(log.read_text(encoding="utf-8", errors="replace").strip().splitlines()[-4:])
        raise CommandError(f"The model did not start: {last or '(its log is empty)'}. All of it: {log}") from None


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(END_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    if process.stdout is not None:
        process.stdout.close()
