"""Has this machine the room for a real model? Asked before anything is fetched or started."""

from __future__ import annotations

import shutil
from pathlib import Path

from evals.command_line import CommandError

MEMORY_BYTES = 3_000_000_000
"""What engine, model and its context take while they run, and a little for the rest of the run."""

ENVIRONMENT_BYTES = 300_000_000
"""The engine's environment, and the part that is being fetched, twice for a moment."""

_MEMINFO = Path("/proc/meminfo")


def check_memory(meminfo: Path = _MEMINFO) -> None:
    """Raise when there is too little memory. Where the system does not tell (macOS), nothing is known, nor raised.

    Raises:
        CommandError: with the sentence for the person.
    """
    free = _available(meminfo)
    if free is not None and free < MEMORY_BYTES:
        raise CommandError(
            f"A real model needs {MEMORY_BYTES / 1e9:.1f} GB of free memory, and this machine has {free / 1e9:.1f} GB: "
            "end what is not needed, or use a larger machine. `npm run eval` works without."
        )


def check_disk(folder: Path, missing_bytes: int) -> None:
    """Raise when `folder` can not hold what is still to be fetched.

    Raises:
        CommandError: with the sentence for the person.
    """
    free = shutil.disk_usage(folder).free
    if free < missing_bytes:
        raise CommandError(
            f"{folder} needs {missing_bytes / 1e9:.1f} GB for the model and what runs it, and its disk has "
            f"{free / 1e9:.1f} GB free: free some space, or set EVALS_HOME to a folder on another disk."
        )


def _available(meminfo: Path) -> int | None:
    try:
        lines = meminfo.read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    for line in lines:
        name, _, rest = line.partition(":")
        if name == "MemAvailable":
            return int(rest.split()[0]) * 1024
    return None
