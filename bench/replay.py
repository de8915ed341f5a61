"""How much faster are the 26 cases replayed from their cassettes than run against the local portal and model?

Measured are the calls of the providers, as promptfoo makes them: whole episodes, with their records. One worker that
has imported everything runs each case live and then replays it, so that both meet the same state of the machine. What
is the same in both, promptfoo and the processes of assertions, is not in this figure; the whole runs are there for
comparison.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from bench.figure import Figure, interleaved
from bench.runs import CHECKOUT, Runs

ROUNDS = 3


def measure() -> list[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder) / "measured.json"
        command = [sys.executable, "-m", "bench.replay_process", str(result), str(ROUNDS)]
        subprocess.run(command, cwd=CHECKOUT, env=os.environ | {"EVALS_HOME": folder}, check=True)
        spent = json.loads(result.read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as folder:
        runs = Runs(Path(folder))
        runs.ours()
        live, replayed = interleaved([runs.ours, runs.replay], ROUNDS)
    return [
        Figure(
            "26 cases live / replayed, the providers' calls", spent["live"] / spent["replayed"], "x", 5, at_least=True
        ),
        Figure("26 cases live, the providers' calls", spent["live"], "s"),
        Figure("26 cases replayed, the providers' calls", spent["replayed"], "s"),
        Figure("26 cases live / replayed, `evals run all` as a whole", live / replayed, "x"),
    ]
