"""pydantic_evals: `ToolCorrectness`, `TrajectoryMatch` and `ArgumentCorrectness` on the spans of the calls."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from importlib.metadata import version
from typing import Any

from pydantic_evals.evaluators import (
    ArgumentCorrectness,
    EvaluatorContext,
    ToolCorrectness,
    TrajectoryMatch,
)
from pydantic_evals.otel import SpanNode, SpanTree
from pydantic_evals.otel._errors import SpanTreeRecordingError


def answer(questions: list[dict[str, Any]]) -> dict[str, Any]:
    """The verdict on each question, by id; `score x` from what gives numbers; None where it has no such mode."""
    return {
        "version": version("pydantic-evals"),
        "verdicts": {question["id"]: _verdict(question) for question in questions},
    }


def _verdict(question: dict[str, Any]) -> str | None:
    evaluator = _evaluator(question)
    if evaluator is None:
        return None
    value = evaluator.evaluate(_context(question["actual"])).value
    if isinstance(value, bool):
        return "pass" if value else "fail"
    return {0.0: "score 0", 1.0: "score 1"}.get(value, f"score {value:.2f}")


def _evaluator(question: dict[str, Any]) -> Any:
    """Its evaluator for names is another one than that for arguments, which takes one call."""
    names = [call["name"] for call in question["expected"]]
    if question["arguments"] != "ignore":
        if question["mode"] != "superset" or len(names) != 1:
            return None
        (expected,) = question["expected"]
        return ArgumentCorrectness(names[0], expected["arguments"], match_mode=question["arguments"])
    if question["mode"] in ("exact", "in_order"):
        return TrajectoryMatch(names, order=question["mode"])
    if question["mode"] in ("any_order", "superset"):
        return ToolCorrectness(names, allow_extra=question["mode"] == "superset")
    return None


def _context(calls: list[dict[str, Any]] | None) -> Any:
    tree: Any = SpanTreeRecordingError("nothing was recorded")
    if calls is not None:
        tree = SpanTree()
        tree.add_spans([_span(place, call) for place, call in enumerate(calls, 1)])
    return EvaluatorContext(
        name="row",
        inputs="message 1",
        metadata=None,
        expected_output=None,
        output="Done.",
        duration=1.0,
        _span_tree=tree,
        attributes={},
        metrics={},
    )


def _span(place: int, call: dict[str, Any]) -> SpanNode:
    start = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=place)
    attributes = {"gen_ai.tool.name": call["name"]}
    if call["arguments"] is not None:
        attributes["gen_ai.tool.call.arguments"] = json.dumps(call["arguments"])
    return SpanNode(
        name=f"execute_tool {call['name']}",
        trace_id=1,
        span_id=place,
        parent_span_id=None,
        start_timestamp=start,
        end_timestamp=start + timedelta(milliseconds=1),
        attributes=attributes,
        status="error" if call["failed"] else "ok",
    )
