"""Modules of the standard library and of `attrs` that `jsonschema` imports on its way and an assertion never needs.

They stay ordinary modules: each is the real one, whose code runs when somebody first looks into it
(`importlib.util.LazyLoader`).
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import LazyLoader
from types import ModuleType

LATE = ("attr.validators", "attrs.validators", "ipaddress", "tempfile", "zipfile")
"""`tempfile` brings `shutil` and all compressions with it; the ready-made checks of `attr` are a dozen classes."""


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
