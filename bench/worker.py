"""Peak memory of a provider worker: a process that runs every case of spoke-create, as a worker of promptfoo does."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from bench.figure import Figure
from bench.runs import CHECKOUT


@dataclass(frozen=True)
class WorkerRun:
    """`growth_mb` is by how much the memory at the end is more than that after the warm-up."""

    peak_mb: float
    growth_mb: float
    ms_per_turn: float


def measure() -> list[Figure]:
    return [Figure("peak memory of a provider worker after 22 episodes", run_cases().peak_mb, "MB", 150)]


def run_cases(episodes: int | None = None, warm_up: int = 1) -> WorkerRun:
    """Start `bench.worker_process` and read what it measured of itself. None: each case of spoke-create once."""
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder) / "measured.json"
        environment = os.environ | {"EVALS_HOME": folder, "EVALS_CASSETTES": "off"}
        command = [sys.executable, "-m", "bench.worker_process", str(result), str(episodes or 0), str(warm_up)]
        subprocess.run(command, cwd=CHECKOUT, env=environment, check=True)
        measured = json.loads(result.read_text())
    return WorkerRun(measured["peakMb"], measured["growthMb"], measured["msPerTurn"])
