"""The judge: criteria by words, numbers and negation, and replies that fit the format that is asked for."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, cast

import pytest
from jsonschema import Draft202012Validator
from openai import BadRequestError, OpenAI

ANSWER = (
    "A spoke deployment creates a virtual network with its subnets, and one network security group for each entry. "
    "Logs are kept for 90 days in production. Validation can not be skipped by anybody. "
    'See the page "What a spoke deployment creates".'
)
SCHEMA = {
    "type": "object",
    "additionalProperties": False,
    "required": ["criteria", "reason"],
    "properties": {
        "reason": {"type": "string"},
        "criteria": {
            "type": "array",
            "items": {
                "type": "object",
                "additionalProperties": False,
                "required": ["criterion", "met", "evidence"],
                "properties": {
                    "criterion": {"type": "string"},
                    "met": {"type": "boolean"},
                    "evidence": {"type": "string"},
                },
            },
        },
    },
}  # fmt: skip


def judged(client: OpenAI, order: Mapping[str, Any], response_format: Any = None) -> dict[str, Any]:
    extra: Any = {} if response_format is None else {"response_format": response_format}
    answer = client.chat.completions.create(
        model="judge", messages=[{"role": "user", "content": json.dumps(order)}], **extra
    )
    reply: dict[str, Any] = json.loads(answer.choices[0].message.content or "")
    return reply


def met(client: OpenAI, criterion: str, answer: str = ANSWER) -> bool:
    [result] = judged(client, {"task": "rubric", "criteria": [criterion], "answer": answer})["criteria"]
    assert result["criterion"] == criterion
    if result["met"] and result["evidence"]:
        assert result["evidence"] in answer, "evidence is a quotation"
    return bool(result["met"])


@pytest.mark.parametrize(
    "criterion",
    [
        "Names the virtual network and its subnets",
        "Mentions that each entry gets a network security group",
        "Says that production keeps logs for 90 days",
        "States that validation cannot be skipped",
        'Names the page "What a spoke deployment creates"',
        "Does not claim that a VPN gateway is created",
        "Never mentions prices",
        "Makes no promise about a delivery date",
    ],
)
def test_a_criterion_that_the_answer_meets_is_met(client: OpenAI, criterion: str) -> None:
    assert met(client, criterion)


@pytest.mark.parametrize(
    "criterion",
    [
        "Names the route table and the private endpoints",
        "Says that production keeps logs for 180 days",
        "Says that validation can be skipped by anybody",
        "Does not mention the network security group for each entry",
        "Explains how much a spoke costs each month",
    ],
)
def test_a_criterion_that_the_answer_misses_is_not_met(client: OpenAI, criterion: str) -> None:
    assert not met(client, criterion)


def test_an_empty_answer_meets_only_what_must_not_be_said(client: OpenAI) -> None:
    assert not met(client, "Names the virtual network", "")
    assert met(client, "Does not mention prices", "")


def test_the_reason_names_what_is_missed(client: OpenAI) -> None:
    order = {"task": "rubric", "criteria": ["Names the virtual network", "Says 180 days"], "answer": ANSWER}
    reply = judged(client, order)
    assert "Says 180 days" in reply["reason"]
    assert "virtual network" not in reply["reason"]


def test_claims_are_grounded_in_the_context_or_not(client: OpenAI) -> None:
    context = "Production keeps logs for at least 90 days. Spokes peer with the hub of their own region."
    answer = "Production keeps logs for 90 days. Spokes peer with every other spoke in Europe. Is that what you meant?"
    reply = judged(client, {"task": "groundedness", "answer": answer, "context": context})
    claims = {item["claim"]: item["supported"] for item in reply["claims"]}
    assert claims == {
        "Production keeps logs for 90 days.": True,
        "Spokes peer with every other spoke in Europe.": False,
    }
    assert judged(client, {"task": "groundedness", "answer": "Hello!", "context": context})["claims"] == []


@pytest.mark.parametrize(
    ("answer", "satisfied"),
    [
        ("I opened https://dev.azure.com/a/b/_git/c/pullrequest/7.", 1),
        ("I can not do that: the range overlaps.", 0),
        ("Which address range should it be?", 0),
    ],
)
def test_a_goal_is_reached_or_not(client: OpenAI, answer: str, satisfied: int) -> None:
    order = {"task": "goal", "question": "A pull request for a copy of the webshop.", "answer": answer}
    assert judged(client, order)["satisfied"] == satisfied


def test_a_goal_is_judged_by_what_is_expected_when_that_is_given(client: OpenAI) -> None:
    order = {"task": "goal", "question": "How long?", "expected": "Logs are kept for 90 days", "answer": ANSWER}
    assert judged(client, order)["satisfied"] == 1
    assert judged(client, {**order, "expected": "Logs are kept for 91 days"})["satisfied"] == 0


def test_without_a_goal_there_is_nothing_to_reach(client: OpenAI) -> None:
    assert judged(client, {"task": "goal", "question": "", "answer": ANSWER})["satisfied"] == -1


@pytest.mark.parametrize(
    ("expected", "answer", "low", "high"),
    [
        ("Logs are kept for 90 days.", "Logs are kept for 90 days.", 4, 4),
        ("Logs are kept for 90 days.", "The logs are stored for 90 days in production.", 3, 4),
        ("Logs are kept for 90 days.", "Logs are kept for 30 days.", 0, 1),
        ("The range can be used.", "The range can not be used.", 0, 1),
        ("Logs are kept for 90 days.", "Bananas are yellow.", 0, 0),
    ],
)
def test_likeness_is_graded_from_0_to_4(client: OpenAI, expected: str, answer: str, low: int, high: int) -> None:
    score = judged(client, {"task": "semantic", "expected": expected, "answer": answer})["score"]
    assert low <= score <= high


def test_a_reply_fits_the_schema_that_is_asked_for(client: OpenAI) -> None:
    order = {"task": "rubric", "criteria": ["Names the virtual network"], "answer": ANSWER}
    wanted = {"type": "json_schema", "json_schema": {"name": "verdict", "strict": True, "schema": SCHEMA}}
    Draft202012Validator(SCHEMA).validate(judged(client, order, wanted))


def test_a_schema_with_other_fields_gets_its_required_ones_and_no_others(client: OpenAI) -> None:
    schema = {
        "type": "object",
        "additionalProperties": False,
        "required": ["score", "confidence", "notes"],
        "properties": {"score": {"type": "integer"}, "confidence": {"type": "number"}, "notes": {"type": "array"}},
    }
    order = {"task": "semantic", "expected": "a cat", "answer": "a cat"}
    reply = judged(client, order, {"type": "json_schema", "json_schema": {"name": "s", "schema": schema}})
    assert reply == {"score": 4, "confidence": 0, "notes": []}


def test_json_object_is_served_and_a_schema_that_can_not_be_met_is_refused(client: OpenAI) -> None:
    order = {"task": "semantic", "expected": "a cat", "answer": "a cat"}
    assert judged(client, order, {"type": "json_object"})["score"] == 4
    impossible = {"type": "object", "properties": {"score": {"type": "string"}}}
    with pytest.raises(BadRequestError, match="can not satisfy"):
        judged(client, order, {"type": "json_schema", "json_schema": {"name": "s", "schema": impossible}})
    with pytest.raises(BadRequestError, match="Invalid schema"):
        judged(client, order, {"type": "json_schema", "json_schema": {"name": "s", "schema": {"type": "cat"}}})


def test_something_else_than_an_order_is_answered_in_words(client: OpenAI) -> None:
    for text in ("Is this good?", json.dumps({"task": "poetry"}), "[]"):
        messages: Sequence[Any] = [{"role": "user", "content": text}]
        answer = client.chat.completions.create(model="judge", messages=cast(Any, messages))
        assert "can only judge" in (answer.choices[0].message.content or "")
