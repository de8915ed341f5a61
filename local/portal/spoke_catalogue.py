"""The spokes on `main`, read from the repository once per commit."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from local.portal.repository import MAIN, Repository

FOLDER = "spokes"

NAME = re.compile(r"spoke-[a-z][a-z0-9]*(-[a-z0-9]+)*-(dev|test|acc|prod)")
"""What a spoke may be called; also what may become a file name."""


@dataclass(frozen=True)
class Spoke:
    """One file of `main`."""

    name: str
    path: str
    configuration: dict[str, Any]


@dataclass(frozen=True)
class Snapshot:
    """All spokes of one commit, by name in alphabetical order."""

    commit: str
    spokes: Mapping[str, Spoke] = field(default_factory=dict)


def spoke_path(name: str) -> str:
    """Where the spoke's file is in the repository.

    Raises:
        ValueError: this can not be the name of a spoke.
    """
    if len(name) > 48 or not NAME.fullmatch(name):
        raise ValueError(
            f"{name[:80]!r} is not the name of a spoke: names look like spoke-<workload>-<stage>, in lower case, and "
            "the stage is dev, test, acc or prod"
        )
    return f"{FOLDER}/{name}.json"


def spoke_text(configuration: Mapping[str, Any]) -> bytes:
    """The configuration as its file holds it: two spaces of indent, the keys' order kept, one final line break.

    Raises:
        ValueError: it holds something that JSON or UTF-8 can not express.
    """
    return (json.dumps(configuration, indent=2, ensure_ascii=False, allow_nan=False) + "\n").encode("utf-8")


class SpokeCatalogue:
    """Answers from the newest commit of `main`. Safe to use from several threads."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository
        self._lock = threading.Lock()
        self._snapshot = Snapshot("")

    def snapshot(self) -> Snapshot:
        """The spokes as they are on `main` now. A file that is no JSON object is left out."""
        commit = self._repository.resolve(MAIN) or ""
        with self._lock:
            if self._snapshot.commit != commit:
                self._snapshot = self._load(commit)
            return self._snapshot

    def _load(self, commit: str) -> Snapshot:
        spokes: dict[str, Spoke] = {}
        for file_name, entry in sorted(self._repository.tree(f"{commit}:{FOLDER}").items()):
            name = file_name.removesuffix(".json")
            blob = self._repository.read(entry.oid)
            if entry.is_tree or blob is None or not NAME.fullmatch(name):
                continue
            try:
                configuration = json.loads(blob.body)
            except ValueError:
                continue
            if isinstance(configuration, dict):
                spokes[name] = Spoke(name, f"{FOLDER}/{file_name}", configuration)
        return Snapshot(commit, spokes)
