"""Clean up after one row, as soon as it is judged."""

from __future__ import annotations

from typing import Any

from hooks.guard import Guard, say

SETTLE_SECONDS = 6.0
"""How long to wait for a call that was cut off when the row ended. Rows without such a call never wait."""


def clean_row(context: dict[str, Any]) -> dict[str, Any] | None:
    """Abandon the pull requests that the row's step created; never raises.

    Returns:
        None when the row created nothing, else a result with `metadata.cleanup` (a list of `{id, url, repository,
        stepId, action, result, branch, detail}`) and `namedScores.cleanup_ok` (1, or 0 when something is left).
    """
    answers: list[dict[str, Any]] = []
    with Guard("afterEach", lambda problem: answers.append(_answer([_broken(problem)], False))):
        record = _record_of(context)
        run_id, step_id = record.get("evalId"), record.get("stepId")
        if isinstance(run_id, str) and run_id and isinstance(step_id, str) and step_id:
            listed = [pull for pull in record.get("pullRequests") or [] if isinstance(pull, dict)]
            # One that is replayed was created when the recording was made: it is not this run's to touch.
            return _clean(run_id, step_id, [pull for pull in listed if pull.get("replayed") is not True])
    return answers[0] if answers else None


def _record_of(context: dict[str, Any]) -> dict[str, Any]:
    result = context.get("result") or {}
    for holder in (result.get("response"), result):
        record = holder.get("metadata") if isinstance(holder, dict) else None
        if isinstance(record, dict) and record.get("evalId"):
            return record
    return {}


def _clean(run_id: str, step_id: str, named: list[dict[str, Any]]) -> dict[str, Any] | None:
    from endpoints import resolve_pull_request_host
    from endpoints.settings import home
    from episodes.creations import read_ledger
    from episodes.ledger import ledger_file
    from episodes.sweep import SweepOptions, sweep
    from hooks.switches import delete_branches

    options = SweepOptions(step_id=step_id, delete_branches=delete_branches(), settle_s=SETTLE_SECONDS)
    report = sweep(home(), run_id, resolve_pull_request_host, options)
    ledger = read_ledger(ledger_file(home(), run_id))
    proven = {one.pull_request.id for one in ledger.creations if one.pull_request and one.step_id == step_id}
    unproven = [_unproven(pull, step_id) for pull in named if pull.get("id") not in proven]
    entries = [item.to_json() for item in report.items] + unproven + [_broken(problem) for problem in report.problems]
    for sentence in [item.sentence() for item in report.left] + list(report.problems):
        say("WARN", f"cleanup of {step_id}: {sentence}")
    return _answer(entries, report.clean and not unproven) if entries else None


def _unproven(pull: dict[str, Any], step_id: str) -> dict[str, Any]:
    return {
        "id": str(pull.get("id", "")),
        "url": str(pull.get("url", "")),
        "repository": str(pull.get("repository", "")),
        "stepId": step_id,
        "action": "none",
        "result": "unproven",
        "branch": "",
        "detail": "the record names it, but the ledger of this run does not; not touched",
        "byHand": True,
    }


def _broken(problem: str) -> dict[str, Any]:
    return {"id": "", "url": "", "action": "none", "result": "failed", "detail": problem}


def _answer(entries: list[dict[str, Any]], ok: bool) -> dict[str, Any]:
    return {"result": {"metadata": {"cleanup": entries}, "namedScores": {"cleanup_ok": 1 if ok else 0}}}
