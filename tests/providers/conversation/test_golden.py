"""Goldens: fixed user turns, replayed on the agent's own history or on the expected one."""

from typing import Any

import pytest

from episodes.record import StopReason
from providers.agent_protocol import AgentAnswer, ConfigurationProblem
from providers.conversation.golden import read_golden
from tests.providers.conversation.talks import talk

TURNS: list[dict[str, Any]] = [
    {
        "user": "Copy it.",
        "agent": ["I looked.", "Which region?"],
        "tool_calls": [{"name": "get_spoke", "arguments": {"name": "crm"}, "output": {"commit": "abc"}}],
    },
    {"user": "North.", "agent": "Shall I?"},
    {"user": "Yes.", "agent": "SECRET-LAST-ANSWER"},
]


def test_naive_replay_says_the_users_lines_in_one_session() -> None:
    outcome = talk({"golden": {"turns": TURNS}}, ["a", "b", "c"])
    assert outcome.agent.seen == ["Copy it.", "North.", "Yes."]
    assert outcome.agent.histories == []
    assert outcome.stop is StopReason.USER_STOP
    assert not outcome.model.requests


def test_stable_replay_gives_each_turn_the_expected_history() -> None:
    outcome = talk({"golden": {"replay": "stable", "turns": TURNS}}, ["odd", "odder", "done"])
    first, second, third = outcome.agent.histories
    assert first == []
    assert [message["role"] for message in second] == ["user", "assistant", "tool", "assistant"]
    assert second[1]["tool_calls"][0]["function"] == {"name": "get_spoke", "arguments": '{"name": "crm"}'}
    assert second[2] == {"role": "tool", "tool_call_id": "golden_1_0", "content": '{"commit": "abc"}'}
    assert second[3]["content"] == "I looked.\n\nWhich region?"
    assert [message["content"] for message in third[-2:]] == ["North.", "Shall I?"]
    assert "odd" not in str(outcome.agent.histories)


def test_the_record_of_a_stable_replay_holds_what_the_agent_really_said() -> None:
    outcome = talk({"golden": {"replay": "stable", "turns": TURNS}}, ["odd", "odder", "done"])
    assert [text for role, text in outcome.said if role == "assistant"] == ["odd", "odder", "done"]


def test_what_is_expected_of_a_turn_is_never_shown_before_the_agent_answered_it() -> None:
    outcome = talk({"golden": {"replay": "stable", "turns": TURNS}}, ["odd", "odder", "done"])
    assert "SECRET" not in str(outcome.agent.histories)
    assert "Shall I?" not in str(outcome.agent.histories[:2])


def test_an_agent_that_stops_ends_the_replay() -> None:
    outcome = talk({"golden": {"turns": TURNS}}, [AgentAnswer("bye", StopReason.AGENT_HANDOFF)])
    assert (outcome.stop, outcome.agent.seen) == (StopReason.AGENT_HANDOFF, ["Copy it."])


def test_a_turn_without_a_user_is_the_welcome_event() -> None:
    outcome = talk({"golden": {"turns": [{"user": None}, {"user": "Hi"}]}}, ["Hello!"])
    assert outcome.agent.seen == ["<event>welcome</event>", "Hi"]


@pytest.mark.parametrize(
    ("golden", "message"),
    [
        ([], "vars.golden is a list; allowed: a map with the keys replay, turns"),
        ({"turns": TURNS, "replay": "stabel"}, "vars.golden.replay is 'stabel'; allowed: naive, stable"),
        ({"turns": []}, "vars.golden.turns must be a list with 1 to 15 turns"),
        ({"turns": [{"user": "x"}] * 16}, "with 1 to 15 turns"),
        ({"turns": [{"agent": "x"}]}, r"turns\[0\].user is missing"),
        ({"turns": [{"user": "x", "says": "y"}]}, r"turns\[0\].says is not known; allowed: user, agent, tool_calls"),
        ({"turns": [{"user": ""}]}, r"turns\[0\].user must be text that is not blank"),
        ({"turns": [{"user": "x", "agent": 3}]}, r"turns\[0\].agent is a int"),
        ({"turns": [{"user": "x", "tool_calls": [{"name": ""}]}]}, r"tool_calls\[0\].name must be the name of a tool"),
        ({"turns": [{"user": "x", "tool_calls": [{"name": "t", "arguments": [1]}]}]}, "arguments is a list"),
        ({"replay": "stable", "turns": [{"user": "x"}, {"user": "y"}]}, r"turns\[0\].agent is missing: stable replay"),
    ],
)
def test_a_wrong_golden_says_where_and_what_is_allowed(golden: Any, message: str) -> None:
    with pytest.raises(ConfigurationProblem, match=message):
        read_golden(golden)
