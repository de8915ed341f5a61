"""Proposed scenarios: only what the agent's own tools allow gets into the file for review."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from evals.__main__ import main
from evals.scenario_proposals import UnreadableProposals, case_block, read_proposals
from tests.support.portal_process import portal_process
from tests.support.scripted_model import Say, scripted_model

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "get_spoke",
            "description": "Read a spoke.",
            "parameters": {"type": "object", "properties": {"name": {"type": "string"}, "deep": {"type": "boolean"}}},
        },
    }
]


def scenario(**parts: Any) -> dict[str, Any]:
    return {
        "title": "Read one",
        "why": "The most common request.",
        "opening": "What is in {{spoke-crm-test}}?",
        "goal": "Know the address space.",
        "persona": "",
        "facts": [{"topic": "environment", "value": "test"}],
        "expectations": [call("get_spoke", name="spoke-crm-test", deep="true")],
        **parts,
    }


def call(tool: str, must: bool = True, after: str = "", **arguments: str) -> dict[str, Any]:
    given = [{"name": name, "value": value} for name, value in arguments.items()]
    return {"kind": "tool_call", "must": must, "text": "", "tool": tool, "arguments": given, "after_tool": after}


def says(text: str, after: str = "") -> dict[str, Any]:
    return {"kind": "message", "must": True, "text": text, "tool": "", "arguments": [], "after_tool": after}


def reply(*scenarios: Any) -> str:
    return json.dumps({"scenarios": list(scenarios)})


def test_a_usable_scenario_becomes_a_case_whose_expectations_no_model_reads(tmp_path: Path) -> None:
    file = tmp_path / "review.yaml"
    (proposal,) = read_proposals(reply(scenario()), TOOLS, 5).usable
    text = case_block(proposal, "S01", file)
    assert text.startswith("# Why: The most common request.\n")
    (case,) = yaml.safe_load(text)
    assert case["description"] == "S01 Read one"
    assert case["vars"] == {
        "request": "{% raw %}What is in {{spoke-crm-test}}?{% endraw %}",
        "goal": "Know the address space.",
        "facts": {"environment": "test"},
    }
    (written,) = case["assert"]
    assert written["value"].endswith("assertions/scenario.py")
    expected = {"tool": "get_spoke", "args": {"name": "spoke-crm-test", "deep": True}}
    assert written["config"] == {"expectations": [{"tool_call": expected}]}


@pytest.mark.parametrize(
    ("expectation", "remark"),
    [
        (call("delete_all"), "Left out: a call of delete_all, which the agent does not have."),
        (
            call("get_spoke", colour="red"),
            "Left out: a call of get_spoke with the argument colour, which it does not take.",
        ),
        (
            call("get_spoke", deep="perhaps"),
            "Left out: a call of get_spoke with a value that its argument cannot have.",
        ),
        (says(""), "Left out: a message without words."),
        (
            says("done", after="delete_all"),
            "Left out: an expectation after the tool delete_all, which the agent does not have.",
        ),
    ],
)
def test_an_expectation_that_cannot_be_checked_is_left_out_and_said_so(expectation: Any, remark: str) -> None:
    (proposal,) = read_proposals(reply(scenario(expectations=[expectation, says("10.")])), TOOLS, 5).usable
    assert len(proposal.expectations) == 1
    assert proposal.remarks[-1] == remark


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        ({"opening": " "}, "Read one: it has no opening."),
        ({"goal": ""}, "Read one: it has no goal."),
        ({"expectations": []}, "Read one: it expects nothing that could be checked"),
        ({"expectations": [call("delete_all")]}, "Read one: it expects nothing that could be checked"),
    ],
)
def test_a_scenario_that_could_never_fail_or_never_begin_is_refused(broken: dict[str, Any], reason: str) -> None:
    found = read_proposals(reply(scenario(**broken), "not a scenario"), TOOLS, 5)
    assert not found.usable
    assert found.refused[0].startswith(reason)
    assert len(found.refused) == 2


def test_no_more_scenarios_are_taken_than_were_asked_for() -> None:
    assert len(read_proposals(reply(*[scenario()] * 5), TOOLS, 2).usable) == 2


@pytest.mark.parametrize("text", ["", "Here you are!", '{"scenarios": 3}', '{"scenarios": [', "[]"])
def test_a_reply_that_is_not_the_agreed_json_is_refused(text: str) -> None:
    with pytest.raises(UnreadableProposals):
        read_proposals(text, TOOLS, 5)


def test_the_command_asks_with_the_agents_own_instructions_and_tools_and_writes_a_file_for_review(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    good = scenario(expectations=[call("get_spoke", name="spoke-crm-test")])
    script = Say(reply(good, scenario(expectations=[call("complete_pull_request")])))
    file = tmp_path / "review" / "spoke.yaml"
    with portal_process(tmp_path / "portal") as portal, scripted_model(script) as model:
        for name, value in {
            **portal.environment(),
            "EVALS_HOME": str(tmp_path / "home"),
            "EVALS_PORTAL_URL": portal.web_url,
            "EVALS_PORTAL_TOKEN": portal.portal_token,
            "EVALS_MODEL_BASE_URL": model.url,
            "EVALS_MODEL_API_KEY": "key",
        }.items():
            monkeypatch.setenv(name, value)
        assert main(["propose-scenarios", "spoke", "--count", "3", "--model", "writer", "--out", str(file)]) == 0
        body = model.asked[0].body
    asked = json.loads(body["messages"][-1]["content"])
    assert asked["count"] == 3
    assert "create_spoke_pull_request" in {tool["name"] for tool in asked["tools"]}
    assert "complete_pull_request" not in {tool["name"] for tool in asked["tools"]}
    assert asked["instructions"]
    assert body["model"] == "writer"
    cases = yaml.safe_load(file.read_text())
    assert [case["metadata"]["id"] for case in cases] == ["S01"]
    assert "FOR REVIEW" in file.read_text()
    printed = capsys.readouterr().out
    assert "Not usable: Read one: it expects nothing that could be checked" in printed
    assert printed.endswith(f"1 scenario for review: {file}\n")


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["spoke", "--count", "0"], "--count 0: a number from 1 to 50 is allowed."),
        (["spoke", "--out", "{there}"], "is there already; name another file"),
        (["nobody"], "there is no agent_config/agents/nobody"),
    ],
)
def test_a_wrong_command_line_is_one_sentence_and_nothing_is_asked(
    words: list[str], problem: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    there = tmp_path / "there.yaml"
    there.touch()
    assert main(["propose-scenarios", *(word.replace("{there}", str(there)) for word in words)]) == 5
    assert problem in capsys.readouterr().err
