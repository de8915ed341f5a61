"""`tool_sequence`: five modes, steps with alternatives, repeats and arguments, batches and turns."""

from __future__ import annotations

from typing import Any

import pytest

from assertions import tool_sequence
from assertions.run_check import grade
from assertions.verdict import Verdict
from tests.assertions.judges import judge_sequence as judge
from tests.assertions.makers import call, evidence_of, unparsable

MODES = ("exact", "in_order", "any_order", "subset", "superset")


@pytest.mark.parametrize(
    ("calls", "passing"),
    [
        ("a b", {"exact", "in_order", "any_order", "subset", "superset"}),
        ("b a", {"any_order", "subset", "superset"}),
        ("a x b", {"in_order", "superset"}),
        ("b x a", {"superset"}),
        ("a b b", {"in_order", "superset"}),
        ("a", {"subset"}),
        ("", {"subset"}),
        ("x", set()),
    ],
)
def test_the_truth_table_of_the_modes(calls: str, passing: set[str]) -> None:
    for mode in MODES:
        result = judge({"mode": mode, "steps": ["a", "b"]}, *calls.split())
        assert result.passed is (mode in passing), mode
        assert result.verdict in (Verdict.PASS, Verdict.FAIL)
        assert (result.score == 1.0) is result.passed


def test_the_default_is_in_order() -> None:
    assert judge({"steps": ["a", "b"]}, "a", "x", "b").passed
    assert not judge({"steps": ["a", "b"]}, "b", "a").passed


BATCHED = [call("get_repo", _batch=1), call("get_user", _batch=1), call("create_pr", _batch=2)]


def test_order_inside_a_parallel_batch_is_free_unless_it_is_asked_for() -> None:
    config = {"mode": "in_order", "steps": ["get_user", "get_repo", "create_pr"]}
    assert judge(config, *BATCHED).passed
    assert judge({**config, "mode": "exact"}, *BATCHED).passed
    strict = judge({**config, "strict_batches": True}, *BATCHED)
    assert (strict.verdict, strict.reason) == (
        Verdict.FAIL,
        "step 1, get_user: get_user (call 2, turn 1) came after get_repo (call 1, turn 1). "
        "Expected in_order: get_user → get_repo → create_pr. Executed: get_repo → get_user → create_pr",
    )


def test_a_tool_that_acts_on_answers_may_not_be_called_before_they_are_there() -> None:
    together = [call(name, _batch=1) for name in ("get_user", "get_repo", "create_pr")]
    config = {"mode": "in_order", "steps": ["get_user", "get_repo", "create_pr"]}
    for strict in (False, True):
        result = judge({**config, "strict_batches": strict}, *together)
        assert (result.verdict, result.reason) == (
            Verdict.FAIL,
            "step 3, create_pr: create_pr (call 3, turn 1) is in one parallel batch with get_repo (call 2, turn 1), "
            "so it came without its answer. Expected in_order: get_user → get_repo → create_pr. "
            "Executed: get_user → get_repo → create_pr",
        )
    assert judge({**config, "after_answers": []}, *together).passed
    assert judge({**config, "mode": "superset"}, *together).passed
    own = {"steps": ["get_user", {"tool": "get_repo", "after_answers": True}]}
    assert judge({"steps": ["get_user", "get_repo"]}, *together).passed
    assert not judge(own, *together).passed
    writers = {"steps": ["create_pr", "create_issue"]}
    assert judge(writers, call("create_issue", _batch=1), call("create_pr", _batch=1)).passed
    then_read = {"steps": ["create_pr", "get_pr"]}
    assert judge(then_read, call("get_pr", _batch=1), call("create_pr", _batch=1)).passed


def test_calls_of_different_answers_are_ordered_even_if_a_batch_number_comes_back() -> None:
    made = [call("b", _batch=1), call("x", _batch=2), call("a", _batch=1)]
    assert not judge({"steps": ["a", "b"]}, *made).passed


