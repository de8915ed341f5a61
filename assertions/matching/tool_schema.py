"""A tool's own parameter schema, as far as comparing needs it: which type and which default stand at a place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from assertions.matching.json_values import MISSING
from assertions.matching.paths import Item, Path, Step
from episodes.frozen import frozen

_DEPTH = 32
"""References are followed this deep; a schema that refers to itself for ever then says nothing."""


@frozen
class ToolSchema:
    """`document` is the JSON Schema of the arguments. Only references inside it (`#/…`) are followed."""

    document: Mapping[str, Any]

    def default_at(self, path: Path) -> Any:
        """The `default` of the place, or MISSING."""
        return next((node["default"] for node in self._nodes(path) if "default" in node), MISSING)

    def types_at(self, path: Path) -> tuple[str, ...]:
        """The JSON types that the place may have; empty when the schema does not say."""
        for node in self._nodes(path):
            types = node.get("type")
            if isinstance(types, str):
                return (types,)
            if isinstance(types, list):
                return tuple(str(name) for name in types)
        return ()

    def _nodes(self, path: Path) -> Iterator[Mapping[str, Any]]:
        nodes = list(self._spread(self.document, _DEPTH))
        for step in path:
            nodes = [inner for node in nodes for below in _below(node, step) for inner in self._spread(below, _DEPTH)]
        return iter(nodes)

    def _spread(self, node: Any, depth: int) -> Iterator[Mapping[str, Any]]:
        """The node itself, what it refers to, and the parts of its `allOf`."""
        if not isinstance(node, Mapping) or not depth:
            return
        yield node
        if isinstance(node.get("$ref"), str):
            yield from self._spread(self._referred(node["$ref"]), depth - 1)
        for part in node.get("allOf") or ():
            yield from self._spread(part, depth - 1)

    def _referred(self, reference: str) -> Any:
        if not reference.startswith("#"):
            return None
        node: Any = self.document
        for part in reference[1:].split("/")[1:]:
            if not isinstance(node, Mapping):
                return None
            node = node.get(part.replace("~1", "/").replace("~0", "~"))
        return node


def _below(node: Mapping[str, Any], step: Step) -> Iterator[Any]:
    if not isinstance(step, str):
        index = step.indexes[0] if isinstance(step, Item) else step
        first = node.get("prefixItems")
        if isinstance(first, list) and index < len(first):
            yield first[index]
        else:
            yield node.get("items")
        return
    properties = node.get("properties")
    if isinstance(properties, Mapping) and step in properties:
        yield properties[step]
    else:
        yield node.get("additionalProperties")
