"""Recorded episodes from files: our records, rows of promptfoo's results, and what other programs wrote."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from assertions.adapters.choose import read_foreign
from assertions.contracts.answer_facts import agent_texts
from assertions.evidence import Evidence
from assertions.grading import Recorded
from episodes.json_safe import may_hold_tags
from episodes.record import Episode, EvidenceError


class RecordedEpisodesError(ValueError):
    """A file can not be read. The text says which, and why."""


def read_recorded(file: Path, shape: str = "auto") -> Iterator[Recorded]:
    """The episodes of a file, one at a time: a `.jsonl` file is never held in memory as a whole.

    Each item is a record of ours, an object with one under `metadata`, a row of promptfoo's results, or of `shape` (an
    adapter's name; `auto` looks). Foreign items carry their case as `caseId`, and the data itself, or one of
    `messages`, `items`, `trace` with it.

    Raises:
        RecordedEpisodesError: the file can not be opened, or is no JSON.
    """
    for item, tagged in _items(file):
        yield _recorded(item, shape, tagged)


def _items(file: Path) -> Iterator[tuple[Any, bool]]:
    """Each item, and whether it may hold tagged integers."""
    try:
        if file.suffix == ".jsonl":
            with file.open(encoding="utf-8") as lines:
                for number, line in enumerate(lines, 1):
                    if not line.isspace():
                        yield _json(line, file, number), may_hold_tags(line)
            return
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise RecordedEpisodesError(f"{file} can not be read: {error}") from None
    content = _json(text, file)
    rows = content.get("results", {}).get("results") if _is_results(content) else None
    tagged = may_hold_tags(text)
    for item in rows if isinstance(rows, list) else [content]:
        yield item, tagged


def _is_results(content: Any) -> bool:
    return isinstance(content, dict) and isinstance(content.get("results"), dict)


def _json(text: str, file: Path, line: int | None = None) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        where = file if line is None else f"{file}:{line}"
        raise RecordedEpisodesError(f"{where} is no JSON: {error}") from None


def _recorded(item: Any, shape: str, tagged: bool) -> Recorded:
    row = item if isinstance(item, Mapping) else {}
    response = _mapping(row.get("response"))
    case_id = _case_id(row)
    for metadata in (row, _mapping(row.get("metadata")), _mapping(response.get("metadata"))):
        if "schema" in metadata and ("toolCalls" in metadata or "stopReason" in metadata):
            try:
                episode = Episode.from_metadata(metadata, tagged=tagged)
            except EvidenceError as error:
                return Recorded(case_id, None, "", f"the record can not be read: {error}")
            output = response.get("output", row.get("output"))
            return Recorded(case_id or episode.case_id, episode, _output(output, episode))
    if response or "testCase" in row:
        foreign = _mapping(response.get("metadata"))
        if not foreign or response.get("error"):
            problem = response.get("error") or row.get("error") or "the row has no record"
            return Recorded(case_id, None, "", str(problem))
        return Recorded(case_id, read_foreign(foreign, shape), _output(response.get("output"), None))
    return _foreign(case_id, item, row, shape)


def _foreign(case_id: str, item: Any, row: Mapping[str, Any], shape: str) -> Recorded:
    data = next((row[key] for key in ("messages", "items", "trace") if key in row), item)
    episode = read_foreign(data, shape)
    return Recorded(case_id, episode, _output(row.get("output"), episode))


def _case_id(row: Mapping[str, Any]) -> str:
    about = _mapping(_mapping(row.get("testCase")).get("metadata"))
    found = about.get("id") or row.get("caseId")
    return found if isinstance(found, str) else ""


def _output(given: Any, episode: Episode | None) -> str:
    if isinstance(given, str):
        return given
    texts = agent_texts(Evidence(episode)) if episode is not None else []
    return texts[-1] if texts else ""


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
