"""`argument_match`: which calls have to fit, which count at all, which are no evidence, and wrong configs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from assertions import argument_match
from assertions.run_check import grade
from assertions.verdict import Verdict
from episodes.record import ToolCall, ToolStatus
from tests.assertions.judges import judge_arguments as judge
from tests.assertions.makers import call, evidence_of, unparsable


def test_repeated_values_are_not_found_twice_and_partial_credit_does_not_depend_on_listing_order() -> None:
    x = {"tool": "pay", "args": {"amount": 10, "currency": "EUR", "memo": "x"}, "match": {"mode": "exact"}}
    y = {"tool": "pay", "args": {"amount": 10, "currency": "EUR", "memo": "y"}, "match": {"mode": "exact"}}
    made = (call("pay", amount=10, currency="EUR", memo="y"), call("pay", amount=10, currency="USD", memo="z"))
    for listed in ([x, y], [y, x]):
        result = judge({"calls": listed}, *made)
        assert result.verdict is Verdict.FAIL
        assert round(result.score, 4) == 0.6667
        assert judge({"calls": listed, "threshold": 0.6}, *made).verdict is Verdict.PASS
        assert judge({"calls": listed, "threshold": 0.7}, *made).verdict is Verdict.FAIL
    assert judge({"calls": [x, y]}, *made).reason == (
        'expected call 1, pay(amount=10, currency="EUR", memo="x"): the closest is pay (call 2, turn 1): '
        'at /currency: expected "EUR", actual "USD" (and 1 more)'
    )
    assert judge({"calls": [x, y], "threshold": 0.6}, *made).reason == (
        'score 0.6667 reaches the threshold 0.6: expected call 1, pay(amount=10, currency="EUR", memo="x"): '
        'the closest is pay (call 2, turn 1): at /currency: expected "EUR", actual "USD" (and 1 more)'
    )


def test_one_call_serves_one_expected_call() -> None:
    config = {"calls": [{"tool": "pay"}, {"tool": "pay"}, "get"]}
    assert judge(config, "pay", "get", "pay").reason == "3 expected calls took place with the expected arguments"
    short = judge(config, "pay", "get")
    assert (short.score, short.reason) == (
        2 / 3,
        "expected call 2, pay: every call of it is taken by another expected call",
    )
    assert judge(config, "pay", "pay").reason == "expected call 3, get: was not executed"


def test_extra_calls_are_forbidden_only_when_asked() -> None:
    config = {"calls": [{"tool": "pay", "args": {"amount": 1}}]}
    made = (call("pay", amount=1), call("pay", amount=1), call("get"))
    assert judge(config, *made).verdict is Verdict.PASS
    result = judge({**config, "extra_calls": "forbid"}, *made)
    assert (result.verdict, result.score, result.reason) == (
        Verdict.FAIL,
        0.5,
        "pay (call 2, turn 1) is not expected: all 1 expected call took place without it",
    )


@pytest.mark.parametrize("occurrence", ["any", "all", "first", "last", 2])
@pytest.mark.parametrize(
    ("ids", "passing"),
    [
        ([7], {"any", "all", "first", "last"}),
        ([7, 8], {"any", "first"}),
        ([8, 7], {"any", "last", 2}),
        ([8, 9], set()),
        ([7, 7], {"any", "all", "first", "last", 2}),
        ([8, 7, 8], {"any", 2}),
        ([], set()),
    ],
)
def test_the_occurrence_says_which_calls_have_to_fit(
    occurrence: str | int, ids: list[int], passing: set[str | int]
) -> None:
    made = [call("other", id=7), *(call("t", id=number) for number in ids), call("other", id=7)]
    result = judge({"tool": "t", "args": {"id": 7}, "occurrence": occurrence}, *made)
    assert result.passed is (occurrence in passing)


def test_the_reason_names_the_closest_call_and_the_first_mismatch() -> None:
    made = (call("t", id=9, name="x"), call("t", id=7, name="y", deep={"list": [1, {"k": 2}]}))
    config = {"tool": "t", "args": {"id": 7, "deep": {"list": [1, {"k": 3}]}, "more": 1}}
    assert judge(config, *made).reason == (
        "t (call 2, turn 1) (the closest call): at /deep/list/1/k: expected 3, actual 2 (and 1 more)"
    )
    assert judge({**config, "occurrence": 3}, *made).reason == "expected call 3 of t, there are only 2"


@pytest.mark.parametrize(
    ("made", "reason"),
    [
        ([], "t was not executed"),
        (["other"], "t was not executed"),
        (["T"], "t was not executed; T (call 1, turn 1) differs in upper and lower case"),
        (
            [call("t", "schema_error", id=7)],
            "t was not executed; it was attempted, but not executed: t (call 1, turn 1: schema_error)",
        ),
        (
            [call("t", "transport_error", id=7)],
            "t was not executed; it was attempted, but not executed: t (call 1, turn 1: transport_error)",
        ),
        (
            [unparsable("t", '{"id": 7')],
            "t was not executed; t attempted once, arguments unparsable (call 1, turn 1)",
        ),
    ],
)
def test_a_call_that_did_not_run_is_no_call_and_the_reason_says_what_became_of_it(
    made: list[ToolCall | str], reason: str
) -> None:
    result = judge({"tool": "t", "args": {"id": 7}}, *made)
    assert (result.verdict, result.score, result.reason) == (Verdict.FAIL, 0.0, reason)


def test_unparsable_arguments_are_never_matched_as_an_empty_object() -> None:
    for when in ("attempted", "executed", "succeeded"):
        config = {"tool": "create_pr", "args": {}, "when": when}
        assert judge(config, unparsable("create_pr", '{"title": "Fix')).verdict is Verdict.FAIL
    for raw in ("null", "[]", "3", ""):
        assert judge({"tool": "t", "args": {}, "mode": "exact"}, unparsable("t", raw)).verdict is Verdict.FAIL


@pytest.mark.parametrize(
    ("when", "passing"),
    [
        ("attempted", {"ok", "tool_error", "transport_error", "not_executed", "schema_error"}),
        ("executed", {"ok", "tool_error"}),
        ("succeeded", {"ok"}),
    ],
)
def test_attempted_executed_and_succeeded_are_different_things(when: str, passing: set[str]) -> None:
    for status in ToolStatus:
        if status is not ToolStatus.PARSE_ERROR:
            result = judge({"tool": "t", "args": {"id": 7}, "when": when}, call("t", status.value, id=7))
            assert result.passed is (status.value in passing), status


def test_a_pass_that_an_unanswered_call_could_overturn_is_not_evaluated() -> None:
    made = (call("t", id=7), call("t", "transport_error", id=8))
    config = {"tool": "t", "args": {"id": 7}}
    assert judge(config, *made).verdict is Verdict.PASS
    assert judge({**config, "occurrence": "all"}, *made).reason == (
        "NOT EVALUATED: whether t (call 2, turn 1: transport_error) ran is unknown, no answer came back; if it did: "
        "t (call 2, turn 1: transport_error): at /id: expected 7, actual 8"
    )
    assert judge({**config, "occurrence": "last"}, *made).verdict is Verdict.NOT_EVALUATED
    assert judge({**config, "occurrence": "first"}, *made).verdict is Verdict.PASS
    assert judge({"calls": [{"tool": "t"}], "extra_calls": "forbid"}, *made).verdict is Verdict.NOT_EVALUATED
    assert judge({"calls": [{"tool": "t"}]}, *made).verdict is Verdict.PASS


def test_a_value_that_was_cut_is_no_evidence() -> None:
    cut = {"truncated": True, "head": "abc", "length": 9, "sha256": "0" * 64}
    made = call("t", text=cut, id=7, list=[cut])
    assert judge({"tool": "t", "args": {"text": "abcdefghi"}}, made).reason == (
        "NOT EVALUATED: t (call 1, turn 1): the value at /text was cut when it was recorded"
    )
    assert judge({"tool": "t", "args": {"text": {"$regex": "^abc"}}}, made).verdict is Verdict.NOT_EVALUATED
    assert judge({"tool": "t", "args": {"text": "x", "id": 8}}, made).verdict is Verdict.FAIL
    assert judge({"tool": "t", "args": {"id": 7}}, made).verdict is Verdict.PASS
    unordered = {"tool": "t", "args": {"list": ["x"]}, "unordered": ["/list"]}
    assert judge(unordered, made).reason == (
        "NOT EVALUATED: t (call 1, turn 1): the value at /list has an element that was cut when it was recorded"
    )
    assert judge({"tool": "t", "compare": {"/text/inner": {"absent": True}}}, made).verdict is Verdict.NOT_EVALUATED
    assert judge({"calls": [{"tool": "t", "args": {"text": "x"}}]}, made).verdict is Verdict.NOT_EVALUATED
    assert judge({"calls": [{"tool": "t", "args": {"text": "x", "id": 8}}]}, made).verdict is Verdict.FAIL


def test_only_the_name_counts_with_name_only() -> None:
    assert judge({"tool": "t", "args": {"id": 8}, "mode": "name_only"}, call("t", id=7)).reason == (
        "t (call 1, turn 1) was made"
    )
    assert judge({"tool": "t*", "mode": "name_only"}, "other").reason == "t* was not executed"


def test_turns_are_selected_and_a_turn_that_did_not_take_place_fails() -> None:
    made = (call("t", _turn=1, id=7), call("t", _turn=2, id=8), call("other", _turn=3))
    config = {"tool": "t", "args": {"id": 8}}
    assert judge({**config, "turn": 2}, *made).passed
    assert judge({**config, "turns": [1, 2]}, *made).passed
    assert judge({**config, "turn": "last"}, *made).reason == "t was not executed in the last turn"
    assert judge({**config, "turns": [1]}, *made).verdict is Verdict.FAIL
    missing = judge({**config, "turn": 4}, *made)
    assert (missing.verdict, missing.reason) == (
        Verdict.FAIL,
        "turn 4 did not take place: the conversation has 3 turns",
    )
    assert judge({**config, "turn": "last"}, *made, turns=5).reason == "t was not executed in the last turn"
    untimed = judge({**config, "turn": 1}, call("t", _turn=0, id=8))
    assert untimed.reason == "NOT EVALUATED: the record does not say in which turn each tool was called"


def test_the_server_can_be_asked_for() -> None:
    config = {"tool": "t", "server": "portal", "args": {}}
    assert judge(config, "t").passed
    elsewhere = replace(call("t"), server="shadow")
    assert judge(config, elsewhere).reason == (
        "t on portal was not executed; t (call 1, turn 1) is on the server 'shadow'"
    )


@pytest.mark.parametrize(
    ("config", "reason"),
    [
        (
            {"tool": "t"},
            "/args: is missing, so there is nothing to compare; allowed: args, compare, or mode: name_only",
        ),
        ({"args": {}}, "/: expects nothing: either 'tool' (with 'args') or 'calls' has to be there"),
        ({"calls": []}, "/calls: is empty, so there would be nothing to check"),
        (
            {"tool": "t", "args": {}, "mode": "partial"},
            "/mode: 'partial' is not allowed; allowed: 'exact', 'subset', 'name_only'",
        ),
        ({"tool": "t", "arguments": {}}, "/arguments: unknown key; allowed: "),
        (
            {"tool": "t", "args": {"a": {"$regexp": "x"}}},
            "/args/a/$regexp: unknown comparator 'regexp'; allowed: absent, ",
        ),
        ({"tool": "t", "args": {"a": {"$regex": "("}}}, "/args/a/$regex: '(' is no regular expression: "),
        (
            {"tool": "t", "args": {"at": "2026-02-31"}, "datetime": ["/at"]},
            '/args/at: "2026-02-31" is no date or date-time (datetime is set)',
        ),
        (
            {"tool": "t", "args": {"at": {"$datetime": "2026-02-31"}}},
            '/args/at/$datetime: "2026-02-31" is no date or date-time',
        ),
        (
            {"tool": "t", "args": {"a": 1}, "unordered": ["/b"]},
            "/unordered: '/b' addresses nothing in the expected value",
        ),
        ({"tool": "t", "args": {"a": "x"}, "approx": {"/a": 1}}, '/args/a: "x" is no number (approx is set)'),
        (
            {"tool": "t", "args": {}, "ignore": ["/a/[x]"]},
            "/ignore/0: the bracket in '/a/[x]' has no '='; allowed: [key=value] or [=value]",
        ),
        (
            {"tool": "t", "args": {}, "coerce": "schema"},
            "/coerce: 'schema' is asked for, and there is no `schema` in this config",
        ),
        ({"tool": "t", "args": {}, "turn": 0}, "/turn: 0 is less than the minimum of 1"),
        ({"tool": "t", "args": {}, "turn": 1, "turns": [1]}, "/turns: stands beside 'turn'; allowed: one of them"),
        (
            {"tool": "t", "args": {}, "occurrence": "second"},
            "/occurrence: 'second' is not allowed; allowed: 'any', 'all', 'first', 'last'",
        ),
        ({"calls": ["t"], "occurrence": "first"}, "/occurrence: stands beside 'calls'; allowed: one of them"),
        (
            {"calls": [{"tool": "t", "match": {"ignored": ["/a"]}}]},
            "/calls/0/match/ignored: unknown key; allowed: approx, ",
        ),
        ({"tool": "t", "args": {}, "threshold": 0}, "/threshold: 0 is less than or equal to the minimum of 0"),
    ],
)
def test_a_wrong_config_names_the_key_and_what_is_allowed(config: dict[str, Any], reason: str) -> None:
    result = judge(config, "t")
    assert result.verdict is Verdict.NOT_EVALUATED
    assert result.reason.startswith(f"NOT EVALUATED: case C01, config of argument_match, {reason}")


def test_telemetry_that_is_missing_is_not_evaluated() -> None:
    result = grade("argument_match", argument_match.check, evidence_of(None), {"tool": "t", "args": {}})
    assert result.verdict is Verdict.NOT_EVALUATED


def test_arguments_that_nobody_recorded_are_no_evidence() -> None:
    made = replace(call("t"), arguments=None, arguments_raw="")
    assert judge({"tool": "t", "args": {"id": 7}}, made).reason == (
        "NOT EVALUATED: t (call 1, turn 1): its arguments were not recorded"
    )
    assert judge({"tool": "t", "args": {"id": 7}}, made, call("t", id=7)).passed
    assert judge({"tool": "t", "args": {"id": 7}, "mode": "name_only"}, made).passed
    assert judge({"calls": [{"tool": "t", "args": {}}]}, made).verdict is Verdict.NOT_EVALUATED
