"""Several expected calls against the calls that were made: one to one, and optimally.

Matching greedily, in the order in which the expectations are listed, can leave one of them without the only call that
fits it. Here the assignment is the one in which the most parameters fit, whatever the order.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import lcm
from typing import TYPE_CHECKING

from assertions.matching.argument_fit import ArgumentMatch
from assertions.matching.assignment import best_assignment
from assertions.matching.call_pattern import CallPattern
from assertions.matching.json_values import counted
from assertions.matching.selection import Seen, Selection
from assertions.tool_calls.absence import NOT_DONE, why_absent
from assertions.tool_calls.arguments import NAME, explain, judged_by_score
from assertions.verdict import CheckResult, not_evaluated

if TYPE_CHECKING:
    from assertions.tool_calls.arguments import Expectation

Table = list[list[ArgumentMatch | None]]


def judge_several(
    world: Sequence[Seen], selection: Selection, expected: Sequence[CallPattern], expectation: Expectation
) -> CheckResult:
    """The score is the mean share of the expected calls; with `extra_calls: forbid` extra ones count as 0 in it."""
    made = [seen for seen in world if any(pattern.names(seen.call) for pattern in expected)]
    table: Table = [[pattern.match(seen.call) for seen in made] for pattern in expected]
    chosen = assign(table, hopeful=False)
    extra = [seen for index, seen in enumerate(made) if index not in set(chosen)]
    size = len(expected) if expectation.extra_allowed else max(len(expected), len(made))
    shares = [(0, 1) if match is None else match.share for match in _matches(table, chosen)]
    common = lcm(*(considered for _, considered in shares))
    total = sum(right * (common // considered) for right, considered in shares)
    score = total / (common * size)
    reason = _first_problem(made, selection, expected, expectation, table, chosen)
    if not reason and extra and not expectation.extra_allowed:
        reason = f"{extra[0]} is not expected: all {counted(len(expected), 'expected call')} took place without it"
    full = f"{counted(len(expected), 'expected call')} took place with the expected arguments{_notes(table, chosen)}"
    result = judged_by_score(score, expectation.threshold, reason, full)
    if not result.passed and _could_pass(table, expected, made, expectation):
        return not_evaluated(NAME, reason)
    return result


def assign(table: Table, hopeful: bool) -> list[int | None]:
    """For each expected call the index of its call. `hopeful`: lost evidence is taken for a fit."""
    shares = [[_share(match, hopeful) for match in row] for row in table]
    common = lcm(*(considered for row in shares for _, considered in row))
    # A pair of the same tool that shares no parameter is still better than none: it explains more.
    scale = len(table) + 1
    weights = [
        [
            0 if match is None else right * (common // considered) * scale + 1
            for match, (right, considered) in zip(row, row_shares, strict=True)
        ]
        for row, row_shares in zip(table, shares, strict=True)
    ]
    chosen = best_assignment(weights)
    return [None if index is None or table[row][index] is None else index for row, index in enumerate(chosen)]


def _could_pass(table: Table, expected: Sequence[CallPattern], made: Sequence[Seen], expectation: Expectation) -> bool:
    if not expectation.extra_allowed and len(made) > len(expected):
        return False
    matches = _matches(table, assign(table, hopeful=True))
    return all(match is not None and match.could_fit for match in matches)


def _share(match: ArgumentMatch | None, hopeful: bool) -> tuple[int, int]:
    if match is None:
        return 0, 1
    return (1, 1) if hopeful and match.could_fit else match.share


def _matches(table: Table, chosen: Sequence[int | None]) -> list[ArgumentMatch | None]:
    return [None if index is None else table[row][index] for row, index in enumerate(chosen)]


def _first_problem(
    made: Sequence[Seen],
    selection: Selection,
    expected: Sequence[CallPattern],
    expectation: Expectation,
    table: Table,
    chosen: Sequence[int | None],
) -> str:
    for row, (pattern, match) in enumerate(zip(expected, _matches(table, chosen), strict=True)):
        index = chosen[row]
        if match is not None and match.fits:
            continue
        where = f"expected call {row + 1}, {pattern}"
        if match is not None and index is not None:
            return f"{where}: the closest is {made[index]}: {explain(match)}"
        if any(pattern.names(seen.call) for seen in made):
            return f"{where}: every call of it is taken by another expected call"
        why = why_absent(pattern, selection, expectation.when)
        return f"{where}: {NOT_DONE[expectation.when]}{expectation.turns}{why}"
    return ""


def _notes(table: Table, chosen: Sequence[int | None]) -> str:
    notes = dict.fromkeys(note for match in _matches(table, chosen) if match is not None for note in match.notes)
    return f"; {', '.join(notes)}" if notes else ""
