"""What a judge must reply, task by task: the JSON Schema it is asked for, and the reading of what came."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, Literal

from episodes.frozen import frozen

Task = Literal["rubric", "groundedness", "goal", "semantic"]

_FENCED = re.compile(r"\s*```[a-z]*\s*\n(.*?)\n?```\s*", re.DOTALL | re.IGNORECASE)


class BadReply(ValueError):
    """The judge's reply can not be used. The text tells the judge, and a person, what is wrong with it."""


@frozen
class Finding:
    """One criterion or claim, as the judge sees it. `evidence` is a quotation, or empty."""

    text: str
    holds: bool
    evidence: str


@frozen
class Verdicts:
    """Reply to `rubric` (findings are criteria) and `groundedness` (findings are claims)."""

    findings: tuple[Finding, ...]
    reason: str


@frozen
class Grade:
    """Reply to `goal` (1 reached, 0 not reached, -1 no goal was named) and `semantic` (0 to 4)."""

    value: int
    reason: str


def reply_schema(task: Task) -> dict[str, Any]:
    """The JSON Schema of the reply, in the strict form that structured output wants."""
    if task == "rubric":
        return _object(criteria=_list(criterion={"type": "string"}, met={"type": "boolean"}, evidence=_TEXT))
    if task == "groundedness":
        return _object(claims=_list(claim={"type": "string"}, supported={"type": "boolean"}, evidence=_TEXT))
    if task == "goal":
        return _object(satisfied={"type": "integer", "enum": [1, 0, -1]})
    return _object(score={"type": "integer", "enum": [0, 1, 2, 3, 4]})


def read_reply(task: Task, text: str) -> Verdicts | Grade:
    """Read a reply; a code block around the JSON is no fault.

    Raises:
        BadReply: it is not the JSON that was asked for.
    """
    fenced = _FENCED.fullmatch(text)
    try:
        data = json.loads(fenced.group(1) if fenced else text)
    except ValueError as error:
        raise BadReply(f"it is not JSON ({error})") from None
    except RecursionError:
        raise BadReply("it nests without end") from None
    if not isinstance(data, dict):
        raise BadReply("it is not a JSON object")
    return _READERS[task](data)


def _rubric(data: Mapping[str, Any]) -> Verdicts:
    return Verdicts(_findings(data, "criteria", "criterion", "met"), _text(data, "reason", ""))


def _groundedness(data: Mapping[str, Any]) -> Verdicts:
    return Verdicts(_findings(data, "claims", "claim", "supported"), _text(data, "reason", ""))


def _goal(data: Mapping[str, Any]) -> Grade:
    return Grade(_one_of(data, "satisfied", (1, 0, -1)), _text(data, "reason", ""))


def _semantic(data: Mapping[str, Any]) -> Grade:
    return Grade(_one_of(data, "score", (0, 1, 2, 3, 4)), _text(data, "reason", ""))


_READERS: dict[Task, Callable[[Mapping[str, Any]], Verdicts | Grade]] = {
    "rubric": _rubric,
    "groundedness": _groundedness,
    "goal": _goal,
    "semantic": _semantic,
}


def _findings(data: Mapping[str, Any], key: str, text_key: str, flag_key: str) -> tuple[Finding, ...]:
    items = data.get(key)
    if not isinstance(items, list):
        raise BadReply(f"{key} is missing or no list")
    found = []
    for index, item in enumerate(items):
        if not isinstance(item, dict):
            raise BadReply(f"{key}[{index}] is no object")
        if not isinstance(item.get(flag_key), bool):
            raise BadReply(f"{key}[{index}].{flag_key} is neither true nor false")
        where = f"{key}[{index}]."
        found.append(Finding(_text(item, text_key, where), item[flag_key], _text(item, "evidence", where)))
    return tuple(found)


def _text(data: Mapping[str, Any], key: str, where: str) -> str:
    value = data.get(key)
    if not isinstance(value, str):
        raise BadReply(f"{where}{key} is missing or no text")
    return value


def _one_of(data: Mapping[str, Any], key: str, allowed: tuple[int, ...]) -> int:
    value = data.get(key)
    if isinstance(value, bool) or not isinstance(value, int) or value not in allowed:
        raise BadReply(f"{key} is none of {', '.join(map(str, allowed))}")
    return value


_TEXT = {"type": "string"}


def _object(**properties: Any) -> dict[str, Any]:
    properties["reason"] = _TEXT
    return {"type": "object", "additionalProperties": False, "required": list(properties), "properties": properties}


def _list(**properties: Any) -> dict[str, Any]:
    item = {"type": "object", "additionalProperties": False, "required": list(properties), "properties": properties}
    return {"type": "array", "items": item}
