"""Install locked packages for something optional: by uv or else by pip; always with hashes, never from source."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from evals.command_line import CommandError

SECONDS = 1800.0
"""How long one step may take; some lines are slow."""

_LAST_LINES = 6

_NOT_OFFERED = (
    "No matching distribution",
    "no version of",
    "not found in the package registry",
    "no wheels",
    "no usable",
)


@dataclass(frozen=True)
class Packages:
    """Packages for something optional: `thing` can not be had without them, and the file `lock` pins them."""

    thing: str
    lock: str
    kept: str = ""
    """A clause that says what a later start takes up again."""

    def remedy(self, said: str) -> str:
        """What to do about an installer that ended with these words."""
        after = f"then start again{self.kept}"
        everything_else = f"Everything else works without {self.thing}."
        remedies = {
            ("No space left", "ENOSPC"): f"free some space on this disk, {after}.",
            ("DO NOT MATCH THE HASHES", "hash mismatch", "Hash mismatch"): (
                f"a package is not the one that {self.lock} names. Do not go on with it: find out where it came from."
            ),
            _NOT_OFFERED: (
                f"the configured package registry does not offer it for this platform and Python. {everything_else}"
            ),
            ("No module named", "ensurepip"): "install pip or uv, then start again.",
        }
        otherwise = f"check the network, the proxy and the registry settings of pip and uv, {after}. {everything_else}"
        return next((text for signs, text in remedies.items() if any(sign in said for sign in signs)), otherwise)


def make_environment(folder: Path, packages: Packages) -> Path:
    """A new virtual environment, in place of what is there; returns its Python.

    Raises:
        CommandError: it can not be made.
    """
    bare = ["--without-pip"] if _uv() else []
    _run(
        [sys.executable, "-m", "venv", "--clear", *bare, str(folder)], f"an environment for {packages.thing}", packages
    )
    return python_of(folder)


def python_of(folder: Path) -> Path:
    """The Python of a virtual environment."""
    return folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")


def install(python: Path, locked: Path, packages: Packages, what: str, target: Path | None = None) -> None:
    """Install the file `locked` for the platform and version of this Python: into a folder `target`, without what the
    packages need themselves and without a copy in a cache, or else into the Python's own environment.

    Raises:
        CommandError: `what` could not be had; the text says why and what to do.
    """
    uv = _uv()
    if uv:
        command = [uv, "pip", "install", "--quiet", "--python", str(python)]
    else:
        command = [str(python), "-m", "pip", "install", "--quiet", "--no-input", "--disable-pip-version-check"]
    if target:
        command += ["--no-deps", "--no-cache" if uv else "--no-cache-dir", "--target", str(target)]
    _run([*command, "--require-hashes", "--only-binary", ":all:", "-r", str(locked)], what, packages)


def _uv() -> str | None:
    """uv, when it is there and works: a version manager's shim may be there without it."""
    found = shutil.which("uv")
    if not found or subprocess.run([found, "--version"], capture_output=True, check=False).returncode != 0:
        return None
    return found


def _run(command: Sequence[str], what: str, packages: Packages) -> None:
    try:
        ended = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        took = f"{what} could not be had within {SECONDS / 60:.0f} minutes"
        raise CommandError(f"{took}.\nWhat to do: {packages.remedy('')}") from None
    except OSError as error:
        raise CommandError(
            f"{what} could not be had: {command[0]}: {error.strerror}.\nWhat to do: {packages.remedy('')}"
        ) from error
    if ended.returncode == 0:
        return
    text = f"{ended.stdout}\n{ended.stderr}"
    last = "\n".join(f"  {_without_credentials(line)}" for line in text.strip().splitlines()[-_LAST_LINES:])
    raise CommandError(f"{what} could not be had:\n{last}\nWhat to do: {packages.remedy(text)}")


def _without_credentials(line: str) -> str:
    """The line without what an index address may carry before its host."""
    before, sign, after = line.partition("://")
    host, at, rest = after.partition("@")
    return f"{before}{sign}***@{rest}" if at and "/" not in host else line
