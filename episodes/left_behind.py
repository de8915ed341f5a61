"""What is left behind: the marker file of a run, and the runs that never got as far as writing one."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from episodes.creations import RunLedger, ledger_files, read_ledger
from episodes.frozen import frozen
from episodes.ledger import LEDGER_FOLDER, ledger_file, left_file, now
from episodes.sweep import SweepOptions, sweep

if TYPE_CHECKING:
    from endpoints import PullRequestHost
    from episodes.cleanup_report import CleanupReport


@frozen
class Left:
    """What a run had to leave: one sentence each for a person, and the command that finishes the job."""

    run_id: str
    at: str
    sentences: tuple[str, ...]
    """What another sweep may settle."""
    by_hand: tuple[str, ...]
    """What no sweep will ever touch, because the ledger does not prove it."""
    command: str

    @property
    def all_sentences(self) -> tuple[str, ...]:
        return (*self.sentences, *self.by_hand)


def sweep_and_mark(
    home: Path,
    run_id: str,
    find_host: Callable[[], PullRequestHost],
    options: SweepOptions | None = None,
    by_hand: Sequence[str] = (),
) -> tuple[CleanupReport, Left | None]:
    """Sweep a run, and write its marker file, or remove it when nothing is left.

    `by_hand`: sentences about things that no sweep will touch. Those of an earlier marker are kept. A dry run leaves
    the marker as it is. Raises OSError when the marker can not be written.
    """
    report = sweep(home, run_id, find_host, options)
    before = read_left(home, run_id)
    if options is not None and options.dry_run:
        return report, before
    _note_settled(read_ledger(ledger_file(home, run_id)))
    kept = dict.fromkeys([*(before.by_hand if before else ()), *by_hand])
    sentences = [item.sentence() for item in report.left] + list(report.problems)
    return report, write_left(home, run_id, sentences, tuple(kept))


def write_left(home: Path, run_id: str, sentences: Sequence[str], by_hand: Sequence[str] = ()) -> Left | None:
    """Write the marker file of a run, or remove it when nothing is left. OSError when that is not possible."""
    path = left_file(home, run_id)
    if not sentences and not by_hand:
        path.unlink(missing_ok=True)
        return None
    left = Left(run_id, now(), tuple(sentences), tuple(by_hand), finish_command(run_id, by_hand=not sentences))
    content: dict[str, Any] = {
        "run": run_id,
        "at": left.at,
        "left": list(left.sentences),
        "byHand": list(left.by_hand),
        "command": left.command,
    }
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    scratch = path.with_name(f"{path.name}.{os.getpid()}")
    scratch.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
    scratch.replace(path)
    return left


def read_left(home: Path, run_id: str) -> Left | None:
    """The marker of a run; None when there is none. A marker that can not be read says so in its sentences."""
    return _read(left_file(home, run_id), run_id)


def markers(home: Path) -> list[Left]:
    """The markers of all runs, oldest first."""
    paths = sorted((home / LEDGER_FOLDER).glob("*.left.json"), key=lambda path: path.stat().st_mtime)
    found = [_read(path, path.name.removesuffix(".left.json")) for path in paths]
    return [left for left in found if left is not None]


def unfinished_runs(home: Path) -> list[RunLedger]:
    """Runs that have something left, oldest first; those that are still going on are among them.

    A ledger that was found settled is not read again until it grows, so that years of runs cost nothing at every start.
    """
    found = []
    for path in ledger_files(home):
        if _settled_size(path) != path.stat().st_size:
            run = read_ledger(path)
            if run.unsettled:
                found.append(run)
            else:
                _note_settled(run)
    return found


def finish_command(run_id: str | None = None, *, by_hand: bool = False) -> str:
    """What a person types to finish the cleanup; `by_hand`: once they have looked at what no sweep touches."""
    run = f" --run {run_id}" if run_id else ""
    return f"npm run evals -- cleanup{run}" + (" --settled-by-hand" if by_hand else "")


def _settled_note(path: Path) -> Path:
    return path.with_name(path.name.removesuffix(".jsonl") + ".settled")


def _settled_size(path: Path) -> int:
    try:
        return int(_settled_note(path).read_text(encoding="ascii"))
    except (OSError, ValueError):
        return -1


def _note_settled(run: RunLedger) -> None:
    """Write down how long the ledger was when nothing in it was open. It is a hint: without it the ledger is read."""
    if run.creations and not run.unsettled and not run.alive:
        with contextlib.suppress(OSError):
            _settled_note(run.path).write_text(str(run.size), encoding="ascii")


def _read(path: Path, run_id: str) -> Left | None:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        sentences = tuple(str(line) for line in content["left"])
        by_hand = tuple(str(line) for line in content["byHand"])
        run_id = str(content["run"])
        return Left(run_id, str(content["at"]), sentences, by_hand, finish_command(run_id, by_hand=not sentences))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError) as error:
        return Left(run_id, "", (f"{path} can not be read ({type(error).__name__})",), (), finish_command(run_id))
