"""Which tools do the servers offer, and which ones does an assertion's config name?

A check on a misspelt tool would pass or fail for ever without telling anything, so every name has to be known. What an
agent may call stands in its own file; a server may offer more (a check that something was *not* called names exactly
that), and those names are kept in `agent_config/servers/<server>.tools.json`.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from formats.yaml_document import Step, read_yaml

_NAME_KEYS = frozenset(
    {
        "tool",
        "tools",
        "any_of",
        "steps",
        "per_turn",
        "after_answers",
        "after_tool",
        "created_by",
        "required_tools",
        "allowed_tools",
        "forbidden_tools",
    }
)
"""Keys whose texts are names of tools, in the config of any of our assertions."""

_CHECKS_OF_NAMES = frozenset({"tool_sequence", "tool_not_executed"})
"""Checks that may be written short, as a list of names."""

_DATA_KEYS = frozenset({"args", "arguments", "expected", "defaults", "changes", "facts", "value"})
"""Keys below which anything is data of the case, whatever its keys look like."""


def offered_tools(checkout: Path) -> frozenset[str]:
    """The names of all tools that the agents of this checkout may call or that their servers are known to offer.

    Raises:
        YamlProblem: an agent file cannot be read.
        ValueError: a list of a server's tools is not of the form {"tools": ["name", …]}.
    """
    names: set[str] = set()
    for file in sorted((checkout / "agent_config" / "agents").glob("*/agent.yaml")):
        agent = read_yaml(file).value
        if isinstance(agent, dict):
            names.update(name for name in agent.get("tools") or [] if isinstance(name, str))
    for file in sorted((checkout / "agent_config" / "servers").glob("*.tools.json")):
        names.update(_listed(file))
    return frozenset(names)


def named_tools(config: Any) -> Iterator[tuple[tuple[Step, ...], str]]:
    """Every tool name (or pattern with `*`) that an assertion's config holds, with the path to it."""
    yield from _named(config, (), False)


def is_offered(name: str, offered: Collection[str]) -> bool:
    """Is there a tool of this name, or one that this pattern matches?"""
    return name in offered or any(fnmatchcase(tool, name) for tool in offered)


def _named(value: Any, path: tuple[Step, ...], names: bool) -> Iterator[tuple[tuple[Step, ...], str]]:
    if isinstance(value, str):
        if names:
            yield path, value
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _named(item, (*path, index), names)
    elif isinstance(value, Mapping):
        for key, item in value.items():
            if key in _DATA_KEYS:
                continue
            short = key in _CHECKS_OF_NAMES and isinstance(item, list)
            yield from _named(item, (*path, key), short or key in _NAME_KEYS)


def _listed(file: Path) -> list[str]:
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ValueError(f"{file}: cannot be read as JSON: {error}") from error
    tools = content.get("tools") if isinstance(content, dict) else None
    if not isinstance(tools, list) or not all(isinstance(name, str) for name in tools):
        raise ValueError(f'{file}: must be of the form {{"tools": ["name", …]}}')
    return tools
