"""The yardstick: believable requests, in the words of names or of descriptions only, all come out right."""

from __future__ import annotations

import json

import pytest
from openai import OpenAI

from tests.local.model.conversation import Talk, Tools, converse
from tests.local.model.expected import copy_of, flat
from tests.local.model.requests_of_developers import (
    BLOCKED,
    BY_DESCRIPTION,
    BY_FIELD,
    FROM_NOTHING_FACTS,
    FROM_NOTHING_OPENING,
    OTHER_WORDS,
    QUESTIONS,
    BlockedRequest,
    CopyRequest,
    Question,
)


def _copied(request: CopyRequest, client: OpenAI, tools: Tools) -> Talk:
    talk = Talk(client, tools)
    converse(talk, request.opening, request.facts, goal=f"A pull request for {request.name}.")
    return talk


def _assert_right(talk: Talk, request: CopyRequest, tools: Tools) -> None:
    source = json.loads(tools.call("get_spoke", {"name": request.source}).content[0].model_dump()["text"])
    assert flat(talk.submitted) == copy_of(source["configuration"], request)
    validations = [call for call in talk.calls if call.name == "validate_spoke"]
    assert validations[-1].arguments["configuration"] == talk.submitted, "what was submitted is what was validated"
    assert json.loads(validations[-1].text)["valid"] is True
    assert talk.names.count("create_spoke_pull_request") == 1
    assert talk.url in talk.answers[-1]


def _asks_for_descriptions(talk: Talk) -> bool:
    return any(call.name == "get_spoke_schema" and call.arguments.get("descriptions") is True for call in talk.calls)


@pytest.mark.parametrize("request_", BY_FIELD, ids=lambda r: r.name)
def test_a_copy_in_the_words_of_fields_changes_what_was_asked_and_nothing_else(
    request_: CopyRequest, client: OpenAI, tools: Tools
) -> None:
    _assert_right(_copied(request_, client, tools), request_, tools)


@pytest.mark.parametrize("request_", BY_DESCRIPTION, ids=lambda r: r.name)
def test_a_copy_in_the_words_of_descriptions_is_understood_by_reading_them(
    request_: CopyRequest, client: OpenAI, tools: Tools
) -> None:
    talk = _copied(request_, client, tools)
    _assert_right(talk, request_, tools)
    assert _asks_for_descriptions(talk)


@pytest.mark.parametrize("request_", OTHER_WORDS, ids=lambda r: r.name)
def test_other_words_for_the_same_come_out_the_same(request_: CopyRequest, client: OpenAI, tools: Tools) -> None:
    _assert_right(_copied(request_, client, tools), request_, tools)


def test_a_request_that_names_its_fields_needs_no_descriptions(client: OpenAI, tools: Tools) -> None:
    talk = _copied(BY_FIELD[0], client, tools)
    assert "get_spoke_schema" in talk.names
    assert not _asks_for_descriptions(talk)


def test_calls_that_do_not_depend_on_each_other_go_out_together(client: OpenAI, tools: Tools) -> None:
    talk = _copied(BY_FIELD[0], client, tools)
    first = [call.name for call in talk.calls if call.batch == talk.calls[0].batch]
    assert first == ["get_spoke", "get_spoke_schema"]


def test_a_new_spoke_from_nothing_is_asked_for_piece_by_piece(client: OpenAI, tools: Tools) -> None:
    talk = Talk(client, tools)
    said = converse(talk, FROM_NOTHING_OPENING, FROM_NOTHING_FACTS, goal="A pull request for the new spoke.")
    spoke = talk.submitted
    assert spoke["name"] == "spoke-loyalty-test"
    assert (spoke["environment"], spoke["region"]) == ("test", "westeurope")
    assert spoke["owner"] == {"team": "Customer Loyalty", "email": "loyalty@contoso.example"}
    assert (spoke["costCenter"], spoke["dataClassification"]) == ("CC-9120", "confidential")
    assert spoke["virtualNetwork"]["addressSpace"] == ["10.64.192.0/24"]
    assert [(s["purpose"], s["addressPrefix"]) for s in spoke["virtualNetwork"]["subnets"]] == [
        ("application", "10.64.192.0/26"),
        ("data", "10.64.192.64/26"),
        ("privateLink", "10.64.192.128/27"),
    ]
    assert spoke["hubPeering"]["hub"] == "hub-westeurope"
    assert spoke["routeTable"]["routes"][0]["nextHopIp"] == "10.64.0.4"
    assert (spoke["monitoring"]["logRetentionDays"], spoke["backup"]["enabled"]) == (45, False)
    assert spoke["maintenanceWindow"] == {"day": "Wednesday", "startTime": "20:00:00Z", "durationHours": 3}
    assert spoke["reviewDate"] == "2027-12-31"
    assert len(said) <= 12
    assert json.loads(next(c.text for c in talk.calls if c.name == "validate_spoke"))["valid"] is True


@pytest.mark.parametrize("request_", BLOCKED, ids=lambda r: r.said[0])
def test_a_blocked_request_never_leads_to_a_pull_request(
    request_: BlockedRequest, client: OpenAI, tools: Tools
) -> None:
    talk = Talk(client, tools)
    converse(talk, request_.opening, {}, goal=request_.opening, persona=request_.persona)
    assert "create_spoke_pull_request" not in talk.names
    for piece in request_.said:
        assert piece in talk.answers[-1].lower()


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda q: q.said[-1])
def test_a_question_is_answered_from_the_page_that_is_named(question: Question, client: OpenAI, tools: Tools) -> None:
    talk = Talk(client, tools)
    answer = talk.say(question.text)
    for piece in question.said:
        assert piece in answer
    assert set(talk.names) == {"search_docs", "read_doc"}
