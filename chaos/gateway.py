"""An HTTP gateway that loses, delays, cuts and garbles: what a network and a service in trouble do to their callers.

It stands in front of the model, the portal and the pull-request host, keeps its own address and token when what is
behind it is killed and comes back with others, and decides each request's fate by seed, service and count.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from urllib.parse import urlsplit

from chaos.http_messages import BadMessage, Request, read_request, response, rewritten_head

TOKEN = "token-of-the-gateway"
IDLE_SECONDS = 120.0
"""Longest time for one request, its answer included."""


class Fault(StrEnum):
    """What happens to one request."""

    NONE = "none"
    REFUSED = "connection closed before the request was read"
    LOST = "answer lost: the request was carried out, and the connection closed"
    CUT = "answer cut in the middle"
    GARBLED = "answer is not what was asked for"
    BROKEN = "500"
    BUSY = "503 with Retry-After"
    SLOW = "slow"


@dataclass(frozen=True)
class Upstream:
    """Where a service really is. `authorization` replaces the gateway's own token."""

    address: str
    authorization: str


@dataclass
class Service:
    """One port of the gateway. `upstream` returns None while the service is down."""

    name: str
    upstream: Callable[[], Upstream | None]
    faults: tuple[Fault, ...]
    share: float = 0.0
    url: str = ""
    seen: int = 0
    met: Counter[Fault] = field(default_factory=Counter)

    def fate(self, seed: int, request: Request) -> Fault:
        self.seen += 1
        chance = random.Random(f"{seed} {self.name} {self.seen}")
        # The calls that create something are what this is about.
        share = min(0.5, self.share * 3) if request.creates else self.share
        fault = chance.choice(self.faults) if chance.random() < share else Fault.NONE
        if request.creates and fault is Fault.NONE and chance.random() < self.share:
            fault = Fault.LOST
        self.met[fault] += 1
        return fault


class Gateway:
    """Serves the services on loopback ports, in a thread of its own. A context manager."""

    def __init__(self, services: list[Service], seed: int) -> None:
        self._services = services
        self._seed = seed
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="gateway", daemon=True)
        self._servers: list[asyncio.Server] = []
        self.created = threading.Event()
        """Set when a creating call has passed."""

    def __enter__(self) -> Gateway:
        self._thread.start()
        for service in self._services:
            asyncio.run_coroutine_threadsafe(self._listen(service), self._loop).result(timeout=30)
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.run_coroutine_threadsafe(self._stop(), self._loop).result(timeout=30)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(timeout=30)
        self._loop.close()

    async def _listen(self, service: Service) -> None:
        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            with contextlib.suppress(OSError, asyncio.IncompleteReadError, TimeoutError, BadMessage):
                async with asyncio.timeout(IDLE_SECONDS):
                    await self._answer(service, reader, writer)
            writer.close()

        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        self._servers.append(server)
        service.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"

    async def _stop(self) -> None:
        for server in self._servers:
            server.close()
        others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    async def _answer(self, service: Service, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        request = await read_request(reader)
        if not request.carries(TOKEN):
            await _send(writer, response(401, '{"message": "wrong token"}'))
            return
        upstream = service.upstream()
        fault = service.fate(self._seed, request)
        if request.creates:
            self.created.set()
        if fault is Fault.SLOW:
            await asyncio.sleep(random.Random(f"{self._seed} {service.seen}").uniform(0.2, 1.5))
        if upstream is None or fault is Fault.REFUSED:
            writer.transport.abort()
        elif fault is Fault.BROKEN:
            await _send(writer, response(500, '{"message": "broken on purpose"}'))
        elif fault is Fault.BUSY:
            await _send(writer, response(503, '{"message": "busy on purpose"}', {"Retry-After": "0"}))
        elif fault is Fault.GARBLED:
            await _send(writer, response(200, "<html>not what you asked for</html>", {"Content-Type": "text/html"}))
        else:
            await _forward(request, upstream, writer, fault)


async def _send(writer: asyncio.StreamWriter, content: bytes) -> None:
    writer.write(content)
    await writer.drain()


async def _forward(request: Request, upstream: Upstream, writer: asyncio.StreamWriter, fault: Fault) -> None:
    """Pass the request on and its answer back, or lose all or the second half of it."""
    at = urlsplit(upstream.address)
    try:
        reader, behind = await asyncio.open_connection(at.hostname, at.port)
    except OSError:
        writer.transport.abort()
        return
    try:
        behind.write(request.forwarded(at.netloc, upstream.authorization))
        await behind.drain()
        if fault in (Fault.LOST, Fault.CUT):
            whole = await reader.read()
            if fault is Fault.CUT:
                head, _, body = whole.partition(b"\r\n\r\n")
                await _send(writer, rewritten_head(head) + b"\r\n\r\n" + body[: len(body) // 2])
            writer.transport.abort() if fault is Fault.LOST else writer.close()
            return
        head = await reader.readuntil(b"\r\n\r\n")
        await _send(writer, rewritten_head(head.removesuffix(b"\r\n\r\n")) + b"\r\n\r\n")
        while part := await reader.read(65536):
            await _send(writer, part)
    finally:
        behind.close()
