"""One spelling for one JSON value, so that equal values have equal digests whatever wrote them."""

from __future__ import annotations

import hashlib
import json
from typing import Any


def canonical_json(value: Any) -> str:
    """`value` with sorted keys, no spaces, and whole floats as integers (JavaScript writes 1.0 as 1).

    Raises:
        ValueError: `value` holds NaN or an infinity.
        TypeError: `value` is not JSON data.
    """
    return json.dumps(_settled(value), sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def digest(value: Any) -> str:
    """SHA-256 of the canonical JSON, as 64 hexadecimal digits."""
    return digest_text(canonical_json(value))


def digest_text(text: str) -> str:
    """SHA-256 of a text's UTF-8 bytes (unpaired surrogates kept), as 64 hexadecimal digits."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _settled(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    if isinstance(value, dict):
        return {key: _settled(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_settled(item) for item in value]
    return value
