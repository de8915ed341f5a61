"""Results files become rows with one of four outcomes, whoever wrote them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evals.results import Opened, ResultsError, Status, Tokens, read_results


def row(**changes: Any) -> dict[str, Any]:
    """A row as promptfoo writes it, passed unless it is changed."""
    return {
        "success": True,
        "score": 1,
        "failureReason": 0,
        "testIdx": 0,
        "promptIdx": 0,
        "latencyMs": 12,
        "namedScores": {"tool_sequence.recall": 1},
        "provider": {"id": "file://provider.py", "label": "agent"},
        "testCase": {
            "description": "C01 copy",
            "metadata": {"id": "C01", "group": "copies", "priority": "smoke", "suite": "spoke-create"},
        },
        "response": {"metadata": {"pullRequests": []}},
        "tokenUsage": {"prompt": 3, "completion": 2, "numRequests": 1},
        **changes,
    }


def failed(*checks: tuple[bool, str], **changes: Any) -> dict[str, Any]:
    parts = [{"pass": passed, "reason": reason} for passed, reason in checks]
    whole = {"pass": False, "reason": checks[0][1], "componentResults": [{"pass": False, "componentResults": parts}]}
    return row(success=False, score=0, failureReason=1, error=checks[0][1], gradingResult=whole, **changes)


def read(tmp_path: Path, *rows: dict[str, Any]) -> Any:
    file = tmp_path / "results.json"
    file.write_text(json.dumps({"evalId": "eval-1", "results": {"results": list(rows)}}), encoding="utf-8")
    return read_results(file)


def test_a_row_tells_suite_case_group_and_scores(tmp_path: Path) -> None:
    results = read(tmp_path, row())
    (found,) = results.rows
    assert (results.eval_id, results.complete) == ("eval-1", True)
    assert (found.suite, found.case_id, found.group, found.priority) == ("spoke-create", "C01", "copies", "smoke")
    assert (found.provider, found.status, found.reason, found.score) == ("agent", Status.PASSED, "", 1.0)
    assert (found.named_scores, found.latency_ms) == ({"tool_sequence.recall": 1.0}, 12.0)
    assert found.tokens == Tokens(3, 2, 1, None)


@pytest.mark.parametrize(
    ("written", "status", "reason"),
    [
        (failed((True, "fine"), (False, "turn 2: unexpected call")), Status.FAILED, "turn 2: unexpected call"),
        (failed((False, "NOT EVALUATED: no telemetry")), Status.NOT_EVALUATED, "no telemetry"),
        (
            failed((False, "Error running Python script: KeyError: 'a'\nStack Trace: Error: at run.js:3")),
            Status.NOT_EVALUATED,
            "Error running Python script: KeyError: 'a'\nStack Trace: Error: at run.js:3",
        ),
        (
            failed((False, "Python code execution failed: no python")),
            Status.NOT_EVALUATED,
            "Python code execution failed: no python",
        ),
        (failed((False, "NOT EVALUATED: no telemetry"), (False, "wrong")), Status.FAILED, "wrong"),
        (row(success=False, failureReason=2, error="the model is gone"), Status.ERRORED, "the model is gone"),
        (row(success=False, failureReason=2), Status.ERRORED, "no reason was given"),
        (row(success=False, failureReason=1, error="below the threshold"), Status.FAILED, "below the threshold"),
        (
            row(success=False, failureReason=1, gradingResult={"pass": False, "reason": "Score below threshold"}),
            Status.FAILED,
            "Score below threshold",
        ),
    ],
)
def test_a_check_that_could_not_be_made_is_neither_a_failure_nor_an_error(
    tmp_path: Path, written: dict[str, Any], status: Status, reason: str
) -> None:
    (found,) = read(tmp_path, written).rows
    assert (found.status, found.reason) == (status, reason)


def test_tokens_are_taken_from_the_record_with_all_roles(tmp_path: Path) -> None:
    usage = {
        "agent": {"promptTokens": 10, "completionTokens": 1, "requests": 2, "cost": 0.25},
        "user": {"promptTokens": 5, "completionTokens": 2, "requests": 1, "cost": None},
    }
    (found,) = read(tmp_path, row(response={"metadata": {"usage": usage}})).rows
    assert found.tokens == Tokens(15, 3, 3, 0.25)


def test_pull_requests_and_cleanup_are_taken_from_the_record(tmp_path: Path) -> None:
    pulls = [{"url": "https://h/1", "id": "1", "repository": "r"}, "no pull request", {}]
    cleanup = [{"id": "1", "result": "abandoned"}]
    (found,) = read(tmp_path, row(response={"metadata": {"pullRequests": pulls}}, metadata={"cleanup": cleanup})).rows
    assert found.opened == (Opened("https://h/1", "1", "r"),)
    assert found.cleanup == ({"id": "1", "result": "abandoned"},)


def test_what_a_row_replayed_is_told_apart_from_what_it_created(tmp_path: Path) -> None:
    pulls = [{"url": "https://h/1", "id": "1", "repository": "r", "replayed": True}]
    recorded = {"pullRequests": pulls, "cassette": {"file": "suites/s/cassettes/C01.jsonl", "mode": "none"}}
    (found,) = read(tmp_path, row(response={"metadata": recorded})).rows
    assert (found.opened, found.replayed) == ((Opened("https://h/1", "1", "r", replayed=True),), True)
    (live,) = read(tmp_path, row(response={"metadata": recorded | {"cassette": {"mode": "all"}}})).rows
    assert not live.replayed


def test_rows_come_in_the_order_of_the_cases(tmp_path: Path) -> None:
    results = read(tmp_path, row(testIdx=2), row(testIdx=0, promptIdx=1), row(testIdx=0))
    assert [one.metadata for one in results.rows] == [{"pullRequests": []}] * 3
    names = read(
        tmp_path,
        row(testIdx=1, testCase={"description": "second"}),
        row(testIdx=0, promptIdx=1, testCase={"description": "first, second provider"}),
        row(testIdx=0, testCase={"description": "first"}),
    )
    assert [one.case_id for one in names.rows] == ["first", "first, second provider", "second"]


def test_a_case_without_metadata_has_the_name_that_it_can_have(tmp_path: Path) -> None:
    (found,) = read(tmp_path, row(testCase={"vars": {}}, testIdx=7)).rows
    assert (found.suite, found.case_id, found.group) == ("agent", "test 7", "")


def test_rows_of_a_stopped_run_are_read_as_far_as_they_were_written(tmp_path: Path) -> None:
    file = tmp_path / "results.jsonl"
    whole = json.dumps(row(metadata={"evalId": "eval-2"}))
    file.write_text(f"{whole}\n\n3\n{whole[:50]}", encoding="utf-8")
    results = read_results(file)
    assert (len(results.rows), results.eval_id, results.complete) == (1, "eval-2", False)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"results": {"results": 3}}', '{"results": {"results": [3]}}'])
def test_another_file_is_refused_by_name(tmp_path: Path, text: str) -> None:
    file = tmp_path / "other.json"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ResultsError, match=r"other\.json: is no results file of promptfoo"):
        read_results(file)


def test_a_missing_file_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(ResultsError, match=r"none\.json: cannot be read: No such file or directory"):
        read_results(tmp_path / "none.json")
