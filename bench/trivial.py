"""The cheapest Python assertion there can be: what promptfoo's process costs by itself."""

from __future__ import annotations

from typing import Any


def get_assert(_output: str, _context: dict[str, Any]) -> dict[str, Any]:
    return {"pass": True, "score": 1.0, "reason": "nothing was looked at"}
