"""One measured figure and the goal that it is held against."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any


@dataclass(frozen=True)
class Figure:
    """`value` in `unit`; `goal` in the same unit is the most that is allowed."""

    name: str
    value: float
    unit: str
    goal: float

    @property
    def holds(self) -> bool:
        return self.value <= self.goal

    def as_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "value": round(self.value, 3),
            "unit": self.unit,
            "goal": self.goal,
            "holds": self.holds,
        }


def interleaved(runs: Sequence[Callable[[], object]], rounds: int) -> list[float]:
    """Median wall time of each run in seconds. The runs take turns, so that a slow minute of the machine hits all."""
    seconds: list[list[float]] = [[] for _ in runs]
    for _ in range(rounds):
        for place, run in enumerate(runs):
            start = perf_counter()
            run()
            seconds[place].append(perf_counter() - start)
    return [statistics.median(times) for times in seconds]
