"""Which spoke is meant as the source, and which name is that of the new one?"""

from __future__ import annotations

import re
from dataclasses import dataclass

from .places import Named, said_source, spoke_names, stage_of, target_stage, with_stage
from .questions import REGION, SOURCE, says_yes
from .reading import read
from .situation import Situation
from .slots import NAME

_BARE_NAME = re.compile(r"(?<![\w./@-])((?:[a-z][a-z0-9]*-)+(?:dev|test|acc|prod))(?![\w-])")
_SPOKEN_REGIONS = {
    "westeurope": r"west(?:ern)?[\s-]?europe",
    "northeurope": r"north(?:ern)?[\s-]?europe",
    "swedencentral": r"sweden[\s-]?central|(?:in|to|into)\s+sweden",
    "germanywestcentral": r"germany[\s-]?west[\s-]?central|(?:in|to|into)\s+germany",
}


@dataclass(frozen=True)
class Resolved:
    """`source` and `target` are names (None: not known yet); `choices` are sources that words do not decide between."""

    source: str | None
    target: str | None
    choices: tuple[str, ...] = ()


def resolve(situation: Situation) -> Resolved:
    """Read source and target from the developer's messages; the list of spokes helps when it was read."""
    names = [(index, name) for index, turn in enumerate(situation.turns) for name in spoke_names(turn.text)]
    if situation.intent == "change":
        return _change(situation, names)
    target = _target(situation, names)
    source, choices = _source(situation, names, target)
    if target is None:
        target = next(
            (
                n.name
                for _, n in reversed(names)
                if n.name != source and n.role != "source" and not _exists(situation, n.name)
            ),
            None,
        )
    return Resolved(source, target, choices)


def _change(situation: Situation, names: list[tuple[int, Named]]) -> Resolved:
    known = [n.name for _, n in names if situation.evidence.missing(n.name) is None]
    if known or names:
        name = known[0] if known else names[-1][1].name
        return Resolved(name, name)
    found = _by_words(situation)
    return Resolved(found[0], found[0]) if len(found) == 1 else Resolved(None, None, tuple(found))


def _source(
    situation: Situation, names: list[tuple[int, Named]], target: str | None
) -> tuple[str | None, tuple[str, ...]]:
    answered = [n.name for i, n in names if SOURCE in situation.turns[i].asked]
    told = [n.name for _, n in names if n.role == "source"]
    # Any other name is a source when there is such a spoke, which the list tells.
    listed = situation.evidence.listing is not None
    others = [n.name for _, n in names if n.name not in (target, *told) and listed and _exists(situation, n.name)]
    later = [
        n.name
        for i, n in names
        if i > 0 and n.role == "unknown" and NAME not in situation.turns[i].asked and n.name != target
    ]
    candidates = [*answered[::-1], *told, *others, *later]
    there = [name for name in candidates if situation.evidence.missing(name) is None]
    if there or candidates:
        # Among names that are all missing, the one that the developer gave last is spoken of.
        return (there[0] if there else candidates[-1]), ()
    found = [name for name in _by_words(situation) if name != target]
    return (found[0], ()) if len(found) == 1 else (None, tuple(found))


def _by_words(situation: Situation) -> list[str]:
    listing = situation.evidence.listing
    if listing is None:
        return []
    for turn in reversed(situation.turns):
        if SOURCE in turn.asked:
            found = said_source(turn.text, listing)
            if len(found) == 1:
                return found
    return said_source(" ".join(situation.texts), listing)


def _target(situation: Situation, names: list[tuple[int, Named]]) -> str | None:
    for index, turn in reversed(list(enumerate(situation.turns))):
        if NAME in turn.asked:
            given = [n.name for i, n in names if i == index]
            bare = _BARE_NAME.findall(turn.text)
            if given:
                return given[-1]
            if bare:
                return f"spoke-{bare[-1].removeprefix('spoke-')}"
    told = [n.name for i, n in names if n.role == "target" and SOURCE not in situation.turns[i].asked]
    if told:
        return told[-1]
    # "call it webshop-blue-test": a name without its first part.
    called = re.findall(
        rf"\b(?:called|named|name it|call it|name)\s+(?:it\s+)?[`'\"]?{_BARE_NAME.pattern}", " ".join(situation.texts)
    )
    return f"spoke-{called[-1].removeprefix('spoke-')}" if called else None


def _exists(situation: Situation, name: str) -> bool:
    listing = situation.evidence.listing or []
    return any(item.get("name") == name for item in listing) or situation.evidence.spoke(name) is not None


def proposal(situation: Situation, source: str) -> str | None:
    """The name that the new spoke would have by the naming rules, when the stage was said."""
    stage = target_stage(" ".join(situation.texts), source)
    name = with_stage(source, stage) if stage is not None else None
    return name if name != source and name is not None and not _exists(situation, name) else None


def accepted(situation: Situation) -> bool:
    """The developer said yes to the proposed name."""
    return any(NAME in turn.asked and says_yes(turn.text) for turn in situation.turns)


def wanted_region(situation: Situation, source_region: str | None) -> str | None:
    """The region that is asked for; None when none is, or the source's own."""
    found: list[str] = []
    for turn in situation.turns:
        text = read(turn.text).text
        for region, pattern in _SPOKEN_REGIONS.items():
            for match in re.finditer(rf"(?<![\w-])(?:{region}|{pattern})(?![\w-])", text, re.IGNORECASE):
                before = text[max(0, match.start() - 25) : match.start()].lower()
                origin = re.search(r"\b(?:from|not|instead of|rather than|currently in)\s+(?:the\s+)?$", before)
                if not origin or REGION in turn.asked:
                    found.append(region)
    others = [region for region in found if region != source_region]
    return others[-1] if others else (found[-1] if found and source_region is None else None)


def agrees(name: str) -> bool:
    """True when a name ends in a stage, as all names of spokes do."""
    return stage_of(name) is not None
