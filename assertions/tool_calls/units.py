"""The places that a sequence of steps offers to calls, and the best way to fill them when order does not matter."""

from __future__ import annotations

from collections.abc import Sequence

from assertions.matching.assignment import augment
from assertions.remember import remembered
from assertions.tool_calls.steps import Step
from episodes.frozen import frozen

Fits = Sequence[Sequence[bool]]
"""For each step, whether it fits each call."""


@frozen
class Unit:
    """One place for a call. `endless`: it takes any number of calls. `writes`: see `Step.after_answers`."""

    step: int
    required: bool
    endless: bool = False
    writes: bool = False


def _unfold(steps: Sequence[Step]) -> list[Unit]:
    units: list[Unit] = []
    for index, step in enumerate(steps):
        units += [Unit(index, required=True, writes=step.after_answers)] * step.least
        if step.most is None:
            units.append(Unit(index, required=False, endless=True, writes=step.after_answers))
        else:
            units += [Unit(index, required=False, writes=step.after_answers)] * (step.most - step.least)
    return units


unfold = remembered(_unfold)
"""One required unit for each call that a step needs, then one optional unit for each that it allows beyond."""


def fill(
    units: Sequence[Unit], offered: Sequence[int], calls: Sequence[int], fits: Fits, wanted: Sequence[bool]
) -> list[tuple[int, int]]:
    """Pairs of unit and call, among the `offered` units: as many required units as possible are filled; then as many
    `wanted` calls as possible have a unit; then as many calls as possible.

    The later aims take nothing from the earlier ones: once filled, a unit stays filled, and a wanted call that has a
    unit keeps one.
    """
    single = [index for index in offered if not units[index].endless]
    endless = [index for index in offered if units[index].endless]
    edges = [[at for at, call in enumerate(calls) if fits[units[index].step][call]] for index in single]
    room = [next((index for index in endless if fits[units[index].step][call]), None) for call in calls]
    place_of: list[int | None] = [None] * len(calls)
    for place, index in enumerate(single):
        if units[index].required:
            augment(place, edges, place_of)
    call_of: list[int | None] = [None] * len(single)
    for at, taken in enumerate(place_of):
        if taken is not None:
            call_of[taken] = at
    places: list[list[int]] = [[] for _ in calls]
    for place, own in enumerate(edges):
        for at in own:
            places[at].append(place)
    served = {at for at in call_of if at is not None}

    for urgent in (True, False):
        # Who has room in an endless unit may leave; so may, for a wanted call, one that is not wanted.
        may_leave = [room[at] is not None or (urgent and not wanted[call]) for at, call in enumerate(calls)]
        for at, call in enumerate(calls):
            if wanted[call] is not urgent or at in served:
                continue
            if room[at] is None:
                leaver = augment(at, places, call_of, may_leave.__getitem__)
                if leaver is None:
                    continue
                if leaver != at and room[leaver] is None:
                    served.discard(leaver)
            served.add(at)
    pairs = [(single[place], calls[at]) for place, at in enumerate(call_of) if at is not None]
    placed = {call for _, call in pairs}
    pairs += [(unit, calls[at]) for at, unit in enumerate(room) if unit is not None and calls[at] not in placed]
    return pairs
