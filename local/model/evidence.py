"""What the tools have said so far, read from the conversation's tool messages."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from .protocol import Message

LIST, GET, SCHEMA = "list_spokes", "get_spoke", "get_spoke_schema"
SEARCH, READ = "search_docs", "read_doc"
VALIDATE, CREATE, COMPLETE = "validate_spoke", "create_spoke_pull_request", "complete_pull_request"


@dataclass(frozen=True)
class Made:
    """A tool call that was made: `result` is its decoded JSON, or the text when it is none; `at` is its message."""

    name: str
    arguments: Mapping[str, Any]
    result: Any
    failed: bool
    text: str
    at: int


@dataclass
class Evidence:
    """Everything that the conversation's tool results prove."""

    made: list[Made] = field(default_factory=list)

    def of(self, name: str) -> Iterator[Made]:
        """The calls of one tool, oldest first."""
        return (call for call in self.made if call.name == name)

    def failures(self, name: str) -> list[Made]:
        return [call for call in self.of(name) if call.failed]

    def spoke(self, name: str) -> Mapping[str, Any] | None:
        """The configuration of a spoke that was read."""
        for call in self.of(GET):
            found = call.result.get("configuration") if isinstance(call.result, Mapping) else None
            if not call.failed and isinstance(found, Mapping) and found.get("name", call.arguments.get("name")) == name:
                return found
        return None

    @property
    def spokes(self) -> dict[str, Mapping[str, Any]]:
        """All configurations that were read, by name."""
        names = [str(call.arguments.get("name")) for call in self.of(GET)]
        return {name: found for name in names if (found := self.spoke(name)) is not None}

    def missing(self, name: str) -> Made | None:
        """The answer that says that there is no such spoke."""
        return next((c for c in self.of(GET) if c.failed and c.arguments.get("name") == name), None)

    @property
    def listing(self) -> list[Mapping[str, Any]] | None:
        """The unfiltered list of spokes; None when it was not read."""
        for call in self.of(LIST):
            if not call.failed and not call.arguments:
                return listed(call.result)
        return None

    def schema(self, *, described: bool) -> Mapping[str, Any] | None:
        """The schema that was read, with or without descriptions."""
        for call in self.of(SCHEMA):
            found = call.result.get("schema", call.result) if isinstance(call.result, Mapping) else None
            if (
                not call.failed
                and isinstance(found, Mapping)
                and (call.arguments.get("descriptions") is True) == described
            ):
                return found
        return None

    def validation(self, configuration: Mapping[str, Any]) -> Made | None:
        """The latest validation of exactly this configuration."""
        return next(
            (c for c in reversed(list(self.of(VALIDATE))) if c.arguments.get("configuration") == configuration), None
        )

    def page(self, page_id: str) -> tuple[str, str] | None:
        """Title and text of a page that was read."""
        for call in self.of(READ):
            if not call.failed and call.arguments.get("id") == page_id and isinstance(call.result, Mapping):
                return str(call.result.get("title") or page_id), str(call.result.get("text") or "")
        return None

    def hits(self, query: str) -> list[Mapping[str, Any]] | None:
        """What a search found; None when it was not made, an empty list also when it failed."""
        for call in self.of(SEARCH):
            if call.arguments.get("query") == query:
                found = call.result.get("hits") if isinstance(call.result, Mapping) else None
                return [hit for hit in found if isinstance(hit, Mapping)] if isinstance(found, list) else []
        return None


def listed(result: Any) -> list[Mapping[str, Any]]:
    """The spokes of a list, in whatever of the usual shapes it comes."""
    if isinstance(result, Mapping):
        result = next((value for value in result.values() if isinstance(value, list)), [])
    items = result if isinstance(result, list) else []
    return [item if isinstance(item, Mapping) else {"name": str(item)} for item in items]


def gather(messages: Sequence[Message]) -> Evidence:
    """Pair every tool message with the call that it answers."""
    evidence = Evidence()
    pending: dict[str, tuple[str, str]] = {}
    for index, message in enumerate(messages):
        for call in message.tool_calls:
            pending[call.id] = (call.name, call.arguments)
        if message.role == "tool" and message.tool_call_id in pending:
            name, raw = pending[message.tool_call_id]
            arguments, result = decoded(raw), decoded(message.content)
            evidence.made.append(
                Made(
                    name,
                    arguments if isinstance(arguments, Mapping) else {},
                    result,
                    _failed(result, message.content),
                    message.content,
                    index,
                )
            )
    return evidence


@lru_cache(maxsize=4_000)
def _decode(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        pass
    # A list may come as one document after the other, one for each block of content.
    decoder, position, found = json.JSONDecoder(), 0, []
    while position < len(text):
        try:
            value, position = decoder.raw_decode(text, position)
        except ValueError:
            return text
        found.append(value)
        position += len(text[position:]) - len(text[position:].lstrip())
    return found


def decoded(text: str) -> Any:
    """JSON as data (do not change it: results are shared), any other text as it is."""
    value = _decode(text)
    if isinstance(value, Mapping) and set(value) == {"result"}:
        return value["result"]
    return value


def _failed(result: Any, text: str) -> bool:
    if isinstance(result, Mapping):
        return bool(result.get("isError")) or (
            set(result) <= {"error", "message", "code", "status", "details"} and "error" in result
        )
    return isinstance(result, str) or not text.strip()
