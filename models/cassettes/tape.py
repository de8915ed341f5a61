"""The file of one case: JSON Lines, one recording or one text that recordings share in each line.

Every line has a `kind`: `cassette` (the first), `part` (a message or a tool list, stored once under its hash, because a
conversation repeats all of it in every request), and `recording` (`boundary`, `key`, `request`, `answer`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from endpoints.redaction import redact_value
from episodes.canonical import canonical_json, digest
from models.cassettes.volatile import SHARED

VERSION = 1
PART_DIGITS = 16
"""Hexadecimal digits of a part's hash that name it."""


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
    """Write the file anew, whole or not at all. A credential that a tool or a model let slip is masked.

    Raises:
        TapeError: it can not be written.
    """
    lines = [canonical_json({"kind": "cassette", "version": VERSION, "case": case})]
    known: set[str] = set()
    for recording in recordings:
        request = redact_value(recording.request)
        if isinstance(request, Mapping):
            request = {key: _shared(value, known, lines) if key in SHARED else value for key, value in request.items()}
        row = {
            "kind": "recording",
            "boundary": recording.boundary,
            "key": recording.key,
            "request": request,
            "answer": redact_value(recording.answer),
        }
        lines.append(json.dumps(row, ensure_ascii=False))
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(f".{path.name}.{id(lines):x}.new")
    try:
        new.write_text("\n".join(lines) + "\n", encoding="utf-8", errors="surrogatepass")
        new.replace(path)
    except OSError as error:
        raise TapeError(f"{path}: can not be written: {error.strerror}") from error


def _shared(items: Any, known: set[str], lines: list[str]) -> list[str]:
    names = []
    for item in items:
        name = digest(item)[:PART_DIGITS]
        if name not in known:
            known.add(name)
            lines.append(json.dumps({"kind": "part", "id": name, "value": item}, ensure_ascii=False))
        names.append(name)
    return names


def _rows(path: Path) -> Iterable[tuple[int, dict[str, Any]]]:
    try:
        text = path.read_text(encoding="utf-8", errors="surrogatepass")
    except (OSError, UnicodeDecodeError) as error:
        raise TapeError(f"{path}: can not be read: {error}") from error
    for number, line in enumerate(text.splitlines(), 1):
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
    request = row.get("request")
    try:
        if isinstance(request, Mapping):
            request = {
                key: [parts[name] for name in value] if key in SHARED else value for key, value in request.items()
            }
    except (KeyError, TypeError):
        raise TapeError(f"{where}: refers to a part that does not stand before it") from None
    boundary, key = row.get("boundary"), row.get("key")
    if not isinstance(boundary, str) or not isinstance(key, str):
        raise TapeError(f"{where}: a recording without boundary or key")
    return Recording(boundary, key, request, row.get("answer"))
