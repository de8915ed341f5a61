"""Modules that `jsonschema` imports on its way and an assertion never needs: the ready-made checks of `attrs`.

They stay ordinary modules: each is the real one, whose code runs when somebody imports it again or looks into it
(`importlib.util.LazyLoader`). Before Python 3.12 that is not safe when two threads do so at once, so nothing belongs
here that anybody else in an assertion's process uses.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import LazyLoader
from types import ModuleType

LATE = ("attr.validators", "attrs.validators")


class _Finder:
    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        spec = PathFinder.find_spec(name, path, target) if name in LATE else None
        if spec is not None and spec.loader is not None:
            spec.loader = LazyLoader(spec.loader)
        return spec


@contextmanager
def loading_late() -> Iterator[None]:
    """While the block runs, what is in `LATE` and not loaded yet is imported without running it."""
    finder = _Finder()
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
