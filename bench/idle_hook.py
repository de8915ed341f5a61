"""The cheapest hook there can be: what promptfoo's process costs by itself."""

from __future__ import annotations

from typing import Any


def afterEach(_context: dict[str, Any], _hook: dict[str, Any]) -> None:
    return None
