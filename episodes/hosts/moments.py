"""Points in time as hosts write them, made comparable."""

from __future__ import annotations

import datetime as dt


def seconds(moment: str) -> float:
    """Seconds since 1970 of an ISO 8601 time; without an offset it is taken as UTC. 0 when it is not a time."""
    try:
        parsed = dt.datetime.fromisoformat(moment)
    except ValueError:
        return 0.0
    return (parsed if parsed.tzinfo else parsed.replace(tzinfo=dt.UTC)).timestamp()


def earlier(moment: str, by_seconds: float) -> str:
    """`moment` minus some seconds, in UTC, as hosts take it in a query."""
    then = dt.datetime.fromtimestamp(max(0.0, seconds(moment) - by_seconds), dt.UTC)
    return then.isoformat(timespec="seconds").replace("+00:00", "Z")
