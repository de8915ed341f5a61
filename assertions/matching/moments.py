"""Dates, instants and clock times, read from text."""

from __future__ import annotations

import datetime as dt
import re

_CLOCK = re.compile(
    r"(?P<hour>\d{1,2})(:(?P<minute>\d{2})(:(?P<second>\d{2})(\.(?P<fraction>\d{1,6}))?)?)?\s*(?P<half>[ap]\.?m\.?)?",
    re.IGNORECASE,
)
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")


def read_datetime(text: str) -> dt.datetime | dt.date:
    """An ISO 8601 date, or date and time. With an offset it becomes UTC, so that equal instants are equal.

    Raises:
        ValueError: it is none, or names a day that does not exist.
    """
    stripped = text.strip()
    if _DATE.fullmatch(stripped):
        return dt.date.fromisoformat(stripped)
    if not _DATE.match(stripped):
        raise ValueError(f"{text!r} is no ISO 8601 date or date-time")
    moment = dt.datetime.fromisoformat(stripped.replace("z", "Z"))
    return moment.astimezone(dt.UTC) if moment.tzinfo is not None else moment


def read_clock_time(text: str) -> dt.time:
    """A time of day: `20:00`, `20:00:15`, `8 pm`, `8:00 PM`.

    Raises:
        ValueError: it is none.
    """
    found = _CLOCK.fullmatch(text.strip())
    if found is None or not (found["minute"] or found["half"]):
        raise ValueError(f"{text!r} is no time of day")
    hour = int(found["hour"])
    if found["half"]:
        if not 1 <= hour <= 12:
            raise ValueError(f"{text!r} is no time of day")
        hour = hour % 12 + (12 if found["half"].lower().startswith("p") else 0)
    fraction = (found["fraction"] or "").ljust(6, "0")
    return dt.time(hour, int(found["minute"] or 0), int(found["second"] or 0), int(fraction))
