"""When is a failed request worth another try, and how long to wait before it?"""

from __future__ import annotations

import datetime as dt
import email.utils
import random
from collections.abc import Mapping

RETRIED_STATUS = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
"""HTTP statuses that say: not now, perhaps later."""

FIRST_WAIT_S = 0.5
LONGEST_WAIT_S = 8.0
"""Our own back-off doubles from the first to the longest. A wait that the service names is taken as it is."""


def asked_wait(headers: Mapping[str, str], now: dt.datetime | None = None) -> float | None:
    """Seconds that the service asks to wait: `retry-after-ms`, or `Retry-After` in seconds or as a date.

    None when it asks nothing, or something unreadable. `headers` must look names up whatever their case.
    """
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return max(0.0, milliseconds / 1000)
    text = headers.get("retry-after")
    seconds = _number(text)
    if seconds is not None:
        return max(0.0, seconds)
    if not text:
        return None
    try:
        moment = email.utils.parsedate_to_datetime(text)
    except (TypeError, ValueError):
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=dt.UTC)
    return max(0.0, (moment - (now or dt.datetime.now(dt.UTC))).total_seconds())


def back_off(attempt: int, asked: float | None) -> float:
    """Seconds to wait after the failed `attempt` (counted from 1): what was asked, or our own with jitter.

    The jitter only lengthens what the service asked for, so that many workers do not come back at the same moment.
    """
    if asked is not None:
        return asked + random.uniform(0, min(0.25, asked / 10))
    longest = min(LONGEST_WAIT_S, FIRST_WAIT_S * 2 ** min(attempt - 1, 10))
    return random.uniform(longest / 2, longest)


def _number(text: str | None) -> float | None:
    try:
        value = float(text) if text is not None else None
    except ValueError:
        return None
    return value if value is not None and value == value and value != float("inf") else None
