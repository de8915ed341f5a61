"""Slots: the places of one configuration that a request can mean, each with the words by which it is meant."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from .properties import Catalogue, Property
from .words import content_stems

Path = tuple[str | int, ...]
# The target of a copy is understood from names and roles, not from likeness of words.
NAME, ENVIRONMENT, REGION = ("name",), ("environment",), ("region",)
HUB = ("hubPeering", "hub")
ADDRESS_SPACE = ("virtualNetwork", "addressSpace")
_ROLES = (NAME, ENVIRONMENT, REGION, HUB)


@dataclass(frozen=True)
class Slot:
    """One place. `items` are, from the outside in, the stems that tell each list item on the way from its siblings."""

    path: Path
    prop: Property
    items: tuple[frozenset[str], ...] = ()
    labels: frozenset[str] = frozenset()
    """Names, as written, of the list items on the way."""
    only: bool = True
    """True when every list on the way has just this one item."""
    present: Any = field(default=None, compare=False)
    """What stands there now."""


def slots(catalogue: Catalogue, configuration: Mapping[str, Any] | None) -> tuple[Slot, ...]:
    """All places; those inside lists and maps follow from the configuration."""
    return _slots(catalogue, json.dumps(configuration) if configuration is not None else "")


@lru_cache(maxsize=256)
def _slots(catalogue: Catalogue, text: str) -> tuple[Slot, ...]:
    configuration = json.loads(text) if text else {}
    found: list[Slot] = []
    for prop in catalogue.properties:
        if prop.path in _ROLES or prop.kind == "object":
            continue
        if prop.kind == "list" and prop.item is not None and prop.item.kind == "object":
            continue
        found.extend(_expand(prop, prop.path, configuration, (), (), frozenset(), True))
        if prop.kind == "map":
            entries = _at(configuration, prop.path)
            for key in entries if isinstance(entries, Mapping) else ():
                found.append(Slot((*prop.path, key), entry(prop, key), present=entries[key]))
    return tuple(found)


def entry(prop: Property, key: str) -> Property:
    """The property that stands for one entry of a map."""
    return Property(
        path=(*prop.path, key),
        kind="string",
        name=frozenset(content_stems(key)),
        about=frozenset(),
        parents=prop.parents | prop.name,
        around=prop.around | prop.about,
    )


def _expand(
    prop: Property,
    rest: tuple[str, ...],
    node: Any,
    path: Path,
    items: tuple[frozenset[str], ...],
    labels: frozenset[str],
    only: bool,
) -> Iterator[Slot]:
    if not rest:
        yield Slot(path, prop, items, labels, only, node)
        return
    head, *tail = rest
    if head != "*":
        below = node.get(head) if isinstance(node, Mapping) else None
        yield from _expand(prop, tuple(tail), below, (*path, head), items, labels, only)
        return
    members = node if isinstance(node, list) else []
    words = [_telling(member) for member in members]
    shared = frozenset.intersection(*words) if len(words) > 1 else frozenset()
    for index, member in enumerate(members):
        name = member.get("name") if isinstance(member, Mapping) else None
        known = labels | {name} if isinstance(name, str) else labels
        own = words[index] - shared
        yield from _expand(prop, tuple(tail), member, (*path, index), (*items, own), known, only and len(members) == 1)


def _telling(item: Any) -> frozenset[str]:
    """The words that tell an item: its name and what it is for."""
    if not isinstance(item, Mapping):
        return frozenset()
    texts = [str(item.get(key) or "") for key in ("name", "purpose", "service")]
    return frozenset(token for text in texts for token in content_stems(text.replace("-", " ")))


def _at(node: Any, path: Path) -> Any:
    for part in path:
        if isinstance(node, dict) and isinstance(part, str):
            node = node.get(part)
        elif isinstance(node, list) and isinstance(part, int) and part < len(node):
            node = node[part]
        else:
            return None
    return node


def value_at(configuration: Mapping[str, Any] | None, path: Path) -> Any:
    """What stands at a path; None when nothing does."""
    return _at(configuration, path)


def pointer(path: Path) -> str:
    """A path as a JSON Pointer."""
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in path)
