"""The simulated user's instructions hold its own part of the case, and nothing else of the test."""

from typing import Any

import pytest

from providers.agent_protocol import ConfigurationProblem
from providers.conversation.script import read_script
from providers.conversation.user_prompt import user_instructions

CASE: dict[str, Any] = {
    "request": "I need a copy of spoke-crm-test.",
    "goal": "Get a pull request\nfor the copy.",
    "persona": {"personality": "calm", "never_say": ["just guess"]},
    "facts": {
        "cost center": "CC-1234",
        "DNS servers": ["10.0.0.4", "10.0.0.5"],
        "backup": True,
        "owner": {"team": "crm"},
    },
}


def test_the_instructions_have_the_sections_in_their_agreed_form() -> None:
    lines = user_instructions(read_script(CASE)).splitlines()
    assert "Your goal: Get a pull request for the copy." in lines
    assert "Persona: calm." in lines
    heading = lines.index("Facts you know (tell one only when you are asked for it):")
    assert lines[heading + 1 : heading + 5] == [
        "- cost center: CC-1234",
        "- DNS servers: 10.0.0.4, 10.0.0.5",
        "- backup: yes",
        '- owner: {"team": "crm"}',
    ]
    assert lines[lines.index("Never say:") + 1] == "- just guess"
    assert lines[-1] == "When you are done reply with exactly: ###STOP###"


def test_what_else_stands_in_the_vars_does_not_reach_the_simulated_user() -> None:
    secret = {"expected_region": "SECRET-REGION", "notes": "SECRET-NOTE", "id": "SECRET-ID", "__evalId": "SECRET-EVAL"}
    assert "SECRET" not in user_instructions(read_script({**CASE, **secret}))


def test_without_a_goal_the_request_is_the_goal() -> None:
    assert "Your goal: Which rules apply?" in user_instructions(read_script({"request": "Which rules\napply?"}))


def test_sections_without_content_are_left_out() -> None:
    text = user_instructions(read_script({"request": "Hello", "persona": "calm"}))
    assert "Facts you know" not in text
    assert "Never say" not in text


def test_the_remarks_about_thrown_away_drafts_are_told() -> None:
    text = user_instructions(read_script(CASE), remarks=["It says nothing."])
    assert "What was wrong: It says nothing." in text


def test_a_session_parameter_is_known_only_when_the_developers_texts_name_it() -> None:
    parameters = {"session_parameters": {"product_id": "prod_123", "is_verified": False}}
    text = user_instructions(read_script({"goal": "Ask for a refund for product_id.", **parameters}))
    assert "- product_id: prod_123" in text
    assert "is_verified" not in text


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ({}, "vars: neither `goal` nor `request` says what the simulated user wants"),
        ({"request": 3}, "vars.request is a int; allowed: text"),
        ({"request": "x", "facts": ["a"]}, "vars.facts is a list; allowed: a map of name to value"),
        ({"request": "x", "speaks_first": "both"}, "vars.speaks_first is 'both'; allowed: user, agent"),
    ],
)
def test_a_wrong_case_says_which_var_and_what_is_allowed(variables: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigurationProblem, match=message):
        read_script(variables)
