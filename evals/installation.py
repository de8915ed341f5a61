"""Where the set-up has put Node and promptfoo, and the environment that they are started with."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path

from endpoints.settings import CHECKOUT, promptfoo_home
from evals.command_line import CommandError

PROMPTFOO = CHECKOUT / "setup" / "promptfoo" / "node_modules" / "promptfoo"
LOOPBACK = CHECKOUT / "setup" / "loopback.mjs"
QUICK_IMPORTS = CHECKOUT / "setup" / "quick_imports.mjs"
_STAMP = CHECKOUT / ".venv" / ".setup-stamp"
_MEND = "run `npm run evals -- doctor`, which sets it up"


def promptfoo_command(*arguments: str) -> list[str]:
    """The command line of promptfoo, with the Node that the set-up chose.

    It starts quickly, and every server that it opens listens on this machine only.

    Raises:
        CommandError: it is not installed.
    """
    entry = PROMPTFOO / "dist" / "src" / "entrypoint.js"
    if not entry.is_file():
        raise CommandError(f"promptfoo is not installed: {_MEND}.")
    first = [f"--import={module.as_uri()}" for module in (QUICK_IMPORTS, LOOPBACK)]
    return [str(node()), "--disable-warning=ExperimentalWarning", *first, str(entry), *arguments]


def node() -> Path:
    """The Node that runs promptfoo.

    Raises:
        CommandError: the set-up has not chosen one, or it is gone.
    """
    try:
        chosen = Path(json.loads(_STAMP.read_text(encoding="utf-8"))["node"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise CommandError(f"This checkout is not set up: {_MEND}.") from error
    if not chosen.is_file():
        raise CommandError(f"{chosen}, which this checkout was set up with, is gone: {_MEND}.")
    return chosen


def environment(more: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment of promptfoo: this Python, one database, no calls home. What is set already stays, but for the
    wish to write no bytecode: each assertion is a new process and would compile every module that it imports anew.
    """
    defaults = {
        "PROMPTFOO_PYTHON": sys.executable,
        "PROMPTFOO_DISABLE_TELEMETRY": "1",
        "PROMPTFOO_DISABLE_UPDATE": "1",
    }
    inherited = {name: text for name, text in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**defaults, **inherited, **(more or {}), "PROMPTFOO_CONFIG_DIR": str(promptfoo_home())}


def installed_version() -> str:
    """promptfoo's version; empty when it is not installed."""
    try:
        package = json.loads((PROMPTFOO / "package.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return ""
    return str(package.get("version", ""))
