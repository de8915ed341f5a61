"""promptfoo as a child process: it has this terminal, gets the signals once, and leaves no worker behind.

It runs in a process group of its own. Ctrl-C in a terminal goes to every process of the foreground group, and npm, yarn
and the launcher pass it on once more; promptfoo takes a second one as the wish to be killed at once. So the signals end
here, and one is sent on.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import FrameType

SAME_KEYPRESS_SECONDS = 1.0
"""Signals that arrive within this time are one wish."""

WORKERS_END_SECONDS = 5.0
"""How long promptfoo's workers may take to end after promptfoo itself has."""

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@dataclass(frozen=True)
class Ended:
    """`code` is promptfoo's exit code, or the negative number of the signal that ended it."""

    code: int
    interrupted: bool


def run_promptfoo(
    command: Sequence[str], environment: Mapping[str, str], alongside: Callable[[], object] = lambda: None
) -> Ended:
    """Run promptfoo to its end, with `alongside` at the same time in a thread.

    When this returns or raises, no process of promptfoo's runs any more. When `alongside` raises, promptfoo is stopped
    and the exception is raised here.
    """
    child = _Child(command, environment)
    raised: list[BaseException] = []

    def other() -> None:
        try:
            alongside()
        except BaseException as error:
            raised.append(error)
            child.end()
            if not isinstance(error, Exception):
                raise

    # A plain thread: a pool of one costs as much to import as all the rest of this room.
    thread = threading.Thread(target=other, name="alongside")
    with _handled(child.on_signal):
        thread.start()
        code = child.wait()
        thread.join()
    if raised:
        raise raised[0]
    return Ended(code, child.interrupted)


class _Child:
    def __init__(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        # No stdin: in a terminal promptfoo would switch it to single keys, and Ctrl-C would reach nobody but itself.
        self._process = subprocess.Popen(command, env=dict(environment), stdin=subprocess.DEVNULL, process_group=0)
        self._last_signal = 0.0
        self.interrupted = False

    def wait(self) -> int:
        code = self._process.wait()
        _end_group(self._process.pid)
        return code

    def end(self) -> None:
        _signal_group(self._process.pid, signal.SIGTERM)

    def on_signal(self, _number: int, _frame: FrameType | None) -> None:
        now = time.monotonic()
        if self.interrupted and now - self._last_signal < SAME_KEYPRESS_SECONDS:
            return
        self._last_signal = now
        self.interrupted = True
        with contextlib.suppress(ProcessLookupError):
            self._process.send_signal(signal.SIGINT)


@contextlib.contextmanager
def _handled(handler: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    before = {number: signal.signal(number, handler) for number in _SIGNALS}
    try:
        yield
    finally:
        for number, old in before.items():
            signal.signal(number, old)


def _end_group(group: int) -> None:
    if not _signal_group(group, signal.SIGTERM):
        return
    deadline = time.monotonic() + WORKERS_END_SECONDS
    while time.monotonic() < deadline:
        if not _signal_group(group, 0):
            return
        time.sleep(0.05)
    _signal_group(group, signal.SIGKILL)


def _signal_group(group: int, number: int) -> bool:
    """False when no process of the group is left."""
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True
