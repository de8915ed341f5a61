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
    peak_mb: float
    ms_per_turn: float


def measure() -> list[Figure]:
    return [Figure("peak memory of a provider worker after 22 episodes", run_cases().peak_mb, "MB", 150)]


def run_cases() -> WorkerRun:
    """Start `bench.worker_process` and read what it measured of itself."""
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder) / "measured.json"
        environment = os.environ | {"EVALS_HOME": folder}
        command = [sys.executable, "-m", "bench.worker_process", str(result)]
        subprocess.run(command, cwd=CHECKOUT, env=environment, check=True)
        measured = json.loads(result.read_text())
    return WorkerRun(measured["peakMb"], measured["msPerTurn"])
