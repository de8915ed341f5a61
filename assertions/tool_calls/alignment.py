"""Which call serves which step? The best alignment, with the order of the steps or without it.

The best one fills the most required units (see `units`); among those it leaves over the fewest calls that a capped step
could have taken; among those it matches the most calls. These three numbers do not depend on the order in which equal
choices are tried, nor, without order, on the order in which the steps are listed.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from assertions.matching.selection import Seen
from assertions.tool_calls.ordered_batches import Rules, best_way
from assertions.tool_calls.steps import Step
from assertions.tool_calls.units import Fits, Unit, fill, unfold
from episodes.frozen import frozen
from episodes.record import ToolCall


@frozen
class Alignment:
    """`step_of` gives for each call its step, None for a call that is left over. `filled` counts required units."""

    filled: int
    required: int
    step_of: tuple[int | None, ...]

    @property
    def matched(self) -> int:
        return len(self.step_of) - self.step_of.count(None)

    @property
    def complete(self) -> bool:
        return self.filled == self.required

    def calls_of(self, step: int) -> list[int]:
        return [call for call, own in enumerate(self.step_of) if own == step]

    def left_over(self) -> list[int]:
        return [call for call, own in enumerate(self.step_of) if own is None]


def only_alignment(steps: Sequence[Step], calls: Sequence[Seen], fitting: Sequence[Sequence[int]]) -> Alignment | None:
    """The alignment where there is nothing to choose, so that it is the best one in order as well as without order.

    `fitting` has the calls that fit each step. None where there is a choice, or might be: a step or a call that has two
    to fit, calls that are not in the order of their steps, a step that may be served more than once or not at all,
    parallel calls.
    """
    step_of: list[int | None] = [None] * len(calls)
    behind = 0
    for index, (step, row) in enumerate(zip(steps, fitting, strict=True)):
        if not step.once or len(row) > 1:
            return None
        if row:
            call = row[0]
            if call < behind:
                return None
            behind = call + 1
            step_of[call] = index
    if has_batch(calls):
        return None
    return Alignment(len(calls) - step_of.count(None), len(steps), tuple(step_of))


def align_in_order(
    steps: Sequence[Step], calls: Sequence[Seen], fits: Fits, wanted: Sequence[bool], strict: bool
) -> Alignment:
    """The best alignment in which no step is served before an earlier one.

    Calls of one parallel batch have no order among themselves, unless `strict`. `wanted`: a capped step could take it.
    """
    units = unfold(steps)
    base = len(calls) + 1

    def weigh(unit: int, call: int) -> int:
        return units[unit].required * base * base + wanted[call] * base + 1

    way = best_way(_batches(calls), Rules(units, fits, weigh, wanted, strict))
    return _alignment(units, len(calls), way.all_pairs())


def align_freely(steps: Sequence[Step], count: int, fits: Fits, wanted: Sequence[bool]) -> Alignment:
    """The best alignment when order does not matter."""
    if all(sum(column) < 2 for column in zip(*fits, strict=True)):
        return _align_apart(steps, count, fits)
    units = unfold(steps)
    return _alignment(units, count, fill(units, range(len(units)), range(count), fits, wanted))


def _align_apart(steps: Sequence[Step], count: int, fits: Fits) -> Alignment:
    """The same where no call fits two steps: each takes the first calls that fit it, which nobody else wants."""
    step_of: list[int | None] = [None] * count
    filled = 0
    for index, (step, row) in enumerate(zip(steps, fits, strict=True)):
        own = [call for call, fit in enumerate(row) if fit][: step.most]
        filled += min(len(own), step.least)
        for call in own:
            step_of[call] = index
    return Alignment(filled, sum(step.least for step in steps), tuple(step_of))


def in_one_batch(before: ToolCall, call: ToolCall) -> bool:
    """Whether two calls, one behind the other, are of one model answer. A batch of 0 is unknown: the call is alone."""
    return call.batch == before.batch != 0 and call.turn == before.turn


def has_batch(calls: Sequence[Seen]) -> bool:
    """Whether any two of the calls are of one model answer."""
    if len({seen.call.batch for seen in calls}) == len(calls):
        return False
    return any(in_one_batch(before.call, seen.call) for before, seen in pairwise(calls))


def _batches(calls: Sequence[Seen]) -> list[list[int]]:
    """Indexes of the calls, those of one model answer together."""
    batches: list[list[int]] = []
    for index, seen in enumerate(calls):
        if index and in_one_batch(calls[index - 1].call, seen.call):
            batches[-1].append(index)
        else:
            batches.append([index])
    return batches


def _alignment(units: Sequence[Unit], count: int, pairs: Sequence[tuple[int, int]]) -> Alignment:
    step_of: list[int | None] = [None] * count
    for unit, call in pairs:
        step_of[call] = units[unit].step
    filled = sum(units[unit].required for unit, _ in pairs)
    return Alignment(filled, sum(unit.required for unit in units), tuple(step_of))
