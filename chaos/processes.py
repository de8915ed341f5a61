"""The processes of one promptfoo run: found by their session, killed one by one."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import time
from pathlib import Path

from chaos.plan import Victim

FIND_SECONDS = 8.0
"""How long a victim is looked for: a hook lives for a tenth of a second."""


def members(session: int) -> dict[int, str]:
    """Processes of the session that are not dead yet, with their command lines."""
    found = {}
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        with contextlib.suppress(OSError, ValueError, IndexError):
            fields = (folder / "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
            if int(fields[3]) == session and fields[0] not in "ZX":
                command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
                found[int(folder.name)] = command
    return found


def kill_one(session: int, victim: Victim, chance: random.Random, give_up: float) -> bool:
    """Kill a process of that kind; False when there was none until the time `give_up` (monotonic)."""
    deadline = min(give_up, time.monotonic() + FIND_SECONDS)
    while time.monotonic() < deadline:
        candidates = [pid for pid, command in members(session).items() if _is(victim, pid == session, command)]
        if candidates:
            with contextlib.suppress(ProcessLookupError):
                os.kill(chance.choice(candidates), signal.SIGKILL)
                return True
        time.sleep(0.01)
    return False


def end_all(session: int, patience_s: float) -> int:
    """Wait for the session's processes to end, kill the rest, and return how many had to be killed."""
    deadline = time.monotonic() + patience_s
    while left := members(session):
        if time.monotonic() >= deadline:
            for pid in left:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            return len(left)
        time.sleep(0.1)
    return 0


def _is(victim: Victim, leader: bool, command: str) -> bool:
    if victim is Victim.PROMPTFOO:
        return leader
    if victim is Victim.WORKER:
        return "persistent_wrapper.py" in command
    return "hooks/cleanup.py" in command
