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
from episodes.record import ToolCall
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


def test_each_expectation_is_a_component_with_a_score_of_its_own() -> None:
    result = judged(episode(*GOOD), {"message": "opened"}, {"tool_call": "get_spoke"})
    assert (result.verdict, result.score) == (FAIL, 0.5)
    assert result.named_scores == {"scenario.expectation 1": 1.0, "scenario.expectation 2": 0.0}


@pytest.mark.parametrize(
    ("expectations", "problem"),
    [
        ([], "/expectations"),
        ([{"must": True}], "either 'message' or 'tool_call' has to be there"),
        ([{"message": "a", "tool_call": "b"}], "either 'message' or 'tool_call' has to be there"),
        ([{"message": "a", "musst": False}], "/expectations/0/musst: unknown key"),
        ([{"message": {"regex": "("}}], "is no regular expression"),
        ([{"message": ""}], "/expectations/0/message"),
        ([{"message": "a", "if_variable": {}}], "/expectations/0/if_variable"),
    ],
)
def test_a_wrong_config_is_not_evaluated_and_says_where(expectations: Sequence[Any], problem: str) -> None:
    result = grade("scenario", check, episode(*GOOD), {"expectations": expectations})
    assert result.verdict is NOT_EVALUATED
    assert problem in result.reason
