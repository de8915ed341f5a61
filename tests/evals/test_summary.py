"""The exit code that decides, and the words that explain it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from evals.exit_codes import Exit, worst
from evals.leftovers import Leftovers
from evals.results import Opened, Row, Status, Tokens
from evals.summary import LONGEST_REASON, RunOutcome, in_words


def row(status: Status = Status.PASSED, **changes: Any) -> Row:
    fields: dict[str, Any] = {
        "suite": "spoke-create",
        "case_id": "C01",
        "group": "copies",
        "priority": "smoke",
        "provider": "agent",
        "status": status,
        "reason": "" if status is Status.PASSED else "because",
        "score": 1.0,
        "named_scores": {},
        "tokens": Tokens(),
        "latency_ms": 1.0,
    }
    return Row(**{**fields, **changes})


def outcome(*rows: Row, **changes: Any) -> RunOutcome:
    fields: dict[str, Any] = {
        "suite": "all",
        "rows": rows,
        "leftovers": Leftovers(0, 0),
        "seconds": 1.0,
        "results_file": None,
    }
    return RunOutcome(**{**fields, **changes})


PASSED, FAILED, ERRORED, UNCLEAR = map(row, Status)
LEFT = Leftovers(1, 0, ("https://h/1 is still open",), "npm run evals -- cleanup --run e")


@pytest.mark.parametrize(
    ("what", "code"),
    [
        (outcome(PASSED), Exit.PASSED),
        (outcome(PASSED, FAILED), Exit.FAILED),
        (outcome(PASSED, ERRORED), Exit.NOT_EVALUATED),
        (outcome(PASSED, UNCLEAR), Exit.NOT_EVALUATED),
        (outcome(FAILED, UNCLEAR), Exit.NOT_EVALUATED),
        (outcome(FAILED, ERRORED, leftovers=LEFT), Exit.LEFT_BEHIND),
        (outcome(PASSED, leftovers=LEFT), Exit.LEFT_BEHIND),
        (outcome(), Exit.NOTHING_SELECTED),
        (outcome(PASSED, interrupted=True), Exit.INTERRUPTED),
        (outcome(interrupted=True), Exit.INTERRUPTED),
        (outcome(PASSED, interrupted=True, leftovers=LEFT), Exit.LEFT_BEHIND),
    ],
)
def test_the_exit_code_is_the_one_that_needs_a_person_first(what: RunOutcome, code: Exit) -> None:
    assert what.exit is code


def test_set_up_problems_outrank_everything_and_nothing_at_all_is_a_pass() -> None:
    assert worst(Exit) is Exit.SETUP
    assert worst([]) is Exit.PASSED


def test_suites_and_groups_are_counted_apart() -> None:
    rows = [
        row(),
        row(Status.FAILED, case_id="C18", group="blocked"),
        row(Status.ERRORED, case_id="C19", group="blocked"),
        row(suite="spoke-qa", case_id="Q01", group="knowledge"),
    ]
    text = in_words(outcome(*rows, seconds=75.2))
    assert text == (
        "\nspoke-create: 1 passed, 1 failed, 1 error\n"
        "  copies   1 passed\n"
        "  blocked  0 passed, 1 failed, 1 error\n"
        "spoke-qa: 1 passed\n"
        "\n"
        "Did not pass:\n"
        "  C18, failed: because\n"
        "  C19, error: because\n"
        "\n"
        "2 passed, 1 failed, 1 error of 4 cases in 1 min 15 s."
    )


def test_two_providers_side_by_side_are_told_apart() -> None:
    text = in_words(outcome(row(provider="old"), row(Status.FAILED, provider="new")))
    assert "  old / copies  1 passed\n  new / copies  0 passed, 1 failed\n" in text
    assert "  C01 / new, failed: because\n" in text
    assert "of 2 runs of 1 case in" in text


def test_a_reason_is_one_line_of_bounded_length_without_a_stack() -> None:
    long = row(Status.FAILED, reason="word\n  " * 500)
    stack = row(Status.ERRORED, reason="Error: gone\n    at main (file.js:1:2)\n    at other")
    lines = in_words(outcome(long, stack)).splitlines()
    shown = next(line for line in lines if line.startswith("  C01, failed: "))
    assert shown.endswith("…")
    assert len(shown) == len("  C01, failed: ") + LONGEST_REASON
    assert "  C01, error: Error: gone" in lines


def test_the_lines_of_a_reason_stay_apart_on_their_one_line() -> None:
    diff = row(Status.FAILED, reason="1 expected change missing\nmissing: ~ /a → true\n\n")
    assert "failed: 1 expected change missing; missing: ~ /a → true\n" in in_words(outcome(diff))


def test_what_a_terminal_would_obey_is_shown_as_nothing_in_particular() -> None:
    hostile = row(Status.FAILED, reason="said \x1b]0;owned\x07\x1b[2J and \u202etxt.exe\x00")
    assert "failed: said �]0;owned��[2J and �txt.exe�\n" in in_words(outcome(hostile))


def test_what_is_left_is_told_with_the_command_that_finishes_it(tmp_path: Path) -> None:
    text = in_words(outcome(PASSED, leftovers=LEFT, results_file=tmp_path / "r.json"))
    assert (
        "Pull requests: 1 opened, 0 abandoned.\n"
        "LEFT BEHIND, 1 thing to look at:\n"
        "  https://h/1 is still open\n"
        "  To finish: npm run evals -- cleanup --run e\n"
        f"Results: {tmp_path}/r.json\n"
        "To look at them: npm run eval:view (or yarn eval:view)"
    ) in text


def test_a_run_against_the_local_model_says_so_unless_all_of_it_was_replayed() -> None:
    sentence = "Model: the local stand-in, which proves nothing about a real one."
    assert sentence in in_words(outcome(row(), row(replayed=True), stand_in=True)).splitlines()
    assert sentence not in in_words(outcome(row(replayed=True), stand_in=True))
    assert sentence not in in_words(outcome(row()))


def test_what_was_replayed_is_not_counted_as_opened_or_spent() -> None:
    replayed = row(opened=(Opened("https://h/1", replayed=True),), tokens=Tokens(3, 2, 1), replayed=True)
    text = in_words(outcome(replayed, replayed))
    assert "Pull requests: 0 opened (2 replayed).\n" in text
    assert text.endswith("Tokens: 10 (6 in, 4 out) in 2 model requests, spent when they were recorded.")
    created = row(opened=(Opened("https://h/2"),), tokens=Tokens(3, 2, 1))
    mixed = in_words(outcome(replayed, created, leftovers=Leftovers(1, 1)))
    assert "Pull requests: 1 opened (1 replayed), 1 abandoned.\n" in mixed
    assert mixed.endswith("in 2 model requests, those of recordings included.")


def test_a_stopped_run_says_so_first() -> None:
    assert in_words(outcome(PASSED, interrupted=True)).startswith("\nStopped after 1 case; what is known until then:\n")
