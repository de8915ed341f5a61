"""`file://` paths of a case file."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

FILE = "file://"

_FUNCTION = re.compile(r"(?<=\.py|\.js|\.ts|mjs|cjs):\w+$")
"""What may follow the path of a program: the function in it."""


def absolute(value: Any, folder: Path) -> Any:
    """A copy of `value` in which every `file://` text is absolute, seen from `folder`."""
    if isinstance(value, str) and value.startswith(FILE):
        return f"{FILE}{(folder / value.removeprefix(FILE)).resolve()}"
    if isinstance(value, Mapping):
        return {key: absolute(item, folder) for key, item in value.items()}
    if isinstance(value, list):
        return [absolute(item, folder) for item in value]
    return value


def missing(value: Any, folder: Path) -> Path | None:
    """The file that `value` names and that does not exist, seen from `folder`; None for everything else."""
    if not isinstance(value, str) or not value.startswith(FILE) or "{{" in value or "*" in value:
        return None
    file = (folder / _FUNCTION.sub("", value.removeprefix(FILE))).resolve()
    return None if file.exists() else file
