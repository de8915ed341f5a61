"""Which ports the servers listen on: those of last time when they are free, so that old addresses stay valid."""

from __future__ import annotations

import contextlib
import json
import socket
from pathlib import Path

_FILE = "ports.json"


class PortError(RuntimeError):
    """A port that was asked for can not be had."""


def listen(folder: Path, server: str, wanted: int | None) -> socket.socket:
    """Listen on loopback for `server` (a short name), on the port `wanted`, else on last time's, else on any free one.

    The port is remembered in the folder.

    Raises:
        PortError: `wanted` is not free.
    """
    if wanted is not None:
        try:
            listener = _bound(wanted)
        except OSError as error:
            raise PortError(f"port {wanted} for the {server} can not be used: {error.strerror}") from error
    else:
        listener = _last_or_any(_remembered(folder).get(server))
    _remember(folder, server, listener.getsockname()[1])
    return listener


def listen_anywhere() -> socket.socket:
    """Listen on loopback, on any free port, which nobody is to remember."""
    return _bound(0)


def _last_or_any(last: int | None) -> socket.socket:
    if last is not None:
        with contextlib.suppress(OSError):
            return _bound(last)
    return _bound(0)


def _bound(port: int) -> socket.socket:
    # With the protocol spelled out: asyncio switches Nagle's delay (40 ms per answer) off only where it reads TCP.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        # Connections of the last run that are still winding down must not keep its port away from this one.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", port))
        listener.listen(256)
    except OSError:
        listener.close()
        raise
    listener.setblocking(False)
    return listener


def _remembered(folder: Path) -> dict[str, int]:
    """Ports of last time by server. A file that is damaged or made by something else is as good as none."""
    try:
        data = json.loads((folder / _FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    if not isinstance(data, dict):
        return {}
    return {name: port for name, port in data.items() if isinstance(port, int) and 1024 <= port <= 65535}


def _remember(folder: Path, server: str, port: int) -> None:
    ports = _remembered(folder) | {server: port}
    draft = folder / f"{_FILE}.new"
    draft.write_text(json.dumps(ports, indent=2) + "\n", encoding="utf-8")
    draft.replace(folder / _FILE)
