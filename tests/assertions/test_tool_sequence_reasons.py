"""`tool_sequence`: what the reason names, what the scores count, and what a wrong config is told."""

from __future__ import annotations

from typing import Any

import pytest

from assertions.verdict import CheckResult, Verdict
from tests.assertions.judges import judge_sequence as judge
from tests.assertions.makers import call


def scores(result: CheckResult) -> dict[str, float]:
    return {name.removeprefix("tool_sequence."): round(value, 4) for name, value in result.named_scores.items()}


def test_a_repeated_call_is_expected_as_often_as_it_is_listed() -> None:
    config = {"mode": "any_order", "steps": ["search", "search"]}
    assert judge(config, "search", "search").score == 1.0
    once = judge(config, "search")
    assert (once.verdict, once.score) == (Verdict.FAIL, 0.5)
    assert once.reason == (
        "step 2, search: search (call 1, turn 1) serves another step already, expected one more call. "
        "Expected any_order: search → search. Executed: search"
    )
    assert scores(once) == {"precision": 1.0, "recall": 0.5, "f1": 0.6667, "order_distance": 0.0}


@pytest.mark.parametrize(
    ("mode", "calls", "reason"),
    [
        ("in_order", "a c", "step 2, b: was not executed. Expected in_order: a → b → c. Executed: a → c"),
        (
            "in_order",
            "b a c",
            "step 1, a: a (call 2, turn 1) came after b (call 1, turn 1). "
            "Expected in_order: a → b → c. Executed: b → a → c",
        ),
        (
            "in_order",
            "a c b",
            "step 2, b: b (call 3, turn 1) came after c (call 2, turn 1). "
            "Expected in_order: a → b → c. Executed: a → c → b",
        ),
        ("in_order", "", "step 1, a: was not executed. Expected in_order: a → b → c. Executed: nothing"),
        (
            "exact",
            "a b x c",
            "x (call 3, turn 1) is not expected. Expected exact: a → b → c. Executed: a → b → x → c",
        ),
        (
            "exact",
            "a b c a",
            "a (call 4, turn 1) is one too many: step 1, a, is expected at most 1 time. "
            "Expected exact: a → b → c. Executed: a → b → c → a",
        ),
        (
            "any_order",
            "c b",
            "step 1, a: was not executed. Expected any_order: a → b → c. Executed: c → b",
        ),
        ("subset", "a x", "x (call 2, turn 1) is not expected. Expected subset: a → b → c. Executed: a → x"),
        (
            "superset",
            "C b a",
            "step 3, c: was not executed; C (call 1, turn 1) differs in upper and lower case. "
            "Expected superset: a → b → c. Executed: C → b → a",
        ),
    ],
)
def test_the_reason_names_the_first_mismatch_and_shows_both_lists(mode: str, calls: str, reason: str) -> None:
    assert judge({"mode": mode, "steps": ["a", "b", "c"]}, *calls.split()).reason == reason


def test_the_reason_of_a_pass_names_the_calls_that_made_it() -> None:
    assert judge({"steps": ["a", "b"]}, "a", "x", "b").reason == "in_order: a (1) → b (3); 3 executed calls"
    assert judge({"mode": "subset", "steps": ["a"], "when": "succeeded"}).reason == (
        "subset: nothing; 0 successful calls"
    )


def test_long_lists_are_cut_in_the_reason() -> None:
    result = judge({"steps": ["end"]}, *[f"c{number}" for number in range(40)])
    assert result.reason.endswith("Executed: c0 → c1 → c2 → c3 → c4 → c5 → c6 → c7 → c8 → c9 → c10 → c11 → … (28 more)")


@pytest.mark.parametrize(
    ("mode", "calls", "expected"),
    [
        ("exact", "a b c", {"precision": 1, "recall": 1, "f1": 1, "order_distance": 0}),
        ("in_order", "a x b y c", {"precision": 0.6, "recall": 1, "f1": 0.75, "order_distance": 0}),
        ("in_order", "c b a", {"precision": 0.3333, "recall": 0.3333, "f1": 0.3333, "order_distance": 0.6667}),
        ("any_order", "c b a", {"precision": 1, "recall": 1, "f1": 1, "order_distance": 0.6667}),
        ("superset", "b a c", {"precision": 1, "recall": 1, "f1": 1, "order_distance": 0.3333}),
        ("subset", "", {"precision": 0, "recall": 0, "f1": 0}),
        ("in_order", "x", {"precision": 0, "recall": 0, "f1": 0}),
    ],
)
def test_precision_recall_f1_and_the_distance_to_the_expected_order(
    mode: str, calls: str, expected: dict[str, float]
) -> None:
    assert scores(judge({"mode": mode, "steps": ["a", "b", "c"]}, *calls.split())) == expected


