"""An expected call: which tool, and with which arguments."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from assertions.evidence import Evidence
from assertions.matching.comparators import read_expected
from assertions.matching.json_values import shown
from assertions.matching.options import PLAIN, MatchOptions, check_expected, read_options
from assertions.matching.paths import glob_pattern
from assertions.matching.raw_numbers import arguments_as_written
from assertions.matching.value_match import NOTHING_TO_COMPARE, ArgumentMatch, match_arguments
from assertions.verdict import ConfigError
from episodes.frozen import frozen
from episodes.record import ToolCall


@frozen
class ToolName:
    """A tool's name, or a glob over names, and the server it must be on where that matters. Case counts."""

    text: str
    glob: re.Pattern[str] | None = None
    server: str = ""

    def fits(self, call: ToolCall) -> bool:
        if self.glob is None:
            if call.name != self.text:
                return False
        elif self.glob.fullmatch(call.name) is None:
            return False
        return not self.server or call.server == self.server

    def __str__(self) -> str:
        return f"{self.text} on {self.server}" if self.server else self.text


@frozen
class ExpectedCall:
    """One tool, with arguments if `arguments` is not None."""

    tool: ToolName
    arguments: Mapping[str, Any] | None = None
    options: MatchOptions = PLAIN
    schema: Mapping[str, Any] | None = None

    @property
    def names_only(self) -> bool:
        return self.arguments is None or self.options.mode == "name_only"

    def match(self, call: ToolCall) -> ArgumentMatch | None:
        """How the arguments fit; None for another tool, and for unreadable arguments where arguments are wanted."""
        if not self.tool.fits(call):
            return None
        if self.arguments is None or self.options.mode == "name_only":
            return NOTHING_TO_COMPARE
        actual = arguments_as_written(call, always=self.options.strict_numbers)
        if actual is None:
            return None
        return match_arguments(self.arguments, actual, self.options, self.schema)

    def __str__(self) -> str:
        return str(self.tool) if self.arguments is None else f"{self.tool}({_listed(self.arguments)})"


@frozen
class CallPattern:
    """Alternatives, of which a call has to fit one."""

    alternatives: tuple[ExpectedCall, ...]

    def match(self, call: ToolCall) -> ArgumentMatch | None:
        """The best fit among the alternatives; None when it is none of these tools."""
        best: ArgumentMatch | None = None
        for alternative in self.alternatives:
            found = alternative.match(call)
            if found is not None and found.fits:
                return found
            if found is not None and (best is None or _rank(found) > _rank(best)):
                best = found
        return best

    def names(self, call: ToolCall) -> bool:
        """It is one of these tools, whatever its arguments."""
        return any(alternative.tool.fits(call) for alternative in self.alternatives)

    def resolved(self, evidence: Evidence) -> CallPattern:
        """The same with schemas read from their files (see `read_document`)."""
        if all(alternative.options.schema is None for alternative in self.alternatives):
            return self
        return CallPattern(tuple(_resolved(alternative, evidence) for alternative in self.alternatives))

    def __str__(self) -> str:
        return " or ".join(str(alternative) for alternative in self.alternatives)


def read_call_pattern(value: Any, key: str, extra_keys: Sequence[str] = ()) -> CallPattern:
    """Read `name`, `{tool, server, args, match}` or `{any_of: [...]}`; `extra_keys` are the caller's own.

    Raises:
        ConfigError: none of these, an unknown key, or an empty name or list.
    """
    if isinstance(value, Mapping) and "any_of" in value:
        _known_keys(value, ("any_of", *extra_keys), key)
        listed = value["any_of"]
        if not isinstance(listed, list) or not listed:
            raise ConfigError(f"{key}/any_of", f"{shown(listed)} is not allowed", "a list with at least one call")
        return CallPattern(tuple(_read_one(item, f"{key}/any_of/{index}", ()) for index, item in enumerate(listed)))
    return CallPattern((_read_one(value, key, extra_keys),))


def read_arguments(args: Any, options: MatchOptions, key: str, options_key: str) -> Mapping[str, Any]:
    """Read expected arguments; `key` is the place that holds `args`, `options_key` the one that holds the options.

    Raises:
        ConfigError: no object, or at odds with the options.
    """
    if not isinstance(args, Mapping):
        raise ConfigError(f"{key}/args", f"{shown(args)} is not allowed", "an object")
    expected = read_expected(args, f"{key}/args")
    if not isinstance(expected, Mapping):
        raise ConfigError(f"{key}/args", f"{shown(args)} is a comparator, not an object of arguments")
    check_expected(expected, options, f"{key}/args", options_key)
    return expected


def read_tool(value: Any, key: str, server: Any = "") -> ToolName:
    """Raises ConfigError for an empty name."""
    if not isinstance(value, str) or not value:
        raise ConfigError(key, f"{shown(value)} is no tool name", "a name, or a glob such as delete_*")
    if not isinstance(server, str):
        raise ConfigError(f"{key}/server", f"{shown(server)} is no server name", "a text")
    return ToolName(value, glob_pattern(value) if "*" in value or "?" in value else None, server)


def _read_one(value: Any, key: str, extra_keys: Sequence[str]) -> ExpectedCall:
    if isinstance(value, str):
        return ExpectedCall(read_tool(value, key))
    if not isinstance(value, Mapping):
        raise ConfigError(key, f"{shown(value)} is no call", "a tool name, or an object with 'tool' or 'any_of'")
    _known_keys(value, ("tool", "server", "args", "match", *extra_keys), key)
    tool = read_tool(value.get("tool"), f"{key}/tool", value.get("server", ""))
    options = read_options(_object(value.get("match", {}), f"{key}/match"), f"{key}/match")
    if "args" not in value:
        if options.compare:
            return ExpectedCall(tool, {}, options)
        return ExpectedCall(tool)
    return ExpectedCall(tool, read_arguments(value["args"], options, key, f"{key}/match"), options)


def _object(value: Any, key: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise ConfigError(key, f"{shown(value)} is not allowed", "an object")
    return value


def _known_keys(value: Mapping[str, Any], known: Sequence[str], key: str) -> None:
    for name in value:
        if name not in known:
            raise ConfigError(f"{key}/{name}", "unknown key", sorted(known))


def _rank(match: ArgumentMatch) -> tuple[bool, float]:
    right, considered = match.share
    return match.could_fit, right / considered


def _resolved(call: ExpectedCall, evidence: Evidence) -> ExpectedCall:
    from dataclasses import replace

    from assertions.matching.documents import read_document

    return replace(call, schema=read_document(call.options.schema, evidence, "schema"))


def _listed(arguments: Mapping[str, Any]) -> str:
    text = ", ".join(f"{name}={shown(value, 80)}" for name, value in arguments.items())
    return text if len(text) <= 120 else f"{text[:119]}…"
