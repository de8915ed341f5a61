"""What a case may say about the user's side: the schema of case files and the provider agree on it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft7Validator

from providers.agent_protocol import ConfigurationProblem
from providers.conversation.episode import read_plan
from providers.conversation.persona import ready_made_names

SCHEMA = json.loads((Path(__file__).parents[2] / "suites" / "case.schema.json").read_text())
VARS = Draft7Validator({**SCHEMA["definitions"]["vars"], "definitions": SCHEMA["definitions"]})


@pytest.mark.parametrize(
    "variables",
    [
        {"request": "Copy it."},
        {"goal": "A copy."},
        {"request": "Copy it.", "speaks_first": "agent", "session_parameters": {"plan": "gold"}},
        {"request": "Copy it.", "persona": {"like": "terse", "never_say": ["hub"]}},
        {"simulation": {"name": "x", "steps": [{"goal": "A", "max_turns": 2}, {"event": "timeout"}]}},
        {"golden": {"replay": "stable", "turns": [{"user": "A", "agent": ["B"]}, {"user": None}]}},
        {"golden": {"turns": [{"user": "A", "tool_calls": [{"name": "t", "arguments": {"n": 1}, "output": [1]}]}]}},
    ],
)
def test_what_the_provider_takes_the_case_files_take_too(variables: dict[str, Any]) -> None:
    assert list(VARS.iter_errors(variables)) == []
    read_plan(variables, 15)


@pytest.mark.parametrize(
    "variables",
    [
        {},
        {"facts": {"a": "b"}},
        {"request": "x", "speaks_first": "both"},
        {"request": "x", "persona": {"like": "nobody"}},
        {"request": "x", "persona": {"mood": "sad"}},
        {"simulation": {"steps": []}},
        {"simulation": {"steps": [{"goal": "A", "max_turns": 16}]}},
        {"simulation": {"steps": [{"goal": "A", "success": "B"}]}},
        {"golden": {"turns": [{"agent": "A"}]}},
        {"golden": {"turns": [{"user": "A"}], "replay": "wobbly"}},
    ],
)
def test_what_the_provider_refuses_the_case_files_refuse_before_the_run(variables: dict[str, Any]) -> None:
    assert list(VARS.iter_errors(variables)) != []
    with pytest.raises(ConfigurationProblem):
        read_plan(variables, 15)


def test_the_schema_names_exactly_the_ready_made_personas() -> None:
    like = SCHEMA["definitions"]["vars"]["properties"]["persona"]["properties"]["like"]["enum"]
    assert sorted(like) == sorted(ready_made_names())