@pytest.mark.parametrize(
    ("step", "matching", "other"),
    [
        ("get_*", ["get_spoke", "get_"], ["Get_spoke", "forget_it"]),
        ("list_?", ["list_a"], ["list_", "list_ab"]),
        ({"any_of": ["get_spoke", "list_spokes"]}, ["get_spoke", "list_spokes"], ["get_spokes"]),
        ({"tool": "get_spoke", "server": "portal"}, ["get_spoke"], ["list_spokes"]),
        ("shell", ["shell"], ["Shell"]),
    ],
)
def test_steps_may_be_names_globs_and_alternatives(step: Any, matching: list[str], other: list[str]) -> None:
    for name in matching:
        assert judge({"mode": "exact", "steps": [step]}, name).passed, name
    for name in other:
        assert not judge({"mode": "exact", "steps": [step]}, name).passed, name


def test_a_step_may_carry_arguments() -> None:
    config = {
        "steps": [
            {"tool": "get_spoke", "args": {"name": "a"}},
            {"tool": "validate", "match": {"compare": {"/x": {"type": "integer"}}}},
        ]
    }
    assert judge(config, call("get_spoke", name="b"), call("get_spoke", name="a"), call("validate", x=1)).passed
    wrong = judge(config, call("get_spoke", name="b"), call("get_spoke", name="c", n=1), call("validate", x=1))
    assert wrong.reason == (
        'step 1, get_spoke(name="a"): get_spoke (call 1, turn 1): at /name: expected "a", actual "b". '
        "Expected in_order: get_spoke(…) → validate(…). Executed: get_spoke → get_spoke → validate"
    )
    assert not judge(config, unparsable("get_spoke", '{"name": "a"'), call("validate", x=1)).passed


def test_steps_may_be_optional_or_repeated() -> None:
    config = {
        "mode": "exact",
        "steps": ["get", {"tool": "search", "optional": True}, {"tool": "validate", "max": 3}, "create"],
    }
    for names, fine in [
        ("get validate create", True),
        ("get search validate create", True),
        ("get validate validate validate create", True),
        ("get search search validate create", False),
        ("get validate validate validate validate create", False),
        ("get create", False),
        ("validate get create", False),
    ]:
        assert judge(config, *names.split()).passed is fine, names
    assert judge(config, "get", *["validate"] * 4, "create").reason == (
        "validate (call 5, turn 1) is one too many: step 3, validate, is expected at most 3 times. "
        "Expected exact: get → search? → validate{1,3} → create. "
        "Executed: get → validate → validate → validate → validate → create"
    )


def test_at_least_means_any_number_beyond() -> None:
    config = {"mode": "exact", "steps": [{"tool": "search", "min": 2}, "create"]}
    assert judge(config, *["search"] * 7, "create").passed
    assert judge(config, "search", "create").reason == (
        "step 1, search: 1 executed call, expected at least 2. "
        "Expected exact: search{2,} → create. Executed: search → create"
    )
    assert judge({"mode": "any_order", "steps": [{"tool": "*", "min": 0}]}).passed


@pytest.mark.parametrize("mode", MODES)
def test_a_max_in_the_config_holds_in_every_mode(mode: str) -> None:
    config = {"mode": mode, "steps": ["get", {"tool": "create", "max": 1}]}
    twice = judge(config, "get", "create", "create")
    assert (twice.verdict, twice.passed) == (Verdict.FAIL, False)
    assert "create (call 3, turn 1) is one too many: step 2, create, is expected at most 1 time" in twice.reason
    assert judge(config, "get", "create").passed
    only_capped = {"mode": "superset", "steps": [{"tool": "create", "min": 0, "max": 1}]}
    assert judge(only_capped).passed
    assert judge(only_capped, "create").passed
    assert not judge(only_capped, "create", "create").passed


