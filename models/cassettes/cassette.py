"""One case's recordings while it runs: what is replayed, what is recorded, and what does not fit."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from episodes.record import CassetteUse
from models.cassettes.modes import CassetteMode
from models.cassettes.tape import Recording, locked, read_tape, write_tape
from models.cassettes.volatile import Keys, LocalNumbers, levelled

MAX_DIFF_LINES = 40
MAX_LINE = 200

Part = Literal["episode", "checks"]
"""Who records: the provider, or afterwards the checks of the same case, each in a process of its own."""

_SENTENCE = re.compile(r"(?<=[.!?;]) ")

CHECK = "check "
"""How the boundary of a check begins."""


class NoRecording(Exception):
    """A request that was not recorded. The text shows the nearest recording as a diff."""


@dataclass
class _Asked:
    """A request in its place among the others. Calls of one batch end in any order, and are written as they began."""

    boundary: str
    request: Any
    answer: Any = None
    answered: bool = False


class Cassette:
    """Recordings of one case. Each is replayed once, equal ones in the order in which they were made."""

    def __init__(
        self,
        path: Path,
        case: str,
        mode: CassetteMode,
        *,
        part: Part = "episode",
        again: str = "",
        earlier: Iterable[Any] = (),
    ) -> None:
        """Read the file, if the mode replays and there is one.

        `again` is the command that records the case anew, for messages. `earlier` is what was said before the first
        request here, for the numbering of pull requests.

        Raises:
            TapeError: the file is damaged.
        """
        self.path = path
        self._case = case
        self._part = part
        self._again = f" To record the case anew: {again}" if again else ""
        there = path.is_file()
        self._missing = not there
        self.replays = mode in (CassetteMode.NONE, CassetteMode.NEW_EPISODES) or (mode is CassetteMode.ONCE and there)
        self.records = mode in (CassetteMode.ALL, CassetteMode.NEW_EPISODES) or (
            mode is CassetteMode.ONCE and not there
        )
        kept = read_tape(path) if there and self.replays else ()
        self._left = [recording for recording in kept if self._is_own(recording)]
        self._others = [recording for recording in kept if not self._is_own(recording)]
        self._used: list[Recording | _Asked] = []
        self._keys = Keys()
        self._numbers = LocalNumbers()
        self._numbers.learn(earlier)
        self.spoilt = ""
        """Why what was recorded can not be replayed, when something failed that can not be put on record."""

    @property
    def mode(self) -> CassetteMode:
        """What it does: `once` has become one of the others."""
        if not self.records:
            return CassetteMode.NONE
        return CassetteMode.NEW_EPISODES if self.replays else CassetteMode.ALL

    def use(self, root: Path) -> CassetteUse:
        """How it stands in the record; the file by its place below `root`, when it is there."""
        file = self.path.relative_to(root) if self.path.is_relative_to(root) else self.path
        return CassetteUse(file.as_posix(), self.mode)

    def take(self, boundary: str, request: Any) -> Any | None:
        """The recorded answer to a request, or None when it has to be asked live.

        Raises:
            NoRecording: there is none, and this mode asks nothing live.
        """
        if self.replays:
            key = self._keys.key_of(request)
            for index, recording in enumerate(self._left):
                if recording.boundary == boundary and recording.key == key:
                    self._used.append(self._left.pop(index))
                    return recording.answer
        if not self.records:
            raise NoRecording(self._describe_missing(boundary, request))
        self.expect(boundary, request)
        return None

    def expect(self, boundary: str, request: Any) -> None:
        """Keep a place for a request that is asked live whatever is recorded."""
        self._used.append(_Asked(boundary, request))

    def add(self, boundary: str, request: Any, answer: Any) -> None:
        """Keep the answer to a request that `take` did not have, or that `expect` was told of."""
        for asked in self._used:
            if isinstance(asked, _Asked) and asked.request is request and asked.boundary == boundary:
                asked.answer, asked.answered = answer, True
                return
        raise LookupError(f"nothing asked for {request!r} at {boundary}")

    @property
    def asked_live(self) -> bool:
        """Has anything been answered that was not on the cassette?"""
        return any(isinstance(one, _Asked) and one.answered for one in self._used)

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
            f"{_short(json.dumps(_last_part(first.request), ensure_ascii=False))}.{self._again}"
        )

    def save(self) -> None:
        """Write what was recorded, if anything new was. Recordings that were not used stay, behind the others.

        Raises:
            TapeError: the file can not be written.
        """
        fresh = [one for one in self._used if isinstance(one, _Asked) and one.answered]
        if not fresh or self.spoilt or not self.records:
            return
        for one in self._used:
            self._numbers.learn((one.request, one.answer))
        own = [*self._finished(), *self._left]
        with locked(self.path):
            if self._part == "episode":
                write_tape(self.path, self._case, [*own, *self._others])
            else:
                write_tape(self.path, self._case, self._beside_other_checks(own))

    def _finished(self) -> Iterator[Recording]:
        """What was used, in its order, with the numbers of pull requests and the keys that it has on the cassette."""
        numbered: dict[int, Any] = {}

        def fill_in(request: Any) -> Any:
            if not isinstance(request, dict) or "messages" not in request:
                return self._numbers.fill_in(request)
            # Later requests hold the same message objects, and hashes are kept by object.
            messages = [numbered.setdefault(id(one), self._numbers.fill_in(one)) for one in request["messages"]]
            return self._numbers.fill_in({**request, "messages": []}) | {"messages": messages}

        keys = Keys()
        for one in self._used:
            if isinstance(one, Recording):
                yield one
            elif one.answered:
                request = fill_in(one.request)
                yield Recording(one.boundary, keys.key_of(request), request, self._numbers.fill_in(one.answer))

    def _beside_other_checks(self, own: list[Recording]) -> list[Recording]:
        """The whole file. Several checks of a case may end at the same time, each in a process of its own."""
        there = read_tape(self.path) if self.path.is_file() else ()
        mine = {(recording.boundary, recording.key) for recording in own}
        checks = [one for one in there if one.boundary.startswith(CHECK) and (one.boundary, one.key) not in mine]
        checks = sorted([*checks, *own], key=lambda one: (one.boundary, one.key))
        return [*(one for one in there if not one.boundary.startswith(CHECK)), *checks]

    def _is_own(self, recording: Recording) -> bool:
        return recording.boundary.startswith(CHECK) is (self._part == "checks")

    def _describe_missing(self, boundary: str, request: Any) -> str:
        if self._missing:
            return f"{self.path.name} does not exist, so nothing can be replayed.{self._again}"
        where = f"{self.path.name} has no recording of this request at {boundary}"
        same = [recording for recording in self._left if recording.boundary == boundary]
        if not same:
            return f"{where}, and none that is left there.{self._again}"
        import difflib

        wanted = _lines(request)
        nearest = max(same, key=lambda recording: _likeness(_lines(recording.request), wanted))
        diff = difflib.unified_diff(
            _lines(nearest.request), wanted, "nearest recording", "this request", n=1, lineterm=""
        )
        shown = [line[:MAX_LINE] for line in diff][:MAX_DIFF_LINES]
        return "\n".join([f"{where}.{self._again}", "The nearest recording differs:", *shown])


def _lines(request: Any) -> list[str]:
    """A request as people compare it: one line for each value, for each line of a text and each sentence of a long one;
    JSON inside a text is taken apart.
    """
    return json.dumps(_in_lines(levelled(request)), ensure_ascii=False, indent=1, sort_keys=True).split("\n")


def _in_lines(value: Any) -> Any:
    if isinstance(value, str):
        inner = _json_in(value)
        if inner is not None:
            return _in_lines(inner)
        lines = [
            part for line in value.split("\n") for part in (_SENTENCE.split(line) if len(line) > MAX_LINE else [line])
        ]
        return lines if len(lines) > 1 else value
    if isinstance(value, dict):
        return {key: _in_lines(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_in_lines(item) for item in value]
    return value


def _json_in(text: str) -> Any | None:
    if not text.startswith(("{", "[")):
        return None
    try:
        return json.loads(text)
    except ValueError:
        return None


def _likeness(recorded: list[str], wanted: list[str]) -> float:
    import difflib

    return difflib.SequenceMatcher(None, recorded, wanted, autojunk=False).quick_ratio()


def _last_part(request: Any) -> Any:
    """What tells one request of a conversation from the next: its last message."""
    messages = request.get("messages") if isinstance(request, dict) else None
    return messages[-1] if messages else request


def _short(text: str) -> str:
    return text if len(text) <= MAX_LINE else text[:MAX_LINE] + "…"
