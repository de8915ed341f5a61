"""`evals save-golden`: from a finished run to a golden that the same agent passes, and another one does not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from episodes.record import Episode, StopReason, ToolCall, ToolStatus
from evals.__main__ import main
from evals.golden_case import golden_turns
from providers.conversation.episode import read_plan
from tests.evals.conversation_run import conversation_run


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return conversation_run(
        tmp_path_factory.mktemp("run"),
        {
            "R01": {"request": "Copy it.", "facts": {"cost center": "CC-1234"}, "session_parameters": {"plan": "gold"}},
            "R02": {"request": "Copy another one.", "persona": "someone who is silent"},
        },
        user=lambda instructions, said: (
            "" if "silent" in instructions else ["It is CC-1234.", "###STOP###"][len(said) - 1]
        ),
        lines=["Which cost center?", "Done."],
    )


def saved(results: Path, file: Path, *options: str) -> dict[str, Any]:
    assert main(["save-golden", str(results), "R01", "--out", str(file), *options]) == 0
    (case,) = yaml.safe_load(file.read_text())
    return dict(case)


def test_the_turns_of_the_user_become_fixed_and_the_agents_words_the_expectation(results: Path, tmp_path: Path) -> None:
    case = saved(results, tmp_path / "goldens" / "G01.yaml", "--id", "G01")
    assert case["description"] == "G01 golden of R01 a case"
    assert case["metadata"] == {"id": "G01", "group": "golden", "priority": "full"}
    assert case["vars"] == {
        "request": "Copy it.",
        "session_parameters": {"plan": "gold"},
        "golden": {
            "replay": "stable",
            "turns": [
                {"user": "Copy it.", "agent": "Which cost center?"},
                {"user": "It is CC-1234.", "agent": "Done."},
            ],
        },
    }
    (assertion,) = case["assert"]
    assert assertion["value"].endswith("assertions/golden_turn.py")
    assert assertion["config"] == {
        "turns": [
            {"turn": 1, "message": "Which cost center?", "tools": []},
            {"turn": 2, "message": "Done.", "tools": []},
        ]
    }
    assert read_plan(case["vars"], 15).golden is not None


def test_the_golden_passes_for_the_same_agent_and_fails_for_another_one(results: Path, tmp_path: Path) -> None:
    from assertions.evidence import Evidence
    from assertions.golden_turn import check
    from assertions.run_check import grade
    from tests.providers.conversation.talks import talk

    case = saved(results, tmp_path / "G.yaml")
    config = case["assert"][0]["config"]
    verdicts = []
    for lines in (["Which cost center?", "Done."], ["Which cost center?", "No, I refuse to do that for you."]):
        outcome = talk(case["vars"], lines)
        verdicts.append(grade("golden_turn", check, Evidence(outcome.episode, vars=case["vars"]), config).passed)
    assert verdicts == [True, False]


def test_a_conversation_that_did_not_pass_is_no_ideal_unless_that_is_said(
    results: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["save-golden", str(results), "R02", "--out", str(tmp_path / "x.yaml")]
    assert main(words) == 5
    assert "R02 did not pass (simulator_defect: " in capsys.readouterr().err
    assert main([*words, "--although-failed"]) == 0


def test_an_unknown_case_names_those_that_there_are(results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["save-golden", str(results), "R09"]) == 4
    assert "There is no conversation of R09; cases in the file: R01, R02." in capsys.readouterr().err


def test_a_file_that_is_there_is_not_overwritten(
    results: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    there = tmp_path / "there.yaml"
    there.write_text("mine")
    assert main(["save-golden", str(results), "R01", "--out", str(there)]) == 5
    assert there.read_text() == "mine"
    assert "is there already" in capsys.readouterr().err


def a_call(name: str, status: str, /, turn: int = 1, **arguments: Any) -> ToolCall:
    return ToolCall("i", turn, 1, 1, "portal", name, arguments, "{}", ToolStatus(status), {"n": 1})


def test_only_calls_that_went_well_become_part_of_the_ideal() -> None:
    calls = (a_call("get", "ok", name="a"), a_call("get", "tool_error"), a_call("put", "not_executed"))
    messages = ({"role": "user", "content": "u", "turn": 1}, {"role": "assistant", "content": "a", "turn": 1})
    episode = Episode("C", "s", StopReason.USER_STOP, messages=messages, tool_calls=calls)
    assert golden_turns(episode) == [
        {"user": "u", "agent": "a", "tool_calls": [{"name": "get", "arguments": {"name": "a"}, "output": {"n": 1}}]}
    ]


def test_a_last_turn_without_an_answer_is_left_out_and_answers_in_several_parts_are_one() -> None:
    said = [("user", "u1"), ("assistant", "a1"), ("assistant", "a2"), ("user", "u2")]
    messages = tuple({"role": role, "content": text, "turn": int(text[1])} for role, text in said)
    episode = Episode("C", "s", StopReason.MAX_TURNS, messages=messages, tool_calls=())
    assert golden_turns(episode) == [{"user": "u1", "agent": "a1\n\na2"}]


def test_what_holds_a_reference_is_kept_as_text_because_promptfoo_would_resolve_it() -> None:
    call = replace(a_call("put", "ok", schema={"a": [{"$ref": "#/x"}]}), result={"$ref": "#/y"})
    messages = ({"role": "user", "content": "u", "turn": 1}, {"role": "assistant", "content": "a", "turn": 1})
    episode = Episode("C", "s", StopReason.USER_STOP, messages=messages, tool_calls=(call,))
    (turn,) = golden_turns(episode)
    assert turn["tool_calls"] == [
        {"name": "put", "arguments": '{"schema": {"a": [{"$ref": "#/x"}]}}', "output": '{"$ref": "#/y"}'}
    ]
    golden = read_plan({"golden": {"turns": [turn]}}, 15).golden
    assert golden is not None
    assert golden.turns[0].tool_calls[0].arguments == {"schema": {"a": [{"$ref": "#/x"}]}}
