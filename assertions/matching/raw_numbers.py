"""Numbers as the model wrote them: through JavaScript, integers beyond 2**53 lose digits and 1.0 loses its point."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from assertions.matching.json_values import SAFE_INTEGERS, Unknown, kind_of
from episodes.record import ToolCall

_DIGITS = 16
"""So many digits has the smallest number beyond 2**53."""

_LONG = f"[0-9]{{{_DIGITS}}}"
_FOUR = "[0-9]" * 4
"""Written out, because a repetition is searched for without skipping to a digit first."""


def arguments_as_written(call: ToolCall, always: bool = False) -> Mapping[str, Any] | None:
    """The call's arguments with each number as the raw text has it; None when they could not be parsed.

    The raw text is only read when a number is beyond 2**53, or `always` (when 1 and 1.0 are to be told apart). Where
    raw text and arguments disagree by more than rounding, the arguments stand: they are what the tool received. A
    large number without raw text becomes `Unknown`, since its last digits may be lost.
    """
    arguments = call.arguments
    if arguments is None or not (always or _may_have_large_number(call, arguments)):
        return arguments
    try:
        raw: Any = json.loads(call.arguments_raw)
    except (ValueError, RecursionError):
        raw = None
    merged: Mapping[str, Any] = _merged(arguments, raw)
    return merged


def _may_have_large_number(call: ToolCall, arguments: Mapping[str, Any]) -> bool:
    raw = call.arguments_raw
    if raw:
        # So many digits in a row are four in a row among every fourth character, which are searched faster.
        return len(raw) > _DIGITS and re.search(_FOUR, raw[3::4]) is not None and re.search(_LONG, raw) is not None
    return _has_large_number(arguments)


def _has_large_number(value: Any) -> bool:
    if isinstance(value, Mapping):
        return any(map(_has_large_number, value.values()))
    if isinstance(value, list):
        return any(map(_has_large_number, value))
    return isinstance(value, int | float) and not -SAFE_INTEGERS < value < SAFE_INTEGERS


def _merged(value: Any, raw: Any) -> Any:
    if isinstance(value, Mapping):
        other = raw if isinstance(raw, Mapping) else {}
        return {key: _merged(item, other.get(key)) for key, item in value.items()}
    if isinstance(value, list):
        others = raw if isinstance(raw, list) and len(raw) == len(value) else [None] * len(value)
        return [_merged(item, other) for item, other in zip(value, others, strict=True)]
    if kind_of(value) != "number":
        return value
    if kind_of(raw) == "number" and (value == raw or _rounded(value) == _rounded(raw)):
        return raw
    return (
        value
        if -SAFE_INTEGERS < value < SAFE_INTEGERS
        else Unknown("may have lost its last digits: its raw text is missing")
    )


def _rounded(number: float) -> float | None:
    """The number as JavaScript would hold it."""
    try:
        return float(number)
    except OverflowError:
        return None
