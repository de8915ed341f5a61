"""Read a config once, however many episodes are judged with it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

_Given = TypeVar("_Given")
_Made = TypeVar("_Made")


def remembered(make: Callable[[_Given], _Made], most: int = 4096) -> Callable[[_Given], _Made]:
    """`make`, which is not asked again for the very same object.

    The object is known by its identity, so it must not be changed after it was given once: a config never is. What
    `make` raises is not remembered. Up to `most` objects are kept alive.
    """
    known: dict[int, tuple[Any, _Made]] = {}

    def look_up(given: _Given) -> _Made:
        found = known.get(id(given))
        if found is not None and found[0] is given:
            return found[1]
        made = make(given)
        if len(known) >= most:
            known.clear()
        known[id(given)] = (given, made)
        return made

    return look_up
