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


@frozen
class Unknown:
    """A value that the record can not vouch for; `why` says so in words. It supports no verdict."""

    why: str


def why_unknown(value: Any) -> str:
    """Why `value` is no evidence: it was cut when it was recorded, or lost digits. Empty if it is evidence."""
    if isinstance(value, Unknown):
        return value.why
    if isinstance(value, Mapping) and value.get("truncated") is True:
        return "was cut when it was recorded"
    return ""


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
