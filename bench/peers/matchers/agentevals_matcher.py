"""agentevals: `create_trajectory_match_evaluator` on messages of the Chat Completions kind."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib.metadata import version
from itertools import groupby
from typing import Any

from agentevals.trajectory.match import create_trajectory_match_evaluator

MODES = {"exact": "strict", "any_order": "unordered", "subset": "subset", "superset": "superset"}
ARGUMENTS = {"ignore": "ignore", "exact": "exact", "subset": "superset"}
"""Our `subset` (at least what is expected) is its `superset`: it names the relation from the actual call's side."""


def answer(questions: list[dict[str, Any]]) -> dict[str, Any]:
    """The verdict on each question, by id; None where it has no such mode."""
    return {
        "version": version("agentevals"),
        "verdicts": {question["id"]: _verdict(question) for question in questions},
    }


def _verdict(question: dict[str, Any]) -> str | None:
    settings = question["settings"]
    if settings is None:
        if question["mode"] not in MODES:
            return None
        settings = {
            "trajectory_match_mode": MODES[question["mode"]],
            "tool_args_match_mode": ARGUMENTS[question["arguments"]],
        }
    try:
        evaluate = create_trajectory_match_evaluator(**settings)
        result = evaluate(
            outputs=list(_messages(question["actual"] or [])), reference_outputs=list(_messages(question["expected"]))
        )
    except (TypeError, ValueError, AttributeError, KeyError) as error:
        return f"error ({type(error).__name__})"
    return "pass" if result["score"] else "fail"


def _messages(calls: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """One message of the user for each turn, and one of the assistant for each batch of calls."""
    for turn, of_turn in groupby(calls, key=lambda call: call["turn"]):
        yield {"role": "user", "content": f"message {turn}"}
        for _, batch in groupby(of_turn, key=lambda call: call["batch"]):
            made = [{"function": {"name": call["name"], "arguments": _text(call["arguments"])}} for call in batch]
            yield {"role": "assistant", "content": "", "tool_calls": made}


def _text(arguments: dict[str, Any] | None) -> str:
    """As such messages write them; arguments that were not captured are an empty text."""
    return "" if arguments is None else json.dumps(arguments)
