"""What is said about a run with a real model, and what counts as the machinery having held."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from evals.exit_codes import Exit
from evals.leftovers import Leftovers
from evals.real_model.engine_process import free_processors
from evals.real_model.limits import CONFIG, FROM_TEXT, Limits, faults, read_limits, used_by
from evals.real_model.report import MEANING, RealRun, in_words
from evals.results import Row, Status, Tokens
from evals.summary import RunOutcome
from local.real_model.app import ID_PREFIX

LIMITS = Limits(turns=4, steps=14, tokens=1000, seconds=300.0)


def record(**more: Any) -> dict[str, Any]:
    return {
        "stopReason": "user_stop",
        "messages": [{"role": "user", "content": "Copy it.", "turn": 1}, {"role": "assistant", "turn": 2}],
        "toolCalls": [
            {"id": "from_text_1_0", "name": "get_spoke", "status": "ok"},
            {"id": "call_2", "name": "validate_spoke", "status": "schema_error"},
        ],
        "usage": {
            "agent": {"promptTokens": 900, "completionTokens": 60, "requests": 3},
            "user": {"promptTokens": 70, "completionTokens": 7, "requests": 1},
        },
        "timings": {"durationMs": 61_400.0},
        "warnings": ["something else"],
        **more,
    }


def row(**more: Any) -> Row:
    base = Row(
        suite="real-model",
        case_id="C01",
        group="field-words",
        priority="smoke",
        provider="real-model",
        status=Status.FAILED,
        reason="no pull request was created",
        score=0.0,
        named_scores={},
        tokens=Tokens(),
        latency_ms=0.0,
        metadata=record(),
        description="C01 copy a development spoke",
        reasons=("no pull request was created", "NOT EVALUATED: nothing to look at", "no pull request was created"),
    )
    return replace(base, **more)


def run(*rows: Row, **more: Any) -> RealRun:
    leftovers = more.pop("leftovers", Leftovers(0, 0))
    interrupted = more.pop("interrupted", False)
    outcome = RunOutcome("real-model", rows, leftovers, 123.4, Path("/data/results/1.json"), interrupted)
    return RealRun("A small model", outcome, LIMITS, **more)


def test_the_whole_report_word_for_word() -> None:
    drafts = ['simulated user: a draft was thrown away (turn 2, try 1), role inversion ("How can I help?")']
    said = in_words(
        run(
            row(),
            row(
                case_id="C18",
                description="C18 addresses in use",
                status=Status.ERRORED,
                reason="simulator_defect: no usable message",
                reasons=(),
                metadata=record(stopReason="simulator_defect", toolCalls=[], warnings=drafts),
            ),
            row(description="C22 a page", status=Status.PASSED, reason="", reasons=()),
            leftovers=Leftovers(1, 1),
        )
    )
    spent = "2 of 4 turns, 3 of 14 steps, 61 of 300 s, 960 tokens of the agent and 77 of the developer"
    assert said == (
        "\n"
        "A small model was the agent and the developer, on this machine:\n"
        "\n"
        "C01 copy a development spoke: failed\n"
        f"  ended by user_stop after {spent}\n"
        "  tools: get_spoke, validate_spoke (schema_error) (1 of 2 were written as text)\n"
        "  wrong: no pull request was created\n"
        "  not judged: nothing to look at\n"
        "\n"
        "C18 addresses in use: not judged\n"
        f"  ended by simulator_defect after {spent}\n"
        "  tools: none was called\n"
        "  no check was made: simulator_defect: no usable message\n"
        '  developer: simulated user: a draft was thrown away (turn 2, try 1), role inversion ("How can I help?")\n'
        "\n"
        "C22 a page: passed\n"
        f"  ended by user_stop after {spent}\n"
        "  tools: get_spoke, validate_spoke (schema_error) (1 of 2 were written as text)\n"
        "\n"
        "1 passed, 1 failed, 1 not judged, in 123 s.\n"
        "Pull requests: 1 opened, 1 abandoned.\n"
        "The machinery held: every case ended with a record and within its limits.\n"
        f"{MEANING}\n"
        "Results: /data/results/1.json\n"
        "To read the conversations: npm run eval:view (or yarn eval:view)"
    )


def test_a_failed_agent_does_not_count_and_a_missing_record_does() -> None:
    assert run(row()).exit is Exit.PASSED
    lost = run(row(), row(case_id="C02", status=Status.ERRORED, reason="Request timed out", metadata={}, reasons=()))
    assert lost.exit is Exit.NOT_EVALUATED
    said = in_words(lost)
    assert "  There is no record: Request timed out\n" in said
    assert "The machinery did NOT hold:\n  C02 ended without a record: Request timed out\n" in said
    assert "The machinery held" not in said


@pytest.mark.parametrize("reason", ["deadline", "budget", "max_turns", "max_steps", "simulator_defect", "user_stop"])
def test_a_bound_that_did_its_work_is_no_fault(reason: str) -> None:
    assert faults(row(), used_by(row(metadata=record(stopReason=reason))), LIMITS) == []


@pytest.mark.parametrize("reason", ["provider_error", "tool_unavailable"])
def test_machinery_that_failed_is_a_fault(reason: str) -> None:
    broken = row(status=Status.ERRORED, reason=f"{reason}: it is gone", metadata=record(stopReason=reason))
    assert faults(broken, used_by(broken), LIMITS) == [f"the machinery failed: {reason}: it is gone"]


def test_a_conversation_that_no_longer_fitted_into_the_model_is_no_fault() -> None:
    text = "provider_error: model small: HTTP 400 context_length_exceeded: 17000 tokens"
    long = row(status=Status.ERRORED, reason=text, metadata=record(stopReason="provider_error"))
    assert faults(long, used_by(long), LIMITS) == []


@pytest.mark.parametrize(
    ("more", "fault"),
    [
        ({"messages": [{"turn": 5}]}, "5 turns, of at most 4"),
        ({"usage": {"agent": {"requests": 15}}}, "15 steps, of at most 14"),
        ({"usage": {"agent": {"promptTokens": 17_385}}}, "17,385 tokens, of at most 1,000 and one request"),
        ({"timings": {"durationMs": 316_000}}, "316 s, of at most 300 s"),
    ],
)
def test_every_bound_is_looked_at(more: dict[str, Any], fault: str) -> None:
    over = row(metadata=record(**more))
    assert faults(over, used_by(over), LIMITS) == [fault]


def test_a_damaged_record_is_read_as_far_as_it_goes() -> None:
    damaged = row(metadata={"stopReason": "user_stop", "toolCalls": 7, "messages": ["x"], "usage": [], "warnings": 1})
    assert "ended by user_stop after 0 of 4 turns, 0 of 14 steps" in in_words(run(damaged))


def test_what_a_model_wrote_stays_on_its_line_and_commands_no_terminal() -> None:
    said = in_words(run(row(reasons=("bad\x1b[2J\nThe machinery held" + "x" * 1000,))))
    (line,) = [line for line in said.splitlines() if "bad" in line]
    assert line.startswith("  wrong: bad�[2J; The machinery heldxxx")
    assert line.endswith("…")
    assert "\x1b" not in said


def test_what_is_left_behind_and_an_interruption_keep_their_codes() -> None:
    left = run(row(), leftovers=Leftovers(1, 0, ("a pull request was opened",), "npm run evals -- cleanup"))
    assert left.exit is Exit.LEFT_BEHIND
    assert "LEFT BEHIND: a pull request was opened\nTo finish: npm run evals -- cleanup\n" in in_words(left)
    stopped = run(row(status=Status.ERRORED, reason="Error: gone\n    at x.js:1", metadata={}), interrupted=True)
    assert stopped.exit is Exit.INTERRUPTED
    assert in_words(stopped).endswith(
        "\n  There is no record: Error: gone\n\n1 not judged, in 123 s.\n"
        "Stopped before its last case had ended: what was going on then has no record, and says nothing.\n"
        "Results: /data/results/1.json\nTo read the conversations: npm run eval:view (or yarn eval:view)"
    )
    assert run(row(), broke_off="promptfoo broke off with code 1").exit is Exit.NOT_EVALUATED
    assert "No case ended, in 123 s." in in_words(run())


def test_the_limits_are_those_of_the_config() -> None:
    limits = read_limits(90.0)
    assert (limits.turns, limits.steps, limits.seconds) == (4, 14, 90.0)
    assert limits.tokens == 150_000
    assert CONFIG.is_file()


def test_a_busy_machine_gives_the_model_fewer_threads() -> None:
    assert free_processors(2, 0.1) == 2
    assert free_processors(2, 0.9) == 1
    assert free_processors(2, 40.0) == 1
    assert free_processors(8, 3.2) == 5
    assert free_processors() >= 1


def test_both_sides_know_the_same_mark_of_a_call_from_text() -> None:
    assert FROM_TEXT == ID_PREFIX
