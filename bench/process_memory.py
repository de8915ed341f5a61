"""The memory of a process and its descendants while they run."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

SAMPLE_S = 0.1
_PROC = Path("/proc")


@dataclass
class Peak:
    """The most memory in MB that the processes held at one time."""

    megabytes: float = 0.0


@contextmanager
def watched_memory(pid: int) -> Iterator[Peak]:
    """Look at the memory of `pid` and its descendants ten times a second. Linux only: elsewhere the peak stays 0."""
    peak, done = Peak(), threading.Event()

    def watch() -> None:
        while not done.wait(SAMPLE_S):
            peak.megabytes = max(peak.megabytes, sum(_resident_mb(one) for one in family(pid)))

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield peak
    finally:
        done.set()
        watcher.join()


def family(pid: int) -> list[int]:
    """`pid` and its descendants that run now. Linux only: `pid` alone elsewhere."""
    children: dict[int, list[int]] = {}
    for folder in _PROC.glob("[0-9]*"):
        with contextlib.suppress(OSError):
            # The name in parentheses may hold spaces and parentheses of its own.
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            children.setdefault(parent, []).append(int(folder.name))
    found = [pid]
    for one in found:
        found.extend(children.get(one, []))
    return found


def _resident_mb(pid: int) -> float:
    with contextlib.suppress(OSError):
        for line in (_PROC / str(pid) / "status").read_text().splitlines():
            if line.startswith("VmRSS"):
                return int(line.split()[1]) / 1024
    return 0.0
