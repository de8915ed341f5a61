"""The three verdicts, and what promptfoo gets to see of them."""

from __future__ import annotations

import json

from assertions.verdict import CheckResult, ConfigError, Verdict, conjunction, failed, not_evaluated, passed


def test_promptfoo_gets_plain_json_with_its_own_keys() -> None:
    part = failed("tool_sequence", "step 1 is missing", 0.5, {"tool_sequence.recall": 0.5})
    whole = CheckResult("contract", Verdict.FAIL, 0.5, "why", {"contract.parts": 1}, (part,))
    assert json.loads(json.dumps(whole.to_promptfoo())) == {
        "pass": False,
        "score": 0.5,
        "reason": "why",
        "namedScores": {"tool_sequence.recall": 0.5, "contract.parts": 1.0},
        "componentResults": [
            {
                "pass": False,
                "score": 0.5,
                "reason": "step 1 is missing",
                "namedScores": {"tool_sequence.recall": 0.5},
                "assertion": {"type": "python", "metric": "tool_sequence"},
            }
        ],
    }


def test_not_evaluated_is_no_pass_and_is_counted_apart() -> None:
    result = not_evaluated("input_diff", "the source was cut")
    assert result.to_promptfoo() == {
        "pass": False,
        "score": 0.0,
        "reason": "NOT EVALUATED: the source was cut",
        "namedScores": {"input_diff.not_evaluated": 1.0},
    }


def test_one_failure_decides_over_what_could_not_be_judged() -> None:
    parts = [passed("a", "fine"), not_evaluated("b", "no telemetry"), failed("c", "wrong", 0.5), failed("d", "bad")]
    whole = conjunction("contract", parts, "all fine")
    assert (whole.verdict, whole.reason) == (Verdict.FAIL, "c: wrong (and 1 more of 4)")
    assert whole.score == (1 + 0 + 0.5 + 0) / 4


def test_without_a_failure_what_could_not_be_judged_decides() -> None:
    whole = conjunction("contract", [passed("a", "fine"), not_evaluated("b", "no telemetry")], "all fine")
    assert (whole.verdict, whole.reason) == (Verdict.NOT_EVALUATED, "NOT EVALUATED: b: no telemetry")
    assert whole.to_promptfoo()["namedScores"] == {"b.not_evaluated": 1.0, "contract.not_evaluated": 1.0}


def test_a_conjunction_of_passes_passes_and_one_of_nothing_does_not() -> None:
    assert conjunction("contract", [passed("a", "fine")], "all fine").reason == "all fine"
    assert conjunction("contract", [], "all fine").reason == "NOT EVALUATED: there is nothing to check"


def test_a_config_error_names_place_problem_and_what_is_allowed() -> None:
    error = ConfigError("/mode", "'inorder' is not allowed", ["exact", "in_order"])
    assert str(error) == "/mode: 'inorder' is not allowed; allowed: exact, in_order"
    assert (
        str(error.under("/tool_sequence")) == "/tool_sequence/mode: 'inorder' is not allowed; allowed: exact, in_order"
    )
    assert str(ConfigError("", "is empty").under("/steps")) == "/steps: is empty"