def test_a_call_that_two_steps_could_take_goes_where_it_helps() -> None:
    config = {"mode": "any_order", "steps": ["get_*", "get_spoke"]}
    assert judge(config, "get_spoke", "get_schema").passed
    assert judge({**config, "steps": ["get_spoke", "get_*"]}, "get_schema", "get_spoke").passed
    mixed = {"mode": "exact", "steps": [{"any_of": ["a", "b"]}, {"tool": "a", "min": 0}]}
    assert judge(mixed, "b", "a", "a").passed


@pytest.mark.parametrize(
    ("when", "passing"),
    [
        ("attempted", {"ok", "tool_error", "transport_error", "not_executed", "schema_error"}),
        ("executed", {"ok", "tool_error"}),
        ("succeeded", {"ok"}),
    ],
)
@pytest.mark.parametrize("status", ["ok", "tool_error", "transport_error", "not_executed", "schema_error"])
def test_which_calls_count_is_said_by_when(when: str, passing: set[str], status: str) -> None:
    assert judge({"steps": ["a"], "when": when}, call("a", status)).passed is (status in passing)


def test_malformed_arguments_are_no_call() -> None:
    made = unparsable("create_pr", '{"title": "Fix')
    for when in ("attempted", "executed", "succeeded"):
        result = judge({"steps": ["create_pr"], "when": when}, made)
        assert result.verdict is Verdict.FAIL
        assert "; create_pr attempted once, arguments unparsable (call 1, turn 1). Expected" in result.reason


def test_an_unanswered_call_helps_nobody_and_may_leave_an_exact_pass_undecided() -> None:
    unanswered = call("x", "transport_error")
    for mode, verdict in [
        ("exact", Verdict.NOT_EVALUATED),
        ("any_order", Verdict.NOT_EVALUATED),
        ("subset", Verdict.NOT_EVALUATED),
        ("in_order", Verdict.PASS),
        ("superset", Verdict.PASS),
    ]:
        assert judge({"mode": mode, "steps": ["a"]}, "a", unanswered).verdict is verdict, mode
    assert judge({"mode": "exact", "steps": ["a"]}, "a", unanswered).reason == (
        "NOT EVALUATED: whether x (call 2, turn 1: transport_error) ran is unknown, no answer came back; if it did: "
        "x (call 2, turn 1: transport_error) is not expected. Expected exact: a. Executed: a → x"
    )
    assert judge({"steps": ["x"]}, unanswered).reason == (
        "step 1, x: was not executed; it was attempted, but not executed: x (call 1, turn 1: transport_error). "
        "Expected in_order: x. Executed: nothing"
    )
    capped = {"steps": ["a", {"tool": "x", "max": 1, "min": 0}]}
    assert judge(capped, "a", "x", unanswered).verdict is Verdict.NOT_EVALUATED
    assert judge({"mode": "exact", "steps": ["a"]}, "b", unanswered).verdict is Verdict.FAIL


def test_several_unanswered_calls_are_tried_in_every_combination() -> None:
    optional = {"mode": "exact", "steps": ["a", {"tool": "x", "min": 0, "max": 2}]}
    two = [call("x", "transport_error")] * 2
    assert judge(optional, "a", *two).passed
    assert judge(optional, "a", *two, call("x", "transport_error")).verdict is Verdict.NOT_EVALUATED
    many = [call("x", "transport_error")] * 9
    assert judge({"mode": "exact", "steps": ["a", {"tool": "x", "min": 0, "max": 8}]}, "a", *many).verdict is (
        Verdict.NOT_EVALUATED
    )


def test_arguments_that_were_cut_leave_a_sequence_undecided() -> None:
    cut = call("get", name={"truncated": True, "length": 9})
    config = {"steps": [{"tool": "get", "args": {"name": "a"}}]}
    assert judge(config, cut).reason == (
        "NOT EVALUATED: whether get (call 1, turn 1) fits is unknown: "
        'the value at /name was cut when it was recorded; step 1, get(name="a"): get (call 1, turn 1): '
        "the value at /name was cut when it was recorded. Expected in_order: get(…). Executed: get"
    )
    assert judge(config, cut, call("get", name="a")).passed
    assert judge({"steps": [*config["steps"], "other"]}, cut).verdict is Verdict.FAIL
    capped = {"steps": [{"tool": "get", "args": {"name": "a"}, "max": 1}]}
    assert judge(capped, call("get", name="a"), cut).verdict is Verdict.NOT_EVALUATED


