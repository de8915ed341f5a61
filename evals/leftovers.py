"""What did a run open, what was abandoned, and what is left?

The hooks have usually cleaned up by now. After a run that was stopped they have not, so its ledger is swept here.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from endpoints.settings import promptfoo_home
from episodes.creations import SETTLED, read_ledger
from episodes.ledger import ledger_file
from evals.results import Row

SETTLE_SECONDS = 10.0
"""How long to wait for calls that were going on when the run was stopped."""

_ABANDONED = frozenset({"abandoned", "already_abandoned"})


@dataclass(frozen=True)
class Leftovers:
    """Numbers of pull requests, and one sentence for each thing that somebody has to look at."""

    opened: int
    abandoned: int
    left: tuple[str, ...] = ()
    command: str = ""


def settle(home: Path, eval_id: str, rows: Sequence[Row], interrupted: bool) -> Leftovers:
    """Sweep what is still open of the run `eval_id`, and count.

    Without a ledger (an agent that writes none, a run that created nothing) the rows are all there is to go by.
    """
    from episodes.left_behind import finish_command, read_left, sweep_and_mark
    from episodes.sweep import SweepOptions

    path = ledger_file(home, eval_id) if eval_id else None
    if path is None or not path.exists():
        opened = {pull.url or pull.id for row in rows for pull in row.opened if not pull.replayed}
        settled = {name for row in rows for name in _settled(row)}
        left = tuple(f"{name} was opened, and nothing shows that it was abandoned" for name in sorted(opened - settled))
        return Leftovers(len(opened), len(opened & settled), left, finish_command(eval_id) if eval_id and left else "")
    if read_ledger(path).unsettled and (interrupted or read_left(home, eval_id) is None):
        from endpoints import resolve_pull_request_host
        from hooks.switches import delete_branches

        options = SweepOptions(delete_branches=delete_branches(), settle_s=SETTLE_SECONDS)
        sweep_and_mark(home, eval_id, resolve_pull_request_host, options)
    creations = read_ledger(path).creations
    outcomes = [set(one.outcomes.values()) for one in creations if one.pull_request is not None]
    mark = read_left(home, eval_id)
    sentences = mark.all_sentences if mark else ()
    return Leftovers(
        len(outcomes), sum(bool(found & _ABANDONED) for found in outcomes), sentences, mark.command if mark else ""
    )


def find_eval_id(results_file: Path) -> str:
    """promptfoo's id of the evaluation that was to write this file, from its database; empty when it is not there.

    A run that was stopped has written its rows into the database and no id into a file.
    """
    database = promptfoo_home() / "promptfoo.db"
    try:
        connection = sqlite3.connect(f"{database.as_uri()}?mode=ro", uri=True)
        try:
            found = connection.execute(
                "SELECT id FROM evals WHERE instr(config, ?) ORDER BY created_at DESC LIMIT 1", (results_file.name,)
            ).fetchone()
        finally:
            connection.close()
    except sqlite3.Error:
        return ""
    return str(found[0]) if found else ""


def _settled(row: Row) -> Iterator[str]:
    for entry in row.cleanup:
        if entry.get("result") in SETTLED:
            yield str(entry.get("url") or entry.get("id") or "")
