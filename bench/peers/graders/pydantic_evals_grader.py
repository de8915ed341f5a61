"""pydantic_evals in two ways.

`exact`: `Dataset.evaluate_sync`, which is how many cases are evaluated, with the cheapest evaluator that can tell:
EqualsExpected on the list of calls, Python's own `==`. Whatever else goes through a dataset costs more.

`by hand`: its evaluators of tool calls (TrajectoryMatch, and ArgumentCorrectness for each call), called one by one on
trees of spans that are there already; without a dataset nobody collects or reports what they say.
"""

from __future__ import annotations

import json
from collections import Counter
from datetime import UTC, datetime, timedelta
from time import process_time
from typing import Any

from pydantic_evals import Case, Dataset
from pydantic_evals.evaluators import ArgumentCorrectness, EqualsExpected, EvaluatorContext, TrajectoryMatch
from pydantic_evals.otel.span_tree import SpanNode, SpanTree


def answer(question: dict[str, Any]) -> dict[str, Any]:
    return {
        "exact": _by_dataset(question),
        "exact by hand": _by_hand(question),
    }


def _by_dataset(question: dict[str, Any]) -> dict[str, Any]:
    episodes = question["episodes"]
    cases = [
        Case(name=str(number), inputs=number, expected_output=question["cases"][one["case"]])
        for number, one in enumerate(episodes)
    ]

    def task(number: int) -> Any:
        return episodes[number]["calls"]

    Dataset(name="warm", cases=cases[:50], evaluators=[EqualsExpected()]).evaluate_sync(task, progress=False)
    dataset = Dataset(name="episodes", cases=cases, evaluators=[EqualsExpected()])
    start = process_time()
    report = dataset.evaluate_sync(task, progress=False)
    seconds = process_time() - start
    passed = {case.name: all(one.value for one in case.assertions.values()) for case in report.cases}
    return {"seconds": seconds, "passed": [passed[str(number)] for number in range(len(cases))]}


def _by_hand(question: dict[str, Any]) -> dict[str, Any]:
    evaluators = [_evaluators(calls) for calls in question["cases"]]
    given = [(_context(one["calls"]), evaluators[one["case"]]) for one in question["episodes"]]
    passed = []
    start = process_time()
    for context, own in given:
        passed.append(all(evaluator.evaluate(context).value for evaluator in own))
    return {"seconds": process_time() - start, "passed": [bool(one) for one in passed]}


def _evaluators(calls: list[dict[str, Any]]) -> list[Any]:
    seen: Counter[str] = Counter()
    found: list[Any] = [TrajectoryMatch([call["name"] for call in calls], order="exact")]
    for call in calls:
        found.append(ArgumentCorrectness(call["name"], call["arguments"], "exact", seen[call["name"]]))
        seen[call["name"]] += 1
    return found


def _context(calls: list[dict[str, Any]]) -> EvaluatorContext[Any, Any, Any]:
    start = datetime(2026, 1, 1, tzinfo=UTC)
    nodes = [
        SpanNode(
            name=f"execute_tool {call['name']}",
            trace_id=1,
            span_id=number,
            parent_span_id=None,
            start_timestamp=start + timedelta(seconds=number),
            end_timestamp=start + timedelta(seconds=number),
            attributes={
                "gen_ai.tool.name": call["name"],
                "gen_ai.tool.call.arguments": json.dumps(call["arguments"]),
            },
        )
        for number, call in enumerate(calls, 1)
    ]
    tree = SpanTree()
    tree.add_spans(nodes)
    return EvaluatorContext(
        name=None,
        inputs=None,
        metadata=None,
        expected_output=None,
        output=None,
        duration=0.0,
        _span_tree=tree,
        attributes={},
        metrics={},
    )
