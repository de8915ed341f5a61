"""Switches: which boolean properties (and on/off enumerations) does a message turn on or off?"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .matching import ITEM_WEIGHT
from .polarity import switch_value, turned
from .properties import Catalogue, Property
from .reading import Reading
from .slots import Slot
from .words import content_stems, plain_stems, split_name, stem, word_list

_LITERAL = re.compile(
    r"^\W*(?:to|is|=|:|becomes?|must be|should be|be|as)?\W*(true|false|on|off|yes|no|enabled|disabled)\b",
    re.IGNORECASE,
)
# A clause that only describes how things are ("today the spoke accepts …") asks for nothing.
_STATE = re.compile(
    r"\b(?:today|currently|at the moment|so far|at present|until now|already|as it is|unchanged|as before)\b",
    re.IGNORECASE,
)
_BY_NAME, _CLAUSE_SHARE = 0.6, 0.4


@dataclass(frozen=True)
class Switch:
    """A switch that a message turns; `start` and `end` bound the words that say so."""

    slot: Slot
    value: object
    start: int
    end: int
    score: float
    direct: bool


def find_switches(reading: Reading, places: Sequence[Slot], catalogue: Catalogue) -> list[Switch]:
    """The switches that a message turns, each clause at most one, the best first."""
    found: list[Switch] = []
    for slot in places:
        if slot.prop.kind == "boolean" or _on_off(slot.prop):
            found.extend(_turns(reading, slot, catalogue))
    found.sort(key=lambda s: (-s.score, s.start))
    chosen: list[Switch] = []
    for switch in found:
        if any(switch.slot.path == other.slot.path for other in chosen):
            continue
        if any(
            switch.start < other.end and other.start < switch.end and switch.slot.prop is not other.slot.prop
            for other in chosen
        ):
            continue
        chosen.append(switch)
    return chosen


def _on_off(prop: Property) -> bool:
    return set(prop.enum) == {"Enabled", "Disabled"}


def _turns(reading: Reading, slot: Slot, catalogue: Catalogue) -> Iterator[Switch]:
    exact = re.search(rf"\b{re.escape(str(slot.path[-1]))}\b", reading.text)
    if exact and not slot.items and len(str(slot.path[-1])) > 8:
        literal = _LITERAL.match(reading.text[exact.end() :])
        if literal:
            on = literal[1].lower() in ("true", "on", "yes", "enabled")
            yield Switch(slot, _as(slot.prop, on), exact.start(), exact.end() + literal.end(), 100.0, True)
            return
    for first, last in _runs(reading):
        switch = _turn(reading, slot, catalogue, first, last)
        if switch is not None:
            yield switch


def _runs(reading: Reading) -> Iterator[tuple[int, int]]:
    """Runs of one to three segments of a sentence: a clause may be split by "and"."""
    for first in range(len(reading.segments)):
        for last in range(first, min(first + 3, len(reading.segments))):
            if reading.segments[first].sentence == reading.segments[last].sentence:
                yield first, last


def _turn(reading: Reading, slot: Slot, catalogue: Catalogue, first: int, last: int) -> Switch | None:
    prop = slot.prop
    tokens = [token for token in reading.tokens if first <= token.segment <= last]
    spoken = {token.stem for token in tokens}
    items = frozenset().union(*slot.items) if slot.items else frozenset()
    start, end = reading.segments[first].start, reading.segments[last].end
    clause = reading.text[start:end]
    if not tokens or _STATE.search(clause) or not _mentioned(slot, spoken, clause):
        return None
    identity = prop.identity if prop.identity != prop.parent_identity else prop.parent_identity
    by_name = len(identity & {token.plain for token in tokens}) / len(identity)
    about = prop.about - prop.parents - _WEAK
    heard = (about | prop.name) & spoken
    # The verb and the object count; a long description need not be said in full.
    by_description = _telling(catalogue, heard) / max(_telling(catalogue, about), 0.01) if len(heard) >= 2 else 0.0
    ends = {tokens[0].segment, tokens[-1].segment}
    known = prop.name | prop.about | prop.parents | prop.around | items | _TURNING_STEMS
    share = sum(token.stem in known for token in tokens) / len(tokens)
    if first not in ends or last not in ends or share < _CLAUSE_SHARE:
        return None
    if by_name >= _BY_NAME:
        if not _ordered(clause, prop):
            return None
        on = switch_value(clause, split_name(prop.path[-1]))
        score = 20.0 * by_name
    elif by_description >= _enough(len(heard), share):
        on = switch_value(clause, prop.description)
        score = 15.0 * by_description
    else:
        return None
    score += share * 5.0 + ITEM_WEIGHT * len(items & spoken) - 0.5 * (last - first)
    return Switch(slot, _as(prop, on), start, end, score, by_name >= _BY_NAME)


def _enough(heard: int, share: float) -> float:
    """How much of a description must be said: two words could be chance, and a clause about nothing else is none."""
    if heard == 2:
        return 0.6
    return 0.3 if share >= 0.9 else 0.45


def _ordered(clause: str, prop: Property) -> bool:
    """A name alone asks for nothing; a word of switching, wishing or denying must come with it."""
    return (
        _SWITCHING.search(clause) is not None or turned(clause) or prop.path[-1].startswith(("disable", "allow", "use"))
    )


_SWITCHING = re.compile(
    r"\b(?:enabl\w*|activat\w*|on|allow\w*|accept\w*|permit\w*|use|should|must|needs?|want|with|have|get|gets|"
    r"make|made|true|"
    r"start|switch|turn|add)\b",
    re.IGNORECASE,
)
_TURNING_STEMS = frozenset(
    stem(word) for word in word_list("stop disable enable switch turn allow accept block deny forbid ignore")
)
_WEAK = frozenset(content_stems("whether make made landing zone workload spoke all")) | frozenset(
    plain_stems("whether")
)


def _telling(catalogue: Catalogue, stems: frozenset[str]) -> float:
    return sum(catalogue.weight(token) for token in sorted(stems))


def _mentioned(slot: Slot, spoken: set[str], clause: str) -> bool:
    if not slot.items or slot.only:
        return True
    if re.search(r"\b(?:all|every|each|both)\b", clause, re.IGNORECASE):
        return True
    low = clause.lower()
    return any(label.lower() in low for label in slot.labels) or all(item & spoken for item in slot.items)


def _as(prop: Property, on: bool) -> object:
    if prop.kind == "boolean":
        return on
    return "Enabled" if on else "Disabled"
