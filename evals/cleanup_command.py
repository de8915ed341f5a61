"""`evals cleanup`: abandon what runs have left behind, because they were killed or the host did not answer."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from endpoints import resolve_pull_request_host
from endpoints.settings import home
from episodes.cleanup_report import Outcome
from episodes.creations import Creation, RunLedger
from episodes.hosts.moments import seconds
from episodes.ledger import Ledger
from episodes.left_behind import Left, finish_command, markers, sweep_and_mark, unfinished_runs, write_left
from episodes.sweep import SweepOptions
from evals.command_line import CommandError, parser
from evals.exit_codes import Exit
from hooks.switches import delete_branches

EXAMPLES = """\
  npm run evals -- cleanup --dry-run
  npm run evals -- cleanup --older-than 2h
  npm run evals -- cleanup --run eval-VUO-2026-03-01T10:00:00
  npm run evals -- cleanup --run eval-VUO-2026-03-01T10:00:00 --settled-by-hand"""
BUDGET_SECONDS = 600.0
"""For all requests to the host about one run."""
SETTLE_SECONDS = 10.0
_AGE = re.compile(r"(\d+)([smhd])")
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


@dataclass(frozen=True)
class _Run:
    """A run with something left: in its ledger, in its marker, or in both."""

    run_id: str
    ledger: RunLedger | None
    left: Left | None

    @property
    def last_sign_at(self) -> str:
        return (self.ledger.last_line_at if self.ledger else "") or (self.left.at if self.left else "")


def main(arguments: list[str]) -> int:
    """Sweep the chosen runs. 0: nothing is left; 3: something is, and what to do is printed; 5: wrong command line."""
    options = parser("cleanup", __doc__ or "", EXAMPLES)
    options.add_argument("--dry-run", action="store_true", help="say what would be done, and do nothing")
    options.add_argument("--older-than", metavar="AGE", help="only runs whose last sign is older: 90s, 30m, 2h, 7d")
    options.add_argument("--run", metavar="ID", action="append", help="only this run, also when it is still going on")
    options.add_argument("--keep-branches", action="store_true", help="do not delete branches")
    options.add_argument(
        "--settled-by-hand", action="store_true", help="with --run: you have dealt with what is left; touch nothing"
    )
    chosen = options.parse_args(arguments)
    if chosen.settled_by_hand and not chosen.run:
        raise CommandError("--settled-by-hand needs --run ID: say which run you have dealt with.")
    folder = home()
    runs = _chosen(_unfinished(folder), chosen.run, _age(chosen.older_than))
    if not runs:
        print("Nothing to clean up.")
        return Exit.PASSED
    if chosen.settled_by_hand:
        for run in runs:
            _settle(folder, run)
        return Exit.PASSED
    sweep_options = SweepOptions(
        dry_run=chosen.dry_run,
        delete_branches=delete_branches() and not chosen.keep_branches,
        settle_s=SETTLE_SECONDS,
        budget_s=BUDGET_SECONDS,
    )
    return max([_clean(folder, run, sweep_options) for run in runs])


def _unfinished(folder: Path) -> list[_Run]:
    lefts = {left.run_id: left for left in markers(folder)}
    found = [_Run(run.run_id, run, lefts.pop(run.run_id, None)) for run in unfinished_runs(folder)]
    return found + [_Run(left.run_id, None, left) for left in lefts.values()]


def _chosen(runs: list[_Run], wanted: Sequence[str] | None, age_s: float) -> list[_Run]:
    if wanted:
        missing = [run_id for run_id in wanted if run_id not in {run.run_id for run in runs}]
        for run_id in missing:
            print(f"{run_id}: nothing is left of it, or it is not in {home()}.")
        return [run for run in runs if run.run_id in wanted]
    kept = []
    for run in runs:
        if run.ledger is not None and run.ledger.alive:
            print(f"{run.run_id}: still going on, skipped.")
        elif time.time() - seconds(run.last_sign_at) >= age_s:
            kept.append(run)
    return kept


def _clean(folder: Path, run: _Run, options: SweepOptions) -> Exit:
    try:
        report, left = sweep_and_mark(folder, run.run_id, resolve_pull_request_host, options)
    except OSError as error:
        print(f"{run.run_id}: {error.filename}: {error.strerror}", file=sys.stderr)
        return Exit.LEFT_BEHIND
    print(f"{run.run_id}:")
    for item in report.items:
        loud = "  LEFT  " if item.left else "        "
        print(f"{loud}{item.sentence()}")
    for problem in (*report.problems, *(left.by_hand if left else ())):
        print(f"  LEFT  {problem}")
    if report.count(Outcome.WOULD_ABANDON):
        print(f"        To do it: {finish_command(run.run_id)}")
    elif left is not None:
        print(f"        Look at what is left, then: {left.command}")
        if left.sentences:
            print(f"        Dealt with it by hand? {finish_command(run.run_id, by_hand=True)}")
    return Exit.PASSED if report.clean and left is None else Exit.LEFT_BEHIND


def _settle(folder: Path, run: _Run) -> None:
    ledger = Ledger.open(folder, run.run_id, host="")
    for creation in run.ledger.unsettled if run.ledger else ():
        number = creation.pull_request.id if creation.pull_request else ""
        repository = creation.pull_request.repository if creation.pull_request else ""
        ledger.swept(creation.intent_id, creation.step_id, repository, number, Outcome.SETTLED_BY_HAND)
        print(f"{run.run_id}: settled by hand: {_name(creation)}")
    for sentence in run.left.by_hand if run.left else ():
        print(f"{run.run_id}: settled by hand: {sentence}")
    write_left(folder, run.run_id, ())


def _name(creation: Creation) -> str:
    return creation.pull_request.url if creation.pull_request else f"call of {creation.tool} at {creation.at}"


def _age(text: str | None) -> float:
    if text is None:
        return 0.0
    match = _AGE.fullmatch(text)
    if match is None:
        raise CommandError(f"--older-than {text}: an age is a number and a unit (s, m, h or d), such as 2h.")
    return float(match[1]) * _UNITS[match[2]]
