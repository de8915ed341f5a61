"""What a runner of simulations in the field is known to let pass, played here to the end and through the assertions.

Each test names the false pass. The verdict is the one that a case gets from `goals` and, for expectations on the whole
conversation, from `rubric`: never a pass.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from assertions.evidence import Evidence
from assertions.goals import check as check_goals
from assertions.rubric import check as check_rubric
from assertions.run_check import grade
from assertions.verdict import CheckResult, Verdict
from episodes.record import StopReason
from providers.agent_protocol import AgentAnswer, ConfigurationProblem
from providers.conversation.simulation import read_steps
from tests.providers.conversation.queues import model_queues
from tests.providers.conversation.talks import Outcome, talk

ASKS = {"goal": "Ask for a refund.", "success_criteria": "Agent asks for the reason."}
INSISTS = {"goal": "Insist on the refund.", "success_criteria": "Agent agrees to the refund or escalates."}
EXPECTATIONS = ["asks for the reason", "agrees to the refund", "is polite"]


def met(evidence: str = "", *, is_met: bool = True) -> dict[str, Any]:
    return {"criterion": "c", "met": is_met, "evidence": evidence}


def verdict(*entries: dict[str, Any], **more: Any) -> str:
    return json.dumps({"criteria": list(entries), "reason": "as proposed", **more})


def simulation(*steps: dict[str, Any]) -> dict[str, Any]:
    return {"simulation": {"steps": list(steps)}}


def goals(outcome: Outcome) -> CheckResult:
    return grade("goals", check_goals, Evidence(outcome.episode, case_id="F01"), {})


def reached(outcome: Outcome) -> int:
    return sum(goal.status == "reached" for goal in outcome.episode.goals)


@pytest.mark.parametrize("reply", [verdict(), "{}", '{"criteria": [], "steps": [], "reason": "0/0"}', "[]", ""])
def test_an_empty_progress_list_ends_the_run_as_nought_of_nought_goals_reached(reply: str) -> None:
    outcome = talk(simulation(ASKS, INSISTS), ["Why?"], user=["A refund, please."], judge=[reply])
    assert outcome.stop is StopReason.SIMULATOR_DEFECT
    assert (reached(outcome), len(outcome.episode.goals)) == (0, 2)
    assert goals(outcome).verdict is Verdict.FAIL


def test_a_run_without_any_step_has_reached_all_of_them() -> None:
    with pytest.raises(ConfigurationProblem, match="at least one step"):
        read_steps({"steps": []})
    outcome = talk({"goal": "A refund."}, ["Done."], user=["A refund, please.", "###STOP###"])
    assert goals(outcome).verdict is Verdict.NOT_EVALUATED


def test_a_run_that_never_began_has_missed_no_step() -> None:
    outcome = talk(simulation(ASKS, INSISTS), ["Why?"], user=[""])
    assert outcome.agent.seen == []
    assert goals(outcome).verdict is Verdict.FAIL


@pytest.mark.parametrize("answer", ["Go away.", ""])
def test_static_steps_pass_whatever_the_agent_says(answer: str) -> None:
    balance = {"static_utterance": "I want to check my balance.", "success_criteria": "Agent tells the balance."}
    outcome = talk(simulation({"static_utterance": "Hello."}, balance), [answer], judge=[verdict(met(is_met=False))])
    assert goals(outcome).verdict is Verdict.FAIL


def test_static_steps_that_demand_nothing_make_a_simulation_that_can_not_fail() -> None:
    with pytest.raises(ConfigurationProblem, match="it would pass whatever the agent says"):
        read_steps({"steps": [{"static_utterance": "Hello."}, {"event": "timeout"}]})


@pytest.mark.parametrize(
    "reason",
    [StopReason.PROVIDER_ERROR, StopReason.DEADLINE, StopReason.TOOL_UNAVAILABLE, StopReason.CONTENT_FILTER],
)
def test_a_terminal_failure_completes_the_step_it_happened_in(reason: StopReason) -> None:
    """However willing the judge: after a failure it is not asked."""
    broke_off = AgentAnswer("Why?", reason, "gone")
    outcome = talk(simulation(ASKS, INSISTS), [broke_off], user=["A refund, please."], judge=[verdict(met("Why?"))])
    assert outcome.stop is reason
    assert not outcome.model.asked("judge")
    assert goals(outcome).verdict is Verdict.FAIL


@pytest.mark.parametrize("reply", [verdict(met(is_met=False)), verdict(met("I transfer you."))])
def test_the_end_of_the_session_completes_a_step_whose_criterion_speaks_of_a_transfer(reply: str) -> None:
    """It is checked like any other, and what the judge quotes was never said."""
    left = AgentAnswer("Goodbye.", StopReason.AGENT_HANDOFF)
    outcome = talk(simulation(INSISTS), [left], user=["I insist."], judge=[reply])
    assert len(outcome.model.asked("judge")) == 1
    assert goals(outcome).verdict is Verdict.FAIL


def test_a_model_completes_steps_that_were_never_tried() -> None:
    claim = verdict(met("Why?"), steps=[{"status": "Completed"}] * 2, all_completed=True)
    outcome = talk(
        simulation(ASKS, INSISTS),
        ["Why?"],
        user=["A refund, please.", "It is broken.", "I insist.", "Now!"],
        judge=[claim, verdict(met(is_met=False))],
    )
    assert reached(outcome) == 1
    assert goals(outcome).verdict is Verdict.FAIL


@pytest.mark.parametrize("returned", [0, 1, 2])
def test_fewer_verdicts_than_declared_expectations_count_as_all_met(
    returned: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    outcome = talk({"goal": "A refund."}, ["Why?"], user=["A refund, please.", "###STOP###"])
    entries = [{"criterion": text, "met": True, "evidence": "Why?"} for text in EXPECTATIONS[:returned]]
    with model_queues(judge=[verdict(*entries)]) as models:
        for name, value in {"BASE_URL": models.url, "API_KEY": "key"}.items():
            monkeypatch.setenv(f"EVALS_MODEL_{name}", value)
        monkeypatch.setenv("EVALS_JUDGE_MODEL", "judge")
        evidence = Evidence(outcome.episode, vars={"request": "A refund, please."}, case_id="F02")
        result = grade("rubric", check_rubric, evidence, {"criteria": EXPECTATIONS})
    assert result.verdict is Verdict.NOT_EVALUATED
    assert result.reason.startswith("NOT EVALUATED: the judge's reply can not be used: ")
