"""`evals grade`: recorded episodes against case files, in bulk, without promptfoo."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from assertions import Verdict, grade_episode, prepare
from assertions.verdict import ConfigError
from episodes.record import AtHost, Episode, PullRequest, StopReason, ToolCall, ToolStatus
from evals.__main__ import main
from evals.exit_codes import Exit

CASES = """\
- description: T01 opens a pull request
  metadata: {id: T01, group: t, priority: full, risk: low}
  vars: {request: Copy it., source: spoke-a-dev}
  assert:
    - type: python
      value: file://ASSERTIONS/contract.py
      config:
        required_tools: [get_spoke]
        argument_match: {tool: get_spoke, args: {name: "{{source}}"}}
        pull_request: {target_branch: main}
        rubric: {criteria: [is polite]}
- description: T02 opens none
  metadata: {id: T02, group: t, priority: full, risk: low}
  vars: {request: Delete it.}
  assert:
    - type: python
      value: file://ASSERTIONS/tool_not_executed.py
      config: {tools: [create_spoke_pull_request]}
    - type: contains
      value: sorry
- description: T03 is judged only
  metadata: {id: T03, group: t, priority: full, risk: low}
  vars: {request: What?}
  assert:
    - type: python
      value: file://ASSERTIONS/rubric.py
      config: {criteria: [explains it]}
