"""Comparators: expectations that are no plain value.

In an expected value: `{$regex: "^Add"}`. Per path: `compare: {/title: {regex: "^Add"}}`. Several in one object must all
hold. `{$equals: …}` takes its content literally, also where that looks like a comparator.

| comparator | holds when the actual value |
|---|---|
| `equals: v` | equals `v` as JSON |
| `one_of: [v, …]` | equals one of them |
| `regex: p` | is a text in which the pattern is found (anchor it with `^` and `$`) |
| `contains: v` | is a text that holds the text `v`, or a list that holds `v` (each element of `v` if that is a list) |
| `type: t` | is of that JSON type: null, boolean, integer, number, string, array, object (or one of a list of types) |
| `length: n` or `{min, max}` | is a text, list or object of that many characters, elements or keys |
| `absent: true` / `false` | is not there / is there, whatever it is |
| `approx: {value, within}` | is a number at most `within` away |
| `casefold: t`, `collapse_ws: t`, `nfc: t` | equals the text `t` but for letter case / white space / Unicode form |
| `datetime: t`, `time: t` | is the same instant (or date) / the same time of day, however it is written |
| `json_string: v` | is a text which, read as JSON, equals `v` |
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from assertions.matching.json_values import MISSING, Missing, json_equal, kind_of, shown
from assertions.verdict import ConfigError
from episodes.frozen import frozen

Test = Callable[[Any], bool]


@frozen
class Comparator:
    """`wanted` completes the sentence "expected …" in a reason."""

    name: str
    wanted: str
    holds: Test


@frozen
class Expect:
    """What stands in an expected value in place of a plain value; all its comparators must hold."""

    comparators: tuple[Comparator, ...]

    @property
    def wanted(self) -> str:
        return " and ".join(comparator.wanted for comparator in self.comparators)

    def holds(self, actual: Any) -> bool:
        return all(comparator.holds(actual) for comparator in self.comparators)

    def turns_on_parts(self, actual: Any) -> bool:
        """What does not hold compares the value's parts, so that a part which was lost may be all that is wrong."""
        return all(comparator.holds(actual) or comparator.name in _COMPARE_PARTS for comparator in self.comparators)


_COMPARE_PARTS = frozenset({"contains", "equals", "one_of"})


def read_expected(value: Any, key: str) -> Any:
    """Turn every `{$name: argument}` inside an expected value into an `Expect`; `key` is its place in the config.

    Raises:
        ConfigError: an unknown comparator, an argument that it can not work with, or NaN.
    """
    if isinstance(value, Mapping):
        names = list(value)
        if names and all(isinstance(name, str) and name.startswith("$") for name in names):
            if names == ["$int"]:
                return _whole_number(value["$int"], f"{key}/$int")
            return Expect(tuple(read_comparator(name[1:], value[name], f"{key}/{name}") for name in names))
        return {name: read_expected(item, f"{key}/{name}") for name, item in value.items()}
    if isinstance(value, list):
        return [read_expected(item, f"{key}/{index}") for index, item in enumerate(value)]
    if kind_of(value) is None:
        raise ConfigError(key, f"{value!r} is no JSON value, so nothing can equal it")
    return value


def read_comparators(value: Any, key: str) -> Expect:
    """Read the object of a `compare` entry.

    Raises:
        ConfigError: as `read_expected`.
    """
    if not isinstance(value, Mapping) or not value:
        raise ConfigError(key, f"{shown(value)} is no comparator", f"an object with {', '.join(sorted(_READERS))}")
    return Expect(tuple(read_comparator(name, argument, f"{key}/{name}") for name, argument in value.items()))


def read_comparator(name: str, argument: Any, key: str) -> Comparator:
    reader = _READERS.get(name)
    if reader is None:
        raise ConfigError(key, f"unknown comparator {name!r}", sorted(_READERS))
    return reader(argument, key)


