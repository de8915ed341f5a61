"""Does a value of a text fit a property, and what does it become there?"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from .properties import Property
from .values import Value
from .words import STOP_WORDS, split_name, stem, word_list

_SHAPED = frozenset({"spoke", "cidr", "code", "domain", "label", "port", "quoted", "ip", "email"})


@dataclass(frozen=True)
class Member:
    """A member of an enumeration that is named in a text at [start, end)."""

    prop: Property
    member: str
    start: int
    end: int


def fits(value: Value, prop: Property, present: Any = None) -> Any:
    """What the value becomes in the property, or None.

    `present` is what stands there now: a time of day takes over its offset when the text names none.
    """
    if prop.kind == "list":
        return fits(value, prop.item) if prop.item is not None else None
    if prop.kind == "integer":
        return _integer(value, prop)
    if prop.kind != "string":
        return None
    match prop.format:
        case "date" | "email":
            return value.text if value.kind == prop.format else None
        case "time":
            return value.text + (value.offset or _offset(present)) if value.kind == "time" else None
        case "ipv4":
            return value.text if value.kind == "ip" else None
    if prop.pattern and (value.kind in _SHAPED or (value.kind == "amount" and not value.unit)):
        if value.kind == "ip" or value.kind == "email":
            return None
        text = str(value.number) if value.kind == "amount" else value.text
        return text if re.search(prop.pattern, text) else None
    if not prop.pattern and not prop.enum and not prop.format:
        return value.text if value.kind in ("quoted", "proper") else None
    return None


def _integer(value: Value, prop: Property) -> int | None:
    if value.kind != "amount":
        return None
    if value.unit and value.unit != prop.unit:
        if value.unit == "day" and prop.unit == "hour":
            return value.number * 24
        return None
    return value.number


def _offset(present: Any) -> str:
    found = re.search(r"(?:Z|[+-]\d{2}:\d{2})$", present) if isinstance(present, str) else None
    return found.group() if found else "Z"


def members(text: str, prop: Property) -> Iterator[Member]:
    """Where the members of the property's enumeration (or that of its items) are named in a text."""
    for member, start, end in _named(text, prop.item.enum if prop.item is not None else prop.enum):
        yield Member(prop, member, start, end)


@lru_cache(maxsize=4_000)
def _named(text: str, enum: tuple[str, ...]) -> tuple[tuple[str, int, int], ...]:
    # Kept, because the many items of a list share one enumeration.
    return tuple((m, found.start(), found.end()) for m, pattern in _patterns(enum) for found in pattern.finditer(text))


@lru_cache(maxsize=512)
def _patterns(enum: tuple[str, ...]) -> tuple[tuple[str, re.Pattern[str]], ...]:
    found = []
    for member in enum:
        if not re.search(r"[A-Za-z]{3}", member):
            continue
        last = member.rsplit(".", 1)[-1]
        spoken = {re.escape(member), r"[\s-]?".join(re.escape(word) for word in split_name(last).split())}
        if last == last.lower() and len(last) >= 8:
            # Compounds in lower case ("northeurope") are spoken with spaces or hyphens in them.
            spoken.add(r"[\s-]?".join(last))
        pattern = "|".join(sorted(spoken, key=len, reverse=True))
        found.append((member, re.compile(rf"(?<![\w.-])(?:{pattern})(?:s|'s)?(?![\w]|-\w|\.\w)", re.IGNORECASE)))
    return tuple(found)


@lru_cache(maxsize=512)
def telling(member: str) -> bool:
    """True when the member is no everyday word, so that it can stand for its property by itself."""
    words = split_name(member).lower().split()
    return all(stem(word) not in _EVERYDAY and word not in STOP_WORDS for word in words)


_EVERYDAY = frozenset(
    stem(word)
    for word in word_list("""
    public internal data application integration private link enabled disabled internet none test dev file
    storage registry vault blob web app sql redis hub bus event service inbound outbound allow deny virtual
    network load balancer key monitor azure microsoft container appliance gateway local tcp udp
    """)
)
