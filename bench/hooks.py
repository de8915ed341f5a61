"""The process of `afterEach` without its work, against the one that promptfoo starts for a hook that does nothing."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.figure import Figure, interleaved
from bench.process import environment_of, process
from bench.runs import CHECKOUT
from episodes.ledger import Ledger
from episodes.record import Episode, StopReason, ToolCall, ToolStatus

ROUNDS = 25
OTHER_ROWS = 200
"""Rows of the same run that have written into its ledger."""


def measure() -> list[Figure]:
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        arguments = _arguments(home)
        bare, ours = interleaved(
            [
                process(CHECKOUT / "bench/idle_hook.py", "afterEach", arguments, home),
                _started_by_the_gate(arguments, home),
            ],
            ROUNDS,
        )
    return [Figure("process of afterEach, without the work / bare one", ours / bare, "x", 1.25)]


def _arguments(home: Path) -> Path:
    """The file in which promptfoo hands a hook its two arguments, and a ledger that many rows have written into."""
    ledger = Ledger.open(home, "eval-bench", "local")
    for row in range(OTHER_ROWS):
        ledger.intent(f"test-{row}-prompt-0-repeat-0", "call", "portal", "create_spoke_pull_request", "evals/other")
    call = ToolCall(
        "c", 1, 1, 1, "portal", "search_docs", {"query": "x"}, '{"query": "x"}', ToolStatus.OK, {"hits": []}
    )
    step = f"test-{OTHER_ROWS}-prompt-0-repeat-0"
    episode = Episode("case", step, StopReason.GOAL_REACHED, eval_id="eval-bench", tool_calls=(call,))
    metadata = episode.to_metadata()
    context: dict[str, Any] = {
        "test": {"vars": {}},
        "result": {"metadata": metadata, "namedScores": {}, "response": {"output": "x", "metadata": metadata}},
    }
    path = home / "arguments.json"
    path.write_text(json.dumps([context, {"hookName": "afterEach"}]))
    return path


def _started_by_the_gate(arguments: Path, home: Path) -> Callable[[], None]:
    """What `hooks/cleanup.mjs` starts, for a row that turns out to have nothing to clean up."""
    row = json.dumps(json.loads(arguments.read_text())[0]).encode()
    environment = environment_of(home)

    def start() -> None:
        command = [sys.executable, str(CHECKOUT / "hooks/cleanup.py")]
        done = subprocess.run(command, input=row, check=True, stdout=subprocess.PIPE, env=environment)
        if json.loads(done.stdout) is not None:
            raise RuntimeError("hooks/cleanup.py: had nothing to do and did something")

    return start
