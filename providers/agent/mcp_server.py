"""A real MCP server for one episode: its tool list, its calls, and a new session when the old one broke."""

from __future__ import annotations

import asyncio
import os
import shutil
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import mcp_types as types
from mcp import MCPError
from mcp.client.session import ClientSession
from pydantic import ValidationError

from endpoints.redaction import brief
from models.deadline import Deadline
from providers.agent.mcp_answers import answer_of, tool_info
from providers.agent.mcp_session import McpSession
from providers.agent.server_settings import ServerAddress
from providers.agent.tool_server import ToolAnswer, ToolFailure, ToolInfo

MAX_PAGES = 100
"""Pages of a tool list that are read: a server that never ends its list must not hang the episode."""

CONNECT_WAITS_S = (0.0, 0.2, 0.5, 1.0, 2.0)
"""Pauses before each try to open a session: a server that is just restarting gets a moment."""

SESSION_EXPIRED = "Session terminated"
"""The SDK's word for a session id that the server no longer knows: the call did not run."""

BAD_STATUS = "Server returned an error response"
"""The SDK's word for an HTTP error status without an error of the protocol in its body."""

UNREADABLE = (
    "Failed to parse JSON response",
    "Failed to parse SSE message",
    "Unexpected content type",
    "server answered a request with 202 Accepted",
)
"""How the SDK's errors begin when the server took a call and its answer is none. What follows may quote the answer."""


class _SignsOfLife:
    """Hears a tool's progress: a tool that reports progress is not stuck."""

    def __init__(self) -> None:
        self._last = time.monotonic()
        self._heard = ""

    async def __call__(self, progress: float, total: float | None, message: str | None) -> None:
        self._last = time.monotonic()
        self._heard = f"{progress:g}{'' if total is None else f' of {total:g}'} {message or ''}".strip()

    def silence_s(self) -> float:
        return time.monotonic() - self._last

    def describe(self) -> str:
        return f" after its progress {brief(self._heard, 100)!r}" if self._heard else ""


