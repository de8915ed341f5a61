"""ADK: `TrajectoryEvaluator` on one invocation for each turn, threshold 1."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

from google.adk.evaluation.eval_case import IntermediateData, Invocation
from google.adk.evaluation.eval_metrics import EvalMetric, EvalStatus, ToolTrajectoryCriterion
from google.adk.evaluation.trajectory_evaluator import TrajectoryEvaluator
from google.genai import types

MODES = {"exact": "EXACT", "in_order": "IN_ORDER", "any_order": "ANY_ORDER", "superset": "ANY_ORDER"}


def answer(questions: list[dict[str, Any]]) -> dict[str, Any]:
    """The verdict on each question, by id; None where it has no such mode."""
    return {
        "version": version("google-adk"),
        "verdicts": {question["id"]: _verdict(question) for question in questions},
    }


def _verdict(question: dict[str, Any]) -> str | None:
    # It compares arguments by equality or not at all.
    if question["mode"] not in MODES or question["arguments"] == "subset":
        return None
    criterion = ToolTrajectoryCriterion(
        threshold=1.0,
        match_type=ToolTrajectoryCriterion.MatchType[MODES[question["mode"]]],
        ignore_args=question["arguments"] == "ignore",
    )
    metric = EvalMetric(metric_name="tool_trajectory_avg_score", criterion=criterion)
    try:
        result = TrajectoryEvaluator(eval_metric=metric).evaluate_invocations(
            _invocations(question["actual"] or []), _invocations(question["expected"])
        )
    except ValueError as error:
        return f"error ({type(error).__name__})"
    return "pass" if result.overall_eval_status is EvalStatus.PASSED else "fail"


def _invocations(calls: list[dict[str, Any]]) -> list[Invocation]:
    """One invocation for each turn up to the last with a call, at least one."""
    return [
        Invocation(
            user_content=types.Content(role="user", parts=[types.Part(text=f"message {turn}")]),
            intermediate_data=IntermediateData(
                tool_uses=[
                    types.FunctionCall(name=call["name"], args=call["arguments"])
                    for call in calls
                    if call["turn"] == turn
                ]
            ),
        )
        for turn in range(1, max((call["turn"] for call in calls), default=1) + 1)
    ]
