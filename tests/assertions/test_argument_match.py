"""`argument_match`: what counts as the same arguments, and what the reason says when they are not."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from assertions.verdict import CheckResult, Verdict
from tests.assertions.judges import judge_arguments as judge
from tests.assertions.makers import call


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


def test_an_empty_text_that_the_provider_took_for_no_arguments_is_an_empty_object() -> None:
    empty = replace(call("t"), arguments_raw="")
    assert outcome(judge({"tool": "t", "args": {}, "mode": "exact"}, empty)) == FITS
    assert outcome(judge({"tool": "t", "args": {}}, empty)) == FITS


def test_paths_can_be_ignored_on_either_side() -> None:
    expected = {"title": "x", "tags": {"a": 1, "b": 2}}
    actual = {"tags": {"a": 1, "b": 3, "c": 4}, "trace": "zzz"}
    ignore = ["/title", "/tags/b", "/tags/c*", "trace"]
    assert outcome(compare(expected, actual, mode="exact", ignore=ignore)) == FITS
    assert outcome(compare(expected, actual, mode="exact", ignore=["/**"])) == FITS
    assert outcome(compare({"l": [{"id": 1, "n": "a"}]}, {"l": [{"id": 2, "n": "a"}]}, ignore=["/l/[n=a]/id"])) == FITS


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


def test_the_tools_schema_may_stand_in_a_file(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tool.json").write_text(json.dumps({"properties": {"limit": {"default": 20}}}), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    config = {"tool": "t", "args": {"limit": 20}, "defaults": "schema", "schema": "file://tool.json"}
    assert judge(config, call("t")).passed
    gone = judge({**config, "schema": "gone.json"}, call("t"))
    assert gone.reason == (
        f"NOT EVALUATED: case C01, config of argument_match, schema: there is no file {tmp_path}/gone.json"
    )
