"""A finished conversation as a golden: its user's turns, and what they led to, as a case."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from episodes.record import Episode, ToolCall, ToolStatus
from evals.case_yaml import assertion, literal
from evals.command_line import CommandError
from evals.results import Row

_TEMPLATE = "{{"

LONGEST_OUTPUT = 20_000
"""Characters of a tool's output that are kept. A longer one is left out: half of a JSON text misleads a model."""


def golden_case(row: Row, episode: Episode, *, case_id: str, replay: str, file: Path) -> dict[str, Any]:
    """The case. What the agent said and called becomes the expectation of each turn, for a person to loosen.

    Raises:
        CommandError: the conversation has no turn that the agent answered.
    """
    turns = golden_turns(episode)
    if not turns:
        raise CommandError(f"{row.case_id}: the conversation has no turn that the agent answered.")
    about = {key: value for key, value in row.about.items() if isinstance(value, str) and key not in ("id", "suite")}
    variables: dict[str, Any] = {"request": literal(turns[0]["user"])}
    parameters = row.variables.get("session_parameters")
    if isinstance(parameters, Mapping):
        variables["session_parameters"] = dict(parameters)
    variables["golden"] = {"replay": replay, "turns": turns}
    return {
        "description": f"{case_id} golden of {row.description or row.case_id}",
        "metadata": {"id": case_id, "group": "golden", "priority": "full", **_kept(about)},
        "vars": variables,
        "assert": [assertion("golden_turn", {"turns": _expected(turns)}, file)],
    }


def golden_turns(episode: Episode) -> list[dict[str, Any]]:
    """The turns of a conversation as `vars.golden` holds them; a last turn without an answer is left out."""
    turns: list[dict[str, Any]] = []
    for message in episode.messages:
        text = message.get("content")
        if message.get("role") == "user" and isinstance(text, str):
            turns.append({"user": text, "agent": "", "tool_calls": [], "_turn": message.get("turn")})
        elif message.get("role") == "assistant" and isinstance(text, str) and text.strip() and turns:
            turns[-1]["agent"] = f"{turns[-1]['agent']}\n\n{text}".strip()
    for turn in turns:
        number = turn.pop("_turn")
        turn["tool_calls"] = [_call(call) for call in episode.tool_calls or () if call.turn == number and _counts(call)]
    while turns and not turns[-1]["agent"]:
        turns.pop()
    return [{key: value for key, value in turn.items() if value} for turn in turns]


def _counts(call: ToolCall) -> bool:
    """A call that failed or was refused is no part of an ideal conversation."""
    return call.status is ToolStatus.OK


def _call(call: ToolCall) -> dict[str, Any]:
    kept: dict[str, Any] = {"name": call.name, "arguments": _without_references(dict(call.arguments or {}))}
    if call.result is not None and len(str(call.result)) <= LONGEST_OUTPUT:
        kept["output"] = _without_references(call.result)
    return kept


def _without_references(value: Any) -> Any:
    """As text when there is a `$ref` inside, which promptfoo would try to resolve in the case file."""
    return json.dumps(value, ensure_ascii=False) if _has_reference(value) else value


def _has_reference(value: Any) -> bool:
    if isinstance(value, dict):
        return "$ref" in value or any(map(_has_reference, value.values()))
    return isinstance(value, list) and any(map(_has_reference, value))


def _expected(turns: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What `golden_turn` expects of each turn. Braces of a template cannot stand in an assertion's config."""
    expected: list[dict[str, Any]] = []
    for number, turn in enumerate(turns, 1):
        tools = [_expected_call(call) for call in turn.get("tool_calls", ())]
        message = turn.get("agent", "")
        said = {"message": message} if message and _TEMPLATE not in message else {}
        expected.append({"turn": number, **said, "tools": tools})
    return expected


def _expected_call(call: Mapping[str, Any]) -> Any:
    arguments = call["arguments"]
    if not arguments or isinstance(arguments, str) or _TEMPLATE in json.dumps(arguments):
        return call["name"]
    return {"tool": call["name"], "args": {name: _taken_literally(value) for name, value in arguments.items()}}


def _taken_literally(value: Any) -> Any:
    """An object whose keys begin with $ would be read as a comparator."""
    return {"$equals": value} if _has_comparator(value) else value


def _has_comparator(value: Any) -> bool:
    if isinstance(value, dict):
        if value and all(str(key).startswith("$") for key in value):
            return True
        return any(map(_has_comparator, value.values()))
    return isinstance(value, list) and any(map(_has_comparator, value))


def _kept(about: Mapping[str, str]) -> dict[str, str]:
    return {"risk": about["risk"]} if about.get("risk") else {}
