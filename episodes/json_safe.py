"""Values that survive the way Python -> Node -> Python unchanged.

promptfoo moves every provider result and every assertion context through JavaScript, which has no NaN in JSON, rounds
integers beyond 2**53 and stores strings as UTF-16. `encode` makes a value safe for that journey and says what it had to
change; `decode` turns tagged integers back into Python integers.
"""

from __future__ import annotations

import enum
import math
import re
from collections.abc import Mapping
from typing import Any

MAX_SAFE_INTEGER = 2**53 - 1
"""Largest integer that a JavaScript number holds exactly."""

INTEGER_TAG = "$int"
"""Key of the object that stands for a larger integer: ``{"$int": "9007199254740993"}``."""

_HALF_A_PAIR = re.compile("[\ud800-\udfff]")


def encode(value: Any, warnings: list[str], path: str = "") -> Any:
    """Return `value` as plain JSON data; each change that loses or alters something is appended to `warnings`.

    Never raises: an object of an unknown type is written as its `repr`, with a warning that names its JSON Pointer.
    """
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, enum.Enum):
        return encode(value.value, warnings, path)
    if isinstance(value, str):
        return _encode_text(value, warnings, path)
    if isinstance(value, int):
        return value if abs(value) <= MAX_SAFE_INTEGER else {INTEGER_TAG: str(value)}
    if isinstance(value, float):
        if math.isfinite(value):
            return value
        warnings.append(f"{path or '/'}: {value} is not a JSON number and was written as null")
        return None
    if isinstance(value, Mapping):
        return {
            _encode_text(str(key), warnings, path): encode(item, warnings, f"{path}/{key}")
            for key, item in value.items()
        }
    if isinstance(value, list | tuple | set | frozenset):
        return [encode(item, warnings, f"{path}/{index}") for index, item in enumerate(value)]
    return _encode_object(value, warnings, path)


def _encode_object(value: Any, warnings: list[str], path: str) -> Any:
    # Imported here because reading a record, which is what an assertion's process does, needs neither.
    import dataclasses
    import datetime as dt

    if isinstance(value, dt.datetime | dt.date | dt.time):
        return value.isoformat()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
        return encode(fields, warnings, path)
    warnings.append(f"{path or '/'}: a {type(value).__name__} is not JSON and was written as text")
    return _encode_text(repr(value), warnings, path)


def decode(value: Any) -> Any:
    """Return `value` with every tagged integer turned back into an `int`."""
    # Bulk grading spends much of its time here, so texts and numbers cost no call of their own.
    if isinstance(value, dict):
        if len(value) == 1 and isinstance(value.get(INTEGER_TAG), str):
            try:
                return int(value[INTEGER_TAG])
            except ValueError:
                return value
        return {key: decode(item) if type(item) in _CONTAINERS else item for key, item in value.items()}
    if isinstance(value, list):
        return [decode(item) if type(item) in _CONTAINERS else item for item in value]
    return value


_CONTAINERS = frozenset({dict, list})


def may_hold_tags(text: str) -> bool:
    """Whether what is read from this JSON text may hold a tagged integer; if not, `decode` changes nothing."""
    return INTEGER_TAG in text or "\\u0024" in text


def _encode_text(text: str, warnings: list[str], path: str) -> str:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        warnings.append(f"{path or '/'}: an unpaired surrogate was replaced by U+FFFD")
        return in_utf8(text)
    return text


def in_utf8(text: str) -> str:
    """The text with U+FFFD for every unpaired surrogate, which JSON can hold and UTF-8 can not."""
    return _HALF_A_PAIR.sub("\ufffd", text)
