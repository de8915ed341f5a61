"""The difference between two documents as a list of changes, in the spirit of JSON Patch."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal

from assertions.input_changes.aligned import ABSENT, AlignmentRules, Place, align
from assertions.matching.json_values import MISSING, shown
from assertions.matching.paths import Item, Path, pointer
from episodes.frozen import frozen

Operation = Literal["add", "remove", "replace", "reorder"]

SIGNS: dict[Operation, str] = {"add": "+", "remove": "-", "replace": "~", "reorder": "↕"}


@frozen
class Change:
    """One change. `old` is MISSING for `add`, `new` for `remove`; for `reorder` both are the elements' names, and
    `order` says for each common element of the submission which index it had in the source."""

    operation: Operation
    path: Path
    old: Any = MISSING
    new: Any = MISSING
    order: tuple[int, ...] = ()

    def __str__(self) -> str:
        return f"{SIGNS[self.operation]} {pointer(self.path)}: {self._values()}"

    def _values(self) -> str:
        if self.operation == "add":
            return shown(self.new)
        if self.operation == "remove":
            return shown(self.old)
        return f"{shown(self.old)} → {shown(self.new)}"


def diff(source: Any, submitted: Any, rules: AlignmentRules | None = None) -> list[Change]:
    """All changes that lead from `source` to `submitted`; none when they are equal as JSON."""
    return list(changes_of(align(source, submitted, rules or AlignmentRules()), lambda _: False))


def changes_of(place: Place, is_covered: Callable[[Place], bool]) -> Iterator[Change]:
    """The changes at and below a place that no covered place accounts for, each as high up as it can be said.

    An added object of which one part is covered is not one change any more: its other parts are.
    """
    if not place.changed or is_covered(place):
        return
    if place.one_sided:
        below = [inner for child in place.children for inner in child.walk()]
        if not any(map(is_covered, below)):
            yield _whole(place)
            return
    elif not place.children and not place.new_order:
        yield _whole(place)
        return
    if place.new_order:
        before = [child for child in place.children if not child.one_sided]
        names = {_index(child, 0): str(child.path[-1]) for child in before}
        order = place.new_order
        yield Change("reorder", place.path, [names[i] for i in sorted(order)], [names[i] for i in order], order)
    for child in place.children:
        yield from changes_of(child, is_covered)


def apply_changes(source: Any, changes: Sequence[Change]) -> Any:
    """The document that the changes make of `source`; `source` itself is left as it is."""
    return _applied(source, [(change.path, change) for change in changes])


def _whole(place: Place) -> Change:
    operation: Operation = "replace"
    if place.source is MISSING:
        operation = "add"
    elif place.submitted is MISSING:
        operation = "remove"
    return Change(operation, place.path, place.source, place.submitted)


def _index(place: Place, side: int) -> int:
    step = place.path[-1]
    return step.indexes[side] if isinstance(step, Item) else ABSENT


Pending = list[tuple[Path, Change]]


def _applied(value: Any, pending: Pending) -> Any:
    """`pending` pairs each change with the rest of its path, seen from `value`."""
    for rest, change in pending:
        if not rest and change.operation != "reorder":
            return change.new
    if isinstance(value, Mapping):
        return _applied_to_object(dict(value), pending)
    return _applied_to_list(list(value), pending) if isinstance(value, list | tuple) else value


def _applied_to_object(value: dict[str, Any], pending: Pending) -> dict[str, Any]:
    for key in dict.fromkeys(str(rest[0]) for rest, _ in pending):
        below = [(rest[1:], change) for rest, change in pending if rest[0] == key]
        changed = _applied(value.get(key, MISSING), below)
        if changed is MISSING:
            del value[key]
        else:
            value[key] = changed
    return value


def _applied_to_list(value: list[Any], pending: Pending) -> list[Any]:
    order = next((change.order for rest, change in pending if not rest), ())
    below: dict[tuple[int, int], Pending] = {}
    for rest, change in pending:
        if rest and isinstance(step := rest[0], Item):
            below.setdefault((step.indexes[0], step.indexes[1]), []).append((rest[1:], change))
    added: list[tuple[int, Any]] = []
    for (old, new), inner in below.items():
        if old == ABSENT:
            added.append((new, _applied(MISSING, inner)))
        else:
            value[old] = _applied(value[old], inner)
    kept = [value[index] for index in order] if order else [item for item in value if item is not MISSING]
    for index, item in sorted(added, key=lambda pair: pair[0]):
        kept.insert(index, item)
    return kept
