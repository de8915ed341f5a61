"""Whole numbers with and without a unit of time, in figures and in words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from .words import word_list

_SMALL = {
    word: number
    for number, word in enumerate(
        word_list("""
    zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
    seventeen eighteen nineteen
    """)
    )
}
_TENS = {
    word: 10 * (number + 2)
    for number, word in enumerate(word_list("twenty thirty forty fifty sixty seventy eighty ninety"))
}
_SINGLE = {"a": 1, "an": 1, "half a": 0.5, "half an": 0.5, "a couple of": 2, "a dozen": 12, "dozen": 12}
_UNITS = {
    "minute": ("minute", 1.0),
    "hour": ("hour", 1.0),
    "hr": ("hour", 1.0),
    "h": ("hour", 1.0),
    "day": ("day", 1.0),
    "d": ("day", 1.0),
    "week": ("day", 7.0),
    "fortnight": ("day", 14.0),
    "month": ("day", 30.0),
    "quarter": ("day", 90.0),
    "year": ("day", 365.0),
}
_WORD = "|".join(sorted([*_SMALL, *_TENS, "hundred"], key=len, reverse=True))
_NUMBER = rf"\d{{1,3}}(?:[ ,]\d{{3}})+(?![\d.])|\d+|(?:(?:{_WORD})(?:[\s-]+(?:and\s+)?(?=(?:{_WORD})\b))?)+"
_PATTERN = re.compile(
    rf"(?<![\w./:-])(?P<number>{_NUMBER}|half\s+an?|an?(?:\s+couple\s+of|\s+dozen)?(?=\s+(?:minute|hour|day|week|"
    rf"fortnight|month|"
    rf"quarter|year)))(?:(?:\s*|-)(?:full\s+|whole\s+|calendar\s+|business\s+)?(?P<unit>minute|hour|hr|h|day|d|"
    rf"week|fortnight|month|quarter|year)s?\b(?:'s?)?)?"
    r"(?![\w/]|[.:]\d|-\d)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Amount:
    """`number` counted in `unit` ("minute", "hour", "day", or "" when none was said)."""

    number: int
    unit: str
    start: int
    end: int


def find_amounts(text: str) -> Iterator[Amount]:
    """All amounts in a text. Weeks, months, quarters and years are turned into days (7, 30, 90, 365)."""
    for match in _PATTERN.finditer(text):
        number = _number(match["number"])
        if number is None:
            continue
        unit, factor = _UNITS[match["unit"].lower()] if match["unit"] else ("", 1.0)
        # Half a year is 182 days, and half a month 15: rounded down.
        yield Amount(int(number * factor), unit, *match.span())


def _number(text: str) -> float | None:
    text = " ".join(text.lower().split())
    if text[0].isdigit():
        return int(re.sub(r"[ ,]", "", text))
    if text in _SINGLE:
        return _SINGLE[text]
    total = 0
    for word in re.split(r"[\s-]+", text):
        if word == "hundred":
            total = max(total, 1) * 100
        elif word != "and":
            total += _SMALL.get(word) or _TENS.get(word) or 0
    # "one" and "zero" alone are seldom numbers ("the second one"); they count with a unit only, which the caller sees.
    return total
