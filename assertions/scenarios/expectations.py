"""One expectation of a scenario, read from its config."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assertions.contracts.answer_facts import compiled
from assertions.matching.call_pattern import CallPattern, ToolName, read_call_pattern, read_tool
from assertions.matching.json_values import json_equal, shown
from assertions.verdict import ConfigError
from episodes.frozen import frozen

NAME = "scenario"
KINDS = ("message", "tool_call", "variable")
_VALUE_KEYS = ("equals", "one_of", "regex")


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
class VariablePattern:
    """A value that a session variable has: one of `values`, a text that matches `regex`, or, without either, any."""

    name: str
    values: tuple[Any, ...] = ()
    regex: str = ""

    def fits(self, value: Any) -> bool:
        if self.regex:
            found = isinstance(value, str) and compiled(self.regex, "variable/regex", exact=True).search(value)
            return bool(found)
        return not self.values or any(json_equal(value, wanted) for wanted in self.values)

    def __str__(self) -> str:
        if self.regex:
            return f"variable {self.name} that matches {self.regex!r}"
        if not self.values:
            return f"variable {self.name}"
        return f"variable {self.name} with {' or '.join(shown(value, 60) for value in self.values)}"


@frozen
class Expectation:
    """A message, a tool call or a variable's value that must come (or must not): when, and for which variables."""

    wanted: MessagePattern | CallPattern | VariablePattern
    must: bool = True
    after_tool: ToolName | None = None
    after_step: int = 0
    if_variable: Mapping[str, Any] | None = None

    def __str__(self) -> str:
        what = f"call of {self.wanted}" if isinstance(self.wanted, CallPattern) else str(self.wanted)
        after = f" after {self.after_tool}" if self.after_tool else ""
        after += f" after step {self.after_step}" if self.after_step else ""
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
    kinds = [kind for kind in KINDS if isinstance(item, Mapping) and kind in item]
    if len(kinds) != 1:
        raise ConfigError(key, f"{shown(item)} is not allowed", f"an object with one of {', '.join(KINDS)}")
    must = item.get("must", True)
    if not isinstance(must, bool):
        raise ConfigError(f"{key}/must", f"{shown(must)} is not allowed", "true, false")
    variables = item.get("if_variable")
    if variables is not None and (not isinstance(variables, Mapping) or not variables):
        raise ConfigError(f"{key}/if_variable", f"{shown(variables)} is not allowed", "an object of names and values")
    wanted: MessagePattern | CallPattern | VariablePattern
    if "message" in item:
        wanted = _read_message(item["message"], f"{key}/message")
    elif "variable" in item:
        wanted = _read_variable(item["variable"], f"{key}/variable")
    else:
        wanted = read_call_pattern(item["tool_call"], f"{key}/tool_call")
    after, step = item.get("after_tool"), item.get("after_step", 0)
    if step and not isinstance(wanted, VariablePattern):
        raise ConfigError(f"{key}/after_step", "is only for a variable", "beside 'variable'")
    if isinstance(step, bool) or not isinstance(step, int) or step < 0:
        raise ConfigError(f"{key}/after_step", f"{shown(step)} is not allowed", "the number of a step, from 1")
    if step and after is not None:
        raise ConfigError(f"{key}/after_step", "can not be told together with after_tool", "one of the two")
    if isinstance(wanted, VariablePattern) and after is not None and not must:
        raise ConfigError(f"{key}/after_tool", "says nothing about a value that must not be", "without 'must: false'")
    tool = None if after is None else read_tool(after, f"{key}/after_tool")
    return Expectation(wanted, must, tool, step, variables)


def _read_variable(value: Any, key: str) -> VariablePattern:
    parts = {"name": value} if isinstance(value, str) else value
    if not isinstance(parts, Mapping) or not set(parts) <= {"name", *_VALUE_KEYS}:
        raise ConfigError(key, f"{shown(value)} is not allowed", "a name, or {name, equals | one_of | regex}")
    name = parts.get("name")
    if not isinstance(name, str) or not name.strip():
        raise ConfigError(f"{key}/name", f"{shown(name)} is not allowed", "the name of a session variable")
    given = [one for one in _VALUE_KEYS if one in parts]
    if len(given) > 1:
        raise ConfigError(key, f"{' and '.join(given)} can not stand together", f"one of {', '.join(_VALUE_KEYS)}")
    if "one_of" in parts and (not isinstance(parts["one_of"], list) or not parts["one_of"]):
        raise ConfigError(f"{key}/one_of", f"{shown(parts['one_of'])} is not allowed", "a list with at least one value")
    if "regex" in parts:
        regex = parts["regex"]
        if not isinstance(regex, str) or not regex:
            raise ConfigError(f"{key}/regex", f"{shown(regex)} is not allowed", "a pattern")
        compiled(regex, f"{key}/regex".removeprefix("/"), exact=True)
        return VariablePattern(name, regex=regex)
    values = tuple(parts["one_of"]) if "one_of" in parts else (parts["equals"],) if "equals" in parts else ()
    return VariablePattern(name, values)


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
