"""JSON Pointers (RFC 6901): where in a JSON value something stands."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final


class Missing:
    """What stands where nothing stands. Not `None`, because null is a value."""

    def __repr__(self) -> str:
        return "(missing)"


MISSING: Final = Missing()


def find(value: Any, pointer: str) -> Any:
    """What `pointer` points at inside `value`, or `MISSING`. The empty pointer is the whole value.

    Raises:
        ValueError: the pointer is not empty and does not begin with a slash.
    """
    for part in parts(pointer):
        if isinstance(value, dict):
            value = value.get(part, MISSING)
        elif isinstance(value, list) and (part == "0" or (part.isdecimal() and part[0] != "0")):
            value = value[int(part)] if int(part) < len(value) else MISSING
        else:
            return MISSING
    return value


def parts(pointer: str) -> list[str]:
    """The unescaped parts of a pointer.

    Raises:
        ValueError: the pointer is not empty and does not begin with a slash.
    """
    if not pointer:
        return []
    if not pointer.startswith("/"):
        raise ValueError(f"{pointer!r} is not a JSON Pointer: it must be empty or begin with /")
    return [part.replace("~1", "/").replace("~0", "~") for part in pointer[1:].split("/")]


def join(names: Iterable[str | int]) -> str:
    """The pointer of the given parts, escaped. `join(["a/b", 0])` is `/a~1b/0`."""
    return "".join("/" + str(name).replace("~", "~0").replace("/", "~1") for name in names)
