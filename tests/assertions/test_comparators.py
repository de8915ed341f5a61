"""Comparators: what each accepts, what its reason says, and which arguments it can not work with."""

from __future__ import annotations

import re
from typing import Any

import pytest

from assertions.matching.comparators import read_expected
from assertions.matching.value_match import match_value
from assertions.verdict import ConfigError

DAY = "2026-03-01"


@pytest.mark.parametrize(
    ("expected", "fitting", "other"),
    [
        ({"$equals": {"$regex": "x"}}, [{"$regex": "x"}], ["x", {}]),
        ({"$one_of": [1, "a", None]}, [1, 1.0, "a", None], [True, "A", [], {}]),
        ({"$regex": "^Add .*spoke$"}, ["Add a spoke"], ["add a spoke", "Add", 7, None, ["Add a spoke"]]),
        ({"$regex": "b"}, ["abc"], ["ac", ""]),
        ({"$contains": "b"}, ["abc", ["a", "b"]], ["ac", ["abc"], {"b": 1}, None]),
        ({"$contains": [1, 1]}, [[1, 2, 1.0]], [[1, 2], [], "11"]),
        ({"$contains": {"a": 1}}, [[{"a": 1.0}]], [[{"a": 1, "b": 2}], {"a": 1}]),
        ({"$type": "integer"}, [1, -3, 2.0, 10**400], [1.5, True, "1", None, float("nan"), float("inf")]),
        ({"$type": "number"}, [1, 1.5], [True, "1", float("nan")]),
        ({"$type": ["null", "string"]}, [None, ""], [0, False, [], {}]),
        ({"$type": "array"}, [[], [1]], ["", {}]),
        ({"$type": "object"}, [{}], [[]]),
        ({"$type": "boolean"}, [True, False], [0, 1, "true"]),
        ({"$length": 2}, ["ab", [1, 2], {"a": 1, "b": 2}, "\U0001f600é"], ["a", [], 2, None]),
        ({"$length": {"min": 1}}, ["a", [1, 2, 3]], ["", []]),
        ({"$length": {"min": 1, "max": 2}}, ["a", "ab"], ["", "abc"]),
        ({"$approx": {"value": 0.3, "within": 1e-9}}, [0.1 + 0.2, 0.3], [0.31, "0.3", True, float("nan"), 10**400]),
        ({"$approx": {"value": 10**400, "within": 1}}, [10**400, 10**400 + 1], [1.5, float("inf")]),
        ({"$casefold": "Straße"}, ["STRASSE", "straße"], ["Strase", 1]),
        ({"$collapse_ws": " a  b "}, ["a b", "a\n\tb"], ["ab"]),
        ({"$nfc": "café"}, ["café", "cafe\u0301"], ["cafe"]),
        (
            {"$datetime": f"{DAY}T00:00:00Z"},
            [f"{DAY}T01:00:00+01:00", f"{DAY}t00:00:00z"[:10] + "T00:00Z"],
            [DAY, "x", 1],
        ),
        ({"$datetime": DAY}, [DAY, f" {DAY} "], [f"{DAY}T00:00:00", "2026-03-02"]),
        (
            {"$time": "20:00"},
            ["8 PM", "8:00pm", "20:00:00", "8:00 p.m."],
            ["8:00", "20", "0:00 pm", "13 pm", "24:00", 20],
        ),
        (
            {"$json_string": {"a": [1, {"b": None}]}},
            ['{"a": [1.0, {"b": null}]}'],
            ['{"a": [1]}', "{", "", 1, {"a": 1}],
        ),
        ({"$regex": "^a", "$length": 2}, ["ab"], ["a", "abc", "ba"]),
        ({"$int": "9007199254740993"}, [9007199254740993], [9007199254740992, "9007199254740993"]),
    ],
)
def test_what_a_comparator_accepts(expected: Any, fitting: list[Any], other: list[Any]) -> None:
    wanted = read_expected({"key": expected}, "")
    for value in fitting:
        assert match_value(wanted, {"key": value}) == (), value
    for value in other:
        assert len(match_value(wanted, {"key": value})) == 1, value
    assert len(match_value(wanted, {})) == 1