def _whole_number(value: Any, key: str) -> int:
    try:
        return int(value)
    except (TypeError, ValueError):
        raise ConfigError(key, f"{value!r} is no whole number", "its digits as a text") from None


def _equals(argument: Any, _key: str) -> Comparator:
    return Comparator("equals", shown(argument), lambda actual: json_equal(argument, actual))


def _one_of(argument: Any, key: str) -> Comparator:
    if not isinstance(argument, list) or not argument:
        raise ConfigError(key, f"{shown(argument)} is no list of values", "a list with at least one value")
    return Comparator(
        "one_of", f"one of {shown(argument)}", lambda actual: any(json_equal(item, actual) for item in argument)
    )


def _regex(argument: Any, key: str) -> Comparator:
    try:
        pattern = re.compile(_text(argument, key))
    except re.error as error:
        raise ConfigError(key, f"{argument!r} is no regular expression: {error}") from None
    return Comparator(
        "regex",
        f"a text that matches /{argument}/",
        lambda actual: isinstance(actual, str) and pattern.search(actual) is not None,
    )


def _contains(argument: Any, _key: str) -> Comparator:
    def holds(actual: Any) -> bool:
        if isinstance(actual, str):
            return isinstance(argument, str) and argument in actual
        if not isinstance(actual, list | tuple):
            return False
        left = list(actual)
        for item in argument if isinstance(argument, list) else [argument]:
            at = next((index for index, value in enumerate(left) if json_equal(item, value)), None)
            if at is None:
                return False
            del left[at]
        return True

    return Comparator("contains", f"something that contains {shown(argument)}", holds)


_TYPES: dict[str, Test] = {
    "null": lambda value: value is None,
    "boolean": lambda value: isinstance(value, bool),
    "integer": lambda value: kind_of(value) == "number" and value == int(value),
    "number": lambda value: kind_of(value) == "number",
    "string": lambda value: isinstance(value, str),
    "array": lambda value: kind_of(value) == "list",
    "object": lambda value: kind_of(value) == "object",
}


def _type(argument: Any, key: str) -> Comparator:
    names = argument if isinstance(argument, list) else [argument]
    for name in names:
        if not isinstance(name, str) or name not in _TYPES:
            raise ConfigError(key, f"{name!r} is no JSON type", _TYPES)
    if not names:
        raise ConfigError(key, "is empty, so nothing could be of that type", _TYPES)
    return Comparator(
        "type", f"a value of type {' or '.join(names)}", lambda actual: any(_TYPES[n](actual) for n in names)
    )


def _length(argument: Any, key: str) -> Comparator:
    bounds = argument if isinstance(argument, Mapping) else {"min": argument, "max": argument}
    for name, bound in bounds.items():
        if name not in ("min", "max"):
            raise ConfigError(f"{key}/{name}", "unknown key", "min, max")
        if isinstance(bound, bool) or not isinstance(bound, int) or bound < 0:
            raise ConfigError(key, f"{shown(bound)} is no length", "a whole number from 0, or {min, max}")
    low, high = bounds.get("min", 0), bounds.get("max")
    if not bounds or (high is not None and high < low):
        raise ConfigError(key, f"{shown(argument)} allows no length", "a whole number from 0, or {min, max}")
    words = f"{low}" if low == high else f"{low} or more" if high is None else f"{low} to {high}"

    def holds(actual: Any) -> bool:
        if kind_of(actual) not in ("string", "list", "object"):
            return False
        return low <= len(actual) and (high is None or len(actual) <= high)

    return Comparator("length", f"a length of {words}", holds)


def _absent(argument: Any, key: str) -> Comparator:
    if not isinstance(argument, bool):
        raise ConfigError(key, f"{shown(argument)} is not allowed", "true, false")
    return Comparator(
        "absent",
        "nothing there" if argument else "something there",
        lambda actual: isinstance(actual, Missing) is argument,
    )


