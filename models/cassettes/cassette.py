"""One case's recordings while an episode runs: what is replayed, what is recorded, and what does not fit."""

from __future__ import annotations

import difflib
import json
from pathlib import Path
from typing import Any

from models.cassettes.modes import CassetteMode
from models.cassettes.tape import Recording, read_tape, write_tape
from models.cassettes.volatile import Keys, levelled

MAX_DIFF_LINES = 40
MAX_LINE = 200


class NoRecording(Exception):
    """A request that was not recorded. The text shows the nearest recording as a diff."""


class Cassette:
    """Recordings of one case. Each is replayed once, equal ones in the order in which they were made."""

    def __init__(self, path: Path, case: str, mode: CassetteMode) -> None:
        """Read the file, if the mode replays and there is one.

        Raises:
            TapeError: the file is damaged.
        """
        self.path = path
        self._case = case
        there = path.is_file()
        self.replays = mode in (CassetteMode.NONE, CassetteMode.NEW_EPISODES) or (mode is CassetteMode.ONCE and there)
        self.records = mode in (CassetteMode.ALL, CassetteMode.NEW_EPISODES) or (
            mode is CassetteMode.ONCE and not there
        )
        self._left: list[Recording] = list(read_tape(path)) if there and self.replays else []
        self._used: list[Recording] = []
        self._new = 0
        self._keys = Keys()
        self.spoilt = ""
        """Why what was recorded can not be replayed, when something failed that can not be put on record."""

    def take(self, boundary: str, request: Any) -> Any | None:
        """The recorded answer to a request, or None when it has to be asked live.

        Raises:
            NoRecording: there is none, and this mode asks nothing live.
        """
        if not self.replays:
            return None
        key = self._keys.key_of(request)
        for index, recording in enumerate(self._left):
            if recording.boundary == boundary and recording.key == key:
                self._used.append(self._left.pop(index))
                return recording.answer
        if self.records:
            return None
        raise NoRecording(self._describe_missing(boundary, request))

    def add(self, boundary: str, request: Any, answer: Any) -> None:
        """Keep what was asked live."""
        self._new += 1
        self._used.append(Recording(boundary, self._keys.key_of(request), request, answer))

    def describe(self) -> str:
        """In a word or three, what it does."""
        if not self.records:
            return "replayed"
        return "replayed and recorded" if self.replays else "recorded"

    def describe_unused(self) -> str:
        """In words, which recordings nothing asked for; empty when all were used."""
        if not self._left:
            return ""
        first = self._left[0]
        return (
            f"{self.path.name}: {len(self._left)} recordings were not asked for, the first at {first.boundary}: "
            f"{_short(json.dumps(_last_part(first.request), ensure_ascii=False))}"
        )

    def save(self) -> None:
        """Write what was recorded, if anything new was. Recordings that were not used stay, behind the others.

        Raises:
            TapeError: the file can not be written.
        """
        if self._new and not self.spoilt:
            write_tape(self.path, self._case, [*self._used, *self._left])

    def _describe_missing(self, boundary: str, request: Any) -> str:
        where = f"{self.path.name} has no recording of this request at {boundary}"
        same = [recording for recording in self._left if recording.boundary == boundary]
        if not same:
            return f"{where}, and none that is left there (mode none or once; record with new_episodes or all)"
        wanted = _lines(request)
        nearest = max(same, key=lambda recording: _likeness(_lines(recording.request), wanted))
        diff = difflib.unified_diff(
            _lines(nearest.request), wanted, "nearest recording", "this request", n=1, lineterm=""
        )
        shown = [line[:MAX_LINE] for line in diff][:MAX_DIFF_LINES]
        return "\n".join([f"{where}; the nearest differs:", *shown])


def _lines(request: Any) -> list[str]:
    return json.dumps(levelled(request), ensure_ascii=False, indent=1, sort_keys=True).splitlines()


def _likeness(recorded: list[str], wanted: list[str]) -> float:
    return difflib.SequenceMatcher(None, recorded, wanted, autojunk=False).quick_ratio()


def _last_part(request: Any) -> Any:
    """What tells one request of a conversation from the next: its last message."""
    messages = request.get("messages") if isinstance(request, dict) else None
    return messages[-1] if messages else request


def _short(text: str) -> str:
    return text if len(text) <= MAX_LINE else text[:MAX_LINE] + "…"
