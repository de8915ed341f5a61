"""The judged assertions end to end: groundedness, the user's goal and the completed task of a whole conversation."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from assertions.groundedness import check as groundedness
from assertions.judging.material import MAX_CONTEXT
from assertions.run_check import grade
from assertions.task_completion import check as task_completion
from assertions.user_goal import check as user_goal
from episodes.record import Goal
from tests.assertions.conversations import FAIL, NOT_EVALUATED, PASS, conversation, says, tool
from tests.assertions.scripted_judge import answered, judge_says


def claims(*supported: bool, evidence: str = "creates a virtual network") -> dict[str, Any]:
    listed = [
        {"claim": f"claim {number}", "supported": flag, "evidence": evidence if flag else ""}
        for number, flag in enumerate(supported, 1)
    ]
    return {"claims": listed, "reason": "because"}


def turn(number: int, answer: str, result: str = "") -> list[dict[str, Any]]:
    tools = [says("tool", result, number)] if result else []
    return [says("user", f"question {number}", number), *tools, says("assistant", answer, number)]


def two_turns() -> Any:
    messages = [
        says("system", "Answer from the documents.", 0),
        *turn(1, "It creates a virtual network.", "A deployment creates a virtual network."),
        *turn(2, "You are welcome."),
    ]
    return conversation(tool("read_doc", {}, "…", turn=1), messages=messages)


def test_each_answer_that_rests_on_tools_is_held_against_what_the_agent_could_know(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with judge_says(monkeypatch, claims(True, True)) as model:
        result = grade("groundedness", groundedness, two_turns(), {})
    assert (result.verdict, result.score) == (PASS, 1.0)
    assert [part.reason for part in result.components] == ["2 of 2 claims are supported"]
    [asked] = model.asked
    order = json.loads(asked.body["messages"][-1]["content"])
    assert order["answer"] == "It creates a virtual network."
    assert order["context"] == (
        "Instructions: Answer from the documents.\n\nDeveloper: question 1\n\n"
        "Tool result: A deployment creates a virtual network."
    )


def test_an_unsupported_claim_fails_and_is_named_with_its_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    with judge_says(monkeypatch, claims(True, False)):
        result = grade("groundedness", groundedness, two_turns(), {})
    assert result.verdict is FAIL
    assert result.reason == "turn 1: 1 of 2 claims are supported; not supported: claim 2"
    assert result.named_scores["groundedness"] == 0.5


def test_support_that_does_not_stand_in_the_context_is_no_support(monkeypatch: pytest.MonkeyPatch) -> None:
    invented = claims(True, evidence="creates a firewall")
    with judge_says(monkeypatch, invented, invented):
        result = grade("groundedness", groundedness, two_turns(), {})
    assert result.verdict is NOT_EVALUATED
    assert "claims[0] is called supported by 'creates a firewall', which does not stand in the context" in result.reason


def test_one_common_word_of_the_context_is_no_support(monkeypatch: pytest.MonkeyPatch) -> None:
    thin = claims(True, evidence="the")
    with judge_says(monkeypatch, thin, thin):
        result = grade("groundedness", groundedness, two_turns(), {})
    assert result.verdict is NOT_EVALUATED
    assert (
        "claims[0] is called supported by 'the', which is too little to be evidence: at least 3 words" in result.reason
    )


def test_nothing_claimed_is_a_dash_and_no_number(monkeypatch: pytest.MonkeyPatch) -> None:
    with judge_says(monkeypatch, claims()):
        result = grade("groundedness", groundedness, two_turns(), {})
    assert (result.verdict, result.reason) == (PASS, "\u2013 no answer claims anything")
    assert result.all_named_scores() == {"groundedness.not_applicable": 1.0}
    with judge_says(monkeypatch, claims(True), claims()):
        mixed = grade("groundedness", groundedness, two_turns(), {"turns": "all"})
    assert [part.reason for part in mixed.components] == ["1 of 1 claims are supported", "\u2013 nothing is claimed"]
    assert mixed.named_scores["groundedness"] == 1.0


def test_without_tool_calls_there_is_nothing_to_hold_an_answer_against(monkeypatch: pytest.MonkeyPatch) -> None:
    evidence = conversation(messages=turn(1, "Hello."))
    with judge_says(monkeypatch) as model:
        result = grade("groundedness", groundedness, evidence, {})
    assert (result.verdict, result.reason) == (PASS, "\u2013 no answer rests on a tool call")
    assert not model.asked
    assert grade("groundedness", groundedness, conversation(known=False), {}).verdict is NOT_EVALUATED


def test_calls_of_no_known_turn_may_be_what_any_answer_rests_on(monkeypatch: pytest.MonkeyPatch) -> None:
    evidence = conversation(tool("read_doc", {}, "…", turn=0), messages=turn(1, "It is so."))
    with judge_says(monkeypatch, claims(False)):
        result = grade("groundedness", groundedness, evidence, {})
    assert result.reason == "turn 1: 0 of 1 claims are supported; not supported: claim 1"


def test_a_share_of_claims_is_not_missed_by_rounding(monkeypatch: pytest.MonkeyPatch) -> None:
    evidence = conversation(tool("read_doc"), messages=turn(1, "It is so.", "A deployment creates a virtual network."))
    with judge_says(monkeypatch, claims(True, False, False, False, False)):
        assert grade("groundedness", groundedness, evidence, {"threshold": 0.2}).verdict is PASS


@pytest.mark.parametrize("result", ["x" * (MAX_CONTEXT + 10), "start\n[cut: 5 of 90 characters, SHA-256 ab]"])
def test_an_unsupported_claim_is_not_held_against_an_agent_whose_sources_were_cut(
    result: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    evidence = conversation(tool("read_doc", {}, "…"), messages=turn(1, "It is so.", result))
    with judge_says(monkeypatch, claims(False)):
        judged = grade("groundedness", groundedness, evidence, {})
    assert judged.verdict is NOT_EVALUATED
    assert "The context was cut, so the support may be missing from it" in judged.reason


@pytest.mark.parametrize(
    ("satisfied", "verdict", "reason"),
    [
        (1, PASS, "the goal was reached: because"),
        (0, FAIL, "the goal was not reached: because"),
        (-1, NOT_EVALUATED, "NOT EVALUATED: the judge finds no goal in 'A copy.': because"),
    ],
)
def test_a_goal_is_reached_or_not_or_none_was_named(
    satisfied: int, verdict: Any, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    messages = [
        says("user", "Copy it."),
        {"role": "assistant", "turn": 1, "tool_calls": [{"function": {"name": "create", "arguments": "{}"}}]},
        says("tool", "y" * 2000),
        says("assistant", "Done."),
    ]
    evidence = conversation(messages=messages, variables={"goal": "A copy."})
    with judge_says(monkeypatch, {"satisfied": satisfied, "reason": "because"}) as model:
        result = grade("user_goal", user_goal, evidence, {})
    assert (result.verdict, result.reason) == (verdict, reason)
    order = json.loads(model.asked[0].body["messages"][-1]["content"])
    assert order["question"] == "A copy."
    assert order["answer"] == (
        "Developer: Copy it.\n\nTool call: create {}\n\nTool result: " + "y" * 1000 + "… (2000 characters)\n\n"
        "Assistant: Done."
    )


def test_a_case_without_a_goal_is_an_error_of_the_config(monkeypatch: pytest.MonkeyPatch) -> None:
    with judge_says(monkeypatch) as model:
        result = grade("user_goal", user_goal, answered(), {})
    assert result.reason == (
        "NOT EVALUATED: case C01, config of user_goal, /goal: there is no goal; allowed: "
        "a text here, or `goal` among the case's vars"
    )
    assert not model.asked


def completed(goals: tuple[Goal, ...] = ()) -> Any:
    evidence = two_turns()
    return replace(evidence, episode=replace(evidence.episode, goals=goals), vars={"goal": "Know it."})


def test_a_task_is_completed_when_goal_sources_expectations_and_steps_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    config = {"scenario": {"expectations": [{"message": "virtual network"}]}}
    reached = Goal(1, "ask", "reached", "“question 1”")
    missed = Goal(2, "thank", "not_reached", "never said")
    yes = {"satisfied": 1, "reason": "because"}
    with judge_says(monkeypatch, yes, claims(True)):
        result = grade("task_completion", task_completion, completed((reached,)), config)
    assert result.verdict is PASS
    assert [part.name for part in result.components] == ["user_goal", "groundedness", "scenario", "goals"]
    for script, evidence, wanted, part in (
        ([{**yes, "satisfied": 0}, claims(True)], completed(), config, "user_goal"),
        ([yes, claims(False)], completed(), config, "groundedness"),
        ([yes, claims(True)], completed(), {"scenario": {"expectations": [{"message": "none"}]}}, "scenario"),
        ([yes, claims(True)], completed((reached, missed)), config, "goals"),
    ):
        with judge_says(monkeypatch, *script):
            result = grade("task_completion", task_completion, evidence, wanted)
        assert result.verdict is FAIL
        assert result.reason.startswith(f"{part}: ")
