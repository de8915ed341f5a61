"""`argument_match`: what counts as the same arguments, and what the reason says when they are not."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from assertions import argument_match
from assertions.run_check import grade
from assertions.verdict import CheckResult, Verdict
from episodes.record import ToolCall, ToolStatus
from tests.assertions.makers import call, evidence_of, unparsable


def judge(config: dict[str, Any], *calls: ToolCall | str, **more: Any) -> CheckResult:
    return grade("argument_match", argument_match.check, evidence_of(calls, **more), config)


def compare(expected: Any, actual: Any, **options: Any) -> CheckResult:
    return judge({"tool": "t", "args": expected, **options}, call("t", **actual))


def outcome(result: CheckResult) -> tuple[str, str]:
    return result.verdict.value, result.reason.removeprefix("t (call 1, turn 1): ")


FITS = ("pass", "t (call 1, turn 1) has the expected arguments")


def test_an_integer_equals_the_float_of_the_same_value() -> None:
    assert outcome(compare({"qty": 1}, {"qty": 1.0}, mode="exact")) == FITS
    assert outcome(compare({"qty": 1}, {"qty": 1.0}, mode="exact", numeric="strict_type")) == (
        "fail",
        "integer vs float at /qty: expected 1, actual 1.0",
    )


def test_with_strict_types_the_raw_text_decides_since_javascript_drops_the_point() -> None:
    moved = replace(call("t", qty=1), arguments_raw='{"qty": 1.0}')
    config = {"tool": "t", "args": {"qty": 1}, "numeric": "strict_type"}
    assert outcome(judge(config, moved)) == ("fail", "integer vs float at /qty: expected 1, actual 1.0")
    assert outcome(judge(config, call("t", qty=1))) == FITS


@pytest.mark.parametrize(
    ("expected", "actual", "reason"),
    [
        (True, 1, "boolean vs number at /draft: expected true, actual 1"),
        (1, True, "number vs boolean at /draft: expected 1, actual true"),
        (0, False, "number vs boolean at /draft: expected 0, actual false"),
        (42, "42", 'number vs string at /draft: expected 42, actual "42"'),
        (None, False, "null vs boolean at /draft: expected null, actual false"),
        ([], {}, "list vs object at /draft: expected [], actual {}"),
        ("a", "b", 'at /draft: expected "a", actual "b"'),
        ("Main", "main", 'at /draft: expected "Main", actual "main" (differs only in upper and lower case)'),
        ("a b", "a  b ", 'at /draft: expected "a b", actual "a  b " (differs only in white space)'),
    ],
)
def test_values_of_different_types_are_different(expected: Any, actual: Any, reason: str) -> None:
    assert outcome(compare({"draft": expected}, {"draft": actual}, mode="exact")) == ("fail", reason)


def test_a_number_in_a_text_is_coerced_only_where_the_schema_wants_it() -> None:
    schema = {
        "properties": {
            "id": {"type": "integer"},
            "ratio": {"$ref": "#/$defs/ratio"},
            "list": {"items": {"type": "boolean"}},
        },
        "$defs": {"ratio": {"type": ["null", "number"]}},
    }
    options = {"mode": "exact", "coerce": "schema", "schema": schema}
    assert outcome(compare({"id": 42}, {"id": "42"}, **options)) == (
        "pass",
        't (call 1, turn 1) has the expected arguments; coerced /id from "42"',
    )
    assert outcome(compare({"ratio": 4.2}, {"ratio": "4.2"}, **options))[0] == "pass"
    assert outcome(compare({"list": [True]}, {"list": ["true"]}, **options))[0] == "pass"
    for wrong in ("4.2", "42.0", " 42", "forty-two", ""):
        assert compare({"id": 42}, {"id": wrong}, **options).verdict is Verdict.FAIL
    assert compare({"other": 42}, {"other": "42"}, **options).verdict is Verdict.FAIL


def test_key_order_never_matters_at_any_depth() -> None:
    assert (
        outcome(compare({"a": {"x": 1, "y": [1, 2]}, "b": 2}, {"b": 2, "a": {"y": [1, 2], "x": 1}}, mode="exact"))
        == FITS
    )


def test_null_is_not_missing_unless_it_is_optional() -> None:
    assert outcome(compare({"assignee": None}, {}, mode="subset")) == ("fail", "missing /assignee: expected null")
    assert outcome(compare({"assignee": None}, {"assignee": None})) == FITS
    assert outcome(compare({"assignee": None}, {}, optional=["/assignee"])) == FITS
    assert outcome(compare({"assignee": "ann"}, {"assignee": None}, optional=["/assignee"])) == FITS
    assert outcome(compare({}, {"assignee": None}, mode="exact", optional=["/assignee"])) == FITS
    assert outcome(compare({"assignee": "ann"}, {"assignee": "bo"}, optional=["/assignee"])) == (
        "fail",
        'at /assignee: expected "ann", actual "bo"',
    )
    assert outcome(compare({}, {"assignee": "bo"}, mode="exact", optional=["/assignee"])) == (
        "fail",
        'unexpected /assignee: "bo"',
    )


@pytest.mark.parametrize("mode", ["exact", "subset"])
@pytest.mark.parametrize(
    ("actual", "reasons"),
    [
        ({"state": "open", "limit": 20}, {}),
        ({"state": "open", "limit": 50}, {"exact": "unexpected /limit: 50"}),
        ({"state": "open", "force": True}, {"exact": "unexpected /force: true"}),
        ({"state": "open"}, {}),
    ],
)
def test_a_default_may_be_spelled_out_and_an_invented_argument_may_not(
    mode: str, actual: dict[str, Any], reasons: dict[str, str]
) -> None:
    result = compare({"state": "open"}, actual, mode=mode, defaults={"limit": 20})
    assert outcome(result) == (("fail", reasons[mode]) if mode in reasons else FITS)


def test_an_expected_default_may_be_left_out_also_by_the_tools_own_schema() -> None:
    schema = {"properties": {"limit": {"default": 20}, "page": {"properties": {"size": {"default": 5}}}}}
    assert outcome(compare({"limit": 20}, {}, defaults={"limit": 20}, mode="exact")) == FITS
    assert outcome(compare({"limit": 20}, {}, defaults="schema", schema=schema, mode="exact")) == FITS
    assert outcome(compare({}, {"limit": 20}, defaults="schema", schema=schema, mode="exact")) == FITS
    assert outcome(compare({"page": {}}, {"page": {"size": 5}}, defaults="schema", schema=schema, mode="exact")) == FITS
    assert outcome(compare({"limit": 30}, {}, defaults="schema", schema=schema)) == (
        "fail",
        "missing /limit: expected 30",
    )


def test_a_large_integer_is_compared_on_the_raw_text() -> None:
    config = {"tool": "t", "args": {"build": "9007199254740993"}, "mode": "exact", "int_as_text": ["build"]}
    rounded = replace(call("t", build=9007199254740992), arguments_raw='{"build": 9007199254740992}')
    assert outcome(judge(config, rounded)) == (
        "fail",
        'string vs number at /build: expected "9007199254740993", actual 9007199254740992 (compared digit by digit)',
    )
    exact = replace(rounded, arguments_raw='{"build": 9007199254740993}')
    assert outcome(judge(config, exact)) == FITS
    in_place = {"tool": "t", "args": {"build": {"$int": "9007199254740993"}}, "mode": "exact"}
    assert outcome(judge(in_place, exact)) == FITS
    assert judge(in_place, rounded).verdict is Verdict.FAIL


def test_a_large_integer_without_raw_text_is_no_evidence() -> None:
    lost = replace(call("t", build=9007199254740992), arguments_raw="")
    for expected in (9007199254740992, 9007199254740994, 1):
        assert outcome(judge({"tool": "t", "args": {"build": expected}}, lost)) == (
            "not_evaluated",
            "NOT EVALUATED: t (call 1, turn 1): "
            "the value at /build may have lost its last digits: its raw text is missing",
        )


def test_arguments_that_the_provider_changed_are_what_the_tool_received() -> None:
    changed = replace(call("t", id=2**60), arguments_raw='{"id": "1152921504606846976"}')
    assert judge({"tool": "t", "args": {"id": {"$int": str(2**60)}}}, changed).verdict is Verdict.NOT_EVALUATED


def test_float_noise_needs_a_tolerance() -> None:
    noisy = {"total": 0.1 + 0.2}
    assert outcome(compare({"total": 0.3}, noisy, mode="exact")) == (
        "fail",
        "at /total: expected 0.3, actual 0.30000000000000004",
    )
    assert outcome(compare({"total": 0.3}, noisy, mode="exact", approx={"/total": 1e-9})) == FITS
    assert outcome(compare({"total": {"$approx": {"value": 0.3, "within": 1e-9}}}, noisy)) == FITS
    assert outcome(compare({"total": 0.3}, {"total": 0.4}, approx={"/total": 0.05})) == (
        "fail",
        "at /total: expected 0.3, actual 0.4 (± 0.05)",
    )


def test_nan_equals_nothing_and_can_not_be_expected() -> None:
    nan = float("nan")
    assert outcome(compare({"total": 0.3}, {"total": nan}, approx={"/total": 1e9})) == (
        "fail",
        "number vs no JSON value at /total: expected 0.3, actual NaN (± 1e+09)",
    )
    for expected in ({"total": nan}, {"list": [float("inf")]}):
        assert "is no JSON value, so nothing can equal it" in compare(expected, {"total": nan}).reason


def test_unicode_forms_are_different_unless_normalised() -> None:
    composed, decomposed = {"name": "caf\u00e9"}, {"name": "cafe\u0301"}
    assert outcome(compare(composed, decomposed, mode="exact")) == (
        "fail",
        'at /name: expected "caf\\u00e9", actual "cafe\\u0301" (differs only in Unicode normalisation)',
    )
    assert outcome(compare(composed, decomposed, mode="exact", normalize="NFC")) == FITS
    assert outcome(compare(composed, decomposed, mode="exact", nfc=["/name"])) == FITS
    assert outcome(compare({"name": {"$nfc": "caf\u00e9"}}, decomposed)) == FITS


def test_json_in_a_text_is_compared_as_text_unless_told_otherwise() -> None:
    expected, actual = {"payload": '{"a":1,"b":2}'}, {"payload": '{ "b": 2, "a": 1 }'}
    assert outcome(compare(expected, actual, json_string=["/payload"])) == FITS
    assert outcome(compare({"payload": {"a": 1, "b": 2}}, actual, json_string=["/payload"])) == FITS
    assert compare(expected, actual).verdict is Verdict.FAIL
    assert outcome(compare(expected, {"payload": "{bad"}, json_string=["/payload"])) == (
        "fail",
        'at /payload: expected "{\\"a\\":1,\\"b\\":2}", actual "{bad" (no JSON text)',
    )
    assert outcome(compare(expected, {"payload": '{"a":1,"b":3}'}, json_string=["/payload"])) == (
        "fail",
        "at /payload/b: expected 2, actual 3",
    )
    assert (
        outcome(
            compare(
                {"payload": {"l": [1, 2]}},
                {"payload": '{"l":[2,1]}'},
                json_string=["/payload"],
                unordered=["/payload/l"],
            )
        )
        == FITS
    )


def test_a_list_is_ordered_unless_it_is_a_multiset() -> None:
    two = {"reviewers": ["ann", "bo"]}
    assert outcome(compare(two, {"reviewers": ["bo", "ann"]}, unordered=["/reviewers"])) == FITS
    assert outcome(compare(two, {"reviewers": ["ann", "bo", "bo"]}, unordered=["/reviewers"])) == (
        "fail",
        'extra "bo" at /reviewers',
    )
    assert outcome(compare(two, {"reviewers": ["bo"]}, unordered=["/reviewers"])) == (
        "fail",
        'missing "ann" at /reviewers',
    )
    assert outcome(compare(two, {"reviewers": ["bo", "ann"]})) == (
        "fail",
        'at /reviewers/0: expected "ann", actual "bo" (and 1 more)',
    )
    assert outcome(compare(two, {"reviewers": ["ann"]})) == ("fail", 'missing /reviewers/1: expected "bo"')
    assert outcome(compare(two, {"reviewers": ["ann", "bo", "cy"]})) == ("fail", 'extra "cy" at /reviewers/2')


def test_elements_of_a_multiset_may_be_partial_and_are_matched_optimally() -> None:
    expected = {"rules": [{"port": 443}, {"port": 443, "name": "web"}]}
    actual = {"rules": [{"port": 443, "name": "web"}, {"port": 443, "name": "api"}]}
    for listed in (expected["rules"], expected["rules"][::-1]):
        assert outcome(compare({"rules": listed}, actual, unordered=["/rules"])) == FITS


@pytest.mark.parametrize(
    ("options", "expected", "actual"),
    [
        ({"datetime": ["/at"]}, "2026-03-01T00:00:00Z", "2026-03-01T01:00:00+01:00"),
        ({"datetime": ["/at"]}, "2026-03-01", "2026-03-01"),
        ({"datetime": ["/at"]}, "2026-03-01T10:00", "2026-03-01 10:00:00"),
        ({"time": ["/at"]}, "20:00", "8:00 PM"),
        ({"time": ["/at"]}, "08:00 AM", "8 a.m."),
        ({"time": ["/at"]}, "00:30", "12:30 am"),
    ],
)
def test_the_same_moment_may_be_written_in_several_ways(options: dict[str, Any], expected: str, actual: str) -> None:
    assert outcome(compare({"at": expected}, {"at": actual}, **options)) == FITS
    if expected != actual:
        assert compare({"at": expected}, {"at": actual}).verdict is Verdict.FAIL


@pytest.mark.parametrize(
    ("options", "expected", "actual", "reason"),
    [
        (
            {"datetime": ["/at"]},
            "2026-03-01T00:00:00Z",
            "2026-03-01T00:00:00+01:00",
            'at /at: expected "2026-03-01T00:00:00Z", actual "2026-03-01T00:00:00+01:00" (compared as datetime)',
        ),
        (
            {"datetime": ["/at"]},
            "2026-03-01T00:00:00Z",
            "2026-03-01T00:00:00",
            'at /at: expected "2026-03-01T00:00:00Z", actual "2026-03-01T00:00:00" (compared as datetime)',
        ),
        ({"time": ["/at"]}, "20:00", "8:00", 'at /at: expected "20:00", actual "8:00" (compared as time)'),
        ({"time": ["/at"]}, "20:00", "25:00", 'at /at: expected "20:00", actual "25:00" (compared as time)'),
        ({"time": ["/at"]}, "20:00", 20, 'string vs number at /at: expected "20:00", actual 20 (compared as time)'),
    ],
)
def test_different_moments_are_different(options: dict[str, Any], expected: str, actual: Any, reason: str) -> None:
    assert outcome(compare({"at": expected}, {"at": actual}, **options)) == ("fail", reason)


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


def test_an_empty_text_that_the_provider_took_for_no_arguments_is_an_empty_object() -> None:
    empty = replace(call("t"), arguments_raw="")
    assert outcome(judge({"tool": "t", "args": {}, "mode": "exact"}, empty)) == FITS
    assert outcome(judge({"tool": "t", "args": {}}, empty)) == FITS


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


def test_paths_can_be_ignored_on_either_side() -> None:
    expected = {"title": "x", "tags": {"a": 1, "b": 2}}
    actual = {"tags": {"a": 1, "b": 3, "c": 4}, "trace": "zzz"}
    ignore = ["/title", "/tags/b", "/tags/c*", "trace"]
    assert outcome(compare(expected, actual, mode="exact", ignore=ignore)) == FITS
    assert outcome(compare(expected, actual, mode="exact", ignore=["/**"])) == FITS
    assert outcome(compare({"l": [{"id": 1, "n": "a"}]}, {"l": [{"id": 2, "n": "a"}]}, ignore=["/l/[n=a]/id"])) == FITS


def test_only_the_name_counts_with_name_only() -> None:
    assert judge({"tool": "t", "args": {"id": 8}, "mode": "name_only"}, call("t", id=7)).reason == (
        "t (call 1, turn 1) was made"
    )
    assert judge({"tool": "t*", "mode": "name_only"}, "other").reason == "t* was not executed"


def test_paths_in_compare_are_judged_with_and_without_expected_arguments() -> None:
    made = call("t", title="Add spoke", labels=[{"n": "a"}, {"n": "b"}])
    passing = {
        "/title": {"regex": "^Add", "length": {"max": 20}},
        "/labels/*/n": {"type": "string"},
        "/x": {"absent": True},
    }
    assert judge({"tool": "t", "compare": passing}, made).verdict is Verdict.PASS
    assert judge({"tool": "t", "compare": passing, "mode": "exact"}, made).reason == (
        "t (call 1, turn 1) has the expected arguments"
    )
    for compare_paths, reason in [
        ({"/title": {"regex": "^Fix"}}, 'at /title: expected a text that matches /^Fix/, actual "Add spoke"'),
        ({"/labels/*/n": {"one_of": ["a"]}}, 'at /labels/1/n: expected one of ["a"], actual "b"'),
        ({"/labels/*/m": {"type": "string"}}, "missing /labels/*/m: expected a value of type string"),
        ({"/title": {"absent": True}}, 'at /title: expected nothing there, actual "Add spoke"'),
        ({"/x": {"absent": False}}, "missing /x: expected something there"),
    ]:
        assert outcome(judge({"tool": "t", "compare": compare_paths}, made)) == ("fail", reason)


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


def test_the_tools_schema_may_stand_in_a_file(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tool.json").write_text(json.dumps({"properties": {"limit": {"default": 20}}}), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    config = {"tool": "t", "args": {"limit": 20}, "defaults": "schema", "schema": "file://tool.json"}
    assert judge(config, call("t")).passed
    gone = judge({**config, "schema": "gone.json"}, call("t"))
    assert gone.reason == (
        f"NOT EVALUATED: case C01, config of argument_match, schema: there is no file {tmp_path}/gone.json"
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
