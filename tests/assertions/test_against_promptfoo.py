"""Our matchers beside promptfoo's own `trajectory:*`, which judge the same calls in one real run with tracing on.

With settings that mean the same, both have to say the same on randomly chosen calls. The verdicts of promptfoo that
`docs/matchers-compared.md` shows are seen in the same run.
"""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pytest

from assertions.run_check import grade
from assertions.verdict import Verdict
from bench.peers import promptfoo_rows
from bench.peers.rows import rows
from bench.peers.verdicts import written
from tests.assertions.makers import call, evidence_of
from tests.support.promptfoo import run_promptfoo

SEED = 20261129
ROWS = 40


class Pair(NamedTuple):
    """One of promptfoo's assertions, and ours that means the same."""

    theirs: dict[str, Any]
    name: str
    config: dict[str, Any]


def random_calls(random: Random) -> list[dict[str, Any]]:
    return [
        {
            "name": random.choice(["get_a", "get_b", "put_a"]),
            "arguments": random.choice(
                [
                    {},
                    {"x": 1},
                    {"x": 1.0, "y": [1, {"z": None}]},
                    {"x": True},
                    {"y": [1, {"z": None, "w": 2}]},
                    {"x": "1"},
                ]
            ),
        }
        for _ in range(random.randint(1, 5))
    ]


def random_pairs(random: Random) -> list[Pair]:
    names = ["get_a", "get_b", "put_a", "get_*", "*_a", "get_?"]
    steps = [random.choice(names) for _ in range(random.randint(1, 3))]
    tool = random.choice(names)
    low, high = random.randint(1, 2), random.randint(2, 3)
    args: dict[str, Any] = random.choice(
        [{}, {"x": 1}, {"y": [1, {"z": None}]}, {"x": True}, {"x": 1, "y": [1, {"z": None}]}]
    )
    ignore = random.choice([["y"], ["*"], ["q"]])
    defaults: dict[str, Any] = random.choice([{"x": 1}, {"x": True}, {"q": 0}])
    settings: list[tuple[str, str, dict[str, Any]]] = [
        ("partial", "subset", {}),
        ("exact", "exact", {}),
        ("exact", "exact", {"ignore": ignore}),
    ]
    if not defaults.keys() & args.keys():  # promptfoo takes a default from the observed side only
        settings.append(("exact", "exact", {"defaults": defaults}))
    one = {"pattern": tool}
    return [
        *(
            Pair(
                {
                    "type": "trajectory:tool-sequence",
                    "value": {"mode": mode, "steps": [{"pattern": step} for step in steps]},
                },
                "tool_sequence",
                {"mode": mode, "steps": steps},
            )
            for mode in ("exact", "in_order")
        ),
        Pair(
            {"type": "trajectory:tool-used", "value": {**one, "min": low, "max": high}},
            "tool_sequence",
            {"mode": "superset", "steps": [{"tool": tool, "min": low, "max": high}]},
        ),
        Pair({"type": "not-trajectory:tool-used", "value": tool}, "tool_not_executed", {"tools": [tool]}),
        *(
            Pair(
                {"type": "trajectory:tool-args-match", "value": {**one, "args": args, "mode": theirs, **options}},
                "argument_match",
                {"tool": tool, "args": args, "mode": ours, **options},
            )
            for theirs, ours, options in settings
        ),
        Pair(
            {"type": "not-trajectory:tool-args-match", "value": {**one, "args": args}},
            "tool_not_executed",
            {"tools": [{"tool": tool, "args": args}]},
        ),
    ]


def our_verdict(pair: Pair, calls: list[dict[str, Any]]) -> tuple[Verdict, str]:
    made = [call(each["name"], **each["arguments"]) for each in calls]
    result = grade(pair.name, import_module(f"assertions.{pair.name}").check, evidence_of(made), pair.config)
    return result.verdict, result.reason


def test_equal_settings_give_equal_verdicts_and_the_written_ones_are_those_of_promptfoo(tmp_path: Path) -> None:
    random = Random(SEED)
    generated = [(random_calls(random), random_pairs(random)) for _ in range(ROWS)]
    tests = [
        {"description": f"row {index}", "vars": {"calls": json.dumps(calls)}, "assert": [pair.theirs for pair in pairs]}
        for index, (calls, pairs) in enumerate(generated)
    ]
    compared = {row.id: promptfoo_rows.as_test(row) for row in rows()}
    run = run_promptfoo(tmp_path, promptfoo_rows.traced(tests + [test for test in compared.values() if test]))
    verdicts = 0
    for (calls, pairs), row in zip(generated, run.rows, strict=False):
        components = row["gradingResult"]["componentResults"]
        assert len(components) == len(pairs), row
        for pair, component in zip(pairs, components, strict=True):
            verdict, reason = our_verdict(pair, calls)
            assert (verdict is Verdict.PASS) is component["pass"], (calls, pair, reason, component["reason"])
            assert verdict is not Verdict.NOT_EVALUATED
            verdicts += 1
    assert verdicts > 300
    said = {row_id: promptfoo_rows.verdict(run, row_id) if test else None for row_id, test in compared.items()}
    assert said == {row_id: by_peer["promptfoo"] for row_id, by_peer in written()["verdicts"].items()}
    assert promptfoo_rows.version() == written()["versions"]["promptfoo"]


@pytest.mark.parametrize("mode", ["exact", "in_order"])
def test_the_generated_rows_hold_passes_and_failures(mode: str) -> None:
    random = Random(SEED)
    verdicts = set()
    for _ in range(ROWS):
        calls, pairs = random_calls(random), random_pairs(random)
        verdicts |= {our_verdict(pair, calls)[0] for pair in pairs if pair.config.get("mode") == mode}
    assert verdicts == {Verdict.PASS, Verdict.FAIL}
