"""Azure: `_TaskNavigationEfficiencyEvaluator` of azure-ai-evaluation."""

from __future__ import annotations

from importlib.metadata import version
from itertools import groupby
from typing import Any

from azure.ai.evaluation._evaluators._task_navigation_efficiency import _TaskNavigationEfficiencyEvaluator
from azure.ai.evaluation._exceptions import EvaluationException

MODES = {
    "exact": "exact_match",
    "in_order": "in_order_match",
    "any_order": "any_order_match",
    "superset": "any_order_match",
}


def answer(questions: list[dict[str, Any]]) -> dict[str, Any]:
    """The verdict on each question, by id; None where it has no such mode."""
    return {
        "version": version("azure-ai-evaluation"),
        "verdicts": {question["id"]: _verdict(question) for question in questions},
    }


def _verdict(question: dict[str, Any]) -> str | None:
    # It compares arguments by equality of their texts or not at all.
    if question["mode"] not in MODES or question["arguments"] == "subset":
        return None
    names = [call["name"] for call in question["expected"]]
    expected: Any = names
    if question["arguments"] == "exact":
        expected = (names, {call["name"]: call["arguments"] for call in question["expected"]})
    try:
        evaluate = _TaskNavigationEfficiencyEvaluator(matching_mode=MODES[question["mode"]])
        result = evaluate(response=_messages(question["actual"] or []), ground_truth=expected)
    except EvaluationException as error:
        return f"error ({type(error).__name__})"
    return "pass" if result["task_navigation_efficiency_passed"] else "fail"


def _messages(calls: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """One message of the assistant for each batch of calls."""
    return [
        {
            "role": "assistant",
            "content": [
                {"type": "tool_call", "tool_call_id": f"call_{batch}_{place}", "name": call["name"]}
                | ({} if call["arguments"] is None else {"arguments": call["arguments"]})
                for place, call in enumerate(made)
            ],
        }
        for batch, made in groupby(calls, key=lambda call: call["batch"])
    ]