PER_TURN = [call("lookup", _turn=1), call("update", _turn=2)]


def test_each_turn_has_its_own_sequence_and_an_extra_turn_is_not_in_the_reference() -> None:
    config = {"per_turn": [["lookup"], ["update"]]}
    assert judge(config, *PER_TURN).reason == "in_order in each of 2 turns: lookup; update"
    extra = judge(config, *PER_TURN, call("delete", _turn=3))
    assert (extra.verdict, round(extra.score, 4)) == (Verdict.FAIL, 0.6667)
    assert extra.reason == ("turn 3 not in reference, which has 2 turns: delete (call 3, turn 3) was executed")
    assert judge({**config, "extra_turns": "allow"}, *PER_TURN, call("delete", _turn=3)).passed
    assert judge(config, *PER_TURN, turns=3).passed


def test_a_missing_turn_and_a_wrong_turn_are_named() -> None:
    config = {"per_turn": [["lookup"], ["update"]]}
    assert judge(config, PER_TURN[0]).reason == "turn 2 did not take place: the conversation has 1 turn"
    assert judge(config, PER_TURN[0], call("lookup", _turn=2)).reason == (
        "turn 2: step 1, update: was not executed. Expected in_order: update. Executed: lookup"
    )
    assert judge(config, PER_TURN[0], call("update", "not_executed", _turn=2)).reason == (
        "turn 2: step 1, update: was not executed; it was attempted, but not executed: "
        "update (call 2, turn 2: not_executed). Expected in_order: update. Executed: nothing"
    )


def test_a_turn_may_be_expected_to_have_no_calls() -> None:
    config = {"mode": "exact", "per_turn": [["lookup"], [], ["update"]]}
    assert judge(config, call("lookup", _turn=1), call("update", _turn=3)).passed
    assert judge(config, call("lookup", _turn=1), call("x", _turn=2), call("update", _turn=3)).reason == (
        "turn 2: x (call 2, turn 2) is not expected. Expected exact: nothing. Executed: x"
    )


def test_a_record_without_turns_can_not_be_compared_turn_by_turn() -> None:
    result = judge({"per_turn": [["a"]]}, call("a", _turn=0))
    assert result.reason == "NOT EVALUATED: the record does not say in which turn each tool was called"


def test_turns_can_be_selected_for_one_sequence() -> None:
    config = {"mode": "exact", "steps": ["update"]}
    assert judge({**config, "turn": 2}, *PER_TURN).passed
    assert judge({**config, "turn": "last"}, *PER_TURN).passed
    assert not judge({**config, "turns": [1, 2]}, *PER_TURN).passed
    assert judge({**config, "turn": 9}, *PER_TURN).reason == ("turn 9 did not take place: the conversation has 2 turns")


def test_unknown_telemetry_is_not_evaluated_in_every_mode() -> None:
    for mode in MODES:
        result = grade("tool_sequence", tool_sequence.check, evidence_of(None), {"mode": mode, "steps": ["a"]})
        assert result.verdict is Verdict.NOT_EVALUATED
        assert judge({"mode": mode, "steps": ["a"]}, "a").passed


def test_a_call_that_only_a_capped_step_can_take_pushes_another_one_out() -> None:
    config = {"mode": "superset", "steps": [{"any_of": ["b", "ab"]}, {"tool": "a*", "min": 0, "max": 2}]}
    assert judge(config, "b", "ab", "a", "a").passed
    assert judge(config, "a", "a", "ab", "b").passed
    assert not judge(config, "b", "ab", "a", "a", "a").passed
