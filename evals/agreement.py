"""How far do two or more judges agree, beyond chance? Krippendorff's alpha, and a table of who said what.

alpha = 1 - observed disagreement / disagreement expected by chance: 1 is perfect, 0 is chance. It takes any number of
judges and missing values. By his own rule of thumb, conclusions want 0.800, and tentative ones 0.667.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal

Level = Literal["nominal", "ordinal", "interval"]


def krippendorff_alpha(units: Iterable[Sequence[Any]], level: Level = "nominal") -> float | None:
    """Alpha over `units`: what each judge said of one item (a hashable value), None where a judge said nothing.

    An item with fewer than two values is left out. None when alpha is not defined: no pair of values, or only one
    value was ever given, so that agreement can not be told from habit.

    Raises:
        TypeError: `ordinal` or `interval` with values that can not be ordered, or subtracted.
    """
    pairable = [[value for value in unit if value is not None] for unit in units]
    pairable = [unit for unit in pairable if len(unit) > 1]
    counts: Counter[Any] = Counter(value for unit in pairable for value in unit)
    total = counts.total()
    if total < 2 or len(counts) < 2:
        return None
    distance = _distance(level, counts)
    observed = sum(
        2 * sum(distance(unit[i], unit[j]) for i in range(len(unit)) for j in range(i)) / (len(unit) - 1)
        for unit in pairable
    )
    values = list(counts)
    expected = sum(
        2 * counts[values[i]] * counts[values[j]] * distance(values[i], values[j])
        for i in range(len(values))
        for j in range(i)
    ) / (total - 1)
    return 1.0 - observed / expected


def confusion(pairs: Iterable[tuple[Any, Any]], values: Sequence[Any]) -> list[list[int]]:
    """How often the first of a pair (a row) met the second (a column), in the order of `values`."""
    counts = Counter(pairs)
    return [[counts[row, column] for column in values] for row in values]


def _distance(level: Level, counts: Counter[Any]) -> Callable[[Any, Any], float]:
    """The squared difference of two values, as the level of measurement defines it."""
    if level == "nominal":
        return lambda left, right: float(left != right)
    if level == "interval":
        return lambda left, right: float((left - right) ** 2)
    ordered = sorted(counts)
    # How many values were given up to each rank, half of its own counted: the distance is what lies between two ranks.
    ranks: dict[Any, float] = {}
    before = 0
    for value in ordered:
        ranks[value] = before + counts[value] / 2
        before += counts[value]
    return lambda left, right: (ranks[left] - ranks[right]) ** 2