def test_a_threshold_turns_a_partial_match_into_a_pass_that_says_so() -> None:
    result = judge({"steps": ["a", "b"], "threshold": 0.5}, "a")
    assert (result.verdict, result.score) == (Verdict.PASS, 0.5)
    assert result.reason == (
        "score 0.5 reaches the threshold 0.5: step 2, b: was not executed. Expected in_order: a → b. Executed: a"
    )
    assert not judge({"steps": ["a", "b"], "threshold": 0.51}, "a").passed


@pytest.mark.parametrize(
    ("config", "reason"),
    [
        ({"steps": []}, "/steps: is empty, so there would be nothing to check"),
        ({}, "/: expects nothing, or twice: either 'steps' or 'per_turn' has to be there"),
        ({"steps": ["a"], "per_turn": [["a"]]}, "/: expects nothing, or twice: either 'steps' or 'per_turn'"),
        (
            {"mode": "inorder", "steps": ["a"]},
            "/mode: 'inorder' is not allowed; allowed: 'exact', 'in_order', 'any_order', 'subset', 'superset'",
        ),
        ({"step": ["a"]}, "/step: unknown key (1 more); allowed: after_answers, extra_turns, mode, per_turn, steps, "),
        (
            {"steps": [{"tool": "a", "optional": True}]},
            "/steps: every step is optional, so mode in_order would always pass; allowed: a step with min above 0",
        ),
        ({"steps": [{"tool": "a", "max": 0}]}, "/steps/0/max: 0 is less than the minimum of 1"),
        (
            {"steps": [{"tool": "a", "min": 3, "max": 2}]},
            "/steps/0/max: 2 is too small; allowed: a whole number from 3",
        ),
        (
            {"steps": [{"tool": "a", "min": 1, "optional": True}]},
            "/steps/0/optional: stands beside 'min'; allowed: one ",
        ),
        (
            {"steps": [{"name": "a"}]},
            "/steps/0/name: unknown key (1 more); allowed: after_answers, any_of, args, match, ",
        ),
        ({"steps": [{"any_of": []}]}, "/steps/0/any_of: is empty, so there would be nothing to check"),
        (
            {"per_turn": [["a"], []]},
            "/per_turn/1: is empty, so there would be nothing to check; allowed: at least one ",
        ),
        ({"mode": "exact", "per_turn": [[]]}, "/per_turn: expects no call in any turn; allowed: at least one step"),
        ({"per_turn": [["a"]], "turn": 1}, "/turn: stands beside 'per_turn'; allowed: one of them"),
        ({"steps": ["a"], "extra_turns": "allow"}, "/extra_turns: needs 'per_turn'"),
        (
            {"steps": ["a"], "when": "done"},
            "/when: 'done' is not allowed; allowed: 'attempted', 'executed', 'succeeded'",
        ),
    ],
)
def test_a_wrong_config_names_the_key_and_what_is_allowed(config: dict[str, Any], reason: str) -> None:
    result = judge(config, "a")
    assert result.verdict is Verdict.NOT_EVALUATED
    assert result.reason.startswith(f"NOT EVALUATED: case C01, config of tool_sequence, {reason}")


@pytest.mark.parametrize(
    ("step", "short"), [({"tool": "a", "optional": True}, "a?"), ({"tool": "a", "min": 0}, "a{0,}")]
)
def test_a_call_of_a_step_that_has_room_for_it_is_out_of_order_and_not_one_too_many(
    step: dict[str, Any], short: str
) -> None:
    result = judge({"mode": "exact", "steps": [step, "b"]}, "b", "a")
    assert result.reason == (
        f"step 1, a: a (call 2, turn 1) came after b (call 1, turn 1). Expected exact: {short} → b. Executed: b → a"
    )


@pytest.mark.parametrize("step", ["create_x", "create_*", "create*"])
def test_a_writing_step_in_one_batch_with_what_it_acts_on_is_named_as_the_problem(step: str) -> None:
    calls = (call("a", _batch=1), call("create_x", _batch=1))
    assert judge({"steps": ["a", step]}, *calls).reason == (
        "step 1, a: create_x (call 2, turn 1) is in one parallel batch with a (call 1, turn 1), so it came without its "
        f"answer. Expected in_order: a → {step}. Executed: a → create_x"
    )
