"""A data folder in which a real model has been fetched, as far as anybody can tell: its engine is our stand-in."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evals.locked_packages import python_of
from evals.real_model.fetching import FOLDER, mark_engine
from evals.real_model.pinned import read_pinned
from tests.support import real_model_engine


@dataclass(frozen=True)
class StandIn:
    """`packages` is the folder with the stand-in; `python` the environment that has it."""

    home: Path
    packages: Path

    @property
    def python(self) -> Path:
        return python_of(self.packages.parent)

    def behave(self, behaviour: str) -> None:
        (self.packages / "BEHAVIOUR").write_text(behaviour, encoding="utf-8")

    def noted(self) -> list[dict[str, Any]]:
        """What the engine has noted so far."""
        file = self.packages / "REQUESTS"
        return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()] if file.exists() else []

    def engine_pids(self) -> list[int]:
        return [entry["pid"] for entry in self.noted() if "pid" in entry]


def stand_in(home: Path) -> StandIn:
    """Make the folder; the model's file has the right length and takes no room."""
    pinned = read_pinned()
    folder = home / FOLDER
    environment = folder / "engine"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(environment)], check=True)
    packages = environment / "engine-packages"
    packages.mkdir()
    shutil.copy(real_model_engine.__file__, packages / "xllamacpp.py")
    mark_engine(environment, pinned)
    (folder / pinned.model.file).touch()
    os.truncate(folder / pinned.model.file, pinned.model.bytes)
    return StandIn(home, packages)


def alive(pid: int) -> bool:
    """Whether the process runs; one that only waits for its parent to look does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in ("Z", "X")
