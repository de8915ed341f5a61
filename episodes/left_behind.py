"""What is left behind: the marker file of a run, and the runs that never got as far as writing one."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from episodes.creations import RunLedger, ledger_files, read_ledger
from episodes.ledger import left_file, now

if TYPE_CHECKING:
    from episodes.cleanup_report import CleanupItem


@dataclass(frozen=True)
class Left:
    """What a run had to leave: one sentence each for a person, and the command that finishes the job."""

    run_id: str
    at: str
    sentences: tuple[str, ...]
    command: str


def write_left(home: Path, run_id: str, items: Sequence[CleanupItem], problems: Sequence[str]) -> Left | None:
    """Write the marker file of a run, or remove it when nothing is left. OSError when that is not possible."""
    path = left_file(home, run_id)
    sentences = (*(item.sentence() for item in items), *problems)
    if not sentences:
        path.unlink(missing_ok=True)
        return None
    left = Left(run_id, now(), sentences, finish_command(run_id))
    content: dict[str, Any] = {
        "run": run_id,
        "at": left.at,
        "sentences": list(sentences),
        "items": [item.to_json() for item in items],
        "command": left.command,
    }
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    scratch = path.with_name(f"{path.name}.{os.getpid()}")
    scratch.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
    scratch.replace(path)
    return left


def read_left(home: Path, run_id: str) -> Left | None:
    """The marker of a run; None when there is none. A marker that can not be read says so in its sentences."""
    path = left_file(home, run_id)
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        sentences = tuple(str(line) for line in content["sentences"])
        return Left(run_id, str(content["at"]), sentences, finish_command(run_id))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError) as error:
        return Left(run_id, "", (f"{path} can not be read ({type(error).__name__})",), finish_command(run_id))


def earlier_runs(home: Path) -> list[RunLedger]:
    """Runs that have something left and are not going on any more, oldest first."""
    runs = [read_ledger(path) for path in ledger_files(home)]
    return [run for run in runs if run.unsettled and not run.alive]


def finish_command(run_id: str | None = None) -> str:
    """What a person types to finish the cleanup."""
    return "npm run evals -- cleanup" + (f" --run {run_id}" if run_id else "")