def _approx(argument: Any, key: str) -> Comparator:
    allowed = "{value: number, within: number from 0}"
    if not isinstance(argument, Mapping) or set(argument) != {"value", "within"}:
        raise ConfigError(key, f"{shown(argument)} is not allowed", allowed)
    value, within = argument["value"], argument["within"]
    if kind_of(value) != "number" or kind_of(within) != "number" or within < 0:
        raise ConfigError(key, f"{shown(argument)} is not allowed", allowed)
    return Comparator("approx", f"{shown(value)} ± {within}", lambda actual: near(value, actual, within))


def near(expected: Any, actual: Any, within: float) -> bool:
    """Two numbers at most `within` apart. Nothing is near NaN."""
    if kind_of(expected) != "number" or kind_of(actual) != "number":
        return False
    try:
        return bool(abs(expected - actual) <= within)
    except OverflowError:  # an integer beyond the largest float, against a float
        return False


def _same_text(name: str, words: str) -> Callable[[Any, str], Comparator]:
    def read(argument: Any, key: str) -> Comparator:
        wanted = TEXT_FORMS[name](_text(argument, key))
        return Comparator(
            name,
            f"{shown(argument)} ({words})",
            lambda actual: isinstance(actual, str) and TEXT_FORMS[name](actual) == wanted,
        )

    return read


def collapse_ws(text: str) -> str:
    return " ".join(text.split())


def nfc(text: str) -> str:
    import unicodedata

    return unicodedata.normalize("NFC", text)


TEXT_FORMS: dict[str, Callable[[str], str]] = {"nfc": nfc, "collapse_ws": collapse_ws, "casefold": str.casefold}
"""Forms in which two texts may be compared; where several apply, in this order."""


def datetime_of(text: str) -> Any:
    """The instant, date or local date-time of a text (see `moments.read_datetime`); the import is late."""
    from assertions.matching.moments import read_datetime

    return read_datetime(text)


def clock_time_of(text: str) -> Any:
    from assertions.matching.moments import read_clock_time

    return read_clock_time(text)


READINGS: dict[str, Callable[[str], Any]] = {
    "datetime": datetime_of,
    "time": clock_time_of,
    "json_string": json.loads,
}
"""What a text may stand for; each raises ValueError for a text that does not."""


def read_as(name: str, value: Any) -> Any:
    """What the text `value` stands for by the reading `name`; MISSING where it stands for nothing."""
    if not isinstance(value, str):
        return MISSING
    try:
        return READINGS[name](value)
    except (ValueError, RecursionError):
        return MISSING


def _moment(name: str, words: str) -> Callable[[Any, str], Comparator]:
    def read(argument: Any, key: str) -> Comparator:
        wanted = read_as(name, argument)
        if wanted is MISSING:
            raise ConfigError(key, f"{shown(argument)} is no {words}")
        return Comparator(name, f"the {words} {shown(argument)}", lambda actual: read_as(name, actual) == wanted)

    return read


def _json_string(argument: Any, key: str) -> Comparator:
    expected = read_expected(argument, key)

    def holds(actual: Any) -> bool:
        value = read_as("json_string", actual)
        return expected.holds(value) if isinstance(expected, Expect) else json_equal(expected, value)

    return Comparator("json_string", f"a text that is the JSON of {shown(argument)}", holds)


def _text(argument: Any, key: str) -> str:
    if not isinstance(argument, str):
        raise ConfigError(key, f"{shown(argument)} is no text", "a text")
    return argument


_READERS: dict[str, Callable[[Any, str], Comparator]] = {
    "absent": _absent,
    "approx": _approx,
    "casefold": _same_text("casefold", "but for upper and lower case"),
    "collapse_ws": _same_text("collapse_ws", "but for white space"),
    "contains": _contains,
    "datetime": _moment("datetime", "date or date-time"),
    "equals": _equals,
    "json_string": _json_string,
    "length": _length,
    "nfc": _same_text("nfc", "in any Unicode form"),
    "one_of": _one_of,
    "regex": _regex,
    "time": _moment("time", "time of day"),
    "type": _type,
}
