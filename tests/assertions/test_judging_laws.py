"""Laws that hold for every record: no check crashes, and none passes without evidence."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assertions.evidence import Evidence
from assertions.grading import grade_episode, prepare
from assertions.judging.material import answers, transcript
from assertions.run_check import grade
from assertions.verdict import NotEvaluated, Verdict
from episodes.record import Episode, Goal, PullRequest, StopReason, Timings, ToolCall, ToolStatus
from tests.support.laws import law

URL = "https://dev.azure.com/contoso/platform/_git/spokes/pullrequest/41"
NAMES = st.sampled_from(["get_spoke", "validate_spoke", "create_spoke_pull_request", "shell"])
TEXTS = st.text(max_size=20) | st.sampled_from(
    [URL, f"see {URL}.", "{", '{"name": "a"}', "{{name}}", "[cut: 1 of 9 characters, SHA-256 ab]"]
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXTS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["configuration", "schema", "url", "valid", "path", "errors", "title"]) | TEXTS,
            inner,
            max_size=4,
        )
    ),
    max_leaves=8,
)


@st.composite
def calls(draw: st.DrawFn) -> ToolCall:
    arguments = draw(st.none() | st.dictionaries(st.sampled_from(["configuration", "title", "a"]), JSON, max_size=3))
    return ToolCall(
        id=draw(TEXTS),
        turn=draw(st.integers(0, 3)),
        step=1,
        batch=draw(st.integers(0, 3)),
        server="portal",
        name=draw(NAMES),
        arguments=arguments,
        arguments_raw="",
        status=draw(st.sampled_from(list(ToolStatus))),
        result=draw(JSON),
        problem=draw(TEXTS),
        replayed=draw(st.booleans()),
    )


@st.composite
def episodes(draw: st.DrawFn) -> Episode:
    message = st.fixed_dictionaries(
        {"role": st.sampled_from(["user", "assistant", "tool", "system", "odd"]), "content": JSON},
        optional={"turn": st.integers(0, 4) | st.none(), "tool_calls": JSON},
    )
    pull = st.builds(PullRequest, st.sampled_from([URL, "nowhere", ""]), TEXTS, TEXTS, TEXTS, TEXTS)
    return Episode(
        case_id="C01",
        step_id="s",
        stop_reason=draw(st.sampled_from(list(StopReason))),
        messages=tuple(draw(st.lists(message, max_size=5))),
        tool_calls=draw(st.none() | st.lists(calls(), max_size=5).map(tuple)),
        pull_requests=tuple(draw(st.lists(pull, max_size=2))),
        goals=tuple(draw(st.lists(st.just(Goal(1, "a", "reached", "b")), max_size=1))),
        timings=Timings(duration_ms=draw(st.floats(-1, 1e6))),
    )


OFFLINE = {"look_up": False, "target_branch": "main", "allowed_paths": "spokes/*", "title": "*"}
CONFIGS: list[tuple[str, dict[str, Any]]] = [
    ("pull_request", OFFLINE),
    ("pull_request", {"required": False, "created_by": "create_*"}),
    ("pull_request", {"look_up": False, "created_by": ["*"], "max": 3}),
    (
        "schema_validation",
        {
            "submitted": {"tool": "create_*", "path": "/configuration", "when": "attempted"},
            "schema": {"tool": "get_spoke", "path": "/schema"},
            "additionalSchema": {"type": "object", "properties": {"title": {"format": "date"}}},
            "fileNameRules": {"pattern": "[a-z]+", "path": "spokes"},
            "portal_validation": {"tool": "validate_spoke"},
        },
    ),
    ("schema_validation", {"submitted": {"answer": True}, "schema": {"type": "object"}}),
    (
        "contract",
        {
            "required_tools": ["get_*"],
            "allowed_tools": ["*_spoke*"],
            "forbidden_tools": ["shell"],
            "max_tool_calls": 3,
            "max_turns": 2,
            "max_cost": 1,
            "max_latency_s": 10,
            "answer": {"contains": "a", "not_regex": "b+"},
        },
    ),
    (
        "golden_turn",
        {"turns": [{"tools": ["get_spoke"], "handoff": False}, {"contains": "a", "tools": []}], "extra_turns": "allow"},
    ),
]


@pytest.mark.parametrize(("name", "config"), CONFIGS, ids=[f"{index}-{one[0]}" for index, one in enumerate(CONFIGS)])
@law(120)
@given(episode=episodes(), output=TEXTS)
def test_no_record_crashes_a_check_and_none_passes_without_evidence(
    name: str, config: dict[str, Any], episode: Episode, output: str
) -> None:
    [result] = grade_episode(prepare([(name, config)], {}), episode, output)
    assert "the check crashed" not in result.reason
    assert result.reason
    assert 0.0 <= result.score <= 1.0
    if result.verdict is Verdict.PASS and "answer" not in config.get("submitted", {}):
        assert episode.tool_calls is not None
    [blind] = grade_episode(prepare([(name, config)], {}), replace(episode, tool_calls=None), output)
    if "answer" not in config.get("submitted", {}):
        assert blind.verdict is not Verdict.PASS


@given(episode=episodes())
def test_what_a_judge_gets_to_see_can_be_made_of_every_record(episode: Episode) -> None:
    for make in (transcript, answers):
        try:
            made = make(Evidence(episode))
        except NotEvaluated as error:
            made = error.reason
        assert made is not None


@given(
    config=JSON | st.dictionaries(TEXTS, JSON, max_size=3),
    name=st.sampled_from([one for one, _ in CONFIGS] + ["rubric", "groundedness", "user_goal", "task_completion"]),
)
def test_no_config_crashes_a_check(name: str, config: Any) -> None:
    from importlib import import_module

    evidence = Evidence(Episode("C01", "s", StopReason.USER_STOP, tool_calls=()))
    result = grade(name, import_module(f"assertions.{name}").check, evidence, config)
    assert "the check crashed" not in result.reason
    if config != {}:
        assert result.verdict is Verdict.NOT_EVALUATED
