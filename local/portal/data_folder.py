"""The one folder that holds everything the portal keeps, and the lock that says whose it is.

    <data>/lock         held by the portal and by each git process that it started
    <data>/spokes.git   the bare repository
    <data>/portal.db    pull requests (SQLite)

A portal that is killed leaves git processes that may still be writing. They hold the lock too (it belongs to the open
file, which they inherit), so the next portal begins only when the last of them is gone. From then on, every lock file
and half-written object in the repository is a leftover and can be removed.
"""

from __future__ import annotations

import fcntl
import os
import time
from dataclasses import dataclass
from pathlib import Path

_WAIT_SECONDS = 15.0


class DataFolderError(RuntimeError):
    """The folder can not be used. The text says which one and why."""


@dataclass(frozen=True)
class DataFolder:
    """An opened and locked data folder. `lock_fd` stays open until `close`."""

    path: Path
    lock_fd: int

    @property
    def repository(self) -> Path:
        return self.path / "spokes.git"

    @property
    def database(self) -> Path:
        return self.path / "portal.db"

    @classmethod
    def open(cls, path: Path, wait_seconds: float = _WAIT_SECONDS) -> DataFolder:
        """Make the folder if need be (for this user only) and take its lock, waiting up to `wait_seconds`.

        Raises:
            DataFolderError: it is not a folder, can not be written, or another portal holds it.
        """
        try:
            path.mkdir(parents=True, exist_ok=True, mode=0o700)
            descriptor = os.open(path / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise DataFolderError(f"{path} can not be used as data folder: {error.strerror}") from error
        deadline = time.monotonic() + wait_seconds
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() < deadline:
                    time.sleep(0.02)
                    continue
                os.close(descriptor)
                raise DataFolderError(
                    f"{path} is in use by another portal; stop that one or choose another folder with --data"
                ) from None
            return cls(path.resolve(), descriptor)

    def close(self) -> None:
        """Give the folder back."""
        os.close(self.lock_fd)
