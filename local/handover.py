"""How a running stack tells who asks where it is, and its tokens: one JSON line each way on a Unix socket.

The asker sends `{"leases": [<pid>, …]}` (or `{"lease": <pid>}`, or `{}` to look only) and gets the addresses and
tokens. The socket is for this user only and lies in a folder that only this user can enter; nothing is written to disk.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
import stat
from collections.abc import Mapping
from pathlib import Path

from local.leases import Leases

_MAX_LINE = 64 * 1024
_SECONDS = 10.0


class HandoverError(RuntimeError):
    """The socket can not be used. The text says which one and why."""


class Handover:
    """Answers on the socket at `path` with `answer`, and enters the askers' leases."""

    def __init__(self, path: Path, answer: Mapping[str, object], leases: Leases) -> None:
        self._path = path
        self._line = json.dumps(answer).encode() + b"\n"
        self._leases = leases
        self._server: asyncio.Server | None = None
        self._inode = 0
        self._stopped = False

    async def start(self) -> None:
        """Begin to answer.

        Raises:
            HandoverError: the folder can be entered by others, the path is too long, or another stack answers there.
        """
        check_socket(self._path)
        self._path.unlink(missing_ok=True)
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        old_mask = os.umask(0o177)
        try:
            listener.bind(str(self._path))
        except OSError as error:
            listener.close()
            raise HandoverError(f"{self._path}: {error.strerror or error} (its length is limited)") from error
        finally:
            os.umask(old_mask)
        self._inode = self._path.stat().st_ino
        self._server = await asyncio.start_unix_server(self._serve, sock=listener, limit=_MAX_LINE)

    async def stop(self) -> None:
        """Stop answering and take the socket away, unless a later stack has put its own in its place."""
        self._stopped = True
        if self._server is None:
            return
        self._server.close()
        if self._path.exists() and self._path.stat().st_ino == self._inode:
            self._path.unlink()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(_SECONDS):
                pids = _leases_in(await reader.readline())
                if self._stopped:
                    # Too late: whoever asked sees the connection close, and starts a stack of its own.
                    return
                for pid in pids:
                    self._leases.add(pid)
                writer.write(self._line)
                await writer.drain()
        except (TimeoutError, OSError, ValueError):
            # A broken question gets no answer; whoever asked sees the connection close.
            return
        finally:
            writer.close()


def _leases_in(line: bytes) -> list[int]:
    """The process ids in a question. ValueError when it is not one."""
    question = json.loads(line)
    if not isinstance(question, dict):
        raise ValueError("not an object")
    listed = question.get("leases", [])
    pids = [*listed, question.get("lease")] if isinstance(listed, list) else [question.get("lease")]
    return [pid for pid in pids if isinstance(pid, int) and not isinstance(pid, bool)]


def check_socket(path: Path) -> None:
    """Whether a stack may answer at `path`. Cheap, so that a stack that may not is refused before it loads anything.

    Raises:
        HandoverError: the folder can be entered by others, another stack answers there, or something else is there.
    """
    folder = path.parent
    try:
        state = folder.lstat()
    except OSError as error:
        raise HandoverError(f"{folder}: {error.strerror}; make it first, for yourself only (mode 0700)") from error
    if not stat.S_ISDIR(state.st_mode) or state.st_uid != os.getuid() or state.st_mode & 0o077:
        raise HandoverError(f"{folder} must be a folder that only you can enter (mode 0700)")
    if _answers(path):
        raise HandoverError(f"{path}: another stack answers there already")
    if (path.exists() or path.is_symlink()) and not stat.S_ISSOCK(path.lstat().st_mode):
        raise HandoverError(f"{path} exists and is no socket")


def _answers(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(2)
        try:
            probe.connect(str(path))
        except OSError:
            return False
    return True