"""
URL = "https://dev.azure.com/contoso/platform/_git/spokes/pullrequest/41"


def call(name: str, arguments: dict[str, Any], result: Any = None) -> ToolCall:
    return ToolCall("1", 1, 1, 1, "portal", name, arguments, json.dumps(arguments), ToolStatus.OK, result)


def episode(case: str, *calls: ToolCall, answer: str = "Done.", known: bool = True) -> Episode:
    pulls = [
        PullRequest(one.result["url"], "41", "platform/spokes", "b", "active")
        for one in calls
        if isinstance(one.result, dict) and "url" in one.result
    ]
    return Episode(
        case_id=case,
        step_id="test-0",
        stop_reason=StopReason.USER_STOP,
        messages=({"role": "user", "content": "x", "turn": 1}, {"role": "assistant", "content": answer, "turn": 1}),
        tool_calls=calls if known else None,
        pull_requests=tuple(pulls),
    )


CREATE = call("create_spoke_pull_request", {}, {"url": URL, "status": "active", "targetBranch": "main"})
GOOD = episode("T01", call("get_spoke", {"name": "spoke-a-dev"}), CREATE, answer=f"Here: {URL}")
WRONG = episode("T01", call("get_spoke", {"name": "spoke-b-dev"}), CREATE, answer=f"Here: {URL}")
CALM = episode("T02", call("get_spoke", {"name": "x"}))
RASH = episode("T02", CREATE)


@pytest.fixture
def cases(tmp_path: Path) -> Path:
    file = tmp_path / "cases.yaml"
    folder = Path(__file__).resolve().parents[2] / "assertions"
    file.write_text(CASES.replace("ASSERTIONS", str(folder)))
    return file


def write(folder: Path, items: Sequence[Any], name: str = "episodes.jsonl") -> Path:
    file = folder / name
    lines = [json.dumps(item.to_metadata() if isinstance(item, Episode) else item) for item in items]
    file.write_text("\n".join(lines) + "\n")
    return file


def grade(file: Path, cases: Path, *options: str) -> int:
    return main(["grade", str(file), "--cases", str(cases), *options])


def test_good_episodes_pass_and_what_was_not_looked_at_is_said(
    cases: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert grade(write(tmp_path, [GOOD, CALM, GOOD]), cases) == Exit.PASSED
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith("3 episodes: 3 passed, 0 failed, 0 not evaluated (")
    assert second == "left out: contains (1), contract.rubric (2)"


def test_failures_are_grouped_by_reason_and_decide_the_exit_code(
    cases: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert grade(write(tmp_path, [GOOD, WRONG, WRONG, RASH, episode("T02", known=False)]), cases) == Exit.FAILED
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("5 episodes: 1 passed, 3 failed, 1 not evaluated (")
    assert lines[2].startswith("  2 x T01 contract: argument_match: ")
    assert "spoke-b-dev" in lines[2]
    assert any(
        line.startswith("  1 x T02 tool_not_executed: create_spoke_pull_request was attempted") for line in lines
    )
    assert any("NOT EVALUATED: tool telemetry is missing" in line for line in lines)


def test_a_pull_request_is_judged_by_what_its_host_said_when_the_episode_ended(
    cases: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    silent = call("create_spoke_pull_request", {}, {"url": URL})
    untold = episode("T01", call("get_spoke", {"name": "spoke-a-dev"}), silent, answer=f"Here: {URL}")
    assert grade(write(tmp_path, [untold]), cases) == Exit.NOT_EVALUATED
    capsys.readouterr()
    answer = AtHost(True, "2026-01-01T00:00:00+00:00", "active", "Copy", "agent/spoke-a", "main", ("spokes/a.json",))
    (pull,) = untold.pull_requests
    told = replace(untold, pull_requests=(replace(pull, at_host=answer),))
    assert grade(write(tmp_path, [told]), cases) == Exit.PASSED
    elsewhere = replace(untold, pull_requests=(replace(pull, at_host=replace(answer, target_branch="release")),))
    assert grade(write(tmp_path, [elsewhere]), cases) == Exit.FAILED
    assert "has the target branch 'release'; expected 'main' (says its host)" in capsys.readouterr().out


def test_what_can_not_be_judged_is_its_own_exit_code(
    cases: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    items = [
        CALM,
        replace(CALM, case_id="T09"),
        replace(CALM, case_id=""),
        {**CALM.to_metadata(), "schema": "99"},
        {"testCase": {"metadata": {"id": "T02"}}, "error": "the provider broke down"},
    ]
    assert grade(write(tmp_path, items), cases) == Exit.NOT_EVALUATED
    out = capsys.readouterr().out
    assert "5 episodes: 1 passed, 0 failed, 4 not evaluated" in out
    assert "1 x there is no case 'T09' in the case files" in out
    assert "1 x it names no case" in out
    assert "1 x T02: the record can not be read: /schema: expected the record version '1', found '99'" in out
    assert "1 x T02: the provider broke down" in out
    assert grade(write(tmp_path, [replace(CALM, case_id="")]), cases, "--case", "T02") == Exit.PASSED


def test_nothing_judged_is_never_a_pass(cases: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert grade(write(tmp_path, [episode("T03")]), cases) == Exit.NOTHING_SELECTED
    assert "1 episodes were not graded: their cases have no check that can be made here" in capsys.readouterr().out
    assert grade(write(tmp_path, [], "empty.json.jsonl"), cases) == Exit.NOTHING_SELECTED


def test_results_of_promptfoo_are_graded_again(cases: Path, tmp_path: Path) -> None:
    rows = [
        {"testCase": {"metadata": {"id": "T02"}}, "response": {"output": "x", "metadata": CALM.to_metadata()}},
        {"testCase": {"metadata": {"id": "T02"}}, "response": {"output": "x", "metadata": RASH.to_metadata()}},
    ]
    file = tmp_path / "results.json"
    file.write_text(json.dumps({"evalId": "e", "results": {"results": rows}}))
    assert grade(file, cases) == Exit.FAILED
    file.write_text(json.dumps({"evalId": "e", "results": {"results": rows[:1]}}))
    assert grade(file, cases) == Exit.PASSED


@pytest.mark.parametrize(
    ("item", "code"),
    [
        ({"messages": [{"role": "user", "content": "x"}, {"role": "assistant", "content": "No."}]}, Exit.PASSED),
        (
            {
                "messages": [
                    {
                        "role": "assistant",
                        "tool_calls": [
                            {"id": "1", "function": {"name": "create_spoke_pull_request", "arguments": "{}"}}
                        ],
                    }
                ]
            },
            Exit.FAILED,
        ),
        ({"items": [{"type": "message", "role": "user", "content": "x"}, {"type": "odd_call"}]}, Exit.NOT_EVALUATED),
        ({"trace": {"spans": []}}, Exit.NOT_EVALUATED),
        ({"response": {"output": "x", "metadata": {"toolCalls": []}}}, Exit.PASSED),
        ({"response": {"error": "timeout", "output": "x", "metadata": {"toolCalls": []}}}, Exit.NOT_EVALUATED),
        ({"nonsense": 1}, Exit.NOT_EVALUATED),
    ],
)
def test_what_other_programs_wrote_is_graded_too(cases: Path, tmp_path: Path, item: dict[str, Any], code: Exit) -> None:
    assert grade(write(tmp_path, [{"caseId": "T02", **item}]), cases) == code


def test_every_verdict_can_be_written_to_a_file(cases: Path, tmp_path: Path) -> None:
    out = tmp_path / "verdicts.jsonl"
    grade(write(tmp_path, [GOOD, RASH, episode("T03")]), cases, "--json", str(out))
    lines = [json.loads(line) for line in out.read_text().splitlines()]
    assert [(line["caseId"], line["verdict"]) for line in lines] == [("T01", "pass"), ("T02", "fail"), ("T03", None)]
    assert lines[0]["results"][0]["name"] == "contract"
    assert lines[0]["results"][0]["namedScores"]["contract.required_tools"] == 1.0


@pytest.mark.parametrize(
    ("content", "problem"), [("{", ":1 is no JSON: "), (None, " can not be read: "), (b"\xff\n", " can not be read: ")]
)
def test_a_file_that_can_not_be_read_is_one_sentence(
    cases: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], content: Any, problem: str
) -> None:
    file = tmp_path / "episodes.jsonl"
    if content is not None:
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
    assert grade(file, cases) == Exit.SETUP
    assert f"{file}{problem}" in capsys.readouterr().err


def test_a_faulty_case_file_is_found_before_anything_is_graded(
    cases: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cases.write_text(cases.read_text().replace("required_tools", "requires"))
    assert grade(write(tmp_path, [CALM]), cases) == Exit.SETUP
    error = capsys.readouterr().err
    assert str(cases) in error
    assert "/requires: unknown key" in error


def test_the_same_functions_grade_in_a_program_of_ones_own() -> None:
    case = prepare([("tool_not_executed", {"tools": ["create_*"]})], {})
    assert [grade_episode(case, one)[0].verdict for one in (CALM, RASH)] == [Verdict.PASS, Verdict.FAIL]
    with pytest.raises(ConfigError, match="unknown key"):
        prepare([("tool_not_executed", {"tolls": []})], {})


def test_looking_pull_requests_up_is_left_out_in_a_list_of_configs_too() -> None:
    parts = [{"target_branch": "main"}, {"required": False}, {"look_up": True}]
    case = prepare([("contract", {"pull_request": parts}), ("pull_request", {})], {})
    assert case.checks[0].config["pull_request"] == [
        {"look_up": False, "target_branch": "main"},
        {"required": False},
        {"look_up": True},
    ]
    assert case.checks[1].config == {"look_up": False}
    assert prepare([("pull_request", {})], {}, look_up=True).checks[0].config == {}


def test_checks_that_ask_a_model_are_made_only_when_asked_for() -> None:
    golden = {"turns": [{"message": "x"}], "semantic": {"by": "judge"}}
    checks: list[tuple[str, dict[str, Any]]] = [
        ("contract", {"groundedness": {}, "max_tool_calls": 1}),
        ("golden_turn", golden),
        ("golden_turn", {"turns": [{"tools": []}]}),
        ("user_goal", {"goal": "y"}),
    ]
    case = prepare(checks, {})
    assert [check.name for check in case.checks] == ["contract", "golden_turn"]
    assert case.checks[0].config == {"max_tool_calls": 1}
    assert case.left_out == ("contract.groundedness", "golden_turn", "user_goal")
    assert len(prepare(checks, {}, ask_judges=True).checks) == 4
