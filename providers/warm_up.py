"""Importing the model and MCP libraries takes seconds on a busy machine, and promptfoo waits 30 s for a worker.

The imports start in a thread as soon as a provider file is loaded, so that the worker reports in at once; the first
call waits for them.
"""

from __future__ import annotations

import gc
import importlib
import sys
import threading
from pathlib import Path

HEAVY = (
    "openai.resources.chat.completions",
    "openai.resources.responses",
    "anyio._backends._asyncio",
    "jsonschema",
    "models.service",
    "models.cassettes.model",
    "providers.agent.mcp_server",
    "providers.agent.recorded_server",
    "providers.agent.factory",
    "providers.envelope",
    "providers.agent.single_answer",
    "providers.conversation.episode",
)
"""Modules that are first used inside an episode, where their import would count as the agent's time."""

COLLECT_AFTER = 20_000
"""Objects between two looks for garbage; an episode allocates about as many. Python's own default is 700."""

_thread: threading.Thread | None = None
_missing: ImportError | None = None


class WrongPython(RuntimeError):
    """The Python that promptfoo started lacks a library. The text says which, and what to do."""


def start_warm_up() -> None:
    """Begin to import; does nothing when it has begun."""
    global _thread
    if _thread is None:
        _thread = threading.Thread(target=_try_to_import, name="warm-up", daemon=True)
        _thread.start()


def ready() -> None:
    """Wait until everything is imported.

    Raises:
        WrongPython: something is not installed.
    """
    start_warm_up()
    assert _thread is not None
    _thread.join()
    if _missing is not None:
        wanted = Path(__file__).resolve().parents[1] / ".venv" / "bin" / "python"
        raise WrongPython(
            f"the Python that promptfoo started ({sys.executable}) can not run an episode: {_missing}. "
            f"Start with `npm run eval`, or set PROMPTFOO_PYTHON={wanted}"
        )


def import_all() -> None:
    """Import everything and make what every client shares.

    Raises:
        ImportError: something is not installed.
    """
    for name in HEAVY:
        importlib.import_module(name)
    from models.transport import tls_context

    tls_context()


def _try_to_import() -> None:
    global _missing
    try:
        import_all()
    except ImportError as missing:
        _missing = missing
        return
    # What is loaded stays, so nobody has to look through it again and again for garbage; and an episode makes few
    # objects that only the collector can free, so it need not look after every 700 of them either.
    gc.freeze()
    gc.set_threshold(COLLECT_AFTER)
