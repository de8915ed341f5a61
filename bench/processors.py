"""How busy are this machine's processors, whoever keeps them so?"""

from __future__ import annotations

import os
import threading
from bisect import bisect_left
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter

SAMPLE_S = 0.1
_STAT = Path("/proc/stat")
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass
class Processors:
    """Samples of the clock and of the processor time that was spent until then, both in seconds."""

    at: list[float] = field(default_factory=list)
    spent: list[float] = field(default_factory=list)

    def busy(self, first: float, last: float) -> float | None:
        """How many processors were busy on average between two moments of `perf_counter`; None: not measured."""
        start, end = bisect_left(self.at, first), bisect_left(self.at, last) - 1
        if end <= start:
            return None
        return (self.spent[end] - self.spent[start]) / (self.at[end] - self.at[start])


@contextmanager
def watched_processors() -> Iterator[Processors]:
    """Look ten times a second for as long as the block lasts. Linux only: elsewhere there are no samples."""
    samples, done = Processors(), threading.Event()

    def watch() -> None:
        while not done.wait(SAMPLE_S):
            samples.at.append(perf_counter())
            samples.spent.append(_spent())

    watcher = threading.Thread(target=watch, daemon=True)
    if _STAT.exists():
        watcher.start()
    try:
        yield samples
    finally:
        done.set()
        if watcher.ident is not None:
            watcher.join()


def _spent() -> float:
    user, nice, system, _idle, _waiting, *interrupts = map(int, _STAT.read_text().split("\n", 1)[0].split()[1:8])
    return (user + nice + system + sum(interrupts)) / _TICKS
