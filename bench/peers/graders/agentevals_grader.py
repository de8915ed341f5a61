"""agentevals, by its documented entry point: an evaluator, called with one episode at a time."""

from __future__ import annotations

import json
from time import process_time
from typing import Any

from agentevals.trajectory.match import create_trajectory_match_evaluator


def answer(question: dict[str, Any]) -> dict[str, Any]:
    references = [_messages(calls) for calls in question["cases"]]
    answers: dict[str, Any] = {}
    for task, mode in {"exact": "strict", "any_order": "unordered", "superset": "superset"}.items():
        evaluate = create_trajectory_match_evaluator(trajectory_match_mode=mode, tool_args_match_mode="exact")
        given = [(_messages(one["calls"]), references[one["case"]]) for one in question["episodes"]]
        for outputs, reference in given[:50]:
            evaluate(outputs=outputs, reference_outputs=reference)
        start = process_time()
        scores = [evaluate(outputs=outputs, reference_outputs=reference)["score"] for outputs, reference in given]
        answers[task] = {"seconds": process_time() - start, "passed": [score is True for score in scores]}
    return answers


def _messages(calls: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """As few as carry the calls: one message of the agent for each, no answers of tools."""
    return [
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [
                {
                    "id": f"call_{number}",
                    "type": "function",
                    "function": {"name": call["name"], "arguments": json.dumps(call["arguments"])},
                }
            ],
        }
        for number, call in enumerate(calls)
    ]
