"""What follows from a change by the schema's own conditions: values that are forced, and limits that are crossed.

`conditions` is `Catalogue.conditions` everywhere: the schema with its references resolved, less what forces nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from .slots import Path, value_at


@dataclass(frozen=True)
class Forced:
    """A value that the schema leaves no choice about."""

    path: Path
    value: Any


@dataclass(frozen=True)
class Limit:
    """A number that is below what the schema asks for here."""

    path: Path
    minimum: int


def forced_values(conditions: Mapping[str, Any], configuration: Mapping[str, Any]) -> list[Forced]:
    """All values that must be different, given the rest of the configuration."""
    return [f for f in _applied(conditions, configuration, ()) if isinstance(f, Forced)]


def crossed_limits(conditions: Mapping[str, Any], configuration: Mapping[str, Any]) -> list[Limit]:
    """All numbers that are too low, the highest limit for each."""
    found: dict[Path, Limit] = {}
    for limit in _applied(conditions, configuration, ()):
        if isinstance(limit, Limit) and limit.minimum > found.get(limit.path, limit).minimum - 1:
            found[limit.path] = limit
    return list(found.values())


def _applied(node: Mapping[str, Any], value: Any, path: Path) -> Iterator[Forced | Limit]:
    """Walk a schema and a value together, through the branches of conditions that hold."""
    if "const" in node and value != node["const"]:
        yield Forced(path, node["const"])
    minimum = node.get("minimum")
    if isinstance(minimum, int) and isinstance(value, int) and not isinstance(value, bool) and value < minimum:
        yield Limit(path, minimum)
    if isinstance(value, Mapping):
        for key, part in (node.get("properties") or {}).items():
            if key in value and isinstance(part, Mapping):
                yield from _applied(part, value[key], (*path, key))
    items = node.get("items")
    if isinstance(value, list) and isinstance(items, Mapping):
        for index, item in enumerate(value):
            yield from _applied(items, item, (*path, index))
    condition = node.get("if")
    if isinstance(condition, Mapping):
        branch = node.get("then" if _holds(condition, value) else "else")
        if isinstance(branch, Mapping):
            yield from _applied(branch, value, path)
    for part in node.get("allOf") or ():
        yield from _applied(part, value, path)


def _holds(node: Mapping[str, Any], value: Any) -> bool:
    if "const" in node and value != node["const"]:
        return False
    if "enum" in node and value not in node["enum"]:
        return False
    if isinstance(value, Mapping):
        if any(name not in value for name in node.get("required") or ()):
            return False
        return all(_holds(part, value[key]) for key, part in (node.get("properties") or {}).items() if key in value)
    return True


def settle(
    conditions: Mapping[str, Any], configuration: dict[str, Any], asked: frozenset[Path]
) -> tuple[dict[str, Any], list[Forced]]:
    """Set what is forced, except where the developer asked for something else.

    It takes a few rounds, as one value may force another.
    """
    done: list[Forced] = []
    for _ in range(4):
        due = [f for f in forced_values(conditions, configuration) if f.path not in asked and f.path and f not in done]
        if not due:
            break
        for item in due:
            owner = value_at(configuration, item.path[:-1])
            if isinstance(owner, dict):
                owner[str(item.path[-1])] = item.value
                done.append(item)
    return configuration, done
