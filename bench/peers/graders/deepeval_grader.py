"""DeepEval's ToolCorrectnessMetric without a language model: `measure` on one test case at a time."""

from __future__ import annotations

from time import process_time
from typing import Any

from deepeval.metrics import ToolCorrectnessMetric
from deepeval.models import DeepEvalBaseLLM
from deepeval.test_case import LLMTestCase, ToolCall, ToolCallParams


class NoModel(DeepEvalBaseLLM):
    """The metric wants a model even where it asks none."""

    def load_model(self) -> Any:
        return None

    def generate(self, *_args: Any, **_options: Any) -> str:
        raise RuntimeError("a model was asked")

    async def a_generate(self, *_args: Any, **_options: Any) -> str:
        raise RuntimeError("a model was asked")

    def get_model_name(self) -> str:
        return "none"


def answer(question: dict[str, Any]) -> dict[str, Any]:
    expected = [_tools(calls) for calls in question["cases"]]
    answers: dict[str, Any] = {}
    for task, exactly in {"exact": True, "superset": False}.items():
        metric = ToolCorrectnessMetric(
            threshold=1.0,
            evaluation_params=[ToolCallParams.INPUT_PARAMETERS],
            model=NoModel(),
            async_mode=False,
            should_exact_match=exactly,
        )
        given = [
            LLMTestCase(
                input="", actual_output="", tools_called=_tools(one["calls"]), expected_tools=expected[one["case"]]
            )
            for one in question["episodes"]
        ]
        for case in given[:50]:
            metric.measure(case, _show_indicator=False)
        passed = []
        start = process_time()
        for case in given:
            metric.measure(case, _show_indicator=False)
            passed.append(metric.is_successful())
        answers[task] = {"seconds": process_time() - start, "passed": passed}
    return answers


def _tools(calls: list[dict[str, Any]]) -> list[ToolCall]:
    return [ToolCall(name=call["name"], input_parameters=call["arguments"]) for call in calls]
