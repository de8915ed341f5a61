"""Holds for every test: no connection leaves this machine, nobody's `.env` is read, and Node has promptfoo compiled."""

from __future__ import annotations

import gc
import os

import pytest

from endpoints.settings import CHECKOUT
from models.offline import refuse_outside_connections

refuse_outside_connections()
os.environ["EVALS_ENV_FILE"] = "off"
# As `npm test` has it (setup/checkout.mjs), for a pytest that is started by itself.
os.environ.setdefault(
    "NODE_COMPILE_CACHE", str(CHECKOUT / "setup" / "promptfoo" / "node_modules" / ".cache" / "compiled")
)

# Nothing of the four thousand tests becomes garbage while they are collected, nor while they run.
gc.disable()

LONG = (
    "tests/hooks/",
    "tests/suites/",
    "tests/chaos/",
    "tests/secrecy/",
    "tests/evals/",
    "tests/providers/",
    "tests/assertions/test_against_promptfoo.py",
    "tests/assertions/test_in_the_viewer.py",
)
"""Where the tests take longest. They begin first, so that no process is left alone with one of them at the end."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    places = {place: number for number, place in enumerate(LONG)}
    items.sort(key=lambda item: min((places[place] for place in LONG if item.nodeid.startswith(place)), default=99))


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()
