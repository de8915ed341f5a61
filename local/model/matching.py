"""Which value belongs to which place: likeness of words, weighted by how telling they are and how near they stand."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from .fitting import fits, members, telling
from .properties import Catalogue
from .reading import Reading
from .slots import ADDRESS_SPACE, Slot
from .values import Value

NAME_WEIGHT, ABOUT_WEIGHT, PARENT_WEIGHT, AROUND_WEIGHT, ITEM_WEIGHT = 3.0, 2.0, 1.5, 0.7, 1.5
_ENOUGH = 3.0
# A value whose form fits one property only needs little more than that; a cost code needs nothing.
_ENOUGH_ALONE = 1.0
# Share of a property's identifying words that must be spoken for it to count as called by its name.
_BY_NAME = 0.6


@dataclass(frozen=True)
class Assignment:
    """A value that belongs to a place. `direct`: the place was called by its name and not only described."""

    slot: Slot
    value: Any
    start: int
    end: int
    score: float
    direct: bool
    old: bool = False


@dataclass(frozen=True)
class _Candidate:
    value: Value | None
    slot: Slot
    fitted: Any
    start: int
    end: int
    score: float
    direct: bool


def assign(
    reading: Reading,
    places: Sequence[Slot],
    catalogue: Catalogue,
    hint: tuple[str, ...] | None = None,
    skip: Sequence[tuple[int, int]] = (),
) -> list[Assignment]:
    """Assign the values of one message to places, the best pairs first.

    `hint` is the path of the property that the agent had asked about; `skip` are spans that mean something else.
    """
    found = [
        candidate
        for candidate in _candidates(reading, places, catalogue, hint)
        if not any(low < candidate.end and candidate.start < high for low, high in skip)
    ]
    found.sort(key=lambda c: (-c.score, c.start, c.slot.path != ADDRESS_SPACE))
    taken: list[tuple[int, int]] = []
    filled: set[tuple[str | int, ...]] = set()
    chosen: list[Assignment] = []
    for candidate in found:
        path = candidate.slot.path
        old = candidate.value is not None and candidate.value.old
        if path in filled and candidate.slot.prop.kind != "list" and not old:
            continue
        if any(low < candidate.end and candidate.start < high for low, high in taken):
            continue
        taken.append((candidate.start, candidate.end))
        if not old:
            filled.add(path)
        chosen.append(
            Assignment(
                candidate.slot, candidate.fitted, candidate.start, candidate.end, candidate.score, candidate.direct, old
            )
        )
    return sorted([*chosen, *_continued(reading, chosen)], key=lambda a: a.start)


def _continued(reading: Reading, chosen: Sequence[Assignment]) -> Iterator[Assignment]:
    """Values that go on an enumeration of values for a list ("10.0.0.4 and 10.0.0.5")."""
    places = {(a.start, a.end): a for a in chosen}
    before: Value | None = None
    for value in reading.values:
        known = places.get((value.start, value.end))
        last = places.get((before.start, before.end)) if before is not None else None
        if known is None and before is not None and last is not None and last.slot.prop.kind == "list":
            between = reading.text[before.end : value.start]
            fitted = fits(value, last.slot.prop)
            if fitted is not None and re.fullmatch(r"\s*(?:,|and|or|&|\+|,\s*and|\s)*\s*", between):
                known = Assignment(last.slot, fitted, value.start, value.end, last.score, last.direct)
                places[value.start, value.end] = known
                yield known
        before = value


def _candidates(
    reading: Reading,
    places: Sequence[Slot],
    catalogue: Catalogue,
    hint: tuple[str, ...] | None,
) -> Iterator[_Candidate]:
    known = frozenset().union(*(slot.labels for slot in places))
    for value in reading.values:
        if value.kind == "spoke":
            # Names of spokes say what is copied to where; they are understood from their roles.
            continue
        fitting = [
            (slot, fitted)
            for slot in places
            if (fitted := fits(value, slot.prop, slot.present)) is not None and _may_be(reading, value, slot, known)
        ]
        homes = {slot.prop.path for slot, _ in fitting}
        # The words of a name describe nothing, but the unit of an amount does.
        apart = (value.start, value.end) if value.kind in ("label", "quoted", "proper") else None
        owners = Counter(slot.path[:-1] for slot, _ in fitting)
        for slot, fitted in fitting:
            alone = owners[slot.path[:-1]] == 1
            score, direct = likeness(reading, value.start, slot, catalogue, apart, alone)
            if slot.path == hint:
                score, direct = score + 50.0, True
            if slot.path == ADDRESS_SPACE and value.kind == "cidr":
                # A range that nothing else claims is the range of the whole spoke.
                score, direct = score + 4.0, True
            enough = _ENOUGH_ALONE if len(homes) == 1 else _ENOUGH
            if value.kind == "code" or score >= enough:
                yield _Candidate(value, slot, fitted, value.start, value.end, score, direct)
    for slot in places:
        if not (slot.prop.enum or (slot.prop.item is not None and slot.prop.item.enum)):
            continue
        for member in members(reading.text, slot.prop):
            score, direct = likeness(reading, member.start, slot, catalogue, apart=(member.start, member.end))
            if slot.path == hint:
                score, direct = score + 50.0, True
            # The member itself is spoken at its place, so it can not count as a word that describes the place.
            if score >= _ENOUGH or (telling(member.member) and not slot.items):
                yield _Candidate(None, slot, member.member, member.start, member.end, score + 0.5, direct)


def likeness(
    reading: Reading,
    position: int,
    slot: Slot,
    catalogue: Catalogue,
    apart: tuple[int, int] | None = None,
    alone: bool = False,
) -> tuple[float, bool]:
    """How much the words around a position speak of the place, and whether they call it by its name.

    Words inside the span `apart` do not count. `alone`: no other property of the same list item could hold the value,
    so that naming the item is enough.
    """
    segment = reading.segment_at(position)
    prop = slot.prop
    best: dict[str, float] = {}
    named: set[str] = set()
    mentioned = not slot.items or slot.only
    for token in reading.tokens:
        if apart is not None and apart[0] <= token.start and token.end <= apart[1]:
            continue
        near = reading.nearness(token, segment)
        if near <= 0.0:
            continue
        weight = 0.0
        if near >= 0.15:
            named.add(token.plain)
        if token.stem in prop.name:
            weight = NAME_WEIGHT
        elif token.stem in prop.about:
            weight = ABOUT_WEIGHT
        elif token.stem in prop.parents:
            weight = PARENT_WEIGHT
        elif token.stem in prop.around:
            weight = AROUND_WEIGHT
        telling_weight = catalogue.weight(token.stem)
        if any(token.stem in item for item in slot.items) and near >= 0.15:
            weight, telling_weight = max(weight, ITEM_WEIGHT), max(telling_weight, 3.0)
            mentioned = True
        best[token.stem] = max(best.get(token.stem, 0.0), near * weight * telling_weight)
    if not mentioned and not _labelled(reading, segment, slot):
        return 0.0, False
    spoken = prop.identity & named
    direct = len(spoken) / len(prop.identity) >= _BY_NAME
    if alone and prop.parent_identity:
        # "The maintenance window at 22:00" calls the start by name: nothing else in a window is a time.
        direct = direct or len(prop.parent_identity & named) / len(prop.parent_identity) >= _BY_NAME
    bonus = 3.0 if direct else 0.0
    spoken_of = {token for token, weight in best.items() if weight > 0}
    wanted = prop.name | prop.about | (prop.parents if alone else frozenset())
    if slot.items and not wanted & spoken_of:
        return 0.0, False
    return sum(best.values()) + bonus, direct


_CALLED = re.compile(r"\b(?:called|named|name|rename\w*|label)\b[^.;]{0,40}$", re.IGNORECASE)


def _may_be(reading: Reading, value: Value, slot: Slot, known: frozenset[str]) -> bool:
    """Words with hyphens are seldom labels: a new name must be called one, and a reference must lead somewhere."""
    if value.kind != "label":
        return slot.path[-1] != "name" or _CALLED.search(reading.text[: value.start]) is not None
    if value.text in slot.labels:
        return False
    if slot.path[-1] == "name":
        return _CALLED.search(reading.text[: value.start]) is not None
    # A reference leads to a thing of the same kind, which the first part of its name tells (nsg-front, snet-front).
    present = slot.present
    return value.text in known and (not isinstance(present, str) or value.text.split("-")[0] == present.split("-")[0])


def _labelled(reading: Reading, segment: int, slot: Slot) -> bool:
    sentence = reading.segments[segment].sentence
    text = reading.sentence_text(sentence).lower()
    if any(f" {word} " in f" {text} " for word in ("all", "every", "each", "both")):
        return True
    return any(label.lower() in text for label in slot.labels)
