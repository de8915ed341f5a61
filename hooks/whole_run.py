"""Sweep a run when its last row is done: what timed out, crashed or was still going on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hooks.guard import Guard, say

SETTLE_SECONDS = 20.0
"""How long to wait for calls of rows that promptfoo has given up on. Runs without such a call never wait."""
BUDGET_SECONDS = 240.0
"""For all requests to the host together."""


def clean_run(context: dict[str, Any]) -> None:
    """Sweep the run; write the marker file when something is left, else remove it. Never raises."""
    from endpoints.settings import home
    from episodes.left_behind import sweep_and_mark, write_left

    run_id = context.get("evalId")
    if not isinstance(run_id, str) or not run_id:
        say("ERROR", "afterAll: promptfoo gave no evaluation id, so nothing was swept; run `evals cleanup`")
        return
    with Guard("afterAll", lambda problem: write_left(home(), run_id, [problem])):
        from endpoints import resolve_pull_request_host
        from episodes.sweep import SweepOptions
        from hooks.switches import delete_branches

        options = SweepOptions(delete_branches=delete_branches(), settle_s=SETTLE_SECONDS, budget_s=BUDGET_SECONDS)
        _, left = sweep_and_mark(home(), run_id, resolve_pull_request_host, options, list(_unproven(context)))
        for sentence in left.all_sentences if left else ():
            say("WARN", f"left behind: {sentence}")


def _unproven(context: dict[str, Any]) -> Iterator[str]:
    """Pull requests that a record names and the ledger does not: no sweep of the ledger finds them."""
    for row in context.get("results") or []:
        metadata = row.get("metadata") if isinstance(row, dict) else None
        entries = metadata.get("cleanup") if isinstance(metadata, dict) else None
        for entry in entries if isinstance(entries, list) else []:
            if isinstance(entry, dict) and entry.get("result") == "unproven" and entry.get("byHand") is True:
                yield f"unproven: {entry.get('url')} ({entry.get('stepId')}): {entry.get('detail')}"
