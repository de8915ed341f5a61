"""One difference between what was expected and what was there, in the words of a reason."""

from __future__ import annotations

from typing import Any

from assertions.matching.argument_fit import Mismatch
from assertions.matching.comparators import Expect, collapse_ws, nfc
from assertions.matching.json_values import kind_of, shown
from assertions.matching.paths import Path, pointer


def missing(path: Path, expected: Any, element: bool = False) -> Mismatch:
    """A value that is not there; `element`: one of a list whose order is free, so that it has no place of its own."""
    if element:
        return Mismatch(path, lambda: f"missing {_wanted(expected)} at {pointer(path)}")
    return Mismatch(path, lambda: f"missing {pointer(path)}: expected {_wanted(expected)}")


def unexpected(path: Path, actual: Any) -> Mismatch:
    return Mismatch(path, lambda: f"unexpected {pointer(path)}: {shown(actual)}")


def extra(path: Path, actual: Any) -> Mismatch:
    """An element of a list that has no counterpart."""
    return Mismatch(path, lambda: f"extra {shown(actual)} at {pointer(path)}")


def unknown(path: Path, why: str) -> Mismatch:
    return Mismatch(path, lambda: f"the value at {pointer(path)} {why}", unknown=True)


def different(path: Path, expected: Any, actual: Any, note: str = "") -> Mismatch:
    """Two values that do not fit; the words say in which way where that is more than "not equal"."""
    return Mismatch(path, lambda: _difference(path, expected, actual, note))


def _difference(path: Path, expected: Any, actual: Any, note: str) -> str:
    if isinstance(expected, Expect):
        return f"at {pointer(path)}: expected {expected.wanted}, actual {shown(actual)}"
    if isinstance(expected, str) and isinstance(actual, str) and not note:
        note = _text_note(expected, actual)
    ascii_only = "Unicode" in note  # both would look the same
    values = f"expected {_wanted(expected, ascii_only)}, actual {shown(actual, ascii_only=ascii_only)}"
    suffix = f" ({note})" if note else ""
    kinds = _kinds(expected, actual)
    return f"{kinds} at {pointer(path)}: {values}{suffix}" if kinds else f"at {pointer(path)}: {values}{suffix}"


def _wanted(expected: Any, ascii_only: bool = False) -> str:
    return expected.wanted if isinstance(expected, Expect) else shown(expected, ascii_only=ascii_only)


def _kinds(expected: Any, actual: Any) -> str:
    wanted, found = kind_of(expected) or "no JSON value", kind_of(actual) or "no JSON value"
    if wanted != found:
        return f"{wanted} vs {found}"
    if wanted == "number" and expected == actual:
        return f"{_number_kind(expected)} vs {_number_kind(actual)}"
    return ""


def _number_kind(value: Any) -> str:
    return "integer" if isinstance(value, int) else "float"


def _text_note(expected: str, actual: str) -> str:
    if nfc(expected) == nfc(actual):
        return "differs only in Unicode normalisation"
    if expected.casefold() == actual.casefold():
        return "differs only in upper and lower case"
    if collapse_ws(expected) == collapse_ws(actual):
        return "differs only in white space"
    return ""
