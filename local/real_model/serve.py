"""The process of a real model: it starts the engine, stands in front of it, and ends with whoever needs it."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import secrets
import signal
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from local.leases import Leases
from local.ports import listen_anywhere
from local.servers import server_of

from .app import Engine, build_app

ENGINE = Path(__file__).with_name("engine.py")

LEASE_SECONDS = 0.5
"""How often the leases are looked at."""

LOAD_SECONDS = 300.0
"""How long the engine may take to load the model: seconds, where the disk is not slow and the machine not busy."""

END_SECONDS = 5.0
"""How long the engine may take to end."""


class EngineError(RuntimeError):
    """The engine did not start. The text is its own."""


@dataclass(frozen=True)
class Options:
    """`python` has the engine. `context` and `most_tokens` are counts of tokens, of a conversation and of an answer."""

    python: Path
    model: Path
    name: str
    context: int
    most_tokens: int
    threads: int
    lease_pids: tuple[int, ...]


def serve(options: Options) -> None:
    """Run until SIGTERM, SIGINT, until no process with a lease is alive, or until the engine ends.

    When it can be used, one line of JSON is printed: `{"url": …, "key": …}`.

    Raises:
        EngineError: the engine did not start.
    """
    asyncio.run(_serve(options))


async def _serve(options: Options) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        loop.add_signal_handler(number, stop.set)
    leases = Leases(options.lease_pids or (os.getppid(),))
    async with _engine(options, stop, leases) as (engine, process):
        if engine is None:
            return
        with contextlib.closing(listen_anywhere()) as listener:
            key = secrets.token_urlsafe(32)
            server = server_of(build_app(key, engine))
            serving = asyncio.create_task(server.serve(sockets=[listener]))
            while not server.started and not serving.done():
                await asyncio.sleep(0.005)
            address = f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
            print(json.dumps({"url": address, "key": key}), flush=True)
            await _until_unneeded(stop, leases, lambda: process.returncode is not None or serving.done())
            server.should_exit = True
            await serving


@contextlib.asynccontextmanager
async def _engine(
    options: Options, stop: asyncio.Event, leases: Leases
) -> AsyncIterator[tuple[Engine | None, asyncio.subprocess.Process]]:
    """The running engine; None when nobody needs it any more before it has loaded the model."""
    process = await asyncio.create_subprocess_exec(
        str(options.python),
        "-I",
        str(ENGINE),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        # A Ctrl-C in the terminal is for the run, which needs the model until its last case has ended.
        start_new_session=True,
    )
    try:
        key = secrets.token_urlsafe(32)
        yield await _started(options, process, key, stop, leases), process
    finally:
        await _end(process)


async def _started(
    options: Options, process: asyncio.subprocess.Process, key: str, stop: asyncio.Event, leases: Leases
) -> Engine | None:
    assert process.stdin is not None
    assert process.stdout is not None
    settings = {
        "model": str(options.model),
        "name": options.name,
        "key": key,
        "context": options.context,
        "most_tokens": options.most_tokens,
        "threads": options.threads,
    }
    process.stdin.write(json.dumps(settings).encode() + b"\n")
    reading = asyncio.create_task(process.stdout.readline())
    try:
        async with asyncio.timeout(LOAD_SECONDS):
            await _until_unneeded(stop, leases, reading.done)
        if not reading.done():
            return None
        answer = _answer(reading.result())
    except TimeoutError:
        raise EngineError(f"the model was not loaded within {LOAD_SECONDS:.0f} s") from None
    finally:
        reading.cancel()
    if "address" not in answer:
        raise EngineError(str(answer.get("problem") or "it ended while it started"))
    return Engine(str(answer["address"]), options.name, options.most_tokens, key)


def _answer(line: bytes) -> dict[str, Any]:
    try:
        answer = json.loads(line)
    except ValueError:
        return {}
    return answer if isinstance(answer, dict) else {}


async def _end(process: asyncio.subprocess.Process) -> None:
    """The end of its stdin ends the engine; it is killed when it does not care."""
    assert process.stdin is not None
    process.stdin.close()
    try:
        async with asyncio.timeout(END_SECONDS):
            await process.wait()
    except TimeoutError:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()


async def _until_unneeded(stop: asyncio.Event, leases: Leases, over: Callable[[], bool]) -> None:
    while not stop.is_set() and leases.any_alive() and not over():
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(stop.wait(), LEASE_SECONDS)
