"""Does one text say the same as another? A grade from 0 (something else) to 4 (the same), without a judge.

An embedding sees what a text is about, and neither facts nor negation: "was created" and "was not created" are 0.92
alike, West Europe and North Europe 0.80. So the cosine gives a grade, and what can be read off the texts caps it:

| what is found | grade at most |
|---|---|
| a fact of the expected text (a number, an address, a name with digits or several hyphens) is missing | 1 |
| one of the two texts is negated and the other is not | 1 |

| cosine from | 0.85 | 0.65 | 0.45 | 0.25 | below |
|---|---|---|---|---|---|
| grade | 4 | 3 | 2 | 1 | 0 |

The scale was set on English sentences of this pack's domain. Between two languages cosines are lower.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from episodes.frozen import frozen
from episodes.pull_request_url import parse

STEPS = ((0.85, 4), (0.65, 3), (0.45, 2), (0.25, 1))
CAPPED = 1

_WORD = re.compile(r"[^\s<>()\[\]{}\"'`,;!?*|]+")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}\b)")
_NEGATION = re.compile(
    r"\b(?:not|no|never|none|nothing|neither|nor|cannot|without|unable|"
    r"nicht|kein|keine|keinen|keiner|nie|niemals|ohne|niet|geen|nooit|zonder)\b|n(?:'|\u2019)t\b",
    re.IGNORECASE,
)


@frozen
class Likeness:
    """The grade, and in words where it is from."""

    grade: int
    why: str


def likeness(expected: str, actual: str, cosine: Callable[[str, str], float]) -> Likeness:
    """Grade `actual` against `expected`."""
    value = cosine(expected, actual)
    grade = next((grade for start, grade in STEPS if value >= start), 0)
    missing = missing_facts(expected, actual)
    if missing and grade > CAPPED:
        return Likeness(CAPPED, f"likeness {value:.2f}, but {missing[0]} is missing")
    if grade > CAPPED and is_negated(expected) != is_negated(actual):
        which = "expected text" if is_negated(expected) else "answer"
        return Likeness(CAPPED, f"likeness {value:.2f}, but only the {which} is negated")
    return Likeness(grade, f"likeness {value:.2f}")


def missing_facts(expected: str, actual: str) -> list[str]:
    """The facts of `expected` that do not stand in `actual`. The address of a pull request is a new one every time."""
    found = set(_facts(actual))
    return [fact for fact in dict.fromkeys(_facts(expected)) if fact not in found and parse(fact) is None]


def is_negated(text: str) -> bool:
    """Whether a word of negation stands in the text (English, German, Dutch). Two of them do not cancel out."""
    return _NEGATION.search(text) is not None


def _facts(text: str) -> list[str]:
    words = (word.rstrip(".:") for word in _WORD.findall(_THOUSANDS.sub("", text)))
    return [word.casefold() for word in words if _is_fact(word)]


def _is_fact(word: str) -> bool:
    return any(char.isdigit() for char in word) or "@" in word or "://" in word or len(re.findall(r"[-_/]", word)) >= 2
