"""One process that runs portal and model, hands out their addresses, and ends when nobody needs it any more."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import secrets
import signal
import socket
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from local.handover import Handover, check_socket
from local.leases import Leases
from local.ports import listen
from local.servers import server_of

if TYPE_CHECKING:
    import uvicorn
    from starlette.types import ASGIApp

    from local.portal.state import PortalState

LEASE_SECONDS = 0.5
"""How often the leases are looked at."""

Part = Literal["portal", "model"]


@dataclass(frozen=True)
class Options:
    """What to serve and for whom. Ports that are None are chosen."""

    data: Path
    socket_path: Path
    portal_port: int | None = None
    model_port: int | None = None
    lease_pids: tuple[int, ...] = ()
    """Processes that need the stack; without any, the parent process is taken."""
    only: Part | None = None


def serve(options: Options) -> None:
    """Run until SIGTERM, SIGINT, or until no process with a lease is alive.

    Raises:
        DataFolderError, GitError, PortError, HandoverError: it can not be started; nothing is left behind then.
        ImportError: a package is not installed.
    """
    # Loaded late, as the rest of what serves: whoever only asks for `--help` need not wait for it.
    import uvloop

    uvloop.run(_serve(options))


async def _serve(options: Options) -> None:
    from local.portal.data_folder import DataFolder

    check_socket(options.socket_path)
    leases = Leases(options.lease_pids or (os.getppid(),))
    folder = DataFolder.open(options.data)
    with contextlib.ExitStack() as cleanup:
        answer: dict[str, Any] = _empty_answer()
        servers: list[tuple[uvicorn.Server, socket.socket]] = []
        if options.only != "model":
            listener = listen(folder.path, "portal", options.portal_port)
            cleanup.callback(listener.close)
            state, app = _portal(folder, listener, answer)
            cleanup.callback(state.close)
            servers.append((server_of(app), listener))
        else:
            cleanup.callback(folder.close)
        if options.only != "portal":
            listener = listen(folder.path, "model", options.model_port)
            cleanup.callback(listener.close)
            servers.append((server_of(_model(listener, answer)), listener))
        await _run(servers, Handover(options.socket_path, answer, leases), leases)


def _empty_answer() -> dict[str, Any]:
    """What is handed over, with the keys of a part that is not served left empty."""
    texts = ("portalUrl", "mcpUrl", "portalToken", "modelUrl", "modelKey", "pullRequestApi", "pullRequestToken")
    return {"pid": os.getpid(), "repositories": [], **dict.fromkeys(texts, "")}


def _portal(folder: Any, listener: socket.socket, answer: dict[str, Any]) -> tuple[PortalState, ASGIApp]:
    from local.portal.addresses import FULL_NAME
    from local.portal.schema_check import warm_up
    from local.portal.state import PortalState

    port = listener.getsockname()[1]
    state, repaired = PortalState.open(folder, f"http://127.0.0.1:{port}")
    for sentence in repaired:
        _say(sentence)

    # The SDK takes most of the start; it is loaded once the data are known to be usable.
    from local.portal.app import build_app
    from local.portal.guard import Tokens

    tokens = Tokens(portal=secrets.token_urlsafe(32), service=secrets.token_urlsafe(32))
    warm_up()
    answer |= {
        "portalUrl": state.addresses.base,
        "mcpUrl": state.addresses.mcp,
        "portalToken": tokens.portal,
        "pullRequestApi": state.addresses.rest,
        "pullRequestToken": tokens.service,
        "repositories": [FULL_NAME],
    }
    return state, build_app(state, tokens, port)


def _model(listener: socket.socket, answer: dict[str, Any]) -> ASGIApp:
    from local.model.app import build_app

    key = secrets.token_urlsafe(32)
    answer |= {"modelUrl": f"http://127.0.0.1:{listener.getsockname()[1]}/v1", "modelKey": key}
    return build_app(key)


async def _run(servers: list[tuple[uvicorn.Server, socket.socket]], handover: Handover, leases: Leases) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    tasks = [asyncio.create_task(server.serve(sockets=[listener])) for server, listener in servers]
    try:
        while not all(server.started for server, _ in servers):
            if any(task.done() for task in tasks):
                break
            await asyncio.sleep(0.005)
        else:
            # All that was loaded stays: nobody needs to look through it for garbage while a request waits.
            gc.freeze()
            # Only now: whoever gets an answer can use it at once.
            await handover.start()
            _say(", ".join(f"listening on 127.0.0.1:{listener.getsockname()[1]}" for _, listener in servers))
            await _until_unneeded(stop, tasks, leases)
    finally:
        await handover.stop()
        for server, _ in servers:
            server.should_exit = True
        await asyncio.gather(*tasks)


async def _until_unneeded(stop: asyncio.Event, tasks: list[asyncio.Task[None]], leases: Leases) -> None:
    while not stop.is_set() and leases.any_alive() and not any(task.done() for task in tasks):
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(stop.wait(), LEASE_SECONDS)


def _say(sentence: str) -> None:
    print(f"local: {sentence}", file=sys.stderr, flush=True)
