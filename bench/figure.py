"""One measured figure and the goal that it is held against."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any


@dataclass(frozen=True)
class Figure:
    """`value` in `unit`; `goal` in the same unit is the most that is allowed, or with `at_least` the least.

    Without a goal it is there for comparison: a peer's figure, or one that says why another is as it is.
    """

    name: str
    value: float
    unit: str
    goal: float | None = None
    at_least: bool = False

    @property
    def holds(self) -> bool:
        if self.goal is None:
            return True
        return self.value >= self.goal if self.at_least else self.value <= self.goal

    @property
    def verdict(self) -> str:
        """The goal and whether it holds, in words; empty without a goal."""
        if self.goal is None:
            return ""
        most = "at least" if self.at_least else "at most"
        return f"(goal: {most} {self.goal:g})  {'holds' if self.holds else 'DOES NOT HOLD'}"

    def as_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "value": round(self.value, 3),
            "unit": self.unit,
            "goal": self.goal,
            "atLeast": self.at_least,
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
