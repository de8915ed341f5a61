"""Dates and times of day as people write them, turned into the forms that JSON Schema's formats name."""

from __future__ import annotations

import calendar
import datetime as dt
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

_MONTHS = {name.lower(): number for number, name in enumerate(calendar.month_name) if name}
_MONTHS |= {name.lower(): number for number, name in enumerate(calendar.month_abbr) if name} | {"sept": 9}
_MONTH = "|".join(sorted(_MONTHS, key=len, reverse=True))
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"

_DATES = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"\b(?P<year>\d{4})-(?P<number>\d{1,2})-(?P<day>\d{1,2})\b",
        # Day first, as nearly everywhere; a second number above 12 is read the other way round.
        r"\b(?P<day>\d{1,2})[./-](?P<number>\d{1,2})[./-](?P<year>\d{4})\b",
        rf"\b(?:the\s+)?{_DAY}\s+(?:of\s+)?(?P<month>{_MONTH})\.?,?\s+(?P<year>\d{{4}})\b",
        rf"\b(?P<month>{_MONTH})\.?\s+{_DAY},?\s+(?P<year>\d{{4}})\b",
        rf"\b(?:the\s+)?(?:(?P<last>end|last\s+day)|(?P<first>start|beginning|first\s+day))\s+of\s+"
        rf"(?P<month>{_MONTH})\.?,?\s+(?P<year>\d{{4}})\b",
    )
)
_OFFSET = (
    r"(?P<offset>\s*(?:\(?\b(?:UTC|GMT)\b\)?\s*(?P<shift>[+-]\s?\d{1,2}(?::?\d{2})?)?|Z\b|(?P<bare>[+-]\d{2}:\d{2})))?"
)
_TIMES = tuple(
    re.compile(pattern + _OFFSET, re.IGNORECASE)
    for pattern in (
        r"(?<![\d:.])(?P<hour>[01]?\d|"
        r"2[0-3])[:.](?P<minute>[0-5]\d)(?::(?P<second>[0-5]\d))?(?![\d.])(?:\s*(?P<half>[ap])\.?m\b\.?)?",
        r"(?<![\d:.])(?P<hour>1[0-2]|0?[1-9])\s*(?P<half>[ap])\.?m\b\.?",
        r"(?<![\d:.])(?P<hour>[01]?\d|2[0-3])\s*(?:(?:h|hrs|hours)\b(?=\s+(?:UTC|GMT))|"
        r"o'clock)(?:\s+(?:in\s+the|at)\s+(?P<part>morning|afternoon|evening|night))?",
        r"\b(?P<word>midnight|noon|midday)\b",
    )
)


@dataclass(frozen=True)
class Moment:
    """A date (`2027-03-31`) or a time of day (`22:00:00` and, when it was said, an offset such as `+02:00`)."""

    kind: Literal["date", "time"]
    text: str
    start: int
    end: int
    offset: str = ""


def find_moments(text: str) -> Iterator[Moment]:
    """All dates and times in a text; impossible ones (31 February) are passed over."""
    taken: list[tuple[int, int]] = []
    for pattern in _DATES:
        for match in pattern.finditer(text):
            date = _date(match)
            if date is not None and _free(match, taken):
                taken.append(match.span())
                yield Moment("date", date, *match.span())
    for pattern in _TIMES:
        for match in pattern.finditer(text):
            if _free(match, taken):
                taken.append(match.span())
                yield Moment("time", _time(match), *match.span(), offset=_offset(match))


def _free(match: re.Match[str], taken: list[tuple[int, int]]) -> bool:
    return all(match.end() <= start or match.start() >= end for start, end in taken)


def _date(match: re.Match[str]) -> str | None:
    groups = match.groupdict()
    year = int(groups["year"])
    named = groups.get("month")
    month = _MONTHS[named.lower()] if named else int(groups["number"])
    if groups.get("last"):
        return dt.date(year, month, calendar.monthrange(year, month)[1]).isoformat()
    day = 1 if groups.get("first") else int(groups["day"])
    if month > 12 >= day:
        day, month = month, day
    try:
        return dt.date(year, month, day).isoformat()
    except ValueError:
        return None


def _time(match: re.Match[str]) -> str:
    groups = match.groupdict()
    if groups.get("word"):
        return "00:00:00" if groups["word"].lower() == "midnight" else "12:00:00"
    hour = int(groups["hour"])
    half = (groups.get("half") or "").lower()
    if half and hour <= 12:
        hour = hour % 12 + (12 if half == "p" else 0)
    elif (groups.get("part") or "").lower() in ("afternoon", "evening", "night") and hour < 12:
        hour += 12
    return f"{hour:02d}:{groups.get('minute') or '00'}:{groups.get('second') or '00'}"


def _offset(match: re.Match[str]) -> str:
    groups = match.groupdict()
    said = (groups.get("offset") or "").strip()
    if not said:
        return ""
    shift = (groups.get("shift") or groups.get("bare") or "").replace(" ", "")
    found = re.fullmatch(r"([+-])(\d{1,2}):?(\d{2})?", shift)
    if found is None or int(found[2]) == 0:
        return "Z"
    return f"{found[1]}{int(found[2]):02d}:{found[3] or '00'}"
