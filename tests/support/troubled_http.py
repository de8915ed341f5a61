"""HTTP addresses that misbehave on request: each `Door` serves an app, and a fate decides what becomes of each answer.

All doors of a test run share one thread. A door can also stop listening, or take no connection while its address stays
in use, which is what a connect time-out is.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal

ABORT = struct.pack("ii", 1, 0)
"""SO_LINGER of zero seconds: closing sends a reset."""


@dataclass(frozen=True)
class Request:
    method: str
    path: str
    headers: Mapping[str, str]
    """Names in lower case."""
    body: bytes


@dataclass(frozen=True)
class Reply:
    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    content_type: str = "application/json"


@dataclass(frozen=True)
class Trouble:
    """What happens instead of the answer.

    `silence`: none comes. `stall`: half of it comes, and the connection stays open. `cut_off`: half of it comes, and
    the connection is closed. `reset`: the connection is reset. `halve`: half of it comes, as if it were the whole.
    `slow`: it comes late. `replace`: `reply` comes. `endless`: `reply` comes, and then `more` again and again.
    """

    kind: Literal["silence", "stall", "cut_off", "reset", "halve", "slow", "replace", "endless"]
    reply: Reply = field(default_factory=Reply)
    more: bytes = b""


App = Callable[[Request], Reply]
Fate = Callable[[Request], Trouble | None]

PAUSE_S = 0.05


class Door:
    """One address. Its methods may be called from any thread, `App` and `Fate` run in the doors' own."""

    def __init__(self, loop: asyncio.AbstractEventLoop, app: App, fate: Fate) -> None:
        self._loop = loop
        self._thread_id = 0
        self._app = app
        self._fate = fate
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._held: list[socket.socket] = []
        self._last = False
        self._idle: set[asyncio.StreamWriter] = set()
        self._return: asyncio.TimerHandle | None = None
        self.port = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def open(self) -> None:
        asyncio.run_coroutine_threadsafe(self._listen(), self._loop).result(10)

    def close(self) -> None:
        asyncio.run_coroutine_threadsafe(self._end(), self._loop).result(10)

    def call(self, action: Callable[[Door], None]) -> None:
        """Do `refuse`, `take_nothing` or `leave_for` in the doors' thread, which may be this one, and wait for it."""
        if threading.get_ident() == self._thread_id:
            action(self)
            return

        async def act() -> None:
            action(self)

        asyncio.run_coroutine_threadsafe(act(), self._loop).result(10)

    def refuse(self) -> None:
        """Listen no more, and close connections that are idle; others end with their answer. Not by other threads."""
        if self._server is not None:
            self._server.close()
            self._server = None
        self._last = True
        for writer in self._idle:
            # At once, before the caller hears that it may use the connection again.
            with contextlib.suppress(OSError):
                writer.get_extra_info("socket").shutdown(socket.SHUT_RDWR)

    def take_nothing(self) -> None:
        """Keep the address, and answer no attempt to connect. Only in the doors' thread."""
        self.refuse()
        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", self.port))
        listener.listen(0)
        self._held.append(listener)
        for _ in range(2):
            # The queue of a listener that never accepts holds one or two; all further attempts get no answer.
            caller = socket.socket()
            caller.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                caller.connect(("127.0.0.1", self.port))
            self._held.append(caller)

    def leave_for(self, seconds: float) -> None:
        """Refuse for a while, then listen again. Only in the doors' thread."""
        self.refuse()
        self._return = self._loop.call_later(seconds, self._come_back)

    def _come_back(self) -> None:
        task = self._loop.create_task(self._listen())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _listen(self) -> None:
        self._thread_id = threading.get_ident()
        self._last = False
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    async def _end(self) -> None:
        if self._return is not None:
            self._return.cancel()
        self.refuse()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for held in self._held:
            held.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            with contextlib.suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
                while await self._answer(reader, writer):
                    pass
        finally:
            writer.close()
            self._tasks.discard(task)

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """One request; False when the connection is over."""
        self._idle.add(writer)
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        finally:
            self._idle.discard(writer)
        method, path, _ = head[0].split(" ", 2)
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:] if line)}
        request = Request(method, path, headers, await reader.readexactly(int(headers.get("content-length", "0"))))
        trouble = self._fate(request)
        reply = self._app(request) if trouble is None or trouble.kind in ("stall", "cut_off", "halve", "slow") else None
        if trouble is not None and trouble.kind == "slow":
            await asyncio.sleep(PAUSE_S)
        if trouble is None or trouble.kind in ("slow", "halve", "replace"):
            sent = reply or (trouble.reply if trouble is not None else Reply())
            if trouble is not None and trouble.kind == "halve":
                sent = Reply(sent.status, sent.body[: len(sent.body) // 2], sent.headers)
            writer.write(_bytes(sent, last=self._last) + sent.body)
            await writer.drain()
            return not self._last
        if trouble.kind == "reset":
            writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, ABORT)
            writer.transport.abort()
            return False
        if trouble.kind in ("stall", "cut_off"):
            assert reply is not None
            writer.write(_bytes(reply, last=True) + reply.body[: len(reply.body) // 2])
            await writer.drain()
        if trouble.kind == "endless":
            writer.write(_head(trouble.reply, "Connection: close"))
            while True:
                writer.write(trouble.more)
                await writer.drain()
                await asyncio.sleep(PAUSE_S)
        if trouble.kind != "cut_off":
            await reader.read()
        return False


def _bytes(reply: Reply, *, last: bool) -> bytes:
    return _head(reply, f"Content-Length: {len(reply.body)}", "Connection: close" if last else "")


def _head(reply: Reply, *more: str) -> bytes:
    own = [f"{name}: {value}" for name, value in reply.headers.items()]
    lines = [f"HTTP/1.1 {reply.status} As asked", f"Content-Type: {reply.content_type}", *own, *filter(None, more)]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


@contextmanager
def doors() -> Iterator[Callable[[App, Fate], Door]]:
    """The thread of all doors: yields what opens one. Whoever opens a door closes it."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="doors", daemon=True)
    thread.start()

    def open_door(app: App, fate: Fate) -> Door:
        door = Door(loop, app, fate)
        door.open()
        return door

    try:
        yield open_door
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)
        loop.close()
