"""Memory of one provider worker over 200 episodes: the cases of spoke-create, one after the other, nine times."""

from __future__ import annotations

from bench.figure import Figure
from bench.worker import run_cases

EPISODES = 200
WARM_UP = 50
"""Episodes after which everything that is loaded or cached once has been."""
MAX_GROWTH_MB = 8.0
"""A session or client that is not let go costs more."""


def measure() -> list[Figure]:
    run = run_cases(EPISODES, WARM_UP)
    return [
        Figure(f"peak memory of a worker over {EPISODES} episodes", run.peak_mb, "MB", 150),
        Figure(f"its growth from episode {WARM_UP} to {EPISODES}", run.growth_mb, "MB", MAX_GROWTH_MB),
    ]
