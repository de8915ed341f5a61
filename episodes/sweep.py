"""Clean up what one run created, and only that.

A pull request is abandoned when a tool result in this run's ledger names it, its repository is on the allow-list, and
the host still has under that number what the ledger says. A call whose answer was lost is looked up by its marker. All
else is reported and left alone.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from episodes.cleanup_report import CleanupItem, CleanupReport, Outcome
from episodes.creations import Creation, RunLedger, read_ledger
from episodes.frozen import frozen
from episodes.ledger import Ledger, LedgerError, ledger_file

if TYPE_CHECKING:
    from endpoints import PullRequestHost

LOOK_AGAIN_SECONDS = 0.5


@frozen
class SweepOptions:
    """How to sweep.

    `step_id`: only that step's creations. `settle_s`: how long to wait for calls that may still be going on.
    `delete_branches`: whether source branches that carry our marker are deleted. `budget_s`: time for all requests to
    the host together, waiting included.
    """

    step_id: str | None = None
    dry_run: bool = False
    delete_branches: bool = True
    settle_s: float = 0.0
    budget_s: float = 60.0


def sweep(
    home: Path,
    run_id: str,
    find_host: Callable[[], PullRequestHost],
    options: SweepOptions | None = None,
) -> CleanupReport:
    """Clean up the run `run_id` of the data folder `home` and write down what was done.

    `find_host` is asked only when there is something to clean up, because it may start the local stack. Never raises
    for what a host, a network or a disk does: that is in the report. Safe to repeat, and safe beside another sweep.
    """
    chosen = options or SweepOptions()
    path = ledger_file(home, run_id)
    try:
        run = read_ledger(path)
        if not _chosen(run, chosen):
            return CleanupReport(run_id)
        items = _look_until_settled(path, run, find_host, chosen)
        if not chosen.dry_run:
            _write_down(home, run_id, items)
    except OSError as error:
        return CleanupReport(run_id, problems=(f"{path}: cannot be read: {error.strerror or error}",))
    except LedgerError as error:
        return CleanupReport(run_id, tuple(_flat(items)), (str(error),))
    return CleanupReport(run_id, tuple(_flat(items)))


def _look_until_settled(
    path: Path, run: RunLedger, find_host: Callable[[], PullRequestHost], options: SweepOptions
) -> dict[str, tuple[Creation, list[CleanupItem]]]:
    """Each intent's creation and items. Calls that may still be going on are looked at again until the time is up."""
    # Late, because it brings HTTP with it and most hook calls have nothing to do.
    from episodes.sweep_steps import Sweeper

    deadline = time.monotonic() + options.settle_s
    done: dict[str, tuple[Creation, list[CleanupItem]]] = {}
    waiting = _chosen(run, options)
    with Sweeper(find_host, options) as sweeper:
        while True:
            for creation, items in sweeper.handle(waiting):
                done[creation.intent_id] = creation, items
            again = {key for key, (_, items) in done.items() if any(one.outcome is Outcome.IN_FLIGHT for one in items)}
            if not again or time.monotonic() >= deadline:
                return done
            time.sleep(LOOK_AGAIN_SECONDS)
            waiting = [creation for creation in read_ledger(path).creations if creation.intent_id in again]


def _write_down(home: Path, run_id: str, done: dict[str, tuple[Creation, list[CleanupItem]]]) -> None:
    ledger = Ledger.open(home, run_id, host="")
    for intent_id, (creation, group) in done.items():
        if any(item.outcome is Outcome.IN_FLIGHT for item in group):
            continue
        for item in group:
            outcome = Outcome.FAILED if item.branch == "failed" else item.outcome
            ledger.swept(intent_id, item.step_id, item.repository, item.id, outcome, item.detail)
        if creation.pull_request is None and all(item.id for item in group):
            # Found by the marker: the intent itself is settled when all of them are.
            outcome = Outcome.FAILED if any(item.left for item in group) else group[0].outcome
            ledger.swept(intent_id, group[0].step_id, "", "", outcome)


def _chosen(run: RunLedger, options: SweepOptions) -> list[Creation]:
    return [one for one in run.unsettled if options.step_id is None or one.step_id == options.step_id]


def _flat(done: dict[str, tuple[Creation, list[CleanupItem]]]) -> list[CleanupItem]:
    return [item for _, group in done.values() for item in group]
