"""Importing the model and MCP libraries takes seconds on a busy machine, and promptfoo waits 30 s for a worker.

The imports start in a thread as soon as a provider file is loaded, so that the worker reports in at once; the first
call waits for them. A library that can not be imported shows up in that call, where it becomes an error with a record.
"""

from __future__ import annotations

import importlib
import threading

HEAVY = (
    "openai.resources.chat.completions",
    "openai.resources.responses",
    "anyio._backends._asyncio",
    "providers.agent.factory",
)
"""Modules that are first used inside an episode, where their import would count as the agent's time."""

_thread: threading.Thread | None = None


def start_warm_up() -> None:
    """Begin to import; does nothing when it has begun."""
    global _thread
    if _thread is None:
        _thread = threading.Thread(target=_import_all, name="warm-up", daemon=True)
        _thread.start()


def ready() -> None:
    """Wait until everything is imported."""
    start_warm_up()
    assert _thread is not None
    _thread.join()


def _import_all() -> None:
    for name in HEAVY:
        try:
            importlib.import_module(name)
        except ImportError:
            # The episode imports it again and reports what is missing.
            return
    from models.transport import tls_context

    tls_context()
