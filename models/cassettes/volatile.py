"""What differs between two runs that ask the same thing. It is levelled out before requests are compared, and nothing
else is: every entry says why it is here."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from episodes.canonical import digest


@dataclass(frozen=True)
class Volatile:
    """A pattern in any text of a request, what stands for it, and why two runs differ there."""

    pattern: re.Pattern[str]
    stand_in: str
    reason: str


VOLATILE = (
    Volatile(
        re.compile(r"\bevals/[0-9a-f]{12}\b"),
        "evals/000000000000",
        "the marker of one creating call, made at random so that a sweep can prove whose branch it is",
    ),
    Volatile(
        re.compile(r"\bhttp://127\.0\.0\.1:\d{2,5}\b"),
        "http://127.0.0.1:0",
        "the port of a server on this machine, taken from those that are free",
    ),
)


def levelled(value: Any) -> Any:
    """`value` (JSON data) with every volatile part replaced by its stand-in."""
    if isinstance(value, str):
        for part in VOLATILE:
            value = part.pattern.sub(part.stand_in, value)
        return value
    if isinstance(value, dict):
        return {key: levelled(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [levelled(item) for item in value]
    return value


def key_of(request: Any) -> str:
    """The key of a request: the hash of all of it, in one spelling, volatile parts levelled."""
    return digest(levelled(request))
