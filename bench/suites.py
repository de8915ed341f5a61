"""All 26 cases offline, against the same rows with canned answers and one trivial Python assertion.

Ours is what a person starts (`evals run all`), with portal, model and cleanup; the floor is promptfoo alone, as it is
installed. It is measured once more with promptfoo started as ours is, which is faster.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from bench.figure import Figure, interleaved
from bench.runs import Runs

ROUNDS = 3


def measure() -> list[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        runs = Runs(Path(folder))
        runs.prepare()
        runs.canned()
        ours, floor, quick = interleaved([runs.ours, runs.canned, runs.canned_quick], ROUNDS)
    return [
        Figure("26 cases / the same rows with canned answers", ours / floor, "x", 1.5),
        Figure("26 cases / the same rows, promptfoo started as ours", ours / quick, "x"),
        Figure("26 cases", ours, "s"),
    ]
