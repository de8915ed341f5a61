"""What differs between two runs that ask the same thing. It is levelled out before requests are compared and before
they are written, and nothing else is: every entry says why it is here. Credentials are masked in the same step.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from endpoints.redaction import redact_value
from episodes.canonical import digest

SHARED = ("messages", "tools")
"""Keys of a request whose items come again in the next one."""

MARKER_STAND_IN = "evals/000000000000"


@dataclass(frozen=True)
class Volatile:
    """A pattern in any text, what stands for it, and why two runs differ there. `hint` is part of every match."""

    hint: str
    pattern: re.Pattern[str]
    stand_in: str
    reason: str


VOLATILE = (
    Volatile(
        "evals/",
        re.compile(r"\b(evals/[0-9a-f]{12}/[\w.-]*-)[0-9a-f]{8}\b"),
        r"\g<1>00000000",
        "the end of a branch's name, which the local portal draws at random",
    ),
    Volatile(
        "evals/",
        re.compile(r"\bevals/[0-9a-f]{12}\b"),
        MARKER_STAND_IN,
        "the marker of one creating call, made at random so that a sweep can prove whose branch it is",
    ),
    Volatile(
        "http://127.0.0.1:",
        re.compile(r"\bhttp://127\.0\.0\.1:\d{1,5}\b"),
        "http://127.0.0.1:0",
        "the port of a server on this machine, taken from those that are free",
    ),
)


def levelled(value: Any) -> Any:
    """`value` (JSON data) with every volatile part replaced by its stand-in, and credentials masked."""
    return _levelled(redact_value(value))


def _levelled(value: Any) -> Any:
    if isinstance(value, str):
        for part in VOLATILE:
            if part.hint in value:
                value = part.pattern.sub(part.stand_in, value)
        return value
    if isinstance(value, dict):
        return {_levelled(key): _levelled(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_levelled(item) for item in value]
    return value


class LocalNumbers:
    """Pull requests of the local portal, which counts on from run to run and across cases: on a cassette they are 1, 2,
    … in the order in which the conversation came to them. Those of any other host keep their numbers.
    """

    _ADDRESS = re.compile(r"(\bhttp://127\.0\.0\.1:\d{1,5}/[^\s\"'<>\\]*/pullrequest/)(\d{1,18})\b")
    _IN_TEXT = re.compile(r"(\bpull_?[rR]equest_?[iI]d\\*\"\s*:\s*)(\d{1,18})\b")
    _KEYS = ("pullRequestId", "pull_request_id")

    def __init__(self) -> None:
        self._numbers: dict[str, str] = {}

    def learn(self, values: Iterable[Any]) -> None:
        """Give a number to every address in `values` that has none."""
        for value in values:
            if isinstance(value, str):
                for match in self._ADDRESS.finditer(value):
                    self._numbers.setdefault(match[2], str(len(self._numbers) + 1))
            elif isinstance(value, dict):
                self.learn(value.values())
            elif isinstance(value, list | tuple):
                self.learn(value)

    def fill_in(self, value: Any) -> Any:
        """`value` with the numbers on the cassette in place of the portal's."""
        if not self._numbers:
            return value
        if isinstance(value, str):
            return self._IN_TEXT.sub(self._renumbered, self._ADDRESS.sub(self._renumbered, value))
        if isinstance(value, dict):
            return {key: self._item(key, item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.fill_in(item) for item in value]
        return value

    def _item(self, key: Any, item: Any) -> Any:
        if key in self._KEYS and isinstance(item, int) and not isinstance(item, bool):
            return int(self._numbers.get(str(item), item))
        return self.fill_in(item)

    def _renumbered(self, match: re.Match[str]) -> str:
        return match[1] + self._numbers.get(match[2], match[2])


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
        new = [item for key in SHARED for item in request.get(key, ()) if id(item) not in self._known]
        for item, level in zip(new, levelled(new), strict=True):
            # The object is kept with its hash, so that nothing else can come to have its id.
            self._known[id(item)] = (item, digest(level))
        parts = {key: [self._known[id(item)][1] for item in request[key]] for key in SHARED if key in request}
        return digest(levelled({key: value for key, value in request.items() if key not in SHARED}) | parts)
