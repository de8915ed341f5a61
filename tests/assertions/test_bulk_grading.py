"""Grading many episodes with what was read once says word for word what judging each by itself says."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import assertions.tool_calls.alignment as alignment
import assertions.tool_calls.sequence as sequence
from assertions import Recorded, Verdict, grade, grade_all, prepare, tool_sequence
from assertions.matching.argument_fit import ArgumentMatch
from assertions.matching.expected_arguments import ExpectedArguments
from assertions.matching.json_values import NO_TWIN, Twins, json_equal
from assertions.matching.options import MatchOptions
from assertions.matching.raw_numbers import arguments_as_written
from assertions.matching.value_match import match_arguments
from assertions.verdict import CheckResult
from bench.bulk_episodes import HARMLESS, WRONG, generate
from bench.bulk_ours import config_of, episode_of
from episodes.record import StopReason, ToolCall
from tests.assertions.makers import call, evidence_of
from tests.support.laws import law

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-1, 2)
    | st.integers(2**53 - 1, 2**53 + 1)
    | st.sampled_from([0.0, 1.0, 0.5])
    | st.sampled_from(["", "a", "1"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["x", "truncated"]), inner, max_size=2),
    max_leaves=6,
)
OBJECTS = st.dictionaries(st.sampled_from(["x", "y"]), VALUES, max_size=2)


def said(match: ArgumentMatch) -> tuple[Any, ...]:
    return [(one.text, one.path, one.unknown) for one in match.mismatches], match.share, match.notes, match.could_fit


@law(300)
@given(VALUES, VALUES)
def test_a_twin_equals_nothing_but_what_its_value_equals_as_json(expected: Any, actual: Any) -> None:
    whole = Twins(expected).whole
    if whole == actual:
        assert json_equal(expected, actual)


@law(200)
@given(st.dictionaries(st.sampled_from("xyz"), st.booleans() | st.integers(-1, 2) | st.text(max_size=2)))
def test_a_plain_value_has_a_twin_which_equals_it(value: dict[str, Any]) -> None:
    assert Twins(value).whole == copy.deepcopy(value)


@pytest.mark.parametrize(
    ("expected", "actual"),
    [({"x": True}, {"x": 1}), ({"x": 1}, {"x": True}), ({"x": [0]}, {"x": [False]}), ({"x": 0.0}, {"x": False})],
)
def test_a_boolean_is_no_number(expected: Any, actual: Any) -> None:
    assert expected == actual
    assert Twins(expected).whole != actual


@pytest.mark.parametrize("expected", [{"x": 2**53}, {"truncated": True}, {"x": {"truncated": False}}, {"x": (1,)}])
def test_what_evidence_may_have_lost_has_no_twin(expected: Any) -> None:
    assert Twins(expected).whole is NO_TWIN


@law(300)
@given(OBJECTS, OBJECTS, st.sampled_from(["exact", "subset"]))
def test_differences_are_the_same_with_twins_and_without(expected: Any, actual: Any, mode: Any) -> None:
    options = MatchOptions(mode=mode)
    made = replace(call("t"), arguments=actual, arguments_raw="")
    through_twins = ExpectedArguments(expected, options).match(made)
    for one in (expected, copy.deepcopy(expected)):
        walked = match_arguments(one, actual, options)
        if not any(isinstance(value, int) and abs(value) >= 2**53 for value in numbers_in(actual)):
            assert said(through_twins) == said(walked)


def numbers_in(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [number for item in value.values() for number in numbers_in(item)]
    if isinstance(value, list):
        return [number for item in value for number in numbers_in(item)]
    return [value]


@pytest.mark.parametrize("place", range(1, 9))
def test_a_number_with_sixteen_digits_is_found_wherever_it_stands_in_the_raw_text(place: int) -> None:
    key = "k" * place
    made = replace(call("t"), arguments={key: 2**53}, arguments_raw=f'{{"{key}": {2**53 + 1}}}')
    assert arguments_as_written(made) == {key: 2**53 + 1}


STEPS = st.lists(
    st.sampled_from(
        [
            {"tool": "a"},
            {"tool": "b"},
            {"tool": "a", "args": {"x": 1}},
            {"tool": "a", "args": {"x": 2}, "match": {"mode": "exact"}},
            {"tool": "*", "optional": True},
            {"tool": "b", "min": 1, "max": 2},
            {"any_of": ["a", "b"]},
        ]
    ),
    min_size=1,
    max_size=4,
)
CALLS = st.lists(
    st.builds(
        lambda name, batch, status, arguments: call(name, _batch=batch, _status=status, **arguments),
        st.sampled_from("abc"),
        st.integers(1, 3),
        st.sampled_from(["ok", "ok", "ok", "transport_error"]),
        st.sampled_from([{}, {"x": 1}, {"x": 2}, {"x": True}, {"x": {"truncated": True}}]),
    ),
    max_size=4,
)
MODES = st.sampled_from(["exact", "in_order", "any_order", "subset", "superset"])


@law(150)
@given(STEPS, CALLS, MODES)
def test_a_sequence_that_is_recognised_at_once_is_judged_as_if_it_was_searched_for(
    steps: list[Any], calls: list[ToolCall], mode: str
) -> None:
    config = {"mode": mode, "steps": steps}
    once = as_said(grade("tool_sequence", tool_sequence.check, evidence_of(calls), config))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sequence, "_step_by_step", lambda *_: False)
        patch.setattr(sequence, "only_alignment", lambda *_: None)
        searched = as_said(grade("tool_sequence", tool_sequence.check, evidence_of(calls), copy.deepcopy(config)))
    assert once == searched


def test_most_episodes_need_no_search(monkeypatch: pytest.MonkeyPatch) -> None:
    searched: list[int] = []

    def search(*given: Any) -> alignment.Alignment:
        searched.append(1)
        return alignment.align_in_order(*given)

    monkeypatch.setattr(sequence, "align_in_order", search)
    cases, episodes = generate(120)
    checks = {
        f"B{index:02}": prepare([("tool_sequence", config_of(calls, "exact"))], {}) for index, calls in enumerate(cases)
    }
    graded = list(grade_all(checks, (Recorded.of(episode_of(one)) for one in episodes)))
    assert len(graded) == 120
    assert len(searched) < 30


def as_said(result: CheckResult) -> tuple[Any, ...]:
    return result.verdict, result.score, result.reason, dict(result.named_scores)


def test_episodes_of_all_kinds_are_judged_in_bulk_as_each_is_by_itself() -> None:
    cases, episodes = generate(150)
    configs = [config_of(calls, "in_order") for calls in cases]
    prepared = {f"B{index:02}": prepare([("tool_sequence", config)], {}) for index, config in enumerate(configs)}
    records = [episode_of(one) for one in episodes]
    for one, graded in zip(episodes, grade_all(prepared, map(Recorded.of, records)), strict=True):
        evidence = evidence_of(graded.recorded.episode.tool_calls if graded.recorded.episode else None)
        alone = grade("tool_sequence", tool_sequence.check, evidence, copy.deepcopy(configs[one["case"]]))
        assert [as_said(result) for result in graded.results] == [as_said(alone)]
        assert graded.reason == ("" if alone.passed else f"{graded.case_id} tool_sequence: {alone.reason}")
    assert {one["change"] for one in episodes} == {*HARMLESS, *WRONG}


def test_one_failed_check_fails_an_episode_and_gives_the_reason() -> None:
    case = prepare([("tool_not_executed", {"tools": ["x"]}), ("tool_sequence", {"steps": ["a"]})], {})
    bad = evidence_of(["b"]).record()
    unknown = replace(bad, tool_calls=None)
    good = evidence_of(["a"]).record()
    graded = list(grade_all({"C01": case}, map(Recorded.of, [good, bad, unknown])))
    assert [one.verdict for one in graded] == [Verdict.PASS, Verdict.FAIL, Verdict.NOT_EVALUATED]
    assert graded[0].reason == ""
    assert graded[1].reason.startswith("C01 tool_sequence: step 1, a: was not executed")
    assert graded[2].reason.startswith("C01 tool_not_executed: NOT EVALUATED: tool telemetry is missing")
    assert [len(one.results) for one in graded] == [2, 2, 2]


def test_what_can_not_be_graded_says_why() -> None:
    case = prepare([("tool_sequence", {"steps": ["a"]})], {})
    nothing = prepare([("rubric", {"criteria": ["is polite"]})], {})
    episode = evidence_of(["a"]).record()
    recorded = [
        Recorded("C09", episode),
        Recorded("", episode),
        Recorded("C01", None, problem="it was cut"),
        Recorded("C02", episode),
    ]
    graded = list(grade_all({"C01": case, "C02": nothing}, recorded))
    assert [(one.verdict, one.reason, one.left_out) for one in graded] == [
        (Verdict.NOT_EVALUATED, "there is no case 'C09' in the case files", ()),
        (Verdict.NOT_EVALUATED, "it names no case", ()),
        (Verdict.NOT_EVALUATED, "C01: it was cut", ()),
        (None, "", ("rubric",)),
    ]
    assert [one.verdict for one in grade_all({"C01": case}, recorded[1:2], "C01")] == [Verdict.PASS]


@pytest.mark.parametrize("reason", list(StopReason))
def test_an_episode_that_broke_off_is_neither_a_pass_nor_a_failure(reason: StopReason) -> None:
    case = prepare([("tool_not_executed", {"tools": ["x"]})], {})
    recorded = Recorded("C01", replace(evidence_of(["a"]).record(), stop_reason=reason))
    [graded] = grade_all({"C01": case}, [recorded])
    if reason in ("provider_error", "tool_unavailable", "deadline", "simulator_defect"):
        problem = f"C01: the episode broke off ({reason}), which says nothing about the agent"
        assert (graded.verdict, graded.reason) == (Verdict.NOT_EVALUATED, problem)
    else:
        assert graded.verdict is Verdict.PASS


def test_nothing_is_read_ahead() -> None:
    case = prepare([("tool_sequence", {"steps": ["a"]})], {})
    taken: list[int] = []

    def episodes() -> Any:
        for number in range(3):
            taken.append(number)
            yield Recorded.of(evidence_of(["a"]).record())

    graded = grade_all({"C01": case}, episodes())
    next(graded)
    assert taken == [0]
