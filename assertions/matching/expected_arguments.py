"""Expected arguments with the options by which they are compared; loaded only where a config has any."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from assertions.evidence import Evidence
from assertions.matching.argument_fit import NOTHING_WRONG, ArgumentMatch, Mismatch
from assertions.matching.comparators import read_expected
from assertions.matching.json_values import Twins, shown
from assertions.matching.options import MatchOptions, check_expected, read_options
from assertions.matching.raw_numbers import arguments_as_written
from assertions.matching.value_match import match_arguments
from assertions.verdict import ConfigError
from episodes.frozen import frozen
from episodes.record import ToolCall


@frozen
class ExpectedArguments:
    """`schema` is the tool's own, once `resolved` has read it."""

    arguments: Mapping[str, Any]
    options: MatchOptions
    schema: Mapping[str, Any] | None = None

    @cached_property
    def twins(self) -> Twins | None:
        """None where options decide what is equal."""
        return Twins(self.arguments) if self.options.is_plain else None

    def match(self, call: ToolCall) -> ArgumentMatch:
        """How the call's arguments fit. Arguments that nobody recorded may fit: they are no evidence either way."""
        twins = self.twins
        if twins is not None and twins.whole == call.arguments:
            return NOTHING_WRONG
        actual = arguments_as_written(call, always=self.options.strict_numbers)
        if actual is None:
            return ArgumentMatch(set, (Mismatch((), lambda: "its arguments were not recorded", unknown=True),))
        return match_arguments(self.arguments, actual, self.options, self.schema, twins)

    def resolved(self, evidence: Evidence) -> ExpectedArguments:
        """The same with the tool's schema read from its file, where the options name one.

        Raises:
            ConfigError: the file can not be read, or holds no object.
        """
        if self.options.schema is None:
            return self
        from assertions.matching.documents import read_object

        schema = read_object(self.options.schema, evidence, "schema")
        return ExpectedArguments(self.arguments, self.options, schema)

    @cached_property
    def _text(self) -> str:
        text = ", ".join(f"{name}={shown(value, 80)}" for name, value in self.arguments.items())
        return text if len(text) <= 120 else f"{text[:119]}…"

    def __str__(self) -> str:
        return self._text


def read_expected_arguments(
    config: Mapping[str, Any], options_config: Any, key: str, options_key: str
) -> ExpectedArguments | None:
    """Read `args` out of `config` (at `key`) and the options out of `options_config` (at `options_key`).

    None when nothing is to be compared: no `args` and no `compare`, or `mode: name_only`.

    Raises:
        ConfigError: a wrong option or comparator, or arguments at odds with the options.
    """
    if not isinstance(options_config, Mapping):
        raise ConfigError(options_key, f"{shown(options_config)} is not allowed", "an object")
    options = read_options(options_config, options_key)
    args = config.get("args", {})
    if not isinstance(args, Mapping):
        raise ConfigError(f"{key}/args", f"{shown(args)} is not allowed", "an object")
    expected = read_expected(args, f"{key}/args")
    if not isinstance(expected, Mapping):
        raise ConfigError(f"{key}/args", f"{shown(args)} is a comparator, not an object of arguments")
    check_expected(expected, options, f"{key}/args", options_key)
    if options.mode == "name_only" or ("args" not in config and not options.compare):
        return None
    return ExpectedArguments(expected, options)
