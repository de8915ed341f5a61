"""An agent that breaks down with secrets in its exceptions, after a library and a thread of it have let some slip."""

from __future__ import annotations

import json
import logging
import os
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from providers.agent_protocol import Agent, AgentSetup


@asynccontextmanager
async def build_agent(setup: AgentSetup) -> AsyncIterator[Agent]:
    """The factory. What it says stands in the JSON file that the variable SAYS names."""
    says = json.loads(Path(os.environ["SAYS"]).read_text(encoding="utf-8"))
    logging.getLogger("a.library").warning("it sent %s", says["warning"])
    thread = threading.Thread(target=_fail, args=(says["thread"],))
    thread.start()
    thread.join()
    try:
        raise ValueError(says["cause"])
    except ValueError as cause:
        raise RuntimeError(says["crash"]) from cause
    yield _never(setup)


def _fail(text: str) -> None:
    raise ConnectionError(text)


def _never(setup: AgentSetup) -> Agent:
    raise AssertionError(setup)
