"""Scenarios that a model proposes for an agent: what is asked for, what comes back, and which of it can be used."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evals.case_yaml import assertion, block, literal

INSTRUCTIONS = """\
You design tests for an agent that talks to developers and calls tools. You get a JSON message with the agent's \
instructions and its tools. Propose scenarios: a developer with one goal, and what must or must not happen. Mix \
ordinary requests, requests with details missing, and requests that the instructions forbid. Use only the tools that \
are listed, and only their own arguments. A fact is something that the developer knows and tells when asked. Never \
write into goal, opening, persona or facts what the agent should do or answer.
Reply with one JSON object:
{"scenarios": [{"title": "...", "why": "...", "opening": "the developer's first message", "goal": "...",
"persona": "...", "facts": [{"topic": "...", "value": "..."}],
"expectations": [{"kind": "message" or "tool_call", "must": true or false, "text": "words that the agent says",
"tool": "...", "arguments": [{"name": "...", "value": "..."}], "after_tool": "..."}]}]}
Leave a text empty where it does not apply."""

_TEXT = {"type": "string"}
_PAIRS = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {"name": _TEXT, "value": _TEXT},
        "required": ["name", "value"],
        "additionalProperties": False,
    },
}
_FACTS = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {"topic": _TEXT, "value": _TEXT},
        "required": ["topic", "value"],
        "additionalProperties": False,
    },
}
_EXPECTATION_PARTS = {
    "kind": {"type": "string", "enum": ["message", "tool_call"]},
    "must": {"type": "boolean"},
    "text": _TEXT,
    "tool": _TEXT,
    "arguments": _PAIRS,
    "after_tool": _TEXT,
}
_EXPECTATION = {
    "type": "object",
    "properties": _EXPECTATION_PARTS,
    "required": list(_EXPECTATION_PARTS),
    "additionalProperties": False,
}
_SCENARIO_PARTS = {
    "title": _TEXT,
    "why": _TEXT,
    "opening": _TEXT,
    "goal": _TEXT,
    "persona": _TEXT,
    "facts": _FACTS,
    "expectations": {"type": "array", "items": _EXPECTATION},
}
RESPONSE_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "scenarios": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": _SCENARIO_PARTS,
                "required": list(_SCENARIO_PARTS),
                "additionalProperties": False,
            },
        }
    },
    "required": ["scenarios"],
    "additionalProperties": False,
}


@dataclass(frozen=True)
class Proposal:
    """A scenario that can be used. `remarks` say what of it could not, and why it was proposed."""

    title: str
    opening: str
    goal: str
    persona: str
    facts: Mapping[str, str]
    expectations: tuple[Mapping[str, Any], ...]
    remarks: tuple[str, ...]


@dataclass(frozen=True)
class Proposals:
    """What one reply holds. `refused` says of each scenario that cannot be used why not."""

    usable: tuple[Proposal, ...]
    refused: tuple[str, ...]


class UnreadableProposals(ValueError):
    """The model's reply is not the JSON that was asked for."""


def order(instructions: str, tools: Sequence[Mapping[str, Any]], count: int) -> str:
    """The message to the model. `tools` are in Chat Completions form."""
    listed = [tool["function"] for tool in tools]
    return json.dumps(
        {"task": "scenarios", "count": count, "instructions": instructions, "tools": listed}, ensure_ascii=False
    )


def read_proposals(text: str, tools: Sequence[Mapping[str, Any]], most: int) -> Proposals:
    """The scenarios in a reply, at most `most`, each held against the tools that there are.

    Raises:
        UnreadableProposals: there is no JSON object with a list of scenarios in it.
    """
    found = re.search(r"\{.*\}", text, re.DOTALL)
    try:
        data = json.loads(found.group()) if found else None
    except ValueError as error:
        raise UnreadableProposals(f"not JSON: {error}") from None
    listed = data.get("scenarios") if isinstance(data, dict) else None
    if not isinstance(listed, list):
        raise UnreadableProposals("expected an object with a list of `scenarios`")
    arguments = {tool["function"]["name"]: tool["function"]["parameters"].get("properties") or {} for tool in tools}
    usable: list[Proposal] = []
    refused: list[str] = []
    for item in listed[:most]:
        outcome = _read_one(item if isinstance(item, dict) else {}, arguments)
        if isinstance(outcome, Proposal):
            usable.append(outcome)
        else:
            refused.append(outcome)
    return Proposals(tuple(usable), tuple(refused))


