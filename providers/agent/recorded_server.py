"""A server of tools whose answers come from a cassette, or go onto it."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from models.cassettes.cassette import Cassette, NoRecording
from models.deadline import Deadline
from providers.agent.tool_server import ToolAnswer, ToolFailure, ToolInfo, ToolServer

LISTING = "tools/list"


class RecordedServer:
    """One server in one case. `live` opens the real one, and is called only when it is needed."""

    def __init__(self, name: str, cassette: Cassette, live: Callable[[], Awaitable[ToolServer]]) -> None:
        self._name = name
        self._boundary = f"tool {name}"
        self._cassette = cassette
        self._open_live = live
        self._live: ToolServer | None = None

    @property
    def name(self) -> str:
        return self._name

    @property
    def live(self) -> bool:
        """False when nothing that is called here can leave this process."""
        return self._cassette.records

    async def tools(self) -> tuple[ToolInfo, ...]:
        """See `ToolServer.tools`."""
        request = {"method": LISTING}
        answer = self._take(request)
        if answer is None:
            found = await (await self._server()).tools()
            listed = [
                {"name": tool.name, "description": tool.description, "inputSchema": dict(tool.input_schema)}
                for tool in found
            ]
            self._cassette.add(self._boundary, request, listed)
            return found
        return tuple(ToolInfo(tool["name"], tool["description"], tool["inputSchema"]) for tool in answer)

    async def call(self, tool: str, arguments: Mapping[str, Any], *, idle_s: float, deadline: Deadline) -> ToolAnswer:
        """See `ToolServer.call`. A failure to answer is not recorded: it says nothing about the tool."""
        request = {"method": "tools/call", "tool": tool, "arguments": dict(arguments)}
        recorded = self._take(request)
        if recorded is not None:
            structured = recorded.get("structured")
            return ToolAnswer(
                text=recorded["text"] if "text" in recorded else _as_text(structured),
                structured=structured,
                is_error=recorded["isError"],
                replayed=True,
                variables=recorded.get("variables") or {},
            )
        try:
            answer = await (await self._server()).call(tool, arguments, idle_s=idle_s, deadline=deadline)
        except ToolFailure as failure:
            self._cassette.spoilt = f"{tool} gave no answer that could be recorded: {failure.problem}"
            raise
        written: dict[str, Any] = {"structured": answer.structured, "isError": answer.is_error}
        if answer.structured is None or answer.text != _as_text(answer.structured):
            written["text"] = answer.text
        if answer.variables:
            written["variables"] = dict(answer.variables)
        self._cassette.add(self._boundary, request, written)
        return answer

    def _take(self, request: dict[str, Any]) -> Any | None:
        try:
            return self._cassette.take(self._boundary, request)
        except NoRecording as missing:
            raise ToolFailure("no_recording", str(missing)) from None

    async def _server(self) -> ToolServer:
        if self._live is None:
            self._live = await self._open_live()
        return self._live


def _as_text(structured: Any) -> str:
    """What most servers send as text beside structured content: the same once more, not worth writing twice."""
    return json.dumps(structured, ensure_ascii=False, separators=(",", ":"))
