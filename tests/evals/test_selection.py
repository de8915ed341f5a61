"""Only what is certain is decided without promptfoo."""

from __future__ import annotations

from pathlib import Path

import pytest

from evals.command_line import CommandError
from evals.exit_codes import Exit
from evals.run_request import read_request
from evals.selection import Selectable, check_selection
from evals.suites import Suite

CASES = [
    Selectable("C01 copy", {"id": "C01", "priority": "smoke", "suite": "spoke-create"}),
    Selectable("C02 block", {"id": "C02", "priority": "full", "suite": "spoke-create"}),
]


def check(*words: str, complete: bool = True) -> None:
    request = read_request(words)
    assert request is not None
    check_selection(request, Suite("demo", Path("x"), (), complete), CASES)


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["--filter-metadata", "priority=smoke"],
        ["--filter-metadata", "priority=smo"],
        ["--filter-metadata", "suite=spoke"],
        ["--filter-pattern", "C0[12]"],
        ["--filter-pattern", "^C02"],
        ["--filter-pattern", r"\d{9}"],
        ["--filter-pattern", "("],
        ["--filter-metadata", "priority=none", "--resume", "eval-1"],
        ["--filter-metadata", "priority=none", "--tests", "other.csv"],
    ],
)
def test_what_may_select_something_is_left_to_promptfoo(words: list[str]) -> None:
    check(*words)


def test_tests_from_elsewhere_are_left_to_promptfoo() -> None:
    check("--filter-pattern", "nothing like it", complete=False)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            ["--filter-metadata", "priority=none"],
            "No case of demo matches --filter-metadata priority=none: priority can be full, smoke.",
        ),
        (
            ["--filter-pattern", "^c01"],
            "No description of a case of demo matches --filter-pattern ^c01: there are C01, C02.",
        ),
        (
            ["--filter-metadata", "priority=full", "--filter-pattern", "C01"],
            "No description of a case of demo matches --filter-pattern C01: there are C02.",
        ),
    ],
)
def test_what_selects_nothing_is_said_with_what_there_is(words: list[str], sentence: str) -> None:
    with pytest.raises(CommandError) as caught:
        check(*words)
    assert (str(caught.value), caught.value.code) == (sentence, Exit.NOTHING_SELECTED)
