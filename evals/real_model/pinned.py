"""Which model and which engine: pinned by `setup/real-model/`, whose lock file has a hash for every package."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

from endpoints.settings import CHECKOUT

FOLDER = CHECKOUT / "setup" / "real-model"
ENGINE_PACKAGE = "xllamacpp"

_FIRST_LINE = re.compile(r"([A-Za-z0-9._-]+)==")


@dataclass(frozen=True)
class Part:
    """A piece of the model's file: the package that holds it, its path in there, and its length in bytes."""

    package: str
    file: str
    bytes: int


@dataclass(frozen=True)
class PinnedModel:
    """A model's file: the pieces that make it, in order, its whole length in bytes and its SHA-256 in hex.

    `name` is what requests call the model, `title` what people do.
    """

    name: str
    title: str
    licence: str
    file: str
    sha256: str
    bytes: int
    parts: tuple[Part, ...]


@dataclass(frozen=True)
class Pinned:
    """`requirements` maps each package to its lines in the lock file: `name==version` and its hashes."""

    model: PinnedModel
    requirements: dict[str, str]


def read_pinned(folder: Path = FOLDER) -> Pinned:
    """Read `model.json` and `requirements.txt` of a folder.

    Raises:
        ValueError: the parts are not as long as the whole, or a package is not in the lock file.
    """
    data = json.loads((folder / "model.json").read_text(encoding="utf-8"))
    model = PinnedModel(**{**data, "parts": tuple(Part(**part) for part in data["parts"])})
    requirements = _blocks((folder / "requirements.txt").read_text(encoding="utf-8"))
    if sum(part.bytes for part in model.parts) != model.bytes:
        raise ValueError(f"{folder}/model.json: the parts together are not {model.bytes} bytes long")
    for package in (ENGINE_PACKAGE, *(part.package for part in model.parts)):
        if "--hash=" not in requirements.get(package, ""):
            raise ValueError(f"{folder}/requirements.txt: {package} is not there with a hash")
    return Pinned(model, requirements)


def _blocks(text: str) -> dict[str, str]:
    """The lines of each package; they begin at the left margin with its name."""
    blocks: dict[str, str] = {}
    name = ""
    for line in text.splitlines():
        first = _FIRST_LINE.match(line)
        name = first[1] if first else name
        if name:
            blocks[name] = blocks.get(name, "") + line + "\n"
    return blocks
