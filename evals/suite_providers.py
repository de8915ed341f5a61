"""Which providers of ours does a suite's promptfoo config name, and with what config?"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from endpoints.settings import CHECKOUT

if TYPE_CHECKING:
    from evals.run_request import RunRequest
    from formats.yaml_document import Document

_FILE = "file://"
_OURS = {CHECKOUT / "providers" / f"{name}.py": name for name in ("simulated_user", "production_agent")}


@dataclass(frozen=True)
class SuiteProvider:
    """One entry of `providers`. `entry` is the name of our file in `providers/`; `where` its file and line.

    `label` is how cases, people and filters name it: its id where it has no label of its own.
    """

    label: str
    entry: str
    config: Mapping[str, Any]
    base_path: Path
    where: str


def own_providers(document: Document) -> tuple[SuiteProvider, ...]:
    """The providers of ours in a promptfoo config. Others, and those from another file, are promptfoo's business."""
    content = document.value
    listed = content.get("providers") if isinstance(content, Mapping) else None
    return tuple(_read(listed, document)) if isinstance(listed, list) else ()


def chosen_providers(request: RunRequest, providers: tuple[SuiteProvider, ...]) -> tuple[SuiteProvider, ...]:
    """Those that the run's flags leave, as far as that is certain."""
    if request.given("-r", "--providers"):
        return ()
    for pattern in request.values("--filter-providers", "--filter-targets")[-1:]:
        try:
            wanted = re.compile(pattern)
        except re.error:
            return ()  # promptfoo says what is wrong with it
        return tuple(one for one in providers if wanted.search(one.label))
    return providers


def _read(listed: list[Any], document: Document) -> Iterator[SuiteProvider]:
    from formats.problems import shortest

    folder = document.file.parent
    for position, written in enumerate(listed):
        entry = {"id": written} if isinstance(written, str) else written
        if not isinstance(entry, Mapping) or not isinstance(entry.get("id"), str):
            continue
        config = entry.get("config") or {}
        name = _OURS.get((folder / entry["id"].removeprefix(_FILE)).resolve())
        if name is None or not entry["id"].startswith(_FILE) or not isinstance(config, Mapping):
            continue
        where = f"{shortest(document.file)}:{document.line(('providers', position))}"
        yield SuiteProvider(str(entry.get("label") or entry["id"]), name, config, folder, where)
