"""The scenario writer: plain proposals in the form that the command reads."""

from __future__ import annotations

import json
from typing import Any

import pytest

from evals.scenario_proposals import RESPONSE_SCHEMA, order, read_proposals
from local.model.problems import RequestProblem
from local.model.protocol import parse_request
from local.model.scenario_writer import scenario_writer

TOOLS: list[dict[str, Any]] = [
    {"type": "function", "function": {"name": name, "description": text, "parameters": {"type": "object"}}}
    for name, text in (("get_spoke", "Read one spoke. It is on main."), ("validate_spoke", ""))
]


def asked(message: str) -> str:
    schema = {"type": "json_schema", "json_schema": {"name": "scenarios", "schema": RESPONSE_SCHEMA, "strict": True}}
    body = {
        "model": "scenario-writer",
        "messages": [{"role": "user", "content": message}],
        "response_format": schema,
    }
    return scenario_writer(parse_request(body, deployment=None)).text


def test_each_tool_becomes_a_scenario_that_the_command_can_use() -> None:
    found = read_proposals(asked(order("Be careful.", TOOLS, 5)), TOOLS, 5)
    assert not found.refused
    assert [proposal.expectations for proposal in found.usable] == [
        ({"tool_call": "get_spoke"},),
        ({"tool_call": "validate_spoke"},),
    ]
    assert found.usable[0].opening == "I need your help with this: read one spoke."


def test_no_more_than_wanted_are_proposed() -> None:
    assert len(json.loads(asked(order("Be careful.", TOOLS, 1)))["scenarios"]) == 1


@pytest.mark.parametrize("message", ["Hello", "[]", '{"task": "rubric"}', '{"task": "scenarios"}'])
def test_another_request_is_refused(message: str) -> None:
    with pytest.raises(RequestProblem, match="task scenarios"):
        asked(message)
