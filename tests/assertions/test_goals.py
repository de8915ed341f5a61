"""The steps of a simulation, judged from the record."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from assertions.evidence import Evidence
from assertions.goals import check
from assertions.run_check import grade
from assertions.verdict import CheckResult
from episodes.record import Goal
from tests.assertions.conversations import FAIL, NOT_EVALUATED, PASS, conversation

REACHED = Goal(1, "Ask for a copy.", "reached", 'The agent: "Which region?"')
MISSED = Goal(2, "Give the region.", "not_reached", "Not reached in 3 turns. The agent did not ask.")
BLOCKED = Goal(3, "Confirm.", "blocked", 'Never tried: step 2 was not reached ("Give the region.").')


def judged(goals: tuple[Goal, ...], **config: Any) -> CheckResult:
    evidence = conversation()
    assert evidence.episode is not None
    return grade("goals", check, Evidence(replace(evidence.episode, goals=goals), case_id="C01"), config)


def test_all_steps_reached_passes() -> None:
    result = judged((REACHED, replace(REACHED, step=2)))
    assert (result.verdict, result.reason, result.named_scores) == (PASS, "Goals (2/2)", {"goals.reached": 1.0})


def test_the_first_step_that_was_not_reached_is_the_reason() -> None:
    result = judged((REACHED, MISSED, BLOCKED))
    assert result.verdict is FAIL
    assert result.reason == (
        'Goals (1/3); step 2 ("Give the region.") was not reached: Not reached in 3 turns. The agent did not ask.'
    )
    assert result.score == pytest.approx(1 / 3)


def test_fewer_steps_can_be_enough() -> None:
    assert judged((REACHED, MISSED), at_least=1).verdict is PASS
    assert judged((REACHED, MISSED), at_least=2).verdict is FAIL


def test_a_record_without_steps_is_not_evaluated_and_never_passes() -> None:
    assert judged(()).verdict is NOT_EVALUATED


@pytest.mark.parametrize("at_least", [0, 3, "all"])
def test_a_wrong_number_of_steps_is_a_configuration_error(at_least: Any) -> None:
    result = judged((REACHED, MISSED), at_least=at_least)
    assert result.verdict is NOT_EVALUATED
    assert "config of goals, /at_least" in result.reason
