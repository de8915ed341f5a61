"""The process of `afterEach` for a row that created nothing, against the one of a hook that does nothing."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from bench.figure import Figure, interleaved
from bench.process import process
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
        starts = [
            process(script, "afterEach", arguments, home, _did_something)
            for script in (CHECKOUT / "bench/idle_hook.py", CHECKOUT / "hooks/cleanup.py")
        ]
        bare, ours = interleaved(starts, ROUNDS)
    return [Figure("afterEach with nothing to do / bare afterEach", ours / bare, "x", 1.25)]


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


def _did_something(result: object) -> str:
    return "" if result is None else "had nothing to do and did something"
