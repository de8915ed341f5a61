"""From promptfoo's context to a grading result: no crash, no wrong config and no missing evidence is ever a verdict."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from assertions.config_check import STAMP_KEY, stamp
from assertions.evidence import Evidence
from assertions.run_check import grade, run_check
from assertions.verdict import CheckResult, ConfigError, NotEvaluated, passed
from episodes.record import EvidenceError
from tests.assertions.makers import call, evidence_of

NAME = "tool_not_executed"
CONFIG = {"tools": ["delete_spoke"]}


def agreeing(evidence: Evidence, config: Mapping[str, Any]) -> CheckResult:
    return passed(NAME, f"{len(evidence.calls())} calls, {config['tools']}")


def context_of(evidence: Evidence, config: Any = None) -> dict[str, Any]:
    return {
        "config": CONFIG if config is None else config,
        "metadata": evidence.record().to_metadata(),
        "test": {"description": "C07 copies a spoke", "metadata": {"id": "C07"}},
        "vars": {"forbidden": "delete_*", "_run_key": "x"},
    }


def test_the_check_gets_the_record_and_its_rendered_config() -> None:
    context = context_of(evidence_of([call("get_spoke")]), {"tools": ["{{forbidden}}"]})
    result = run_check(NAME, agreeing, "text", context)
    assert (result["pass"], result["reason"]) == (True, "1 calls, ['delete_*']")


@pytest.mark.parametrize(
    ("config", "reason"),
    [
        (
            {"tool": ["x"]},
            "/tool: unknown key (1 more); allowed: tools, turn, turns, unparsable, when",
        ),
        ({"tools": []}, "/tools: is empty, so there would be nothing to check"),
        (
            {"tools": ["x"], "when": "maybe"},
            "/when: 'maybe' is not allowed; allowed: 'attempted', 'executed', 'succeeded'",
        ),
        ({"tools": [7]}, "/tools/0: 7 has the wrong type; allowed: string or object"),
        ({"tools": ["{{nobody}}"]}, "/tools/0: {{nobody}} is not among the case's vars; allowed: forbidden"),
        ("tools", "/: the config is a str; allowed: an object"),
    ],
)
def test_a_wrong_config_is_not_evaluated_and_names_case_key_and_what_is_allowed(config: Any, reason: str) -> None:
    result = run_check(NAME, agreeing, "text", context_of(evidence_of([]), config))
    assert result["reason"] == f"NOT EVALUATED: case C07, config of tool_not_executed, {reason}"
    assert result["namedScores"] == {"tool_not_executed.not_evaluated": 1.0}
    assert (result["pass"], result["score"]) == (False, 0.0)


def test_a_crash_keeps_its_type_message_and_place() -> None:
    def crashing(_evidence: Evidence, _config: Mapping[str, Any]) -> CheckResult:
        raise KeyError("turn")

    line = crashing.__code__.co_firstlineno + 1
    result = run_check(NAME, crashing, "text", context_of(evidence_of([])))
    assert result["reason"] == (
        f"NOT EVALUATED: the check crashed: KeyError: 'turn' (test_run_check.py:{line} in crashing)"
    )


@pytest.mark.parametrize(
    ("problem", "reason"),
    [
        (NotEvaluated("the answer was cut"), "NOT EVALUATED: the answer was cut"),
        (EvidenceError("/toolCalls/0", "no name"), "NOT EVALUATED: the record can not be read: /toolCalls/0: no name"),
        (
            ConfigError("/args/at", "not a date"),
            "NOT EVALUATED: case C01, config of tool_not_executed, /args/at: not a date",
        ),
        (RecursionError("too deep"), "NOT EVALUATED: the check crashed: RecursionError: too deep (test_run_check.py:"),
    ],
)
def test_what_a_check_raises_is_not_evaluated(problem: Exception, reason: str) -> None:
    def raising(_evidence: Evidence, _config: Mapping[str, Any]) -> CheckResult:
        raise problem

    assert grade(NAME, raising, evidence_of([]), CONFIG).reason.startswith(reason)


def test_an_interruption_is_not_swallowed() -> None:
    def interrupted(_evidence: Evidence, _config: Mapping[str, Any]) -> CheckResult:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        grade(NAME, interrupted, evidence_of([]), CONFIG)


def test_a_config_with_the_right_stamp_is_not_checked_again_and_one_with_a_wrong_stamp_is() -> None:
    wrong = {"tools": ["x"], "unknown": 1}
    right_stamp = wrong | {STAMP_KEY: stamp(NAME, wrong)}
    other_stamp = wrong | {STAMP_KEY: "0" * 16}
    assert grade(NAME, agreeing, evidence_of([]), right_stamp).passed
    assert "unknown key" in grade(NAME, agreeing, evidence_of([]), other_stamp).reason


def test_a_row_without_a_record_is_not_evaluated() -> None:
    result = run_check(NAME, agreeing, "text", {"config": CONFIG})
    assert result["reason"] == ("NOT EVALUATED: the provider's answer carries no record (its metadata has no `schema`)")


def test_a_record_of_another_version_is_not_evaluated() -> None:
    result = run_check(NAME, agreeing, "text", {"config": CONFIG, "metadata": {"schema": "99"}})
    assert result["reason"] == (
        "NOT EVALUATED: the record can not be read: /schema: expected the record version '1', found '99'"
    )


def test_unknown_telemetry_is_not_no_calls() -> None:
    result = grade(NAME, agreeing, evidence_of(None), CONFIG)
    assert result.reason == (
        "NOT EVALUATED: tool telemetry is missing: the record does not say which tools were called"
    )


@pytest.mark.parametrize("output", [None, {"answer": ["x", 1]}, 3.5, [object()]])
def test_an_answer_that_is_no_text_becomes_text(output: Any) -> None:
    def echoing(evidence: Evidence, _config: Mapping[str, Any]) -> CheckResult:
        return passed(NAME, evidence.output)

    result = run_check(NAME, echoing, output, context_of(evidence_of([])))
    assert result["pass"]
    assert isinstance(result["reason"], str)


def test_the_record_is_also_found_in_the_providers_response() -> None:
    context = context_of(evidence_of(["get_spoke"]))
    context["providerResponse"] = {"metadata": context.pop("metadata")}
    assert run_check(NAME, agreeing, "text", context)["pass"]


def test_what_a_judge_or_a_host_says_is_masked_in_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVALS_MODEL_API_KEY", "planted-key-of-the-judge")

    def asking(evidence: Evidence, config: Mapping[str, Any]) -> CheckResult:
        from endpoints.redaction import MASK

        assert evidence.calls()
        assert config == CONFIG
        return passed(NAME, f"it said: your key is planted-key-of-the-judge, not {MASK}")

    def crashing(evidence: Evidence, config: Mapping[str, Any]) -> CheckResult:
        asking(evidence, config)
        raise RuntimeError("refused planted-key-of-the-judge")

    context = context_of(evidence_of([call("get_spoke")]))
    assert run_check(NAME, asking, "text", context)["reason"] == "it said: your key is [redacted], not [redacted]"
    assert "RuntimeError: refused [redacted] (" in run_check(NAME, crashing, "text", context)["reason"]
