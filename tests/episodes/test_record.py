"""The record goes Python -> JavaScript -> Python in every run, so each loss on that way is a loss of evidence."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from episodes.record import (
    AtHost,
    Episode,
    EvidenceError,
    Fingerprint,
    Goal,
    ModelCallTime,
    PullRequest,
    RoleUsage,
    StopReason,
    Timings,
    ToolCall,
    ToolStatus,
    Usage,
    VariableValue,
)

AT_HOST = AtHost(True, "2026-01-01T00:00:01Z", "active", "Add a", "agent/a", "main", ("spokes/a.json",))


def a_call(**changes: Any) -> ToolCall:
    fields: dict[str, Any] = {
        "id": "call_1",
        "turn": 1,
        "step": 2,
        "batch": 2,
        "server": "portal",
        "name": "get_spoke",
        "arguments": {"name": "spoke-a"},
        "arguments_raw": '{"name": "spoke-a"}',
        "status": ToolStatus.OK,
        "result": {"name": "spoke-a"},
        "latency_ms": 1.5,
    }
    return ToolCall(**(fields | changes))


def an_episode(**changes: Any) -> Episode:
    fields: dict[str, Any] = {
        "case_id": "C01",
        "step_id": "test-0-prompt-0-repeat-0",
        "stop_reason": StopReason.USER_STOP,
        "messages": ({"role": "user", "content": "hello", "turn": 1},),
        "tool_calls": (a_call(),),
        "pull_requests": (PullRequest("http://127.0.0.1/pullrequest/7", "7", "spokes", "agent/a", "active", AT_HOST),),
        "goals": (Goal(1, "ask", "reached", "it asked", 1),),
        "variables": (VariableValue("plan", "basic", 0), VariableValue("plan", {"name": "gold"}, 1, "call_1")),
        "usage": Usage(agent=RoleUsage(10, 5, 2, 0.25)),
        "timings": Timings("2026-01-01T00:00:00Z", 12.5, 5.0, 1.0, 2.0, 0.5, (ModelCallTime("agent", 1, 5.0),)),
        "fingerprint": {"instructions": Fingerprint("instructions.md", "ab" * 32)},
        "warnings": ("slow",),
    }
    return Episode(**(fields | changes))


def through_javascript(episode: Episode) -> Episode:
    return Episode.from_metadata(json.loads(json.dumps(episode.to_metadata(), allow_nan=False)))


def test_a_record_comes_back_as_it_was_written() -> None:
    assert through_javascript(an_episode()) == an_episode()


def test_no_tool_calls_and_unknown_tool_calls_stay_different() -> None:
    assert through_javascript(an_episode(tool_calls=())).tool_calls == ()
    assert through_javascript(an_episode(tool_calls=None)).tool_calls is None
    metadata = an_episode().to_metadata()
    del metadata["toolCalls"]
    assert Episode.from_metadata(metadata).tool_calls is None


def test_no_variables_and_unknown_variables_stay_different() -> None:
    assert through_javascript(an_episode(variables=())).variables == ()
    assert through_javascript(an_episode(variables=None)).variables is None


def test_readers_of_promptfoos_own_key_find_the_calls_without_their_results() -> None:
    assert an_episode().to_metadata()["mcpToolCalls"] == [
        {"id": "call_1", "server": "portal", "name": "get_spoke", "arguments": {"name": "spoke-a"}, "status": "ok"}
    ]
    assert an_episode(tool_calls=()).to_metadata()["mcpToolCalls"] == []
    assert an_episode(tool_calls=None).to_metadata()["mcpToolCalls"] is None


def test_integers_beyond_what_javascript_holds_are_tagged_and_restored() -> None:
    episode = an_episode(tool_calls=(a_call(arguments={"build": 2**53 + 1}),))
    assert episode.to_metadata()["toolCalls"][0]["arguments"] == {"build": {"$int": "9007199254740993"}}
    assert through_javascript(episode) == episode


def test_a_value_that_is_no_json_becomes_null_or_text_with_a_warning_that_says_where() -> None:
    metadata = an_episode(tool_calls=(a_call(result={"load": math.nan, "who": object, "bad": "\ud800"}),)).to_metadata()
    result = metadata["toolCalls"][0]["result"]
    assert result["load"] is None
    assert result["who"] == "<class 'object'>"
    assert result["bad"] == "\ufffd"
    assert metadata["warnings"][1:] == [
        "/toolCalls/0/result/load: nan is not a JSON number and was written as null",
        "/toolCalls/0/result/who: a type is not JSON and was written as text",
        "/toolCalls/0/result/bad: an unpaired surrogate was replaced by U+FFFD",
    ]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"schema": "0"}, "/schema: expected the record version '1', found '0'"),
        ({"variables": [{"name": "plan"}]}, "/variables/0/value: a variable without a value"),
        ({"toolCalls": {}}, "/toolCalls: expected a list, found dict"),
        ({"toolCalls": [{"status": "ok"}]}, "/toolCalls/0/name: a tool call without a name"),
        ({"toolCalls": [{"name": "x", "status": "fine"}]}, "/toolCalls/0/status: 'fine' is none of ok, tool_error,"),
        ({"toolCalls": [{"name": "x", "arguments": "{}"}]}, "/toolCalls/0/arguments: expected an object or null"),
        ({"stopReason": "bored"}, "/stopReason: 'bored' is none of goal_reached,"),
        ({"pullRequests": [{"atHost": {"exists": "yes"}}]}, "/pullRequests/0/atHost/exists: expected true or false"),
        ({"messages": ["hi"]}, "/messages: expected a list of objects"),
        ({"usage": {"agent": {"promptTokens": "3"}}}, "/usage/agent/promptTokens: expected a number, found str"),
    ],
)
def test_a_record_of_the_wrong_shape_is_refused_with_its_place(change: dict[str, object], message: str) -> None:
    with pytest.raises(EvidenceError) as caught:
        Episode.from_metadata(an_episode().to_metadata() | change)
    assert str(caught.value).startswith(message)


def test_a_call_that_was_sent_and_never_answered_may_have_run() -> None:
    assert {status: status.executed for status in ToolStatus} == {
        ToolStatus.OK: True,
        ToolStatus.TOOL_ERROR: True,
        ToolStatus.TRANSPORT_ERROR: None,
        ToolStatus.NOT_EXECUTED: False,
        ToolStatus.PARSE_ERROR: False,
        ToolStatus.SCHEMA_ERROR: False,
    }
