"""An expected call: which tool, and with which arguments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from assertions.matching.argument_fit import NOTHING_WRONG, ArgumentMatch
from assertions.matching.globs import glob_fits, has_wildcard
from assertions.matching.json_values import shown
from assertions.verdict import ConfigError
from episodes.frozen import frozen
from episodes.record import ToolCall

if TYPE_CHECKING:
    from assertions.evidence import Evidence
    from assertions.matching.expected_arguments import ExpectedArguments


@frozen
class ToolName:
    """A tool's name, or a glob over names, and the server it must be on where that matters. Case counts."""

    text: str
    server: str = ""

    @cached_property
    def is_plain(self) -> bool:
        """A name on any server: comparing texts is all there is to do."""
        return not self.server and not has_wildcard(self.text)

    def fits(self, call: ToolCall) -> bool:
        if self.is_plain:
            return call.name == self.text
        return glob_fits(self.text, call.name) and (not self.server or call.server == self.server)

    def __str__(self) -> str:
        return f"{self.text} on {self.server}" if self.server else self.text


@frozen
class ExpectedCall:
    """One tool, with arguments unless only its name matters."""

    tool: ToolName
    arguments: ExpectedArguments | None = None

    def match(self, call: ToolCall) -> ArgumentMatch | None:
        """How the arguments fit; None for another tool."""
        if not self.tool.fits(call):
            return None
        return NOTHING_WRONG if self.arguments is None else self.arguments.match(call)

    def __str__(self) -> str:
        return str(self.tool) if self.arguments is None else f"{self.tool}({self.arguments})"


@frozen
class CallPattern:
    """Alternatives, of which a call has to fit one."""

    alternatives: tuple[ExpectedCall, ...]

    @cached_property
    def names_only(self) -> bool:
        return all(alternative.arguments is None for alternative in self.alternatives)

    @cached_property
    def _plain(self) -> tuple[str, ExpectedArguments | None] | None:
        """Name and arguments, where there is one tool, known by its plain name: other tools are soon passed over."""
        only = self.alternatives[0]
        return (only.tool.text, only.arguments) if len(self.alternatives) == 1 and only.tool.is_plain else None

    @cached_property
    def reads_files(self) -> bool:
        """A schema is named, by its file or in place, which `resolved` has to get."""
        return any(one.arguments is not None and one.arguments.options.schema is not None for one in self.alternatives)

    def match(self, call: ToolCall) -> ArgumentMatch | None:
        """The best fit among the alternatives; None when it is none of these tools."""
        if self._plain is not None:
            name, arguments = self._plain
            if call.name != name:
                return None
            return NOTHING_WRONG if arguments is None else arguments.match(call)
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

    def match_among(self, calls: Sequence[ToolCall], places: Mapping[str, Sequence[int]]) -> dict[int, ArgumentMatch]:
        """`match` for each of the calls that is one of these tools, by its index. `places` has the indexes by name."""
        if self._plain is None:
            found = ((index, self.match(call)) for index, call in enumerate(calls))
            return {index: match for index, match in found if match is not None}
        name, arguments = self._plain
        own = places.get(name, ())
        if arguments is None:
            return dict.fromkeys(own, NOTHING_WRONG)
        return {index: arguments.match(calls[index]) for index in own}

    def resolved(self, evidence: Evidence) -> CallPattern:
        """The same with schemas read from their files (see `ExpectedArguments.resolved`)."""
        if not self.reads_files:
            return self
        return CallPattern(
            tuple(
                one if one.arguments is None else ExpectedCall(one.tool, one.arguments.resolved(evidence))
                for one in self.alternatives
            )
        )

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


def read_tool(value: Any, key: str, server: Any = "") -> ToolName:
    """Raises ConfigError for an empty name."""
    if not isinstance(value, str) or not value:
        raise ConfigError(key, f"{shown(value)} is no tool name", "a name, or a glob such as delete_*")
    if not isinstance(server, str):
        raise ConfigError(f"{key}/server", f"{shown(server)} is no server name", "a text")
    return ToolName(value, server)


def _read_one(value: Any, key: str, extra_keys: Sequence[str]) -> ExpectedCall:
    if isinstance(value, str):
        return ExpectedCall(read_tool(value, key))
    if not isinstance(value, Mapping):
        raise ConfigError(key, f"{shown(value)} is no call", "a tool name, or an object with 'tool' or 'any_of'")
    _known_keys(value, ("tool", "server", "args", "match", *extra_keys), key)
    tool = read_tool(value.get("tool"), f"{key}/tool", value.get("server", ""))
    if "args" not in value and "match" not in value:
        return ExpectedCall(tool)
    from assertions.matching.expected_arguments import read_expected_arguments

    return ExpectedCall(tool, read_expected_arguments(value, value.get("match", {}), key, f"{key}/match"))


def _known_keys(value: Mapping[str, Any], known: Sequence[str], key: str) -> None:
    for name in value:
        if name not in known:
            raise ConfigError(f"{key}/{name}", "unknown key", sorted(known))


def _rank(match: ArgumentMatch) -> tuple[bool, float]:
    right, considered = match.share
    return match.could_fit, right / considered
