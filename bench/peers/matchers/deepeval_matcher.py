"""DeepEval: `ToolCorrectnessMetric` with its default threshold, without a model."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

from deepeval.metrics import ToolCorrectnessMetric
from deepeval.models import DeepEvalBaseLLM
from deepeval.test_case import LLMTestCase, ToolCall, ToolCallParams

MODES: dict[str, dict[str, bool]] = {
    "exact": {"should_exact_match": True},
    "in_order": {"should_consider_ordering": True},
    "any_order": {},
    "superset": {},
}


class NoModel(DeepEvalBaseLLM):
    """The metric wants a model that it asks only when it is told which tools there are."""

    def load_model(self) -> Any:
        return self

    def generate(self, *_: Any, **__: Any) -> str:
        raise RuntimeError("no model is asked here")

    async def a_generate(self, *_: Any, **__: Any) -> str:
        raise RuntimeError("no model is asked here")

    def get_model_name(self) -> str:
        return "none"


def answer(questions: list[dict[str, Any]]) -> dict[str, Any]:
    """The verdict on each question, by id, with a score that is neither 0 nor 1; None where it has no such mode."""
    return {
        "version": version("deepeval"),
        "verdicts": {question["id"]: _verdict(question) for question in questions},
    }


def _verdict(question: dict[str, Any]) -> str | None:
    if question["mode"] not in MODES:
        return None
    settings: dict[str, Any] = {**MODES[question["mode"]]}
    if question["arguments"] != "ignore":
        settings["evaluation_params"] = [ToolCallParams.INPUT_PARAMETERS]
    settings |= question["settings"] or {}
    metric = ToolCorrectnessMetric(model=NoModel(), async_mode=False, **settings)
    case = LLMTestCase(
        input="message 1",
        actual_output=question["said"],
        tools_called=_calls(question["actual"] or []),
        expected_tools=_calls(question["expected"]),
    )
    try:
        score = float(metric.measure(case, _show_indicator=False))
    except (AttributeError, TypeError, ValueError) as error:
        return f"error ({type(error).__name__})"
    word = "pass" if metric.is_successful() else "fail"
    return word if score in (0.0, 1.0) else f"{word} ({score:.2g})"


def _calls(calls: list[dict[str, Any]]) -> list[ToolCall]:
    return [ToolCall(name=call["name"], input_parameters=call["arguments"]) for call in calls]
