"""How git is called: always the real program, never with the user's settings, hooks or prompts.

Reads go through one long-lived `git cat-file --batch`, so that a request costs a pipe's round trip and no process.
Whatever git process is started inherits the data folder's lock, so that the next portal on the same folder waits until
the last git of a killed one is gone (see `data_folder`).
"""

from __future__ import annotations

import os
import shutil
import subprocess
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Literal

ObjectKind = Literal["blob", "tree", "commit", "tag"]

# Also set in the environment of every call, so that a changed `config` file in the repository can not undo them.
_SETTINGS = {
    "core.hooksPath": os.devnull,
    "core.logAllRefUpdates": "false",
    "core.autocrlf": "false",
    "gc.auto": "0",
    "maintenance.auto": "false",
    "protocol.allow": "never",
}

_GIT_SECONDS = 30.0

_KINDS: dict[str, ObjectKind] = {"blob": "blob", "tree": "tree", "commit": "commit", "tag": "tag"}


class GitError(RuntimeError):
    """Git is missing or did not do what was asked. The text holds git's own words."""


@dataclass(frozen=True)
class GitObject:
    """One object of the repository: `oid` is its 40-digit name."""

    oid: str
    kind: ObjectKind
    body: bytes


def git_environment(git_dir: Path) -> dict[str, str]:
    """The whole environment of a git call: none of the user's variables but PATH, none of the user's settings."""
    environment = {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": str(git_dir),
        "LC_ALL": "C",
        "TZ": "UTC",
        "GIT_DIR": str(git_dir),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_SYSTEM": os.devnull,
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_CONFIG_COUNT": str(len(_SETTINGS)),
    }
    for index, (key, value) in enumerate(_SETTINGS.items()):
        environment[f"GIT_CONFIG_KEY_{index}"] = key
        environment[f"GIT_CONFIG_VALUE_{index}"] = value
    return environment


class Git:
    """The git program, tied to one bare repository. Safe to use from several threads."""

    def __init__(self, git_dir: Path, lock_fd: int) -> None:
        """`lock_fd` is the open lock of the data folder; every git process keeps it open.

        Raises:
            GitError: there is no git on PATH.
        """
        program = shutil.which("git")
        if program is None:
            raise GitError("git is not on PATH; install it (Debian: apt-get install git)")
        self._program = program
        self._git_dir = git_dir
        self._environment = git_environment(git_dir)
        self._lock_fd = lock_fd
        self._reader: subprocess.Popen[bytes] | None = None
        self._reader_lock = threading.Lock()

    def run(self, arguments: Sequence[str], stdin: bytes = b"", *, accepted: Sequence[int] = (0,)) -> bytes:
        """Run one git command to its end and return what it printed.

        Raises:
            GitError: the exit code is not in `accepted`, or git took longer than 30 seconds.
        """
        try:
            done = subprocess.run(
                [self._program, *arguments],
                input=stdin,
                capture_output=True,
                env=self._environment,
                cwd=self._git_dir.parent,
                pass_fds=(self._lock_fd,),
                timeout=_GIT_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise GitError(f"git {arguments[0]} took longer than {_GIT_SECONDS:.0f} seconds") from error
        if done.returncode not in accepted:
            words = done.stderr.decode("utf-8", "replace").strip() or "(no message)"
            raise GitError(f"git {arguments[0]} ended with {done.returncode}: {words}")
        return done.stdout

    def read(self, name: str) -> GitObject | None:
        """The object that `name` stands for (an oid, `refs/heads/main`, `<commit>:<path>`); None when there is none.

        Raises:
            GitError: the reader ended twice in a row, which means that the repository is damaged.
        """
        if "\n" in name or "\0" in name:
            return None
        with self._reader_lock:
            for _ in range(2):
                try:
                    return self._read_once(name)
                except OSError:
                    self._stop_reader()
        raise GitError("git cat-file ended twice while an object was read; run git fsck on the repository")

    def _read_once(self, name: str) -> GitObject | None:
        stdin, stdout = self._reader_pipes()
        stdin.write(name.encode("utf-8") + b"\n")
        stdin.flush()
        header = stdout.readline()
        if not header.endswith(b"\n"):
            raise BrokenPipeError("git cat-file ended")
        if header.endswith((b" missing\n", b" ambiguous\n")):
            return None
        oid, kind, size = header.decode().split()
        body = stdout.read(int(size) + 1)
        if len(body) != int(size) + 1:
            raise BrokenPipeError("git cat-file ended")
        return GitObject(oid, _KINDS[kind], body[:-1])

    def _reader_pipes(self) -> tuple[IO[bytes], IO[bytes]]:
        if self._reader is None:
            self._reader = subprocess.Popen(
                [self._program, "cat-file", "--batch"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=self._environment,
                cwd=self._git_dir.parent,
                pass_fds=(self._lock_fd,),
            )
        assert self._reader.stdin is not None
        assert self._reader.stdout is not None
        return self._reader.stdin, self._reader.stdout

    def _stop_reader(self) -> None:
        reader, self._reader = self._reader, None
        if reader is None:
            return
        for pipe in (reader.stdin, reader.stdout):
            if pipe is not None:
                try:
                    pipe.close()
                except BrokenPipeError:
                    continue
        try:
            reader.wait(timeout=5)
        except subprocess.TimeoutExpired:
            reader.kill()
            reader.wait()

    def close(self) -> None:
        """End the reader. The next `read` would start a new one."""
        with self._reader_lock:
            self._stop_reader()
