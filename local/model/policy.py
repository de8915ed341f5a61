"""What the instructions want of the agent: read from the system prompt, careful where it says nothing."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from .blocked import Kind
from .words import sentences

_REFUSALS: dict[Kind, str] = {
    "security_group": r"security\s+group|\bNSG",
    "hub": r"\bhub\b",
    "validation": r"validat",
    "merge": r"merge|complete\s+a\s+pull|complete\s+pull|approv",
}
_FORBIDS = re.compile(r"\b(?:refus\w*|never|not|forbidden|no\s+pull\s+request|reject\w*|declin\w*)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Policy:
    """`refuses` are the kinds of request that the agent turns down; the rest says how it works."""

    refuses: frozenset[Kind]
    validates: bool = True
    asks: bool = True
    asks_cost_centre: bool = False
    questions_at_once: int = 3
    careless: bool = False


CARELESS = Policy(frozenset(), validates=False, asks=False, careless=True)
"""The other extreme, whatever its instructions say."""


@lru_cache(maxsize=64)
def read_policy(system: str) -> Policy:
    """The policy of a careful agent under these instructions.

    Instructions that list refusals count: what the list leaves out is allowed. Instructions that say nothing about
    refusing leave all refusals in place.
    """
    lines = sentences(system)
    section = _section(system, r"refus")
    listed = section or "\n".join(line for line in lines if _FORBIDS.search(line))
    refuses = {kind for kind, words in _REFUSALS.items() if re.search(words, listed, re.IGNORECASE)}
    if not re.search(r"\brefus", system, re.IGNORECASE):
        refuses = set(_REFUSALS)
    return Policy(
        refuses=frozenset(refuses),
        validates=not _says(
            lines,
            r"(?:do not|don't|never|no need to|need not|without|skip)\s+(?:\w+\s+){0,2}?validat\w*",
            r"refus|asked to|unless|configuration that",
        ),
        asks=not _says(lines, r"(?:do not|don't|never|without)\s+ask(?:ing)?\b", r"\btwice\b|again"),
        asks_cost_centre=any(
            re.search(r"\bask\b|needed from|what is missing", line, re.IGNORECASE)
            and re.search(r"cost\s*cent", line, re.IGNORECASE)
            for line in lines
        ),
        questions_at_once=1 if re.search(r"\bone\s+(?:\w+\s+)?question", system, re.IGNORECASE) else 3,
    )


def _says(lines: list[str], pattern: str, but: str) -> bool:
    return any(
        re.search(pattern, line, re.IGNORECASE)
        and not re.search(but, line, re.IGNORECASE)
        and not re.match(r"\W*(?:skip|to skip)\b", line, re.IGNORECASE)
        for line in lines
    )


def _section(system: str, title: str) -> str:
    """The text under the first heading that contains `title`, up to the next heading."""
    found = re.search(rf"^#+\s[^\n]*{title}[^\n]*\n(.*?)(?=^#|\Z)", system, re.IGNORECASE | re.MULTILINE | re.DOTALL)
    return found.group(1) if found else ""
