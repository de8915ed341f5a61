"""Lists and maps: which one does a message speak of, and which of its items?"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from .properties import Catalogue, Property
from .slots import Path, value_at
from .words import content_stems

_TAKE = re.compile(
    r"\b(?:remov\w*|delet\w*|drop(?:s|ped|ping)?|get rid of|strip\w*|leav(?:e|es|ing) out|left out|without|minus|lose|"
    r"tak(?:e|es|en|ing) (?:out|off|away)|no longer|(?:needs?|has|have|with|gets?|carr(?:y|ies)) no|not needed?|"
    r"(?:is|are) not wanted|omit\w*|discard\w*|exclud\w*|"
    r"(?:do|does|should|must|shall|need) not (?:have|get|carry|contain|keep|need)|(?:is|are) not (?:needed|"
    r"required))\b",
    re.IGNORECASE,
)
_NOT_TAKEN = re.compile(r"\b(?:not|n't|never|rather than|instead of)\s+(?:to\s+)?$", re.IGNORECASE)
_GIVE = re.compile(
    r"\b(?:add(?:s|ed|ing|itional\w*)?|extra|also|another|further|put|insert|attach|append|includ\w*|introduce|"
    r"plus|extend\w*|"
    r"one more|in addition|on top|give|gets?|grow|second|create|open)\b",
    re.IGNORECASE,
)
_LEAD = re.compile(r"\b(?:that|through|which|in|of|as|on|for|to|by|where)\b|[,.;]")


@dataclass(frozen=True)
class Item:
    """An item that is there now: its path, the property of its list or map, and the words that tell it."""

    path: Path
    container: Property
    label: str
    words: frozenset[str]


def takes(text: str) -> re.Match[str] | None:
    """The first words of taking away in a text ("do not remove" takes nothing away)."""
    return next((m for m in _TAKE.finditer(text) if not _NOT_TAKEN.search(text[: m.start()])), None)


def gives(text: str) -> re.Match[str] | None:
    """The first words of adding in a text."""
    return _GIVE.search(text)


@lru_cache(maxsize=512)
def heads(prop: Property) -> frozenset[str]:
    """The stems by which one item of a list or map is called.

    The last word of its name (zones, endpoints, tags), and the noun that its description begins with ("Lookup domains
    that …": domain).
    """
    lead = _LEAD.split(prop.description, 1)[0]
    nouns = [content_stems(part)[-1:] for part in re.split(r"\band\b", lead)]
    return frozenset(content_stems(prop.path[-1])[-1:]).union(*nouns)


def speaks_of(prop: Property, text: str) -> bool:
    """True when a text names the kind of thing that the list or map holds."""
    return bool(heads(prop) & set(content_stems(text))) or f"{prop.path[-1]}" in text


def items(catalogue: Catalogue, configuration: Mapping[str, Any]) -> Iterator[Item]:
    """All items of the lists and maps of a configuration."""
    for prop in catalogue.properties:
        if prop.kind in ("list", "map"):
            for path in _paths(configuration, prop.path):
                yield from _items_at(prop, path, value_at(configuration, path))


def _items_at(prop: Property, path: Path, found: Any) -> Iterator[Item]:
    entries: list[tuple[str | int, Any]] = []
    if isinstance(found, Mapping):
        entries = list(found.items())
    elif isinstance(found, list):
        entries = list(enumerate(found))
    for key, value in entries:
        if isinstance(value, Mapping):
            label = str(value.get("name") or "")
            texts = [label, str(value.get("purpose") or ""), str(value.get("service") or "")]
        else:
            label = str(key) if isinstance(found, Mapping) else str(value)
            texts = [label]
        words = frozenset(token for text in texts for token in content_stems(re.sub(r"[-.]", " ", text)))
        yield Item((*path, key), prop, label, words - heads(prop) - _PREFIXES)


# Short forms in front of names ("snet-orders") that nobody speaks.
_PREFIXES = frozenset(content_stems("vnet snet nsg rt pe microsoft privatelink windows net core com"))


def _paths(configuration: Mapping[str, Any], path: Sequence[str], done: Path = ()) -> Iterator[Path]:
    if not path:
        yield done
        return
    head, *tail = path
    if head != "*":
        yield from _paths(configuration, tail, (*done, head))
        return
    found = value_at(configuration, done)
    for index in range(len(found) if isinstance(found, list) else 0):
        yield from _paths(configuration, tail, (*done, index))


def item_in(text: str, candidates: Sequence[Item]) -> Item | None:
    """The item that a text speaks of: by its label as written, else by its telling words, all of them."""
    for item in candidates:
        if item.label and re.search(rf"(?<![\w.-]){re.escape(item.label)}(?![\w-]|\.\w)", text, re.IGNORECASE):
            return item
    stems = set(content_stems(text))
    spoken = [item for item in candidates if item.words and item.words <= stems]
    if spoken:
        return max(spoken, key=lambda item: len(item.words))
    shared = frozenset.intersection(*(item.words for item in candidates)) if len(candidates) > 1 else frozenset()
    partly = [item for item in candidates if (item.words - shared) & stems]
    return partly[0] if len(partly) == 1 else None
