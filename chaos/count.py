"""The count after the sweep: what is left, what was touched that should not have been."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from chaos.rounds import RoundResult
from chaos.stage import Stage
from episodes.creations import ledger_files, read_ledger


@dataclass(frozen=True)
class Count:
    """Numbers of pull requests, branches, rows and processes. `faults` says in sentences what must not be."""

    opened: int
    abandoned: int
    left: int
    branches_left: int
    foreign: int
    foreign_touched: int
    rows: int
    rows_without_record: int
    faults: tuple[str, ...]


def count(stage: Stage, results: Sequence[RoundResult], sweep_code: int) -> Count:
    """Compare the repository with what the rounds did; every number that must be 0 and is not becomes a fault."""
    pulls = stage.pull_requests()
    tips = stage.tips()
    foreign = {one.number: one for one in stage.foreign}
    ours = [pull for pull in pulls if pull.id not in foreign]
    status = {pull.id: pull.status for pull in pulls}
    touched = [
        one.number for one in stage.foreign if status.get(one.number) != "active" or tips.get(one.branch) != one.tip
    ]
    ours_left = [pull.id for pull in ours if pull.status != "abandoned"]
    branches = [pull.source_branch for pull in ours if pull.source_branch in tips]
    unsettled = [creation.intent_id for path in ledger_files(stage.home) for creation in read_ledger(path).unsettled]
    rows = sum(result.rows for result in results)
    lost = sum(result.without_record for result in results)
    killed = sum(result.workers_killed for result in results)
    repository = stage.check_repository()
    faults = [
        *([f"pull requests left open or merged: {', '.join(ours_left)}"] if ours_left else []),
        *([f"branches left: {', '.join(branches)}"] if branches else []),
        *([f"somebody else's pull requests touched: {', '.join(touched)}"] if touched else []),
        *([f"entries of the ledger not settled: {', '.join(unsettled)}"] if unsettled else []),
        *([f"rows without a record: {lost}, and only {killed} workers were killed"] if lost > killed else []),
        *([f"the sweep ended with {sweep_code}"] if sweep_code else []),
        *([f"git fsck: {repository}"] if repository else []),
        *(f"round {result.round.number} did not end by itself" for result in results if result.stuck),
        *(
            f"round {result.round.number}: {result.outlived} processes went on after promptfoo"
            for result in results
            if result.outlived
        ),
        *(["nothing was opened, so nothing was shown"] if not ours else []),
    ]
    return Count(
        opened=len(ours),
        abandoned=sum(pull.status == "abandoned" for pull in ours),
        left=len(ours_left),
        branches_left=len(branches),
        foreign=len(foreign),
        foreign_touched=len(touched),
        rows=rows,
        rows_without_record=lost,
        faults=tuple(faults),
    )
