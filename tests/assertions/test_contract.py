"""The assertion `contract`: several assertions and the plain terms of a golden task in one process."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from assertions.config_check import check_config
from assertions.contract import check, get_assert
from assertions.contracts.judgement import CHECKS
from assertions.run_check import grade
from assertions.verdict import CheckResult, ConfigError
from episodes.record import RoleUsage, Timings, Usage
from tests.assertions.conversations import FAIL, NOT_EVALUATED, PASS, conversation, says, tool

SCHEMA: dict[str, Any] = {"type": "object", "required": ["name"]}


def judge(evidence: Any, config: dict[str, Any]) -> CheckResult:
    return grade("contract", check, evidence, config)


def test_all_parts_hold() -> None:
    evidence = conversation(
        tool("get_spoke"), tool("create", {"configuration": {"name": "a"}}), messages=[says("assistant", "It is 5.")]
    )
    result = judge(
        evidence,
        {
            "required_tools": ["get_spoke"],
            "allowed_tools": ["get_*", "create"],
            "max_tool_calls": 2,
            "schema_validation": {"schema": SCHEMA, "submitted": {"tool": "create", "path": "/configuration"}},
            "answer": {"contains": "5"},
        },
    )
    assert (result.verdict, result.score) == (PASS, 1.0)
    assert result.reason == (
        "all 5 parts hold: required_tools, allowed_tools, max_tool_calls, schema_validation, answer"
    )
    assert [part.name for part in result.components] == [
        "required_tools",
        "allowed_tools",
        "max_tool_calls",
        "schema_validation",
        "answer",
    ]
    scores = result.all_named_scores()
    assert scores["contract.required_tools"] == 1.0
    assert scores["contract.schema_validation"] == 1.0
    assert scores["schema_validation.schema"] == 1.0


def test_one_failed_part_is_told_in_one_sentence() -> None:
    result = judge(conversation(tool("a"), tool("b")), {"max_tool_calls": 1, "required_tools": ["a"]})
    assert (result.verdict, result.reason) == (FAIL, "max_tool_calls: 2 tool calls, at most 1 allowed")
    assert result.score == 0.5


def test_a_failure_beside_a_part_that_could_not_be_judged_is_a_failure_and_both_are_told() -> None:
    evidence = conversation(tool("a"), tool("b"), messages=[says("assistant", "ok")])
    result = judge(evidence, {"max_cost": 1, "max_tool_calls": 1, "answer": {"contains": "yes"}})
    assert result.verdict is FAIL
    assert result.reason == (
        "2 of 3 parts failed\n"
        "max_tool_calls: 2 tool calls, at most 1 allowed\n"
        "answer: the answer does not contain 'yes'. The answer: 'ok'\n"
        "not evaluated: max_cost: the agent's cost is unknown: the price table does not have its model"
    )
    assert result.all_named_scores()["max_cost.not_evaluated"] == 1.0
    assert "contract.not_evaluated" not in result.all_named_scores()


def test_each_failed_part_has_its_own_line_and_its_further_lines_are_indented() -> None:
    schema = {"required": ["name", "owner"]}
    submitted = {"tool": "create", "path": "/configuration"}
    evidence = conversation(tool("a"), tool("create", {"configuration": {}}), messages=[says("assistant", "ok")])
    config = {"max_tool_calls": 1, "schema_validation": {"submitted": submitted, "schema": schema}}
    assert judge(evidence, config).reason.splitlines() == [
        "2 of 2 parts failed",
        "max_tool_calls: 2 tool calls, at most 1 allowed",
        "schema_validation: schema_validation.schema: 2 errors: create in turn 1: /: 'name' is a required property "
        "[#/required]",
        "  create in turn 1: /: 'owner' is a required property [#/required]",
    ]


def test_each_part_that_could_not_be_judged_has_its_own_line() -> None:
    evidence = conversation(tool("a"), messages=[says("user", "x"), says("assistant", "ok")])
    result = judge(evidence, {"max_cost": 1, "tool_not_executed": {"tools": ["b"], "turn": 9}})
    assert (result.verdict, result.reason.splitlines()) == (
        NOT_EVALUATED,
        [
            "NOT EVALUATED: max_cost: the agent's cost is unknown: the price table does not have its model",
            "tool_not_executed: turn 9 did not take place: the conversation has 1 turn",
        ],
    )


def test_a_term_of_the_golden_task_has_one_named_score() -> None:
    evidence = conversation(tool("a"), messages=[says("assistant", "ok")])
    config = {"required_tools": ["a"], "answer": {"contains": "ok"}}
    assert judge(evidence, config).all_named_scores() == {"contract.required_tools": 1.0, "contract.answer": 1.0}


def test_a_part_that_could_not_be_judged_makes_the_whole_not_evaluated() -> None:
    result = judge(conversation(tool("a")), {"max_cost": 1, "max_tool_calls": 1})
    assert (result.verdict, result.score) == (NOT_EVALUATED, 0.0)
    assert result.reason == (
        "NOT EVALUATED: max_cost: the agent's cost is unknown: the price table does not have its model"
    )
    assert result.all_named_scores()["contract.not_evaluated"] == 1.0


def test_several_configs_of_one_assertion_are_numbered_and_keep_their_scores_apart() -> None:
    def submitted(path: str) -> dict[str, Any]:
        return {"schema": SCHEMA, "submitted": {"tool": "create", "path": path}}

    evidence = conversation(tool("create", {"good": {"name": "a"}, "bad": {}}))
    result = judge(evidence, {"schema_validation": [submitted("/good"), submitted("/bad")]})
    assert [(part.name, part.verdict) for part in result.components] == [
        ("schema_validation#1", PASS),
        ("schema_validation#2", FAIL),
    ]
    scores = result.all_named_scores()
    assert (scores["schema_validation#1.schema"], scores["schema_validation#2.schema"]) == (1.0, 0.0)
    assert result.reason.startswith("schema_validation#2: schema_validation.schema: 1 error: create in turn 1: /: ")


def test_a_sequence_of_plain_names_is_exact_as_in_a_golden_task() -> None:
    config = {"tool_sequence": ["get_spoke", "create"]}
    check_config("contract", config, {})
    assert judge(conversation(tool("get_spoke"), tool("create")), config).verdict is PASS
    assert judge(conversation(tool("get_spoke"), tool("other"), tool("create")), config).verdict is FAIL
    with pytest.raises(ConfigError, match="/tool_sequence: is empty"):
        check_config("contract", {"tool_sequence": []}, {})


@pytest.mark.parametrize(
    ("calls", "term", "verdict", "reason"),
    [
        ([tool("a")], {"required_tools": ["a"]}, PASS, "executed: a"),
        ([tool("a", status="tool_error")], {"required_tools": ["a"]}, PASS, "executed: a"),
        ([tool("a")], {"required_tools": ["a", "b"]}, FAIL, "not executed: b; executed: a"),
        (
            [tool("a", status="not_executed", problem="outside the allow-list")],
            {"required_tools": ["a"]},
            FAIL,
            "not executed: a (attempted once, not_executed: outside the allow-list); executed: none",
        ),
        (
            [tool("a", status="transport_error")],
            {"required_tools": ["a"]},
            NOT_EVALUATED,
            "a was sent and never answered, so it may or may not have run",
        ),
        (
            [tool("a"), tool("b", turn=2)],
            {"allowed_tools": ["a"]},
            FAIL,
            "call 2, b in turn 2, is not allowed; allowed: a",
        ),
        ([], {"allowed_tools": []}, PASS, "only allowed tools were called"),
        ([tool("a")], {"allowed_tools": []}, FAIL, "call 1, a in turn 1, is not allowed; allowed: none"),
        (
            [tool("shell", status="not_executed")],
            {"forbidden_tools": ["shell"]},
            FAIL,
            "shell was attempted, forbidden by shell: shell (call 1, turn 1: not_executed)",
        ),
        ([tool("a")], {"forbidden_tools": ["create*", "b"]}, PASS, "not attempted: create*, b (1 call)"),
        ([tool("a", status="tool_error")] * 3, {"max_tool_calls": 2}, FAIL, "3 tool calls, at most 2 allowed"),
        ([], {"max_tool_calls": 0}, PASS, "0 tool calls, at most 0 allowed"),
    ],
)
def test_the_terms_about_tools(calls: list[Any], term: dict[str, Any], verdict: Any, reason: str) -> None:
    [part] = judge(conversation(*calls), term).components
    assert (part.verdict, part.reason.removeprefix("NOT EVALUATED: ")) == (verdict, reason)


@pytest.mark.parametrize(
    "term", [{"required_tools": ["a"]}, {"allowed_tools": []}, {"forbidden_tools": ["a"]}, {"max_tool_calls": 9}]
)
def test_no_term_about_tools_passes_when_the_calls_are_unknown(term: dict[str, Any]) -> None:
    assert judge(conversation(known=False), term).verdict is NOT_EVALUATED


def test_the_terms_about_turns_money_and_time() -> None:
    evidence = conversation(
        messages=[says("user", "a", 1), says("assistant", "b", 2)],
        usage=Usage(agent=RoleUsage(cost=0.25), user=RoleUsage(cost=9.0)),
        timings=Timings(duration_ms=5000, user_model_ms=1500, judge_model_ms=500),
    )
    assert judge(evidence, {"max_turns": 2, "max_cost": 0.25, "max_latency_s": 3}).verdict is PASS
    reasons = [
        part.reason for part in judge(evidence, {"max_turns": 1, "max_cost": 0.2, "max_latency_s": 2.5}).components
    ]
    assert reasons == [
        "2 turns, at most 1 allowed",
        "0.25 spent by the agent, at most 0.2 allowed",
        "3 seconds, at most 2.5 allowed",
    ]
    for term in ({"max_turns": 1}, {"max_latency_s": 1}, {"answer": {"contains": "a"}}):
        assert judge(conversation(output=""), term).verdict is NOT_EVALUATED


@pytest.mark.parametrize(
    ("facts", "problem"),
    [
        ({"contains": ["west europe", "10.0.0.0/24"]}, None),
        ({"contains": "West  Europe\n"}, None),
        ({"contains": "west europe", "exact": True}, "the answer does not contain 'west europe'"),
        ({"not_contains": "North"}, "the answer contains 'North'"),
        ({"regex": r"10\.\d+\.0\.0/24$"}, None),
        ({"regex": r"^never$"}, "the answer does not match '^never$'"),
        ({"not_regex": ["north", "east"]}, "the answer matches 'north'"),
        ({"contains": "Done", "scope": "last"}, "the answer does not contain 'Done'"),
        ({"contains": "the developer"}, "the answer does not contain 'the developer'"),
    ],
)
def test_facts_of_the_answer(facts: dict[str, Any], problem: str | None) -> None:
    messages = [
        says("assistant", "Done in West Europe,\nnot North Europe."),
        says("user", "says the developer"),
        says("assistant", [{"type": "text", "text": "The range is 10.0.0.0/24"}]),
    ]
    [part] = judge(conversation(messages=messages), {"answer": facts}).components
    assert part.verdict is (PASS if problem is None else FAIL)
    if problem:
        assert part.reason.startswith(f"{problem}. The answer: ")


def test_facts_give_a_share_as_their_score() -> None:
    evidence = conversation(messages=[says("assistant", "one two")])
    [part] = judge(evidence, {"answer": {"contains": ["one", "two", "three"], "not_contains": "four"}}).components
    assert part.score == 0.75


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({}, "/: is empty, so there would be nothing to check"),
        ({"max_tool_call": 1}, "/max_tool_call: unknown key; allowed: allowed_tools, answer, argument_match, "),
        ({"required_tools": []}, "/required_tools: is empty, so there would be nothing to check"),
        (
            {"answer": {"scope": "all"}},
            "/answer: names no fact: give `contains`, `not_contains`, `regex` or `not_regex`",
        ),
        ({"answer": {"regex": "("}}, "/answer/regex: '(' is no regular expression"),
        ({"answer": {"contains": ["a", " "]}}, "/answer/contains: is nothing but white space; allowed: words "),
        ({"answer": {"not_contains": " "}}, "/answer/not_contains: is nothing but white space; allowed: words "),
        ({"pull_request": {"require": True}}, "/pull_request/require: unknown key; allowed: allowed_paths, "),
        ({"pull_request": [{}, {"max": 0}]}, "/pull_request/1/max: 0 is less than the minimum of 1"),
        ({"pull_request": []}, "/pull_request: is empty, so there would be nothing to check"),
        (
            {"schema_validation": {"submitted": {"tool": "a"}, "fileNameRules": {"pattern": "("}}},
            "/schema_validation/fileNameRules/pattern: '(' is no regular expression",
        ),
    ],
)
def test_a_wrong_part_is_found_with_its_place_in_the_contract(config: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        check_config("contract", config, {})
    assert str(caught.value).startswith(message)


def test_a_part_that_crashes_is_not_evaluated_and_leaves_the_others_alone(tmp_path: Any, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    config = {
        "schema_validation": {"schema": "none.json", "submitted": {"tool": "a"}},
        "max_tool_calls": 1,
    }
    result = judge(conversation(tool("a")), config)
    assert [part.verdict for part in result.components] == [NOT_EVALUATED, PASS]
    assert result.reason.startswith(
        "NOT EVALUATED: schema_validation: case C01, config of schema_validation, /schema: there is no file "
    )


def test_every_assertion_of_a_contract_is_also_one_by_itself() -> None:
    from assertions.config_check import assertion_names

    assert set(CHECKS) | {"contract"} == set(assertion_names())


def test_promptfoo_gets_plain_json_with_one_labelled_component_per_part() -> None:
    evidence = conversation(tool("a"))
    assert evidence.episode is not None
    context = {"config": {"max_tool_calls": 1, "required_tools": ["a"]}, "metadata": evidence.episode.to_metadata()}
    result = json.loads(json.dumps(get_assert("Done.", context)))
    assert (result["pass"], result["score"]) == (True, 1.0)
    assert [part["assertion"]["metric"] for part in result["componentResults"]] == ["max_tool_calls", "required_tools"]


def test_a_contract_loads_only_what_its_parts_need() -> None:
    code = (
        "import sys, json\n"
        "from assertions.config_check import stamp\n"
        "from assertions.contract import get_assert\n"
        "config = {'max_tool_calls': 1}\n"
        "config['checked'] = stamp('contract', config)\n"
        "print(get_assert('x', {'config': config})['reason'])\n"
        "print([name for name in ('jsonschema', 'requests', 'openai', 'mcp', 'yaml') if name in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [
        "NOT EVALUATED: max_tool_calls: the provider's answer carries no record (its metadata has no `schema`)",
        "[]",
    ]
