"""Where a JSON document comes from: a tool call's arguments or result, the answer's text, or a file."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any, Literal

from assertions.evidence import Evidence
from assertions.json_pointer import MISSING, find
from assertions.matching.json_values import why_unknown
from assertions.verdict import ConfigError, NotEvaluated
from episodes.frozen import frozen
from episodes.record import ToolCall, ToolStatus

Occurrence = Literal["first", "last", "all"]
_FENCE = re.compile(r"```(?:json|jsonc)?[ \t]*\n(.*?)```", re.DOTALL | re.IGNORECASE)


@frozen
class Document:
    """A document that was found. `problem` says why it is none (not there, not JSON); `value` is then meaningless.

    `cut`: the problem is the record's, which does not hold the whole of it.
    """

    where: str
    value: Any = None
    problem: str = ""
    call: ToolCall | None = None
    cut: bool = False


def submitted(evidence: Evidence, source: Mapping[str, Any], with_unanswered: bool = False) -> list[Document]:
    """The documents that the agent handed in. `source` is `{tool, path, occurrence, when}` or `{answer: true}`.

    A text at `path` is read as JSON. An empty list means that the tool was not called (in the wanted way).
    `with_unanswered`: as if the calls that were sent and never answered had succeeded.

    Raises:
        NotEvaluated: the tool calls are unknown, or a call that would count was never answered.
    """
    if source.get("answer"):
        return [_in_answer(evidence.output)]
    calls = [call for call in evidence.calls() if fnmatchcase(call.name, source["tool"])]
    when = source.get("when", "succeeded")
    counted = [call for call in calls if _counts(call, when) or (with_unanswered and call.status.executed is None)]
    if not counted:
        unknown = [call for call in calls if call.status.executed is None]
        if unknown:
            raise NotEvaluated(f"{place(unknown[-1])} was sent and never answered, so it may or may not count")
    occurrence: Occurrence = source.get("occurrence", "all")
    if occurrence != "all":
        counted = counted[:1] if occurrence == "first" else counted[-1:]
    return [_argument(call, source.get("path", "")) for call in counted]


def from_result(evidence: Evidence, tool: str, path: str) -> Document | None:
    """What the last successful call of `tool` answered at `path`; None when there was no such call.

    Raises:
        NotEvaluated: the tool calls are unknown.
    """
    calls = [call for call in evidence.calls() if fnmatchcase(call.name, tool) and call.status is ToolStatus.OK]
    if not calls:
        return None
    return _document(f"the result of {place(calls[-1])}", calls[-1].result, path, calls[-1])


def parse(text: str) -> Any:
    """JSON, strictly: no NaN, no key twice in one object.

    Raises:
        ValueError: it is not that.
    """
    return json.loads(text, object_pairs_hook=_no_duplicates, parse_constant=_no_constant)


def _argument(call: ToolCall, path: str) -> Document:
    where = place(call)
    if call.arguments is None:
        return Document(where, problem="its arguments could not be read as a JSON object", call=call)
    return _document(where, call.arguments, path, call)


def _document(where: str, value: Any, path: str, call: ToolCall) -> Document:
    if path:
        value = read_text(value)
    try:
        found = find(value, path)
    except ValueError as error:
        raise ConfigError("/path", str(error)) from None
    if _is_cut(value if found is MISSING else found):
        return Document(where, problem="a part of it was cut when it was recorded", call=call, cut=True)
    if found is MISSING:
        return Document(where, problem=f"there is nothing at {path}", call=call)
    if isinstance(found, str):
        try:
            return Document(where, parse(found), call=call)
        except ValueError as error:
            return Document(where, problem=f"the text at {path or '/'} is not JSON: {error}", call=call)
    return Document(where, found, call=call)


def _is_cut(value: Any) -> bool:
    """Whether the record does not hold the whole of the value."""
    if isinstance(value, Mapping):
        return bool(why_unknown(value)) or any(map(_is_cut, value.values()))
    return isinstance(value, list) and any(map(_is_cut, value))


def read_text(value: Any) -> Any:
    """What a text says as JSON; everything else, and a text that is no JSON, as it is."""
    if not isinstance(value, str):
        return value
    try:
        return parse(value)
    except ValueError:
        return value


def _in_answer(output: str) -> Document:
    blocks: Sequence[str] = _FENCE.findall(output) or [output]
    try:
        return Document("the answer", parse(blocks[-1]))
    except ValueError as error:
        return Document("the answer", problem=f"it is not JSON: {error}")


def _counts(call: ToolCall, when: str) -> bool:
    if when == "attempted":
        return True
    return call.status is ToolStatus.OK or (when == "executed" and call.status is ToolStatus.TOOL_ERROR)


def place(call: ToolCall) -> str:
    """How reasons name a call."""
    return f"{call.name} in turn {call.turn}"


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise ValueError(f"the key {name!r} stands twice in one object")
        found[name] = value
    return found


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")
