"""The properties of a configuration by its JSON Schema: where they are, what they hold, how they are spoken of."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Literal

from .words import content_stems, plain, plain_stems, stem, word_list

Kind = Literal["string", "integer", "boolean", "list", "map", "object"]
# Leaf names that say nothing without the name of the object they belong to.
_GENERIC = frozenset(plain(word) for word in word_list("enabled name day time type value id date hours days ip"))
_DEEPEST = 12


@dataclass(frozen=True, eq=False)
class Property:
    """One property. In `path`, `*` stands for any item of a list.

    `name` and `about` are the stems of its own name and description; `parents` and `around` those of the objects around
    it. For a list, `item` says what it holds. `unit` is "day", "hour" or "minute" when name or description count in it.
    """

    path: tuple[str, ...]
    kind: Kind
    name: frozenset[str]
    about: frozenset[str]
    parents: frozenset[str]
    around: frozenset[str]
    enum: tuple[str, ...] = ()
    format: str = ""
    pattern: str = ""
    minimum: int | None = None
    maximum: int | None = None
    item: Property | None = None
    description: str = ""

    @cached_property
    def unit(self) -> str:
        for unit in ("day", "hour", "minute"):
            if stem(unit) in self.name or stem(unit) in self.about:
                return unit
        return ""

    @property
    def pointer(self) -> str:
        return "/" + "/".join(self.path)

    @cached_property
    def identity(self) -> frozenset[str]:
        """The stems, synonyms apart, that a speaker must use to call this property by its name."""
        return _identity(self.path)

    @cached_property
    def parent_identity(self) -> frozenset[str]:
        """The same for the object that it belongs to; empty at the top."""
        return _identity(self.path[:-1]) if len(self.path) > 1 else frozenset()

    @cached_property
    def named(self) -> frozenset[str]:
        """The plain stems of its name and of those of the objects around it."""
        return frozenset(token for part in self.path for token in plain_stems(part))

    @property
    def scalar(self) -> bool:
        return self.kind in ("string", "integer", "boolean")


def _identity(path: tuple[str, ...]) -> frozenset[str]:
    names = [frozenset(plain_stems(part)) - _GENERIC for part in path if part != "*"]
    return next((own for own in reversed(names) if own), frozenset(plain_stems(path[-1])))


@dataclass(frozen=True, eq=False)
class Catalogue:
    """All properties of one schema, and how telling each word is among them.

    Each schema has one catalogue, so catalogues are compared by identity. References in `schema` are resolved.
    """

    properties: tuple[Property, ...]
    described: bool
    """True when the schema carries descriptions."""
    schema: Mapping[str, Any]

    @cached_property
    def _frequency(self) -> dict[str, int]:
        count: dict[str, int] = {}
        for prop in self.properties:
            for token in prop.name | prop.about:
                count[token] = count.get(token, 0) + 1
        return count

    def weight(self, token: str) -> float:
        """How telling a stem is: rare ones more than those that many properties share; 0 for unknown ones."""
        seen = self._frequency.get(token, 0)
        return math.log(1 + len(self.properties) / seen) if seen else 0.0

    def at(self, path: tuple[str, ...]) -> Property | None:
        """The property at a path, or None."""
        return self._by_path.get(path)

    @cached_property
    def _by_path(self) -> dict[tuple[str, ...], Property]:
        return {prop.path: prop for prop in self.properties}

    @cached_property
    def conditions(self) -> Mapping[str, Any]:
        """The part of the schema that says which values force others, and how low numbers may be."""
        return _conditions(self.schema) or {}


@lru_cache(maxsize=64)
def _catalogue(text: str) -> Catalogue:
    schema = _expanded(json.loads(text), json.loads(text), 0)
    found = tuple(_walk(schema, schema, (), frozenset(), frozenset(), 0))
    return Catalogue(found, any(prop.about for prop in found), schema)


_SEEN: dict[int, tuple[Mapping[str, Any], Catalogue]] = {}
_MOST_SEEN = 256


def catalogue(schema: Mapping[str, Any]) -> Catalogue:
    """The properties of a schema; the same schema is read once."""
    # Tool results are decoded once and shared, so the same object comes again; holding it keeps its id its own.
    known = _SEEN.get(id(schema))
    if known is None:
        if len(_SEEN) >= _MOST_SEEN:
            _SEEN.clear()
        known = _SEEN[id(schema)] = (schema, _catalogue(json.dumps(schema, sort_keys=True)))
    return known[1]


def _walk(
    root: Mapping[str, Any],
    node: Mapping[str, Any],
    path: tuple[str, ...],
    parents: frozenset[str],
    around: frozenset[str],
    depth: int,
) -> Iterator[Property]:
    node = resolved(root, node)
    if depth > _DEEPEST:
        return
    for key, raw in (node.get("properties") or {}).items():
        child = resolved(root, raw)
        prop = _property(root, child, (*path, key), frozenset(content_stems(key)), parents, around)
        yield prop
        below, describes = parents | prop.name, around | prop.about
        yield from _walk(root, child, prop.path, below, describes, depth + 1)
        items = child.get("items")
        if isinstance(items, dict):
            yield from _walk(root, items, (*prop.path, "*"), below, describes, depth + 1)


def _property(
    root: Mapping[str, Any],
    node: Mapping[str, Any],
    path: tuple[str, ...],
    name: frozenset[str],
    parents: frozenset[str],
    around: frozenset[str],
) -> Property:
    description = str(node.get("description") or "")
    items = node.get("items")
    item = None
    if isinstance(items, dict):
        item = _property(root, resolved(root, items), (*path, "*"), name, parents, around)
    return Property(
        path=path,
        kind=_kind(node),
        name=name,
        about=frozenset(content_stems(description)),
        parents=parents,
        around=around,
        enum=tuple(str(value) for value in _members(node)),
        format=str(node.get("format") or ""),
        pattern=str(_first(root, node, "pattern") or ""),
        minimum=node.get("minimum"),
        maximum=node.get("maximum"),
        item=item,
        description=description,
    )


def _members(node: Mapping[str, Any]) -> list[Any]:
    found = list(node.get("enum") or [])
    for part in node.get("anyOf") or node.get("oneOf") or []:
        found.extend(part.get("enum") or [])
    return found


def _first(root: Mapping[str, Any], node: Mapping[str, Any], key: str) -> Any:
    if key in node:
        return node[key]
    for part in node.get("anyOf") or node.get("oneOf") or []:
        value = resolved(root, part).get(key)
        if value is not None:
            return value
    return None


def _kind(node: Mapping[str, Any]) -> Kind:
    kind = node.get("type")
    if isinstance(kind, list):
        kind = next((k for k in kind if k != "null"), None)
    if kind == "array":
        return "list"
    if kind == "object":
        return "object" if node.get("properties") else "map"
    if kind in ("integer", "number"):
        return "integer"
    return "boolean" if kind == "boolean" else "string"


def _conditions(node: Mapping[str, Any]) -> dict[str, Any] | None:
    """A schema without what neither forces nor limits a value; None when nothing is left."""
    kept = {key: node[key] for key in ("const", "minimum", "if", "then", "else") if key in node}
    properties = {name: part for name, child in (node.get("properties") or {}).items() if (part := _conditions(child))}
    if properties:
        kept["properties"] = properties
    if isinstance(node.get("items"), dict) and (items := _conditions(node["items"])):
        kept["items"] = items
    if parts := [part for child in node.get("allOf") or () if (part := _conditions(child))]:
        kept["allOf"] = parts
    return kept or None


def _expanded(root: Mapping[str, Any], node: Any, depth: int) -> Any:
    """A schema with what its local references point to in their place, as deep as configurations go."""
    if isinstance(node, list):
        return [_expanded(root, item, depth) for item in node]
    if not isinstance(node, dict) or depth > 4 * _DEEPEST:
        return node
    node = resolved(root, node)
    return {key: value if key == "$defs" else _expanded(root, value, depth + 1) for key, value in node.items()}


def resolved(root: Mapping[str, Any], node: Mapping[str, Any]) -> Mapping[str, Any]:
    """Follow local references; what stands beside a reference wins over what it points to."""
    for _ in range(_DEEPEST):
        reference = node.get("$ref")
        if not isinstance(reference, str) or not reference.startswith("#/"):
            return node
        target: Any = root
        for part in reference[2:].split("/"):
            part = part.replace("~1", "/").replace("~0", "~")
            target = target.get(part, {}) if isinstance(target, Mapping) else {}
        node = {**target, **{key: value for key, value in node.items() if key != "$ref"}}
    return node
