"""Which expected changes were made, which were not, and what else changed: with the words for it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from assertions.input_changes.aligned import AlignmentRules, Place, align
from assertions.input_changes.changes import SIGNS, Change, changes_of
from assertions.input_changes.documents import Document
from assertions.input_changes.expected import ExpectedChange
from assertions.matching.json_values import MISSING, counted, shown
from assertions.matching.paths import Item, PathPattern, pointer
from episodes.frozen import frozen

MOST_LINES = 8
"""A reason shows so many missing and so many unexpected changes; the rest is counted."""


@frozen
class Outcome:
    """`met` are the expected changes that were made, `allowed` those that need not be expected.

    `missing` pairs an expected change with what is there instead; `undecided` says which evidence is lost.
    """

    source: str
    submitted: str
    met: tuple[ExpectedChange, ...]
    missing: tuple[tuple[ExpectedChange, str], ...]
    unexpected: tuple[Change, ...]
    allowed: tuple[Change, ...]
    undecided: str

    def praise(self) -> str:
        text = f"{self.submitted} differs from {self.source} in "
        if self.met:
            text += f"exactly the {counted(len(self.met), 'expected change')}: "
            text += ", ".join(f"{SIGNS[change.kind]} {change.place.text}" for change in self.met)
        else:
            text = f"{self.submitted} does not differ from {self.source}"
        return f"{text}; {counted(len(self.allowed), 'other change')} allowed" if self.allowed else text

    def explanation(self) -> str:
        """One sentence with the first mismatch, then a short diff."""
        numbers = []
        if self.missing:
            numbers.append(f"{counted(len(self.missing), 'expected change')} missing")
        if self.unexpected:
            numbers.append(f"{len(self.unexpected)} unexpected")
        head = f"{self.submitted} does not differ from {self.source} as expected: {', '.join(numbers)}"
        missing = [f"missing: {change}{f' ({instead})' if instead else ''}" for change, instead in self.missing]
        unexpected = [f"unexpected: {change}" for change in self.unexpected]
        return "\n".join([head, *_cut(missing), *_cut(unexpected)])


def compare(
    source: Document,
    submitted: Document,
    expected: Sequence[ExpectedChange],
    rules: AlignmentRules,
    allowed: Sequence[PathPattern] | None,
) -> Outcome:
    """Account for every change. `allowed`: places whose changes need not be expected; None: all places."""
    root = align(source.value, submitted.value, rules)
    lost = [place for place in root.walk() if place.changed and place.why_unknown]
    met: list[ExpectedChange] = []
    missing: list[tuple[ExpectedChange, str]] = []
    covered: set[int] = {id(place) for place in lost}
    open_question = f"{pointer(lost[0].path)} {lost[0].why_unknown}" if lost else ""
    for change in expected:
        fitting = [place for place in root.find(change.place) if change.is_met_by(place) and not place.why_unknown]
        covered.update(id(place) for place in fitting)
        if fitting:
            met.append(change)
        elif not change.optional and not any(_may_hold(change, place) for place in lost):
            missing.append((change, _instead(change, root)))
    excused = {id(root)} if allowed is None else set(_excused_places(root, allowed))
    return Outcome(
        source=source.origin,
        submitted=submitted.origin,
        met=tuple(met),
        missing=tuple(missing),
        unexpected=tuple(changes_of(root, lambda place: id(place) in covered or id(place) in excused)),
        allowed=tuple(_excused_changes(root, excused, covered)),
        undecided=f"whether {submitted.origin} differs from {source.origin} as expected is unknown: {open_question}"
        if open_question
        else "",
    )


def _excused_places(place: Place, allowed: Sequence[PathPattern]) -> Iterator[int]:
    """The topmost places that are allowed to change. An added or removed list element is one change: that a part of
    each element may change does not allow a part of a new one."""
    if any(pattern.matches(place.path) for pattern in allowed):
        yield id(place)
    elif not (place.one_sided and place.path and isinstance(place.path[-1], Item)):
        for child in place.children:
            yield from _excused_places(child, allowed)


def _excused_changes(place: Place, excused: set[int], covered: set[int]) -> Iterator[Change]:
    """The changes below the topmost excused places that no expected change accounts for."""
    if id(place) in covered:
        return
    if id(place) in excused:
        yield from changes_of(place, lambda inner: id(inner) in covered)
        return
    for child in place.children:
        yield from _excused_changes(child, excused, covered)


def _may_hold(change: ExpectedChange, lost: Place) -> bool:
    """The expected change may be at or below the place whose value is lost."""
    return change.place.matches(lost.path) or change.place.reaches(lost.path)


def _instead(change: ExpectedChange, root: Place) -> str:
    places = root.find(change.place)
    changed = [place for place in places if place.changed]
    if places:
        return change.why_not((changed or places)[0])
    # What is equal on both sides is not laid over each other any further.
    found = next((value for _, value in change.place.find(root.submitted)), MISSING)
    return "there is nothing on either side" if found is MISSING else f"unchanged: {shown(found)}"


def _cut(lines: Sequence[str]) -> list[str]:
    if len(lines) <= MOST_LINES:
        return list(lines)
    return [*lines[:MOST_LINES], f"… ({len(lines) - MOST_LINES} more)"]
