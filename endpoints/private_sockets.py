"""Unix sockets that only this user can reach: how one process hands secrets to another without a file.

Each asker sends one line of JSON and gets one back.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import stat
import struct
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any


class NotPrivate(RuntimeError):
    """The folder of the sockets is somebody else's, or others can enter it. The text says which, and what to do."""


def private_folder() -> Path:
    """The folder of all our sockets, made if need be. It is the temporary one: the path of a socket must be short.

    Raises:
        NotPrivate: the folder belongs to somebody else, or others can enter it.
    """
    folder = Path(tempfile.gettempdir()) / f"agent-evals-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    state = folder.lstat()
    if not stat.S_ISDIR(state.st_mode) or state.st_uid != os.getuid() or state.st_mode & 0o077:
        raise NotPrivate(f"{folder} must be a folder that only you can enter; remove it and try again")
    return folder


def same_user(connection: socket.socket) -> bool:
    """Whether this user's own process is at the other end, as the kernel says, where it can be asked (Linux).

    The folder keeps others out already. This holds when somebody has opened it since.
    """
    option = getattr(socket, "SO_PEERCRED", None)
    if option is None:
        return True
    _pid, user, _group = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, option, struct.calcsize("3i")))
    return bool(user == os.getuid())


def ask(path: Path, question: Mapping[str, Any], seconds: float = 10.0) -> dict[str, Any] | None:
    """Ask whoever listens at `path`, and wait at most `seconds`. None when nobody answers, or is just ending."""
    with contextlib.closing(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)) as connection:
        connection.settimeout(seconds)
        try:
            connection.connect(str(path))
            connection.sendall(json.dumps(question).encode() + b"\n")
            with connection.makefile("r", encoding="utf-8") as answers:
                line = answers.readline()
        except OSError:
            return None
    if not line.endswith("\n"):
        return None
    answer: dict[str, Any] = json.loads(line)
    return answer


def remove_dead(pattern: str) -> None:
    """Take away the sockets in our folder whose names match and that nobody listens at: those of killed runs."""
    for path in private_folder().glob(pattern):
        with contextlib.closing(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)) as probe:
            try:
                probe.connect(str(path))
            except ConnectionRefusedError:
                path.unlink(missing_ok=True)
            except OSError:
                continue
