"""Offline: no connection leaves this machine. A guard for runs that must not, and for the test suite.

It listens to Python's own audit events, so that it sees every library that connects through Python's sockets, and can
not be taken out again: it is meant for the whole life of a process.
"""

from __future__ import annotations

import ipaddress
import os
import sys
from typing import Any

VARIABLE = "EVALS_OFFLINE"
TRUE = ("1", "yes", "true", "on")
LOCAL_NAMES = ("localhost", "")

_installed = False


class OutsideConnection(OSError):
    """A connection to another machine was refused before it was made."""

    def __init__(self, host: str) -> None:
        super().__init__(f"offline: the connection to {host} was refused")
        self.host = host


def wanted() -> bool:
    """Whether the environment asks for offline mode."""
    return os.environ.get(VARIABLE, "").strip().lower() in TRUE


def refuse_outside_connections() -> None:
    """From now on this process reaches nothing but this machine; raises `OutsideConnection` where it tries."""
    global _installed
    if not _installed:
        _installed = True
        sys.addaudithook(_look)


def _look(event: str, arguments: tuple[Any, ...]) -> None:
    if event in ("socket.connect", "socket.sendto"):
        address = arguments[1]
        # A Unix socket's address is a text or bytes, and never leaves the machine.
        if isinstance(address, tuple) and address and not is_local(str(address[0])):
            raise OutsideConnection(str(address[0]))
    elif event == "socket.getaddrinfo":
        host = arguments[0]
        name = host.decode("ascii", "replace") if isinstance(host, bytes) else host
        # Asking a name server is a connection too.
        if isinstance(name, str) and not is_local(name):
            raise OutsideConnection(name)


def is_local(host: str) -> bool:
    """True for an address of this machine's loopback, and for `localhost`."""
    name = host.strip("[]").lower().rstrip(".")
    if name in LOCAL_NAMES or name.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(name.partition("%")[0]).is_loopback
    except ValueError:
        return False
