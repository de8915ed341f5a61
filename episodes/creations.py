"""What did a run create, as far as its ledger tells? Reads the lines that `episodes.ledger` writes.

Standard library only: every hook process imports this.
"""

from __future__ import annotations

import json
import os
from dataclasses import field, replace
from pathlib import Path
from typing import Any

from episodes.frozen import frozen
from episodes.ledger import LEDGER_FOLDER, process_start

SETTLED = frozenset({"abandoned", "already_abandoned", "gone", "nothing_created", "settled_by_hand"})
"""Outcomes after which nothing is left to do."""


@frozen
class ProvenPullRequest:
    """A pull request that a tool's own result named in this run."""

    id: str
    url: str
    repository: str
    source_branch: str


@frozen
class Creation:
    """One creating call: its intent, its result if one was written, and what the cleanup said last."""

    run_id: str
    intent_id: str
    step_id: str
    call_id: str
    server: str
    tool: str
    marker: str
    host: str
    at: str
    """When the intent was written (or the result, when its intent was lost)."""
    pid: int = 0
    born: str = ""
    result_at: str = ""
    """When the result was written; empty when there is none."""
    answered: bool = False
    sent: bool = True
    """False when the call is known to have never left this machine."""
    problem: str = ""
    pull_request: ProvenPullRequest | None = None
    outcomes: dict[str, str] = field(default_factory=dict)
    """Pull-request id (empty for the intent itself) -> last outcome of the cleanup."""

    @property
    def settled(self) -> bool:
        """Whether the cleanup has nothing left to do here."""
        if self.pull_request is None:
            return not self.sent or self.outcomes.get("") in SETTLED
        return self.outcomes.get(self.pull_request.id) in SETTLED

    @property
    def writer_alive(self) -> bool:
        """Whether the process that wrote the intent still runs on this machine."""
        return _alive(self.pid, self.born)


@frozen
class RunLedger:
    """All creations of one run, oldest first."""

    run_id: str
    path: Path
    creations: tuple[Creation, ...]
    unreadable_lines: int
    """Lines that are no JSON objects of ours: torn by a kill, or changed by hand."""
    size: int = 0
    """Bytes of the file when it was read."""

    @property
    def unsettled(self) -> tuple[Creation, ...]:
        return tuple(creation for creation in self.creations if not creation.settled)

    @property
    def alive(self) -> bool:
        """Whether a process that wrote into this ledger still runs."""
        return any(creation.writer_alive for creation in self.creations)

    @property
    def last_line_at(self) -> str:
        """Time of the newest intent or result, or empty."""
        return max((creation.result_at or creation.at for creation in self.creations), default="")


def read_ledger(path: Path) -> RunLedger:
    """Read one run's ledger; a file that does not exist is an empty run. OSError when it can not be read."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        content = b""
    run_id = ""
    unreadable = 0
    creations: dict[str, Creation] = {}
    for number, line in enumerate(content.decode("utf-8", "replace").splitlines()):
        if not line.strip():
            continue
        row = _row(line)
        if row is None or not _take(row, creations, number):
            unreadable += 1
            continue
        run_id = run_id or row["run"]
    return RunLedger(run_id, path, tuple(creations.values()), unreadable, len(content))


def ledger_files(home: Path) -> list[Path]:
    """The ledgers of all runs in the data folder, oldest first."""
    files = list((home / LEDGER_FOLDER).glob("*.jsonl"))
    return sorted(files, key=lambda path: path.stat().st_mtime)


def _take(row: dict[str, Any], creations: dict[str, Creation], number: int) -> bool:
    kind = row.get("kind")
    intent_id = _text(row, "intent")
    if kind == "intent" and intent_id:
        pid = row.get("pid")
        creations[intent_id] = Creation(
            run_id=row["run"],
            intent_id=intent_id,
            step_id=_text(row, "step"),
            call_id=_text(row, "call"),
            server=_text(row, "server"),
            tool=_text(row, "tool"),
            marker=_text(row, "marker"),
            host=_text(row, "host"),
            at=_text(row, "at"),
            pid=pid if isinstance(pid, int) else 0,
            born=_text(row, "born"),
        )
        return True
    if kind == "result":
        key = _intent_of(row, creations) or f"line {number + 1}"
        before = creations.get(key) or Creation(
            run_id=row["run"],
            intent_id=key,
            step_id=_text(row, "step"),
            call_id=_text(row, "call"),
            server="",
            tool="",
            marker="",
            host=_text(row, "host"),
            at=_text(row, "at"),
        )
        creations[key] = replace(
            before,
            result_at=_text(row, "at"),
            answered=row.get("answered") is True,
            sent=row.get("sent") is not False,
            problem=_text(row, "problem"),
            pull_request=_pull_request(row.get("pullRequest")),
        )
        return True
    if kind == "swept" and intent_id in creations:
        before = creations[intent_id]
        creations[intent_id] = replace(before, outcomes={**before.outcomes, _text(row, "id"): _text(row, "outcome")})
        return True
    return False


def _intent_of(row: dict[str, Any], creations: dict[str, Creation]) -> str:
    """The intent that a result belongs to: the one it names, else the last open one of the same call."""
    named = _text(row, "intent")
    if named:
        return named
    for creation in reversed(list(creations.values())):
        same = (creation.step_id, creation.call_id) == (_text(row, "step"), _text(row, "call"))
        if same and not creation.result_at:
            return creation.intent_id
    return ""


def _pull_request(value: Any) -> ProvenPullRequest | None:
    if not isinstance(value, dict) or not _text(value, "id"):
        return None
    return ProvenPullRequest(
        _text(value, "id"), _text(value, "url"), _text(value, "repository"), _text(value, "sourceBranch")
    )


def _row(line: str) -> dict[str, Any] | None:
    try:
        row = json.loads(line)
    except ValueError:
        return None
    return row if isinstance(row, dict) and isinstance(row.get("run"), str) else None


def _text(row: dict[str, Any], key: str) -> str:
    value = row.get(key)
    return value if isinstance(value, str) else ""


def _alive(pid: int, born: str) -> bool:
    if pid <= 0:
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass  # It runs, as somebody else.
    return not born or process_start(pid) == born
