"""What differs between two runs that ask the same thing. It is levelled out before requests are compared, and nothing
else is: every entry says why it is here. Credentials are masked as they are on the tape, so that both agree.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from endpoints.redaction import redact
from episodes.canonical import digest

SHARED = ("messages", "tools")
"""Keys of a request whose items come again in the next one."""


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
    """`value` (JSON data) with every volatile part replaced by its stand-in, and credentials masked."""
    if isinstance(value, str):
        value = redact(value)
        for part in VOLATILE:
            value = part.pattern.sub(part.stand_in, value)
        return value
    if isinstance(value, dict):
        return {key: levelled(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [levelled(item) for item in value]
    return value


class Keys:
    """Keys of requests: the hash of all of a request, in one spelling, volatile parts levelled.

    A conversation repeats all of its messages in every request, so the hash of each message object is kept. Messages
    must not be changed once they were part of a request.
    """

    def __init__(self) -> None:
        self._known: dict[int, tuple[Any, str]] = {}

    def key_of(self, request: Any) -> str:
        if not isinstance(request, dict):
            return digest(levelled(request))
        parts = {
            key: [self._part(item) for item in value] if key in SHARED else levelled(value)
            for key, value in request.items()
        }
        return digest(parts)

    def _part(self, item: Any) -> str:
        known = self._known.get(id(item))
        if known is None:
            # The object is kept with its hash, so that nothing else can come to have its id.
            known = self._known[id(item)] = (item, digest(levelled(item)))
        return known[1]
