"""One Python process as promptfoo starts it for an assertion or a hook: by promptfoo's own wrapper script."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from bench.runs import CHECKOUT

WRAPPER = CHECKOUT / "setup/promptfoo/node_modules/promptfoo/dist/src/python/wrapper.py"


def process(
    script: Path,
    function: str,
    arguments: Path,
    home: Path,
    accept: Callable[[Any], str] = lambda _: "",
    python: Path = Path(sys.executable),
) -> Callable[[], None]:
    """What starts the process once. `arguments` is the file with the function's arguments; `accept` says, as text, what
    is wrong with what it returned."""
    output = arguments.with_suffix(".out")
    command = [str(python), str(WRAPPER), str(script), function, str(arguments), str(output)]
    environment = environment_of(home)

    def start() -> None:
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=environment)
        problem = accept(json.loads(output.read_text(encoding="utf-8"))["data"])
        if problem:
            raise RuntimeError(f"{script.name}: {problem}")

    return start


def environment_of(home: Path) -> Mapping[str, str]:
    """The environment of such a process, with `home` as data folder."""
    kept = {name: text for name, text in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**kept, "EVALS_HOME": str(home)}
