"""Things that are to be different without having been told how: they must be asked for."""

from __future__ import annotations

import re

from .changes import Findings
from .matching import likeness
from .properties import Catalogue, Property
from .questions import COST_CENTRE, Topic
from .reading import Reading, read
from .situation import Situation
from .slots import ADDRESS_SPACE, ENVIRONMENT, HUB, NAME, REGION, Slot

_DIFFERENT = re.compile(
    r"\b(?:different|differ\w*|another|(?:its|their|our|his|her) own|separate|longer|shorter|higher|lower|fewer|"
    r"less|larger|smaller|later|earlier|adjust\w*|"
    r"adapt\w*|chang\w+|extend\w*|increas\w+|rais\w+|reduc\w+|lower\w*|shorten\w*|lengthen\w*|move[sd]?|new)\b",
    re.IGNORECASE,
)
_SAME = re.compile(
    r"\b(?:same|unchanged|not change|no change|as (?:it )?is|keep|leave|without|do not|don't|nothing)\b", re.IGNORECASE
)
_NEVER_VAGUE = (ADDRESS_SPACE, NAME, ENVIRONMENT, REGION, HUB, COST_CENTRE)


def vague_topics(situation: Situation, known: Catalogue, findings: Findings) -> list[Topic]:
    """Properties that a message says are to be different, without a value in any message."""
    found: list[Topic] = []
    settled = {change.path for change in findings.changes}
    for turn in situation.turns:
        if turn.asked:
            continue
        reading = read(turn.text)
        for number in range(len(reading.segments)):
            text = reading.segment_text(number)
            if not _DIFFERENT.search(text) or _SAME.search(text) or number in reading.value_segments:
                continue
            prop = _meant(reading, number, known)
            if prop is not None and prop.path not in settled and prop.path not in found:
                found.append(prop.path)
    return found


def _meant(reading: Reading, segment: int, known: Catalogue) -> Property | None:
    """The property that a segment names; None when it names none, or several as well."""
    spoken = {token.plain for token in reading.tokens if token.segment == segment}
    scored = []
    for prop in known.properties:
        if not prop.scalar or prop.kind == "boolean" or "*" in prop.path or prop.path in _NEVER_VAGUE:
            continue
        if prop.identity <= spoken and prop.path[-1] != "name":
            score, _ = likeness(reading, reading.segments[segment].start, Slot(prop.path, prop), known)
            scored.append((score, len(prop.identity), prop))
    scored.sort(key=lambda entry: (-entry[1], -entry[0], entry[2].path))
    if len(scored) > 1 and scored[0][:2] == scored[1][:2]:
        return None
    return scored[0][2] if scored else None
