"""The tools that the agent may call: what its servers offer, cut down to its allow-list."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from episodes.record import StopReason
from providers.agent.arguments import ArgumentCheck
from providers.agent.tool_server import ToolFailure, ToolInfo, ToolServer
from providers.agent_protocol import EpisodeStopped

_FUNCTION_NAME = re.compile(r"[^A-Za-z0-9_-]")
MAX_FUNCTION_NAME = 64
"""Chat Completions allows no longer name, and only letters, digits, - and _."""


@dataclass(frozen=True)
class Tool:
    """One allowed tool. `function` is the name that the model sees, `info.name` the server's own."""

    server: ToolServer
    info: ToolInfo
    function: str
    check: ArgumentCheck
    creates: bool

    def as_function(self) -> dict[str, Any]:
        """The tool in Chat Completions form."""
        parameters = dict(self.info.input_schema) or {"type": "object", "properties": {}}
        return {
            "type": "function",
            "function": {"name": self.function, "description": self.info.description, "parameters": parameters},
        }


class Toolbox:
    """The allowed tools in the order of the allow-list, found by the name that the model uses."""

    def __init__(self, tools: Sequence[Tool], offered: Iterable[str]) -> None:
        self.tools = tuple(tools)
        self._by_function = {tool.function: tool for tool in tools}
        self.offered = frozenset(offered)
        """What the servers have, allowed or not."""

    def find(self, function: str) -> Tool | None:
        return self._by_function.get(function)

    def refusal(self, function: str) -> str:
        """In words for the model, why a tool is not called: it is outside the allow-list, or there is none."""
        known = "is not one of your tools" if function in self.offered else "does not exist"
        return f"The tool {function!r} {known}. Your tools: {', '.join(self._by_function) or '(none)'}."

    def as_functions(self) -> list[dict[str, Any]]:
        return [tool.as_function() for tool in self.tools]

    def schemas(self) -> list[dict[str, Any]]:
        """What of the tools can change a result: names, descriptions and schemas."""
        return [{"server": tool.server.name, **tool.as_function()["function"]} for tool in self.tools]


async def fill_toolbox(
    servers: Sequence[ToolServer], allowed: Sequence[str], creating: Sequence[str]
) -> tuple[Toolbox, tuple[str, ...]]:
    """Ask every server for its tools and keep the allowed ones; returns them with what a reader should know.

    An entry of the allow-list is a tool's name, or `server:tool` where two servers offer the same name.

    Raises:
        EpisodeStopped: `tool_unavailable`: a server can not be reached, or an allowed tool is offered by none;
            `provider_error`: a replay does not know what the server offers.
    """
    offers: list[tuple[ToolServer, ToolInfo]] = []
    for server in servers:
        try:
            offers.extend((server, info) for info in await server.tools())
        except ToolFailure as failure:
            if failure.reason == "no_recording":
                raise EpisodeStopped(StopReason.PROVIDER_ERROR, failure.problem) from None
            problem = f"the server {server.name} can not be used: {failure.problem}"
            raise EpisodeStopped(StopReason.TOOL_UNAVAILABLE, problem) from None
    chosen = [_choose(entry, offers) for entry in allowed]
    functions = _function_names([(server.name, info.name) for server, info in chosen])
    tools = [
        Tool(server, info, function, ArgumentCheck(info.input_schema), _listed(server.name, info.name, creating))
        for (server, info), function in zip(chosen, functions, strict=True)
    ]
    warnings = tuple(f"tool {tool.info.name}: {tool.check.problem}" for tool in tools if tool.check.problem)
    return Toolbox(tools, (info.name for _, info in offers)), warnings


def _choose(entry: str, offers: Sequence[tuple[ToolServer, ToolInfo]]) -> tuple[ToolServer, ToolInfo]:
    matching = [(server, info) for server, info in offers if entry in (info.name, f"{server.name}:{info.name}")]
    if len(matching) == 1:
        return matching[0]
    if not matching:
        names = ", ".join(sorted({info.name for _, info in offers})) or "(none)"
        problem = f"the allow-list names the tool {entry!r}, which no server offers; offered: {names}"
    else:
        choices = " or ".join(f"{server.name}:{info.name}" for server, info in matching)
        problem = f"the allow-list names the tool {entry!r}, which is offered more than once: write {choices}"
    raise EpisodeStopped(StopReason.TOOL_UNAVAILABLE, problem)


def _listed(server: str, name: str, entries: Sequence[str]) -> bool:
    return name in entries or f"{server}:{name}" in entries


def _function_names(tools: Sequence[tuple[str, str]]) -> list[str]:
    """A name for each tool that the model may use: the tool's own, with its server's in front where two are equal."""
    own = [_FUNCTION_NAME.sub("_", name)[:MAX_FUNCTION_NAME] for _, name in tools]
    return [
        _FUNCTION_NAME.sub("_", f"{server}__{name}")[:MAX_FUNCTION_NAME] if own.count(short) > 1 else short
        for (server, name), short in zip(tools, own, strict=True)
    ]
