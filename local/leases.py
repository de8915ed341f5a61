"""Who still needs the stack? Processes hold leases by their id; the stack ends when none of them is alive."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable
from pathlib import Path


class Leases:
    """The processes that hold a lease. A reused process id is told from the old one by when the process began."""

    def __init__(self, pids: Iterable[int] = ()) -> None:
        self._holders: dict[int, str] = {}
        for pid in pids:
            self.add(pid)

    def add(self, pid: int) -> None:
        """Give a lease to a process. One that is not alive gets none."""
        start = _alive_since(pid)
        if start is not None:
            self._holders[pid] = start

    def any_alive(self) -> bool:
        """Whether a holder is still running; dead ones are forgotten."""
        self._holders = {pid: start for pid, start in self._holders.items() if _alive_since(pid) == start}
        return bool(self._holders)


def _alive_since(pid: int) -> str | None:
    """When the process began, in the kernel's ticks (an empty text where that can not be read); None when it is dead.

    A zombie is dead: it only waits for its parent to look.
    """
    if pid <= 0:
        return None
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return None
    except (PermissionError, OverflowError) as error:
        if isinstance(error, OverflowError):
            return None
    with contextlib.suppress(OSError):
        # The second field is the program's name in brackets and may hold spaces; the third is the state.
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        return None if fields[0] in ("Z", "X") else fields[19]
    return ""