def test_absent_and_present() -> None:
    absent, present = read_expected({"key": {"$absent": True}}, ""), read_expected({"key": {"$absent": False}}, "")
    assert match_value(absent, {}) == ()
    assert match_value(present, {"key": None}) == ()
    assert match_value(absent, {"key": None})[0].text == "at /key: expected nothing there, actual null"
    assert match_value(present, {})[0].text == "missing /key: expected something there"


@pytest.mark.parametrize(
    ("expected", "actual", "reason"),
    [
        ({"$one_of": ["dev", "test"]}, "prod", 'at /key: expected one of ["dev", "test"], actual "prod"'),
        ({"$regex": "^Add"}, "Fix", 'at /key: expected a text that matches /^Add/, actual "Fix"'),
        ({"$contains": "x"}, [], 'at /key: expected something that contains "x", actual []'),
        ({"$type": ["string", "null"]}, 1, "at /key: expected a value of type string or null, actual 1"),
        ({"$length": 2}, "abc", 'at /key: expected a length of 2, actual "abc"'),
        ({"$length": {"min": 2}}, "a", 'at /key: expected a length of 2 or more, actual "a"'),
        ({"$length": {"min": 1, "max": 3}}, "", 'at /key: expected a length of 1 to 3, actual ""'),
        ({"$length": {"max": 3}}, "abcd", 'at /key: expected a length of 0 to 3, actual "abcd"'),
        ({"$approx": {"value": 1, "within": 0.5}}, 2, "at /key: expected 1 ± 0.5, actual 2"),
        ({"$casefold": "a"}, "b", 'at /key: expected "a" (but for upper and lower case), actual "b"'),
        ({"$datetime": DAY}, "x", f'at /key: expected the date or date-time "{DAY}", actual "x"'),
        ({"$json_string": {"a": 1}}, "x", 'at /key: expected a text that is the JSON of {"a": 1}, actual "x"'),
        (
            {"$type": "string", "$length": {"max": 1}},
            "ab",
            'at /key: expected a value of type string and a length of 0 to 1, actual "ab"',
        ),
    ],
)
def test_what_the_reason_says(expected: Any, actual: Any, reason: str) -> None:
    (mismatch,) = match_value(read_expected({"key": expected}, ""), {"key": actual})
    assert mismatch.text == reason


@pytest.mark.parametrize(
    ("expected", "message"),
    [
        ({"$regexp": "x"}, "/key/$regexp: unknown comparator 'regexp'; allowed: absent, approx, "),
        ({"$regex": "("}, "/key/$regex: '(' is no regular expression: missing ), unterminated subpattern"),
        ({"$regex": 1}, "/key/$regex: 1 is no text; allowed: a text"),
        ({"$one_of": []}, "/key/$one_of: [] is no list of values; allowed: a list with at least one value"),
        ({"$type": "int"}, "/key/$type: 'int' is no JSON type; allowed: null, boolean, integer, "),
        ({"$type": []}, "/key/$type: is empty, so nothing could be of that type; allowed: null, "),
        ({"$length": -1}, "/key/$length: -1 is no length; allowed: a whole number from 0, or {min, max}"),
        ({"$length": {"min": 3, "max": 2}}, '/key/$length: {"min": 3, "max": 2} allows no length; allowed: '),
        ({"$length": {"least": 3}}, "/key/$length/least: unknown key; allowed: min, max"),
        ({"$length": {}}, "/key/$length: {} allows no length; allowed: "),
        ({"$absent": "yes"}, '/key/$absent: "yes" is not allowed; allowed: true, false'),
        ({"$approx": 3}, "/key/$approx: 3 is not allowed; allowed: {value: number, within: number from 0}"),
        ({"$approx": {"value": 1, "within": -1}}, "/key/$approx: "),
        ({"$datetime": "2026-02-31"}, '/key/$datetime: "2026-02-31" is no date or date-time'),
        ({"$time": "25:00"}, '/key/$time: "25:00" is no time of day'),
        ({"$int": "x"}, "/key/$int: 'x' is no whole number; allowed: its digits as a text"),
        (float("nan"), "/key: nan is no JSON value, so nothing can equal it"),
    ],
)
def test_a_comparator_that_can_not_work_is_a_config_error(expected: Any, message: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(message)):
        read_expected({"key": expected}, "")


def test_an_object_with_other_keys_beside_is_taken_literally() -> None:
    literal = {"$ref": "#/x", "title": "y"}
    assert match_value(read_expected(literal, ""), literal) == ()
    assert read_expected({}, "") == {}
