"""`file://` paths of a case file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

FILE = "file://"


def absolute(value: Any, folder: Path) -> Any:
    """A copy of `value` in which every `file://` text is absolute, seen from `folder`."""
    if isinstance(value, str) and value.startswith(FILE):
        return f"{FILE}{(folder / value.removeprefix(FILE)).resolve()}"
    if isinstance(value, Mapping):
        return {key: absolute(item, folder) for key, item in value.items()}
    if isinstance(value, list):
        return [absolute(item, folder) for item in value]
    return value
