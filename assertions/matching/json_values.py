"""JSON values as JSON sees them, not as Python does: 1 equals 1.0, true is no number, a missing key is not null."""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import NoneType
from typing import Any, Literal

from episodes.frozen import frozen

Kind = Literal["null", "boolean", "number", "string", "list", "object"]


class Missing:
    """The value of a key that is not there. There is one, `MISSING`."""

    def __repr__(self) -> str:
        return "MISSING"


MISSING = Missing()

SAFE_INTEGERS = 2**53
"""Whole numbers below this survive JavaScript, which holds every number as a float."""


@frozen
class Unknown:
    """A value that the record can not vouch for; `why` says so in words. It supports no verdict."""

    why: str


def why_unknown(value: Any) -> str:
    """Why `value` is no evidence: it was cut when it was recorded, or lost digits. Empty if it is evidence."""
    kind = type(value)
    if kind is dict or (kind not in _KINDS and isinstance(value, Mapping)):
        return "was cut when it was recorded" if value.get("truncated") is True else ""
    return value.why if isinstance(value, Unknown) else ""


def why_unknown_within(value: Any) -> str:
    """As `why_unknown`, of the value or of anything inside it."""
    if why := why_unknown(value):
        return why
    parts = value.values() if isinstance(value, Mapping) else value if isinstance(value, list | tuple) else ()
    inner = next(filter(None, map(why_unknown_within, parts)), "")
    return inner if not inner or inner.startswith(_PART) else f"{_PART}{inner}"


_PART = "has a part that "

_KINDS: dict[type, Kind] = {
    NoneType: "null",
    bool: "boolean",
    int: "number",
    str: "string",
    list: "list",
    dict: "object",
}
"""The types that JSON is read into; others are looked at more closely."""


def kind_of(value: Any) -> Kind | None:
    """The JSON type; None for what is no JSON value (NaN is none either)."""
    kind = _KINDS.get(type(value))
    if kind is not None:
        return kind
    if isinstance(value, float):
        return "number" if value - value == 0 else None  # neither NaN nor infinite
    if isinstance(value, str):
        return "string"
    if isinstance(value, int):
        return "number"
    if isinstance(value, Mapping):
        return "object"
    return "list" if isinstance(value, list | tuple) else None


def json_equal(left: Any, right: Any) -> bool:
    """Equality of JSON values: key order is free, list order is not. What is no JSON value equals nothing."""
    kind = kind_of(left)
    if kind is None or kind != kind_of(right):
        return False
    if kind == "object":
        return left.keys() == right.keys() and all(json_equal(item, right[key]) for key, item in left.items())
    if kind == "list":
        return len(left) == len(right) and all(map(json_equal, left, right))
    return bool(left == right)


def shown(value: Any, limit: int = 120, ascii_only: bool = False) -> str:
    """`value` for a reason: JSON, cut after `limit` characters, with `…` where it was cut.

    An expectation that is no plain value is written in words, `<one of ["dev", "test"]>`.
    """
    text = _written(value, ascii_only)
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def _written(value: Any, ascii_only: bool) -> str:
    if isinstance(value, Mapping):
        inner = (f"{_written(key, ascii_only)}: {_written(item, ascii_only)}" for key, item in value.items())
        return f"{{{', '.join(inner)}}}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(_written(item, ascii_only) for item in value)}]"
    if value is None or isinstance(value, str | bool | int | float):
        return json.dumps(value, ensure_ascii=ascii_only)
    wanted = getattr(value, "wanted", None)
    return f"<{wanted}>" if isinstance(wanted, str) else repr(value)


def counted(number: int, noun: str) -> str:
    """`1 call`, `2 calls`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


NO_TWIN = object()
"""Stands for the twin of what has none: a comparator, or anything else that is more than a plain JSON value."""


class Twins:
    """An expected value and every value inside it, each with a copy that Python compares as JSON does.

    Python's own `==` goes through nested values faster than any code of ours, but for Python `True` equals 1. In a
    *twin*, booleans and numbers are replaced by objects that equal just what they equal as JSON. A twin that equals an
    actual value proves that the two fit; one that does not proves nothing, and the values have to be walked through.

    `whole` is the twin of the expected value, or `NO_TWIN`. `by_identity` has the twins of all values inside it that
    have one, by their `id`; the expected value must therefore not be changed.
    """

    __slots__ = ("_expected", "by_identity", "whole")

    def __init__(self, expected: Any) -> None:
        self._expected = expected  # keeps its parts alive, and so their identities taken
        self.by_identity: dict[int, Any] = {}
        self.whole = self._add(expected)

    def _add(self, value: Any) -> Any:
        twin = self._twin(value)
        if twin is not NO_TWIN:
            self.by_identity[id(value)] = twin
        return twin

    def _twin(self, value: Any) -> Any:
        kind = type(value)
        if kind is str or value is None:
            return value
        if kind is bool:
            return _Boolean(value)
        if kind is int or kind is float:
            # A larger number may have lost digits on its way, and then the raw text decides.
            return _Number(value) if -SAFE_INTEGERS < value < SAFE_INTEGERS else NO_TWIN
        if kind is dict:
            inner = {key: self._add(item) for key, item in value.items()}
            # An actual value with this key may have been cut when it was recorded: that is for the walk to find out.
            whole = "truncated" not in inner and not _lacks_one(inner.values())
            return inner if whole else NO_TWIN
        if kind is list:
            items = [self._add(item) for item in value]
            return NO_TWIN if _lacks_one(items) else items
        return NO_TWIN


class _Boolean:
    """Equals `value`, and no number."""

    __slots__ = ("value",)

    def __init__(self, value: bool) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return other is self.value


class _Number:
    """Equals the numbers that equal `value`, and no boolean."""

    __slots__ = ("value",)

    def __init__(self, value: float) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        kind = type(other)
        return (kind is int or kind is float) and other == self.value


def _lacks_one(twins: Any) -> bool:
    return any(twin is NO_TWIN for twin in twins)
