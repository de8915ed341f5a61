"""Values that stand in a text and show what they are by their form: names, addresses, dates, amounts, quotations."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from .amounts import find_amounts
from .moments import find_moments
from .words import word_list

ValueKind = Literal[
    "spoke", "cidr", "ip", "email", "code", "domain", "date", "time", "amount", "label", "quoted", "port", "proper"
]


@dataclass(frozen=True)
class Value:
    """A value in a text at [start, end). `unit` is set for amounts, `offset` for times of day.

    `old` marks a value that the text calls the former one ("from 30 to 60 days": 30).
    """

    kind: ValueKind
    text: str
    start: int
    end: int
    number: int = 0
    unit: str = ""
    offset: str = ""
    old: bool = False


_SIMPLE: tuple[tuple[ValueKind, re.Pattern[str]], ...] = (
    ("email", re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")),
    ("spoke", re.compile(r"(?<![\w/-])spoke(?:-[a-z0-9]+)+(?![\w-]|\.json)", re.IGNORECASE)),
    ("cidr", re.compile(r"(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}\s?/\s?\d{1,2}(?!\d)")),
    ("ip", re.compile(r"(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}(?![\d/]|\.\d)")),
    ("code", re.compile(r"(?<![\w-])[A-Z]{2,4}[-\s]?\d{3,6}(?![\w-])")),
    ("domain", re.compile(r"(?<![\w@.-])(?:[a-z0-9-]+\.){2,}[a-z]{2,}(?![\w-])")),
)
_LABEL = re.compile(r"(?<![\w./@-])[a-z][a-z0-9]*(?:-[a-z0-9]+)+(?![\w@-])")
_PORTS = re.compile(r"(?<![\w.:/-])\d{1,5}-\d{1,5}(?![\w.:/-])")
_QUOTED = re.compile(
    r"[\"\u201c\u201d\u00ab\u00bb]([^\"\u201c\u201d\u00ab\u00bb\n]{1,80})[\"\u201c\u201d\u00ab\u00bb]|"
    r"(?<!\w)[`'\u2018]([^`'\u2019\n]{1,80}?)[`'\u2019](?!\w)"
)
_OLD_BEFORE = re.compile(
    r"(?:\binstead of|\brather than|\bno longer|\bnot(?: on| at| to| for)?|\bcurrently|\bwas|\bwere|"
    r"\bat present|\bso far|"
    r"\bused to be|\breplac(?:e|es|ing)(?:\s+[a-z]+){0,3}|\bas opposed to)\s+(?:the\s+)?(?:old\s+|current\s+|"
    r"previous\s+|usual\s+)?$",
    re.IGNORECASE,
)
_FROM = re.compile(r"\bfrom\s+(?:the\s+)?(?:current\s+|present\s+|old\s+)?$", re.IGNORECASE)
_TO = re.compile(
    r"^\s*(?:days?|hours?|weeks?)?\s*(?:up |down |over )?(?:to|into)\s+(?:the\s+)?(?:new\s+)?$", re.IGNORECASE
)


@lru_cache(maxsize=2_000)
def find_values(text: str) -> tuple[Value, ...]:
    """All values of a text in order. They do not overlap, but a quotation or a proper name may hold another value."""
    found: list[Value] = []
    for value in _candidates(text):
        if all(value.end <= other.start or value.start >= other.end for other in found):
            found.append(value)
    typed = sorted(found, key=lambda value: value.start)
    quoted = [value for value in _quotations(text) if not any(v.text == value.text for v in typed)]
    proper = [
        value for value in _proper(text) if all(value.end <= q.start or value.start >= q.end for q in found + quoted)
    ]
    return tuple(_with_age(text, typed) + quoted + proper)


def _candidates(text: str) -> Iterator[Value]:
    for kind, pattern in _SIMPLE:
        for match in pattern.finditer(text):
            yield Value(kind, _clean(kind, match.group()), match.start(), match.end())
    for moment in find_moments(text):
        yield Value(moment.kind, moment.text, moment.start, moment.end, offset=moment.offset)
    for match in _PORTS.finditer(text):
        yield Value("port", match.group(), match.start(), match.end())
    for amount in find_amounts(text):
        # A number word without a unit is mostly no number: "the second one", "on the one hand".
        if amount.unit or text[amount.start].isdigit():
            words = text[amount.start : amount.end]
            yield Value("amount", words, amount.start, amount.end, number=amount.number, unit=amount.unit)
    for match in _LABEL.finditer(text):
        yield Value("label", match.group(), match.start(), match.end())


def _clean(kind: ValueKind, text: str) -> str:
    if kind == "cidr":
        return text.replace(" ", "")
    if kind == "spoke":
        return text.lower()
    if kind == "email":
        return text.rstrip(".")
    if kind == "code":
        found = re.fullmatch(r"([A-Z]+)[-\s]?(\d+)", text)
        return f"{found[1]}-{found[2]}" if found else text
    return text


def _quotations(text: str) -> list[Value]:
    quotations = []
    for match in _QUOTED.finditer(text):
        inner = match[1] or match[2] or ""
        quotations.append(Value("quoted", inner.strip(), match.start(), match.end()))
    return quotations


_PROPER = re.compile(
    r"(?<![A-Za-z-])(?:[A-Z][a-z]+|[A-Z]{2,5})(?:(?:\s+(?:and|of|for|&)\s+|\s+)(?:[A-Z][a-z]+|[A-Z]{2,5}))*(?![\w-])"
)
_NO_NAME = frozenset(
    word_list("""
    i nsg nsgs dns bgp cidr tcp udp icmp sql vpn pr url utc gmt cet azure microsoft ip ai expressroute hello hi
    dear please thanks monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays
    thursdays fridays saturdays sundays january february march april may june july august september october
    november december
    """)
)


def _proper(text: str) -> Iterator[Value]:
    """Names of teams and the like: capitalised words; a single one that only opens a sentence is none."""
    for match in _PROPER.finditer(text):
        words = match.group().split()
        opens = re.search(r"(?:^|[.!?:]\s+|\n\s*[-*]?\s*)$", text[: match.start()]) is not None
        if all(word.lower() in _NO_NAME for word in words) or (opens and len(words) == 1):
            continue
        yield Value("proper", " ".join(words), match.start(), match.end())


def _with_age(text: str, values: list[Value]) -> list[Value]:
    """Mark the former value in "from A to B", "B instead of A", "not A but B"."""
    aged: list[Value] = []
    for index, value in enumerate(values):
        before = text[max(0, value.start - 40) : value.start]
        old = _OLD_BEFORE.search(before) is not None
        after = values[index + 1] if index + 1 < len(values) else None
        if after is not None and after.kind == value.kind and value.kind != "time" and _FROM.search(before):
            old = old or _TO.search(text[value.end : after.start]) is not None
        aged.append(Value(value.kind, value.text, value.start, value.end, value.number, value.unit, value.offset, old))
    return aged
