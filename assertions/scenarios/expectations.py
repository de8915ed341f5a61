"""One expectation of a scenario, read from its config."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assertions.contracts.answer_facts import compiled
from assertions.matching.call_pattern import CallPattern, ToolName, read_call_pattern, read_tool
from assertions.matching.json_values import shown
from assertions.verdict import ConfigError
from episodes.frozen import frozen

NAME = "scenario"


@frozen
class MessagePattern:
    """Words that a message of the agent holds: a text (case and white space make no difference) or a pattern."""

    contains: str = ""
    regex: str = ""

    def found_in(self, text: str) -> bool:
        if self.regex:
            return compiled(self.regex, "message/regex", exact=False).search(text) is not None
        return settled(self.contains) in settled(text)

    def __str__(self) -> str:
        return f"message that matches {self.regex!r}" if self.regex else f"message with {self.contains!r}"


@frozen
class Expectation:
    """A message or a tool call that must come (or must not), after which tool, and for which variables."""

    wanted: MessagePattern | CallPattern
    must: bool = True
    after_tool: ToolName | None = None
    if_variable: Mapping[str, Any] | None = None

    def __str__(self) -> str:
        what = str(self.wanted) if isinstance(self.wanted, MessagePattern) else f"call of {self.wanted}"
        after = f" after {self.after_tool}" if self.after_tool else ""
        return f"{'a' if self.must else 'no'} {what}{after}"


def read_config(config: Mapping[str, Any]) -> tuple[Expectation, ...]:
    """Read `expectations`.

    Raises:
        ConfigError: with the place, what is wrong and what is allowed.
    """
    items = config.get("expectations")
    if not isinstance(items, list) or not items:
        raise ConfigError("/expectations", f"{shown(items)} expects nothing", "a list with at least one expectation")
    return tuple(_read(item, f"/expectations/{index}") for index, item in enumerate(items))


def settled(text: str) -> str:
    return " ".join(text.casefold().split())


def _read(item: Any, key: str) -> Expectation:
    if not isinstance(item, Mapping) or ("message" in item) == ("tool_call" in item):
        raise ConfigError(key, f"{shown(item)} is not allowed", "an object with either 'message' or 'tool_call'")
    must = item.get("must", True)
    if not isinstance(must, bool):
        raise ConfigError(f"{key}/must", f"{shown(must)} is not allowed", "true, false")
    variables = item.get("if_variable")
    if variables is not None and (not isinstance(variables, Mapping) or not variables):
        raise ConfigError(f"{key}/if_variable", f"{shown(variables)} is not allowed", "an object of names and values")
    wanted: MessagePattern | CallPattern
    if "message" in item:
        wanted = _read_message(item["message"], f"{key}/message")
    else:
        wanted = read_call_pattern(item["tool_call"], f"{key}/tool_call")
    after = item.get("after_tool")
    return Expectation(wanted, must, None if after is None else read_tool(after, f"{key}/after_tool"), variables)


def _read_message(value: Any, key: str) -> MessagePattern:
    parts = {"contains": value} if isinstance(value, str) else value
    if not isinstance(parts, Mapping) or len(parts) != 1 or not set(parts) <= {"contains", "regex"}:
        raise ConfigError(key, f"{shown(value)} is not allowed", "a text, {contains: text} or {regex: pattern}")
    ((kind, text),) = parts.items()
    if not isinstance(text, str) or not text.strip():
        raise ConfigError(f"{key}/{kind}", f"{shown(text)} is not allowed", "a text that is not blank")
    if kind == "regex":
        compiled(text, f"{key}/regex".removeprefix("/"), exact=False)
        return MessagePattern(regex=text)
    return MessagePattern(contains=text)