def case_block(proposal: Proposal, case_id: str, file: Path) -> str:
    """The scenario as a case for review: its expectations stand in the assertion, where no model reads them."""
    variables: dict[str, Any] = {"request": literal(proposal.opening), "goal": literal(proposal.goal)}
    if proposal.persona:
        variables["persona"] = literal(proposal.persona)
    if proposal.facts:
        variables["facts"] = dict(proposal.facts)
    case = {
        "description": f"{case_id} {proposal.title}",
        "metadata": {"id": case_id, "group": "scenario", "priority": "full", "risk": "medium"},
        "vars": variables,
        "assert": [assertion("scenario", {"expectations": [dict(one) for one in proposal.expectations]}, file)],
    }
    return block(case, proposal.remarks)


def _read_one(item: Mapping[str, Any], arguments: Mapping[str, Mapping[str, Any]]) -> Proposal | str:
    texts = {key: " ".join(_text(item, key).split()) for key in ("title", "why", "opening", "goal", "persona")}
    title = texts["title"] or "(no title)"
    missing = [key for key in ("opening", "goal") if not texts[key]]
    if missing:
        return f"{title}: it has no {missing[0]}."
    remarks = [f"Why: {texts['why']}"] if texts["why"] else []
    expectations: list[Mapping[str, Any]] = []
    for entry in _dicts(item, "expectations"):
        outcome = _expectation(entry, arguments)
        if isinstance(outcome, str):
            remarks.append(f"Left out: {outcome}")
        else:
            expectations.append(outcome)
    if not expectations:
        return f"{title}: it expects nothing that could be checked ({'; '.join(remarks) or 'no expectation'})."
    facts = {
        _text(fact, "topic").strip(): _text(fact, "value").strip()
        for fact in _dicts(item, "facts")
        if _text(fact, "topic").strip() and _text(fact, "value").strip()
    }
    return Proposal(
        title, texts["opening"], texts["goal"], texts["persona"], facts, tuple(expectations), tuple(remarks)
    )


def _expectation(entry: Mapping[str, Any], arguments: Mapping[str, Mapping[str, Any]]) -> Mapping[str, Any] | str:
    must: dict[str, Any] = {} if entry.get("must", True) is not False else {"must": False}
    after = _text(entry, "after_tool").strip()
    if after and after not in arguments:
        return f"an expectation after the tool {after}, which the agent does not have."
    later = {"after_tool": after} if after else {}
    if entry.get("kind") == "message":
        text = _text(entry, "text").strip()
        return {"message": {"contains": text}, **must, **later} if text else "a message without words."
    tool = _text(entry, "tool").strip()
    if tool not in arguments:
        return f"a call of {tool or 'no tool'}, which the agent does not have."
    given = {_text(pair, "name").strip(): _text(pair, "value") for pair in _dicts(entry, "arguments")}
    unknown = [name for name in given if name not in arguments[tool]]
    if unknown:
        return f"a call of {tool} with the argument {unknown[0]}, which it does not take."
    try:
        typed = {name: _typed(value, arguments[tool][name]) for name, value in given.items()}
    except ValueError:
        return f"a call of {tool} with a value that its argument cannot have."
    call: Any = {"tool": tool, "args": typed} if typed else tool
    return {"tool_call": call, **must, **later}


def _typed(value: str, schema: Any) -> Any:
    """The model writes every value as text; the tool's schema says what it is."""
    kind = schema.get("type") if isinstance(schema, dict) else None
    return json.loads(value) if kind in ("integer", "number", "boolean", "array", "object") else value


def _text(part: Mapping[str, Any], key: str) -> str:
    value = part.get(key)
    return value if isinstance(value, str) else ""


def _dicts(part: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    value = part.get(key)
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
