"""Scenarios: messages and tool calls that must, or must not, come, also only after a tool or for some variables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from assertions.evidence import Evidence
from assertions.run_check import grade
from assertions.scenario import check
from assertions.verdict import CheckResult
from episodes.record import Goal, ToolCall, VariableValue
from tests.assertions.conversations import FAIL, NOT_EVALUATED, PASS, conversation, tool

OPEN = "create_spoke_pull_request"


def episode(*steps: ToolCall | str, **options: Any) -> Evidence:
    """A conversation in which the agent called tools and said things in this order."""
    calls: list[ToolCall] = []
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Copy it.", "turn": 1}]
    for number, step in enumerate(steps):
        if isinstance(step, str):
            messages.append({"role": "assistant", "content": step, "turn": 1})
        else:
            call = replace(step, id=f"call_{number}")
            calls.append(call)
            messages.append({"role": "assistant", "content": None, "tool_calls": [{"id": call.id}], "turn": 1})
            messages.append({"role": "tool", "tool_call_id": call.id, "content": "x", "turn": 1})
    return conversation(*calls, messages=messages, **options)


def judged(evidence: Evidence, *expectations: dict[str, Any]) -> CheckResult:
    return grade("scenario", check, evidence, {"expectations": list(expectations)})


GOOD = (tool("validate_spoke", {"source": "crm", "n": 1}), tool(OPEN, {"title": "t"}), "I opened the  Pull Request.")


@pytest.mark.parametrize(
    "expectation",
    [
        {"message": "pull request"},
        {"message": {"regex": "^I opened"}},
        {"tool_call": "validate_spoke"},
        {"tool_call": {"tool": "validate_spoke", "args": {"source": "crm"}}},
        {"tool_call": "complete_*", "must": False},
        {"message": "merged", "must": False},
        {"message": "pull request", "after_tool": OPEN},
        {"tool_call": OPEN, "after_tool": "validate_spoke"},
        {"tool_call": "validate_spoke", "must": False, "after_tool": OPEN},
        {"message": "x", "must": False, "after_tool": "never_called"},
    ],
)
def test_an_expectation_that_is_met_passes(expectation: dict[str, Any]) -> None:
    assert judged(episode(*GOOD), expectation).verdict is PASS


@pytest.mark.parametrize(
    ("expectation", "reason"),
    [
        ({"message": "two reviewers"}, "expected a message with 'two reviewers', but there is none"),
        ({"message": {"regex": "^opened"}}, "expected a message that matches '^opened', but there is none"),
        ({"tool_call": "get_spoke"}, "expected a call of get_spoke, but there is none"),
        (
            {"tool_call": {"tool": "validate_spoke", "args": {"source": "erp"}}},
            'expected a call of validate_spoke(source="erp"), but there is none',
        ),
        (
            {"tool_call": OPEN, "must": False},
            f"expected no call of {OPEN}, but there is {OPEN} (call 2, turn 1, ok)",
        ),
        (
            {"message": "opened", "must": False},
            "expected no message with 'opened', but there is \"I opened the Pull Request.\" in turn 1",
        ),
        (
            {"tool_call": "validate_spoke", "after_tool": OPEN},
            f"expected a call of validate_spoke after {OPEN}, but it came before: validate_spoke (call 1, turn 1, ok)",
        ),
        (
            {"message": "opened", "after_tool": "complete_it"},
            "expected a message with 'opened' after complete_it, but complete_it did not succeed",
        ),
    ],
)
def test_an_expectation_that_is_not_met_fails_and_says_what_there_is(expectation: dict[str, Any], reason: str) -> None:
    result = judged(episode(*GOOD), expectation)
    assert (result.verdict, result.reason) == (FAIL, f"expectation 1: {reason}")


def test_a_claim_before_the_deed_fails_although_it_is_true_afterwards() -> None:
    early = episode("I opened the pull request.", tool(OPEN), "I opened the pull request.")
    assert judged(early, {"message": "opened", "after_tool": OPEN}).verdict is FAIL


def test_a_failed_call_does_not_count_as_the_tool_after_which_something_may_come() -> None:
    failed_first = episode(tool(OPEN, status="tool_error"), "I opened it.")
    assert judged(failed_first, {"message": "opened", "after_tool": OPEN}).verdict is FAIL


def test_a_refused_attempt_breaks_a_ban_and_does_not_fulfil_a_demand() -> None:
    refused = episode(tool("complete_it", status="not_executed"), "Done.")
    assert judged(refused, {"tool_call": "complete_it", "must": False}).verdict is FAIL
    assert judged(refused, {"tool_call": "complete_it"}).verdict is FAIL


def test_a_call_that_was_never_answered_decides_nothing() -> None:
    lost = episode(tool(OPEN, status="transport_error"), "Hm.")
    assert judged(lost, {"tool_call": OPEN}).verdict is NOT_EVALUATED


def test_unknown_calls_are_not_read_as_none() -> None:
    unknown = episode("Done.", known=False)
    assert judged(unknown, {"tool_call": OPEN, "must": False}).verdict is NOT_EVALUATED
    assert judged(unknown, {"message": "done"}).verdict is PASS


def test_a_record_without_words_of_the_agent_is_not_evaluated() -> None:
    assert judged(conversation(messages=[]), {"message": "x", "must": False}).verdict is NOT_EVALUATED


@pytest.mark.parametrize(
    ("parameters", "verdict"),
    [
        ({"environment": "production"}, FAIL),
        ({"environment": "test"}, NOT_EVALUATED),
        ({}, NOT_EVALUATED),
        (None, NOT_EVALUATED),
    ],
)
def test_an_expectation_for_a_variable_applies_only_when_it_has_the_value(parameters: Any, verdict: Any) -> None:
    evidence = episode(*GOOD, variables={"session_parameters": parameters} if parameters is not None else {})
    wanted = {"message": "two reviewers", "if_variable": {"environment": "production"}}
    assert judged(evidence, wanted).verdict is verdict


def test_true_is_not_the_variable_one() -> None:
    evidence = episode(*GOOD, variables={"session_parameters": {"flag": 1}})
    assert judged(evidence, {"message": "x", "if_variable": {"flag": True}}).verdict is NOT_EVALUATED


VERIFY = tool("verify_customer")
SET = (
    VariableValue("verified", False, 0),
    VariableValue("verified", True, 1, "call_0"),
    VariableValue("plan", "gold", 2),
)
STEPS = Goal(1, "a", "reached", "said", 1), Goal(2, "b", "reached", "said", 2), Goal(3, "c", "not_reached", "no")


def with_variables(*values: VariableValue) -> Evidence:
    evidence = episode(VERIFY, "Done.")
    return replace(evidence, episode=replace(evidence.record(), variables=values, goals=STEPS))


@pytest.mark.parametrize(
    "expectation",
    [
        {"variable": "verified"},
        {"variable": {"name": "verified", "equals": True}},
        {"variable": {"name": "plan", "one_of": ["silver", "gold"]}},
        {"variable": {"name": "plan", "regex": "^g"}},
        {"variable": {"name": "verified", "equals": True}, "after_tool": "verify_customer"},
        {"variable": {"name": "verified", "equals": True}, "after_step": 1},
        {"variable": "plan", "after_step": 1, "must": False},
        {"variable": {"name": "verified", "equals": False}, "must": False},
        {"variable": "locked", "must": False},
    ],
)
def test_a_variable_that_has_the_expected_value_then_passes(expectation: dict[str, Any]) -> None:
    assert judged(with_variables(*SET), expectation).verdict is PASS


@pytest.mark.parametrize(
    ("expectation", "reason"),
    [
        ({"variable": "locked"}, "expected a variable locked, but locked was not set"),
        (
            {"variable": {"name": "verified", "equals": 1}},
            "expected a variable verified with 1, but verified was set to true by verify_customer in turn 1",
        ),
        (
            {"variable": {"name": "plan", "one_of": ["basic", "silver"]}},
            'expected a variable plan with "basic" or "silver", but plan was set to "gold" in turn 2',
        ),
        (
            {"variable": {"name": "plan", "regex": "^G"}, "after_step": 2},
            "expected a variable plan that matches '^G' after step 2, but plan was set to \"gold\" in turn 2",
        ),
        (
            {"variable": "plan", "after_step": 1},
            "expected a variable plan after step 1, but plan was not set",
        ),
        (
            {"variable": "plan", "after_step": 3, "must": False},
            "expected no variable plan after step 3, but step 3 was not reached",
        ),
        (
            {"variable": {"name": "verified", "equals": True}, "must": False},
            "expected no variable verified with true, but verified was set to true by verify_customer in turn 1",
        ),
        (
            {"variable": "plan", "after_tool": "upgrade"},
            "expected a variable plan after upgrade, but upgrade did not succeed",
        ),
        (
            {"variable": "verified", "after_tool": "verify_customer"},
            "expected a variable verified after verify_customer, "
            "but before that, verified was set to false at the start",
        ),
    ],
)
def test_a_variable_that_has_another_value_then_fails_and_says_which(expectation: dict[str, Any], reason: str) -> None:
    result = judged(with_variables(*SET), expectation)
    assert (result.verdict, result.reason) == (FAIL, f"expectation 1: {reason}")


def test_a_variable_that_nobody_watched_or_that_was_cut_decides_nothing() -> None:
    cut = with_variables(VariableValue("plan", {"truncated": True, "length": 10**6}, 1))
    for must in (True, False):
        assert judged(episode(*GOOD), {"variable": "plan", "must": must}).verdict is NOT_EVALUATED
        assert judged(cut, {"variable": {"name": "plan", "equals": 1}, "must": must}).verdict is NOT_EVALUATED


def test_a_step_that_the_simulation_does_not_have_is_a_mistake_of_the_config() -> None:
    result = judged(with_variables(*SET), {"variable": "plan", "after_step": 4})
    assert result.verdict is NOT_EVALUATED
    assert "4 is more than the simulation's 3 steps" in result.reason


def test_each_expectation_is_a_component_with_a_score_of_its_own() -> None:
    result = judged(episode(*GOOD), {"message": "opened"}, {"tool_call": "get_spoke"})
    assert (result.verdict, result.score) == (FAIL, 0.5)
    assert result.named_scores == {"scenario.expectation 1": 1.0, "scenario.expectation 2": 0.0}


@pytest.mark.parametrize(
    ("expectations", "problem"),
    [
        ([], "/expectations"),
        ([{"must": True}], "one of 'message', 'tool_call' and 'variable' has to be there"),
        ([{"message": "a", "tool_call": "b"}], "one of 'message', 'tool_call' and 'variable' has to be there"),
        ([{"message": "a", "musst": False}], "/expectations/0/musst: unknown key"),
        ([{"message": {"regex": "("}}], "is no regular expression"),
        ([{"message": ""}], "/expectations/0/message"),
        ([{"message": "a", "if_variable": {}}], "/expectations/0/if_variable"),
        ([{"variable": ""}], "/expectations/0/variable"),
        ([{"variable": {"equals": 1}}], "/expectations/0/variable"),
        ([{"variable": {"name": "a", "equals": 1, "one_of": [1]}}], "/expectations/0/variable"),
        ([{"variable": {"name": "a", "one_of": []}}], "/expectations/0/variable/one_of"),
        ([{"variable": {"name": "a", "regex": "("}}], "is no regular expression"),
        ([{"message": "a", "after_step": 1}], "/expectations/0/after_step: is only for a variable"),
        ([{"variable": "a", "after_step": 1, "after_tool": "b"}], "can not be told together with after_tool"),
        ([{"variable": "a", "after_step": 0}], "/expectations/0/after_step"),
        ([{"variable": "a", "after_tool": "b", "must": False}], "says nothing about a value that must not be"),
    ],
)
def test_a_wrong_config_is_not_evaluated_and_says_where(expectations: Sequence[Any], problem: str) -> None:
    result = grade("scenario", check, episode(*GOOD), {"expectations": expectations})
    assert result.verdict is NOT_EVALUATED
    assert problem in result.reason
