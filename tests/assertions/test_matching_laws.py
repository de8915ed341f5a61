"""Laws of comparing, and the promise that no record and no config crashes a check."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from assertions import argument_match, input_diff, tool_not_executed, tool_sequence
from assertions.evidence import Evidence
from assertions.matching.json_values import json_equal, kind_of
from assertions.matching.options import MatchOptions
from assertions.matching.paths import parse_path
from assertions.matching.raw_numbers import arguments_as_written
from assertions.matching.value_match import match_arguments, match_value
from assertions.run_check import grade, run_check
from assertions.verdict import Verdict
from episodes.record import ToolStatus
from tests.assertions.makers import call, evidence_of
from tests.support.laws import law

CHECKS: dict[str, Any] = {
    "tool_sequence": tool_sequence.check,
    "tool_not_executed": tool_not_executed.check,
    "argument_match": argument_match.check,
    "input_diff": input_diff.check,
}

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-2, 2)
    | st.integers(2**53 - 2, 2**53 + 2)
    | st.sampled_from([0.0, 1.0, 1.5, -0.0])
    | st.text(st.sampled_from("aAé\u0301 1"), max_size=3)
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("xyz"), inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.sampled_from("xyz"), VALUES, max_size=3)


def reordered(value: Any) -> Any:
    """The same JSON value with the keys of every object in the opposite order."""
    if isinstance(value, dict):
        return {key: reordered(value[key]) for key in reversed(value)}
    return [reordered(item) for item in value] if isinstance(value, list) else value


@law(300)
@given(VALUES, VALUES)
def test_equality_is_symmetric_and_matching_exactly_is_equality(left: Any, right: Any) -> None:
    assert json_equal(left, right) is json_equal(right, left)
    exact = MatchOptions(mode="exact")
    assert (match_value(left, right, exact) == ()) is json_equal(left, right)
    assert (match_value(right, left, exact) == ()) is json_equal(left, right)


@law(200)
@given(VALUES, VALUES)
def test_key_order_never_matters(left: Any, right: Any) -> None:
    assert json_equal(left, reordered(left))
    for options in (MatchOptions(mode="exact"), MatchOptions(), MatchOptions(unordered=(parse_path("/**", ""),))):
        assert bool(match_value(left, right, options)) is bool(match_value(reordered(left), reordered(right), options))


@law(200)
@given(OBJECTS, OBJECTS)
def test_an_exact_match_is_a_partial_one_and_ignoring_everything_matches(left: Any, right: Any) -> None:
    if match_arguments(left, right, MatchOptions(mode="exact")).fits:
        assert match_arguments(left, right).fits
    assert match_arguments(left, right, MatchOptions(mode="exact", ignore=(parse_path("/*", ""),))).fits
    both = match_arguments(left, {**right, **left})
    assert both.fits


@law(200)
@given(st.lists(VALUES, max_size=5), st.randoms(use_true_random=False))
def test_a_multiset_equals_its_permutations_and_nothing_shorter(items: list[Any], random: Any) -> None:
    options = MatchOptions(mode="exact", unordered=(parse_path("", ""),))
    shuffled = list(items)
    random.shuffle(shuffled)
    assert match_value(items, shuffled, options) == ()
    if items:
        assert match_value(items, shuffled[1:], options) != ()
        assert match_value(items[1:], shuffled, options) != ()


@law(200)
@given(OBJECTS, OBJECTS)
def test_the_share_of_parameters_is_full_exactly_when_they_fit(left: Any, right: Any) -> None:
    for mode in ("exact", "subset"):
        match = match_arguments(left, right, MatchOptions(mode="exact" if mode == "exact" else "subset"))
        right_ones, considered = match.share
        assert (right_ones == considered) is match.fits
        assert 0 <= right_ones <= considered


@law(200)
@given(OBJECTS)
def test_numbers_come_back_as_they_were_written_after_a_trip_through_javascript(arguments: Any) -> None:
    written = json.dumps(arguments)
    rounded = json.loads(written, parse_int=lambda digits: int(float(digits)))
    from dataclasses import replace

    moved = replace(call("t"), arguments=rounded, arguments_raw=written)
    assert json_equal(arguments_as_written(moved), arguments)
    assert json_equal(arguments_as_written(moved, always=True), arguments)


@st.composite
def listings(draw: st.DrawFn) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    small = st.dictionaries(st.sampled_from("xy"), st.integers(0, 1), max_size=2)
    return draw(st.lists(small, min_size=1, max_size=4)), draw(st.lists(small, max_size=4))


@law(200)
@given(listings(), st.randoms(use_true_random=False), st.sampled_from(["allow", "forbid"]))
def test_no_verdict_depends_on_the_order_in_which_expected_calls_are_listed(
    lists: tuple[list[dict[str, Any]], list[dict[str, Any]]], random: Any, extra: str
) -> None:
    expected, made = lists
    shuffled_expected, shuffled_made = list(expected), list(made)
    random.shuffle(shuffled_expected)
    random.shuffle(shuffled_made)
    outcomes = set()
    for listed, calls in ((expected, made), (shuffled_expected, shuffled_made)):
        config = {"calls": [{"tool": "t", "args": args} for args in listed], "extra_calls": extra}
        result = grade(
            "argument_match", argument_match.check, evidence_of([call("t", **args) for args in calls]), config
        )
        outcomes.add((result.verdict, round(result.score, 9)))
    assert len(outcomes) == 1


NAMES = st.sampled_from(["get_spoke", "create_spoke_pull_request", "x"])
STATUSES = st.sampled_from([status.value for status in ToolStatus])
TRUNCATED = st.just({"truncated": True, "length": 9})

RECORDED_CALLS = st.fixed_dictionaries(
    {"name": NAMES, "status": STATUSES},
    optional={
        "turn": st.integers(0, 3),
        "batch": st.integers(0, 3),
        "arguments": st.none() | st.dictionaries(st.sampled_from(["name", "configuration", "x"]), VALUES | TRUNCATED),
        "argumentsRaw": st.sampled_from(["", "{", "null", '{"name": 9007199254740993}']),
        "result": VALUES | TRUNCATED | st.just({"configuration": {"x": 1}}),
    },
)
RECORDS = st.fixed_dictionaries(
    {"schema": st.just("1"), "stopReason": st.just("user_stop")},
    optional={"toolCalls": st.none() | st.lists(RECORDED_CALLS, max_size=5) | VALUES, "messages": VALUES},
)
CONFIG_KEYS = st.sampled_from(
    ["steps", "tools", "tool", "args", "calls", "changes", "mode", "when", "turn", "turns", "ignore", "compare",
     "defaults", "schema", "source", "submitted", "per_turn", "occurrence", "threshold", "allow_other", "unordered"]
)  # fmt: skip
CONFIG_VALUES = st.recursive(
    SCALARS
    | st.sampled_from(
        ["get_spoke", "x", "*", "exact", "subset", "any_order", "last", "attempted", "all", "/x", "/**", "{{x}}"]
    ),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["tool", "args", "any_of", "min", "max", "add", "replace", "value", "$regex", "$type", "x", "/x"]
            ),
            inner,
            max_size=3,
        )
    ),
    max_leaves=8,
)


@law(500)
@given(
    st.sampled_from(sorted(CHECKS)),
    RECORDS | VALUES,
    st.dictionaries(CONFIG_KEYS, CONFIG_VALUES, max_size=4) | VALUES,
)
def test_no_record_and_no_config_crashes_a_check(name: str, record: Any, config: Any) -> None:
    context = {"config": config, "metadata": record, "vars": {"x": 1}}
    result = run_check(name, CHECKS[name], "text", context)
    json.dumps(result, allow_nan=False)
    assert "crashed" not in result["reason"], result["reason"]
    assert isinstance(result["pass"], bool)
    assert result["reason"]


WORKING = {
    "tool_sequence": [
        {"steps": ["get_spoke", "x"]},
        {"mode": "exact", "steps": ["x"]},
        {"mode": "subset", "steps": ["x"]},
    ],
    "tool_not_executed": [{"tools": ["x"]}, {"tools": [{"tool": "x", "args": {"name": 1}}], "when": "succeeded"}],
    "argument_match": [
        {"tool": "x", "args": {"name": None}, "occurrence": "all"},
        {"calls": ["x"], "extra_calls": "forbid"},
    ],
    "input_diff": [{"changes": []}, {"changes": [{"add": "/y", "optional": True}]}],
}


@law(300)
@given(st.sampled_from(sorted(CHECKS)), st.integers(0, 2), RECORDS)
def test_a_pass_survives_only_with_evidence(name: str, index: int, record: Any) -> None:
    """Whatever passes must stop passing when the calls are taken out of the record."""
    configs = WORKING[name]
    config = configs[index % len(configs)]
    with_calls = Evidence.from_context("text", {"metadata": record})
    without = Evidence.from_context("text", {"metadata": {**record, "toolCalls": None, "mcpToolCalls": None}})
    assert grade(name, CHECKS[name], without, config).verdict is Verdict.NOT_EVALUATED
    if grade(name, CHECKS[name], with_calls, config).passed:
        assert with_calls.episode is not None
        assert with_calls.episode.tool_calls is not None


@given(st.floats(allow_nan=True, allow_infinity=True))
def test_only_finite_numbers_are_json(number: float) -> None:
    finite = number - number == 0
    assert (kind_of(number) == "number") is finite
    assert json_equal(number, number) is finite
