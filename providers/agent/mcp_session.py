"""One session with an MCP server, opened and closed by one task that owns it.

The SDK's task groups must be left by the task that entered them, and a transport that breaks cancels that task. So a
session lives in a task of its own: calls come from other tasks, and a broken session ends without taking them along.
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, TextIO, cast

import httpx2
from mcp import Client, MCPError
from mcp.client.session import ClientSession
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from endpoints.redaction import brief, redact
from models.transport import MAX_ANSWER_BYTES, http_client
from providers.agent import die_with_parent
from providers.agent.server_settings import ServerAddress
from providers.agent.tool_server import ToolFailure

CLOSE_S = 8.0
"""How long closing may take: a process on stdio gets 2 s to end, then SIGTERM, then SIGKILL, 2 s each."""

CLOSE_HTTP_S = 3.0
"""How long closing may take over HTTP, where it is one request."""

IDLE_CONNECTION_S = 300.0
"""How long one HTTP answer may be silent. The time-out of a tool is shorter and is ours."""


BEFORE_SENDING = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout)
"""Errors that happen before a request leaves."""


class McpSession:
    """One SDK client inside its owner task. Create it inside a running event loop."""

    def __init__(self, address: ServerAddress) -> None:
        self._address = address
        self._closing = asyncio.Event()
        self._ready: asyncio.Future[ClientSession] = asyncio.get_running_loop().create_future()
        self._complaint = ""
        self.http_error: int | None = None
        """The latest HTTP error status, which the SDK does not pass on."""
        self.owner: asyncio.Task[None] = asyncio.create_task(self._own(), name=f"mcp session {address.name}")
        self.owner.add_done_callback(_ask_how_it_ended)

    @property
    def alive(self) -> bool:
        return not self.owner.done() and not self._closing.is_set()

    async def client(self, seconds: float) -> ClientSession:
        """The SDK's session, once it is open.

        Raises:
            ToolFailure: `unreachable`, with the reason, or because it takes longer than `seconds`.
        """
        either: set[asyncio.Future[Any]] = {self._ready, self.owner}
        await asyncio.wait(either, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        if self._ready.done() and not self._ready.cancelled():
            return self._ready.result()
        if not self.owner.done():
            await self.close()
            raise ToolFailure("unreachable", f"no session within {seconds:.1f} s")
        raise ToolFailure("unreachable", self.describe_end())

    @property
    def broke_before_sending(self) -> bool:
        """True when the session ended because no connection could be made: nothing was sent."""
        return any(isinstance(error, BEFORE_SENDING) for error in self._causes())

    def describe_end(self) -> str:
        """In words, why the session is over; without addresses."""
        if self.http_error in (401, 403):
            return f"the server refused our sign-in (HTTP {self.http_error})"
        parts = [f"HTTP {self.http_error}"] if self.http_error else []
        parts += dict.fromkeys(_name(error) for error in self._causes())
        return f"{', '.join(parts) or 'the session ended'}{self._complaint}"

    async def close(self) -> None:
        """End the session. Does not raise; one that is not open yet, or does not end in time, is cancelled."""
        self._closing.set()
        if self._ready.done():
            await asyncio.wait({self.owner}, timeout=CLOSE_S if self._address.command else CLOSE_HTTP_S)
        if not self.owner.done():
            self.owner.cancel()
            await asyncio.wait({self.owner}, timeout=CLOSE_S)
        self._ready.cancel()

    async def _own(self) -> None:
        async with AsyncExitStack() as stack:
            transport = self._stdio(stack) if self._address.command else await self._http(stack)
            client = await stack.enter_async_context(Client(transport, cache=None))
            self._ready.set_result(client.session)
            await self._closing.wait()

    async def _http(self, stack: AsyncExitStack) -> Any:
        connections = http_client(IDLE_CONNECTION_S, headers=dict(self._address.headers), on_response=self._note_status)
        await stack.enter_async_context(connections)
        return streamable_http_client(self._address.url, http_client=connections, max_sse_event_size=MAX_ANSWER_BYTES)

    async def _note_status(self, response: httpx2.Response) -> None:
        if response.status_code >= 400:
            self.http_error = response.status_code

    def _stdio(self, stack: AsyncExitStack) -> Any:
        address = self._address
        errors = stack.enter_context(_stderr_of_server())

        def read_complaint() -> None:
            errors.seek(0)
            lines = [line.strip() for line in redact(errors.read())[-2000:].splitlines() if line.strip()]
            self._complaint = f": {lines[-1][:200]}" if lines else ""

        stack.callback(read_complaint)
        command, args = address.command, list(address.args)
        if sys.platform == "linux":
            guard = str(Path(die_with_parent.__file__))
            command, args = sys.executable, ["-I", "-S", guard, str(os.getpid()), command, *args]
        return stdio_client(
            StdioServerParameters(command=command, args=args, env=dict(address.env), cwd=address.cwd or None),
            errlog=errors,
        )

    def _causes(self) -> list[BaseException]:
        if not self.owner.done() or self.owner.cancelled():
            return []
        error = self.owner.exception()
        return [] if error is None else list(_leaves(error))


def _ask_how_it_ended(owner: asyncio.Task[None]) -> None:
    """Who waits for a session reads in `describe_end` how it ended. When nobody waits any more, because the episode was
    given up while it opened, nobody misses it: asyncio must not print it as forgotten.
    """
    if not owner.cancelled():
        owner.exception()


def _stderr_of_server() -> TextIO:
    """A file without a name: the server may write what it likes, and nothing of it stays."""
    return cast(TextIO, tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace"))


def _leaves(error: BaseException) -> Iterator[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from _leaves(inner)
    else:
        yield error


def _name(error: BaseException) -> str:
    """The kind of error, and its words where they are the server's own. Transport errors may name addresses."""
    if isinstance(error, MCPError):
        # What the SDK adds on further lines quotes the answer.
        first = error.message.partition("\n")[0]
        return f"{type(error).__name__} {error.code}: {brief(first, 200)}"
    if isinstance(error, OSError) and error.strerror:
        return f"{type(error).__name__}: {error.strerror}"
    return type(error).__name__
