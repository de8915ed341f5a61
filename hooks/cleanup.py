"""promptfoo's hooks: `extensions: [file://hooks/cleanup.py:beforeAll, …/cleanup.mjs:afterEach, …/cleanup.py:afterAll]`.

promptfoo starts a new process for each call, ends the whole run when `beforeAll` or `afterAll` raises, and carries on
silently when `afterEach` does. So nothing here raises, and nothing is imported before it is needed. `cleanup.mjs`
starts this file for rows that can have created something; with `cleanup.py:afterEach`, each row has a process.
"""

from __future__ import annotations

from typing import Any


def beforeAll(_context: dict[str, Any], _hook: dict[str, Any]) -> None:
    """Say what earlier runs left behind."""
    from hooks.earlier_runs import report_earlier_runs

    report_earlier_runs()


def afterEach(context: dict[str, Any], _hook: dict[str, Any]) -> dict[str, Any] | None:
    """Abandon what this row created; adds `metadata.cleanup` and the named score `cleanup_ok` when there was any."""
    from hooks.row import clean_row

    return clean_row(context)


def afterAll(context: dict[str, Any], _hook: dict[str, Any]) -> None:
    """Sweep the whole run, with what timed out or crashed, and write down what is left."""
    from hooks.whole_run import clean_run

    clean_run(context)


if __name__ == "__main__":
    import json
    import sys

    json.dump(afterEach(json.load(sys.stdin.buffer), {}), sys.stdout)