class McpServer:
    """One server. Calls may come from several tasks at once; they share the session."""

    def __init__(self, address: ServerAddress, meta: Mapping[str, Any] | None = None) -> None:
        self._address = address
        self._meta = dict(meta or {})
        self._session: McpSession | None = None
        self._connecting = asyncio.Lock()

    @property
    def name(self) -> str:
        return self._address.name

    @property
    def live(self) -> bool:
        return True

    async def tools(self) -> tuple[ToolInfo, ...]:
        """See `ToolServer.tools`."""
        _, client = await self._connected(Deadline.after(self._address.connect_s))
        found: list[ToolInfo] = []
        cursor: str | None = None
        for _ in range(MAX_PAGES):
            try:
                async with asyncio.timeout(self._address.connect_s):
                    page = await client.list_tools(params=types.PaginatedRequestParams(cursor=cursor))
            except (MCPError, ValidationError, TimeoutError) as error:
                raise ToolFailure("unreachable", f"its tool list can not be read ({type(error).__name__})") from None
            found.extend(map(tool_info, page.tools))
            if not page.next_cursor:
                return tuple(found)
            cursor = page.next_cursor
        raise ToolFailure("unreachable", f"its tool list does not end after {MAX_PAGES} pages")

    async def call(self, tool: str, arguments: Mapping[str, Any], *, idle_s: float, deadline: Deadline) -> ToolAnswer:
        """See `ToolServer.call`. A call that provably did not leave is sent once more over a new session."""
        for last in (False, True):
            session, client = await self._connected(deadline)
            try:
                return await self._send(session, client, tool, arguments, idle_s, deadline)
            except ToolFailure as failure:
                if failure.reason != "not_sent" or last:
                    raise
                await self._forget(session)
        raise AssertionError("unreachable: the last round returns or raises")

    async def close(self) -> None:
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    async def _connected(self, deadline: Deadline) -> tuple[McpSession, ClientSession]:
        async with self._connecting:
            self._look_for_program()
            failure: ToolFailure | None = None
            limit = Deadline.after(deadline.clip(self._address.connect_s))
            for pause in CONNECT_WAITS_S:
                if self._session is None or not self._session.alive:
                    await asyncio.sleep(limit.clip(pause))
                    if limit.passed:
                        break
                    self._session = McpSession(self._address)
                try:
                    return self._session, await self._session.client(limit.remaining())
                except ToolFailure as failed:
                    # A last try that the limit cut short says less than the one before it.
                    failure = failed if failure is None or not limit.passed else failure
                    if self._session.http_error in (401, 403):
                        break
            raise failure or ToolFailure("unreachable", "the deadline has passed")

    def _look_for_program(self) -> None:
        """A server that is a program which is not there needs no second try."""
        command, env = self._address.command, self._address.env
        relative = os.sep in command and not Path(command).is_absolute()
        if command and not relative and shutil.which(command, path=env.get("PATH")) is None:
            raise ToolFailure("unreachable", f"there is no program {command}")

    async def _forget(self, session: McpSession) -> None:
        if self._session is session:
            self._session = None
        await session.close()

    async def _send(
        self,
        session: McpSession,
        client: ClientSession,
        tool: str,
        arguments: Mapping[str, Any],
        idle_s: float,
        deadline: Deadline,
    ) -> ToolAnswer:
        signs = _SignsOfLife()
        # `call_tool` would throw away an answer that does not match the tool's output schema. What a tool answered is
        # evidence (it may have created something), so the plain request is sent instead.
        meta = cast(types.RequestParamsMeta, self._meta) if self._meta else None
        params = types.CallToolRequestParams(name=tool, arguments=dict(arguments), _meta=meta)
        call = types.CallToolRequest(params=params)
        request = asyncio.create_task(client.send_request(call, types.CallToolResult, progress_callback=signs))
        try:
            while not request.done():
                patience = min(idle_s - signs.silence_s(), deadline.remaining())
                if patience <= 0:
                    problem = f"no sign of life for {idle_s:g} s{signs.describe()}; whether it ran is unknown"
                    raise ToolFailure("no_answer", problem)
                await asyncio.wait({request, session.owner}, timeout=patience, return_when=asyncio.FIRST_COMPLETED)
                if session.owner.done() and not request.done():
                    raise self._broken(session)
            return answer_of(request.result())
        except MCPError as error:
            raise await self._refused(session, error) from None
        except ValidationError:
            problem = "its answer does not follow the protocol; whether it ran is unknown"
            raise ToolFailure("no_answer", problem) from None
        finally:
            if not request.done():
                request.cancel()
                await asyncio.wait({request}, timeout=1)

    async def _refused(self, session: McpSession, error: MCPError) -> ToolFailure:
        if error.code == types.CONNECTION_CLOSED:
            await self._lost(session)
            return self._broken(session)
        if error.message == SESSION_EXPIRED:
            return ToolFailure("not_sent", "the server no longer knows this session")
        unread = next((start for start in UNREADABLE if error.message.startswith(start)), "")
        if unread:
            return ToolFailure("no_answer", f"its answer can not be read ({unread}); whether it ran is unknown")
        status = session.http_error
        if error.message != BAD_STATUS or status is None:
            return ToolFailure("refused", f"the server refused the call: {error.message[:500]} ({error.code})")
        if status in (401, 403):
            return ToolFailure("refused", session.describe_end())
        # A gateway says 408 and 5xx also when it has passed the call on.
        if status >= 500 or status == 408:
            return ToolFailure("no_answer", f"HTTP {status}; whether it ran is unknown")
        return ToolFailure("refused", f"the server refused the call: HTTP {status}")

    async def _lost(self, session: McpSession) -> None:
        """A program that has ended does not end its session, so the next call would go to nobody."""
        if self._address.command:
            await self._forget(session)
        else:
            await asyncio.wait({session.owner}, timeout=1)

    def _broken(self, session: McpSession) -> ToolFailure:
        if session.broke_before_sending:
            return ToolFailure("not_sent", f"the server can not be reached ({session.describe_end()})")
        return ToolFailure("no_answer", f"the session broke ({session.describe_end()}); whether it ran is unknown")


@asynccontextmanager
async def open_mcp_server(address: ServerAddress, meta: Mapping[str, Any] | None = None) -> AsyncIterator[McpServer]:
    """The server, connected when it is first used and closed at the end, whatever happened.

    `meta` goes with every call as MCP's `_meta`: what the evaluation tells the tools beside the arguments.
    """
    server = McpServer(address, meta)
    try:
        yield server
    finally:
        # The sessions must be closed although the episode is being cancelled.
        await asyncio.shield(server.close())
