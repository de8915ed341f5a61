"""Our own time before promptfoo is started, when all is set up: launcher, stamps, imports, check of the cases."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from bench.figure import Figure, interleaved
from bench.runs import CHECKOUT, Runs

ROUNDS = 9


def measure() -> list[Figure]:
    with tempfile.TemporaryDirectory() as name:
        environment = os.environ | {"EVALS_HOME": name}

        def selection() -> None:
            """A filter that selects nothing ends a run at the moment at which promptfoo would be started."""
            command = ["node", "setup/launch.mjs", "evals", "run", "all", "--filter-pattern", "^there is no such case$"]
            done = subprocess.run(command, cwd=CHECKOUT, env=environment, capture_output=True, text=True, check=False)
            if done.returncode != 4:
                raise RuntimeError(f"expected code 4, got {done.returncode}: {done.stdout}{done.stderr}")

        Runs(Path(name)).ours()  # the cases are known to be right from here on, as they are in any second run
        seconds, bare = interleaved([selection, _bare], ROUNDS)
    return [
        Figure("second start until promptfoo is started", seconds, "s"),
        Figure("our own overhead in it, beyond a bare Node and a bare Python", seconds - bare, "s", 0.3),
    ]


def _bare() -> None:
    """What any command costs that goes from Node to Python."""
    subprocess.run(["node", "-e", "0"], check=True)
    subprocess.run([sys.executable, "-c", "pass"], check=True)
