"""The file of one case: JSON Lines, one recording or one text that recordings share in each line.

Every line has a `kind`: `cassette` (the first), `part` (a message or a tool, stored once under its hash, because a
conversation repeats all of it in every request), and `recording` (`boundary`, `key`, `request`, `answer`).
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from episodes.canonical import canonical_json, digest
from models.cassettes.volatile import SHARED, levelled

VERSION = 1
PART_DIGITS = 16
"""Hexadecimal digits of a part's hash that name it."""

ANSWERED = "message"
"""Key of a model's answer that is a part: the next request has the same message."""


class TapeError(ValueError):
    """A cassette can not be read or written. The text names file and line."""


@dataclass(frozen=True)
class Recording:
    """One request and what came back. `boundary` says where it was made: `model agent`, `tool portal`, …"""

    boundary: str
    key: str
    request: Any
    answer: Any


def read_tape(path: Path) -> tuple[Recording, ...]:
    """The recordings of a file, in their order.

    Raises:
        TapeError: it is no cassette of this version, or a line of it is damaged.
    """
    parts: dict[str, Any] = {}
    recordings: list[Recording] = []
    for number, row in _rows(path):
        where = f"{path}:{number}"
        match row.get("kind"):
            case "cassette":
                if row.get("version") != VERSION:
                    raise TapeError(f"{where}: version {row.get('version')!r}; this pack reads version {VERSION}")
            case "part":
                parts[str(row.get("id"))] = row.get("value")
            case "recording":
                recordings.append(_recording(row, parts, where))
            case kind:
                raise TapeError(f"{where}: kind {kind!r} is none of cassette, part, recording")
    return tuple(recordings)


def write_tape(path: Path, case: str, recordings: Iterable[Recording]) -> None:
    """Write the file anew, whole or not at all. Volatile parts are levelled, and credentials that a tool or a model let
    slip are masked.

    Raises:
        TapeError: it can not be written.
    """
    lines = [canonical_json({"kind": "cassette", "version": VERSION, "case": case})]
    parts = _Parts(lines)
    for recording in recordings:
        request, answer = recording.request, recording.answer
        if isinstance(request, Mapping):
            request = {
                key: [parts.name(item) for item in value] if key in SHARED else levelled(value)
                for key, value in request.items()
            }
        if isinstance(answer, Mapping):
            answer = {key: parts.name(value) if key == ANSWERED else levelled(value) for key, value in answer.items()}
        row = {
            "kind": "recording",
            "boundary": recording.boundary,
            "key": recording.key,
            "request": request if isinstance(request, dict) else levelled(request),
            "answer": answer if isinstance(answer, dict) else levelled(answer),
        }
        lines.append(json.dumps(row, ensure_ascii=False))
    new = path.with_name(f".{path.name}.{os.getpid()}.new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        new.write_text("\n".join(lines) + "\n", encoding="utf-8", errors="surrogatepass")
        new.replace(path)
    except OSError as error:
        raise TapeError(f"{path}: can not be written: {error.strerror}") from error


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Keep every other process from changing the cassettes of this folder meanwhile; it is made if it is not there.

    Raises:
        TapeError: that is not possible.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        folder = os.open(path.parent, os.O_RDONLY)
    except OSError as error:
        raise TapeError(f"{path}: can not be written: {error.strerror}") from error
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)


class _Parts:
    """Writes each part before the first recording that needs it."""

    def __init__(self, lines: list[str]) -> None:
        self._lines = lines
        self._written: set[str] = set()

    def name(self, item: Any) -> str:
        item = levelled(item)
        name = digest(item)[:PART_DIGITS]
        if name not in self._written:
            self._written.add(name)
            self._lines.append(json.dumps({"kind": "part", "id": name, "value": item}, ensure_ascii=False))
        return name


def _rows(path: Path) -> Iterable[tuple[int, dict[str, Any]]]:
    try:
        text = path.read_text(encoding="utf-8", errors="surrogatepass")
    except (OSError, UnicodeDecodeError) as error:
        raise TapeError(f"{path}: can not be read: {error}") from error
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError:
            raise TapeError(f"{path}:{number}: is not JSON") from None
        if not isinstance(row, dict):
            raise TapeError(f"{path}:{number}: is not an object")
        yield number, row


def _recording(row: Mapping[str, Any], parts: Mapping[str, Any], where: str) -> Recording:
    request, answer = row.get("request"), row.get("answer")
    try:
        if isinstance(request, Mapping):
            request = {
                key: [parts[name] for name in value] if key in SHARED else value for key, value in request.items()
            }
        if isinstance(answer, Mapping) and ANSWERED in answer:
            answer = {**answer, ANSWERED: parts[answer[ANSWERED]]}
    except (KeyError, TypeError):
        raise TapeError(f"{where}: refers to a part that does not stand before it") from None
    boundary, key = row.get("boundary"), row.get("key")
    if not isinstance(boundary, str) or not isinstance(key, str):
        raise TapeError(f"{where}: a recording without boundary or key")
    return Recording(boundary, key, request, answer)
