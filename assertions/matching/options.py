"""How strictly arguments are compared: the options of an assertion's config, read once."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, Literal, cast

from assertions.matching.comparators import READINGS, TEXT_FORMS, Expect, read_as, read_comparators
from assertions.matching.json_values import MISSING, kind_of, shown
from assertions.matching.paths import Path, PathPattern, parse_path, pointer
from assertions.verdict import ConfigError
from episodes.frozen import frozen

Mode = Literal["exact", "subset", "name_only"]
MODES: tuple[Mode, ...] = ("exact", "subset", "name_only")

Patterns = tuple[PathPattern, ...]


@frozen
class MatchOptions:
    """See `docs/assertions.md`, "Comparing arguments". Every field is a tuple of paths unless it says otherwise."""

    mode: Mode = "subset"
    ignore: Patterns = ()
    optional: Patterns = ()
    unordered: Patterns = ()
    int_as_text: Patterns = ()
    text_forms: tuple[tuple[str, Patterns], ...] = ()
    """`nfc`, `collapse_ws` and `casefold`, in the order in which they are applied."""
    readings: tuple[tuple[str, Patterns], ...] = ()
    """`datetime`, `time` and `json_string`."""
    approx: tuple[tuple[PathPattern, float], ...] = ()
    compare: tuple[tuple[PathPattern, Expect], ...] = ()
    defaults: tuple[tuple[PathPattern, Any], ...] = ()
    schema: Mapping[str, Any] | str | None = None
    """The tool's own schema, or the file that holds it."""
    schema_defaults: bool = False
    coerce: bool = False
    strict_numbers: bool = False

    @cached_property
    def is_plain(self) -> bool:
        """No path has a rule of its own, so values can be compared without looking at where they stand."""
        return self == MatchOptions(mode=self.mode)


PLAIN = MatchOptions()

_READS = {"datetime": "date or date-time", "time": "time of day", "json_string": "JSON text"}

_EVERYWHERE = (parse_path("", ""), parse_path("/**", ""))


def read_options(config: Mapping[str, Any], key: str) -> MatchOptions:
    """Read the comparing options out of `config`; other keys are left alone. `key` is its place.

    Raises:
        ConfigError: a wrong path, comparator, mode or value.
    """
    mode = config.get("mode", "subset")
    if mode not in MODES:
        raise ConfigError(f"{key}/mode", f"{shown(mode)} is not allowed", MODES)
    forms = [(name, read_patterns(config, name, key)) for name in TEXT_FORMS]
    if "normalize" in config:
        if config["normalize"] != "NFC":
            raise ConfigError(f"{key}/normalize", f"{shown(config['normalize'])} is not allowed", "NFC")
        forms = [(name, _EVERYWHERE if name == "nfc" else patterns) for name, patterns in forms]
    readings = [(name, read_patterns(config, name, key)) for name in READINGS]
    schema = _schema(config, key)
    defaults = config.get("defaults", {})
    return MatchOptions(
        mode=cast(Mode, mode),
        ignore=read_patterns(config, "ignore", key),
        optional=read_patterns(config, "optional", key),
        unordered=read_patterns(config, "unordered", key),
        int_as_text=read_patterns(config, "int_as_text", key),
        text_forms=tuple(form for form in forms if form[1]),
        readings=tuple(reading for reading in readings if reading[1]),
        approx=tuple(
            (pattern, _tolerance(within, f"{key}/approx/{pattern.text}"))
            for pattern, within in _by_path(config, "approx", key)
        ),
        compare=tuple(
            (pattern, read_comparators(comparators, f"{key}/compare/{pattern.text}"))
            for pattern, comparators in _by_path(config, "compare", key)
        ),
        defaults=() if defaults == "schema" else _by_path(config, "defaults", key),
        schema=schema,
        schema_defaults=_needs_schema(defaults == "schema", schema, f"{key}/defaults"),
        coerce=_needs_schema(_choice(config, "coerce", ("none", "schema"), key) == "schema", schema, f"{key}/coerce"),
        strict_numbers=_choice(config, "numeric", ("json", "strict_type"), key) == "strict_type",
    )


def check_expected(expected: Any, options: MatchOptions, args_key: str, options_key: str) -> None:
    """What the options demand of the expected value, found before a run instead of as a mismatch in every run.

    Raises:
        ConfigError: an expected text is not what its path says (`"2026-02-31"` under `datetime`), or a path of a rule
            that needs an expected value addresses none.
    """
    for name, patterns in options.readings:
        for pattern in patterns:
            for path, value in _addressed(pattern, expected, options, f"{options_key}/{name}"):
                if isinstance(value, str) and read_as(name, value) is MISSING:
                    raise ConfigError(args_key + pointer(path), f"{shown(value)} is no {_READS[name]} ({name} is set)")
    for name, patterns in (*options.text_forms, ("unordered", options.unordered), ("int_as_text", options.int_as_text)):
        for pattern in patterns:
            _addressed(pattern, expected, options, f"{options_key}/{name}")
    for pattern, _ in options.approx:
        for path, value in _addressed(pattern, expected, options, f"{options_key}/approx"):
            if kind_of(value) != "number":
                raise ConfigError(args_key + pointer(path), f"{shown(value)} is no number (approx is set)")


def _addressed(pattern: PathPattern, expected: Any, options: MatchOptions, key: str) -> list[tuple[Path, Any]]:
    found = list(pattern.find(expected))
    if not found and pattern.is_literal and not dict(options.readings).get("json_string"):
        raise ConfigError(key, f"{pattern.text!r} addresses nothing in the expected value")
    return [(path, value) for path, value in found if not isinstance(value, Expect)]


def read_patterns(config: Mapping[str, Any], name: str, key: str) -> Patterns:
    listed = config.get(name, ())
    if not isinstance(listed, list | tuple):
        raise ConfigError(f"{key}/{name}", f"{shown(listed)} is not allowed", "a list of paths")
    return tuple(parse_path(text, f"{key}/{name}/{index}") for index, text in enumerate(listed))


def _by_path(config: Mapping[str, Any], name: str, key: str) -> tuple[tuple[PathPattern, Any], ...]:
    entries = config.get(name, {})
    if not isinstance(entries, Mapping):
        raise ConfigError(f"{key}/{name}", f"{shown(entries)} is not allowed", "an object with paths as keys")
    return tuple((parse_path(text, f"{key}/{name}"), value) for text, value in entries.items())


def _tolerance(value: Any, key: str) -> float:
    if kind_of(value) != "number" or value < 0:
        raise ConfigError(key, f"{shown(value)} is no tolerance", "a number from 0")
    return float(value)


def _choice(config: Mapping[str, Any], name: str, allowed: tuple[str, ...], key: str) -> str:
    value = config.get(name, allowed[0])
    if value not in allowed:
        raise ConfigError(f"{key}/{name}", f"{shown(value)} is not allowed", allowed)
    return str(value)


def _schema(config: Mapping[str, Any], key: str) -> Mapping[str, Any] | str | None:
    schema = config.get("schema")
    if schema is not None and not isinstance(schema, str | Mapping):
        raise ConfigError(f"{key}/schema", f"{shown(schema)} is not allowed", "a JSON Schema, or a file that holds one")
    return schema


def _needs_schema(asked: bool, schema: Mapping[str, Any] | str | None, key: str) -> bool:
    if asked and schema is None:
        raise ConfigError(key, "'schema' is asked for, and there is no `schema` in this config")
    return asked
