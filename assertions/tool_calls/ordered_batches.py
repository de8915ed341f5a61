"""The best alignment in order: dynamic programming over the batches of calls and the units of the steps.

A *front* holds, for each unit, the best way to have served all calls so far such that this unit and those behind it are
still to come. Ways share their pasts, so a front costs as many entries as there are units, however long the record is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from assertions.tool_calls.units import Fits, Unit, fill
from episodes.frozen import frozen


class Way:
    """One way to serve calls: its weight, and the pairs of unit and call by which it goes on from `before`."""

    __slots__ = ("before", "pairs", "weight")

    def __init__(self, weight: int, before: Way | None, pairs: Sequence[tuple[int, int]]) -> None:
        self.weight = weight
        self.before = before
        self.pairs = pairs

    def all_pairs(self) -> list[tuple[int, int]]:
        collected: list[tuple[int, int]] = []
        way: Way | None = self
        while way is not None:
            collected.extend(way.pairs)
            way = way.before
        return collected


Front = list[Way]


@frozen
class Rules:
    """`weigh(unit, call)` is what a pair is worth. `strict`: order counts inside a batch too."""

    units: Sequence[Unit]
    fits: Fits
    weigh: Callable[[int, int], int]
    wanted: Sequence[bool]
    strict: bool


def best_way(batches: Sequence[Sequence[int]], rules: Rules) -> Way:
    """The heaviest way to serve the calls, batch by batch, no unit before an earlier one."""
    front: Front = [Way(0, None, ())] * (len(rules.units) + 1)
    for batch in batches:
        front = _after_call(front, batch[0], rules) if len(batch) == 1 else _after_batch(front, batch, rules)
    return front[-1]


def _after_call(front: Front, call: int, rules: Rules) -> Front:
    after = list(front)
    fits = rules.fits
    for index, unit in enumerate(rules.units):
        if fits[unit.step][call]:
            # An endless unit stays open for more.
            _offer(after, index if unit.endless else index + 1, front[index], [(index, call)], rules)
    return _settled(after) if after != front else front


def _after_batch(front: Front, batch: Sequence[int], rules: Rules) -> Front:
    after = list(front)
    useful = [index for index, unit in enumerate(rules.units) if any(rules.fits[unit.step][call] for call in batch)]
    for first in range(len(rules.units)):
        if first and front[first].weight == front[first - 1].weight:
            continue  # starting one unit earlier offers more and has cost nothing
        for offered in _compatible([index for index in useful if index >= first], rules.units):
            for length in range(1, len(offered) + 1):
                last = offered[length - 1]
                pairs = (_in_turn if rules.strict else _at_once)(offered[:length], batch, rules)
                _offer(after, last if rules.units[last].endless else last + 1, front[first], pairs, rules)
    return _settled(after)


def _compatible(offered: Sequence[int], units: Sequence[Unit]) -> Iterator[list[int]]:
    """The sets of units that one batch may serve: nothing that reads before something that writes.

    A step that acts on answers can not have seen the answer of a call of its own batch.
    """
    for border in sorted({0, *(units[index].step for index in offered if units[index].writes)}):
        chosen = [index for index in offered if _on_its_side(units[index], border)]
        if chosen:
            yield chosen


def _on_its_side(unit: Unit, border: int) -> bool:
    return unit.step <= border if unit.writes else unit.step >= border


def _at_once(offered: Sequence[int], batch: Sequence[int], rules: Rules) -> list[tuple[int, int]]:
    return fill(rules.units, offered, batch, rules.fits, rules.wanted)


def _in_turn(offered: Sequence[int], batch: Sequence[int], rules: Rules) -> list[tuple[int, int]]:
    units = [rules.units[index] for index in offered]
    inner = Rules(units, rules.fits, lambda unit, call: rules.weigh(offered[unit], call), rules.wanted, strict=True)
    pairs = best_way([[call] for call in batch], inner).all_pairs()
    return [(offered[unit], call) for unit, call in pairs]


def _offer(after: Front, target: int, before: Way, pairs: Sequence[tuple[int, int]], rules: Rules) -> None:
    weight = before.weight
    for unit, call in pairs:
        weight += rules.weigh(unit, call)
    if weight > after[target].weight:
        after[target] = Way(weight, before, pairs)


def _settled(front: Front) -> Front:
    """A unit may be passed over, so a later place is never worse than an earlier one."""
    for index in range(1, len(front)):
        if front[index - 1].weight > front[index].weight:
            front[index] = front[index - 1]
    return front
