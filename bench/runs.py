"""Whole runs as a person starts them, in a data folder of their own: ours, and the same rows with canned answers."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

CHECKOUT = Path(__file__).resolve().parent.parent
PARALLEL = "4"


class RunFailed(RuntimeError):
    """A run that must pass did not; the text is the end of what it printed."""


@dataclass(frozen=True)
class Runs:
    """`home` is the data folder of every run here, so that nothing is left in the checkout."""

    home: Path

    def ours(self) -> None:
        """All suites, offline: set-up check, local stack, promptfoo, cleanup, summary."""
        self._run(["node", "setup/launch.mjs", "run", "all", "-j", PARALLEL], CHECKOUT)

    def canned(self) -> None:
        """The rows that `prepare` took from a run of ours: answers read from a file, one trivial assertion, no hook."""
        self._run(
            ["node", "setup/promptfoo.mjs", "eval", "-c", str(self.home / "canned.yaml"), "-j", PARALLEL], CHECKOUT
        )

    def prepare(self) -> list[dict[str, Any]]:
        """Run ours once, write the canned copy of its rows, and return the rows of promptfoo's results file."""
        self.ours()
        newest = max((self.home / "results").glob("*.json"), key=lambda path: path.stat().st_mtime)
        rows: list[dict[str, Any]] = json.loads(newest.read_text(encoding="utf-8"))["results"]["results"]
        answers = {row["testCase"]["metadata"]["id"]: row["response"] for row in rows}
        (self.home / "rows.json").write_text(json.dumps(answers))
        config = {
            "prompts": ["{{request}}"],
            "providers": [f"file://{CHECKOUT}/bench/canned.py"],
            "tests": [
                {
                    "description": row["testCase"]["description"],
                    "vars": row["testCase"]["vars"],
                    "metadata": {"id": row["testCase"]["metadata"]["id"]},
                    "assert": [{"type": "python", "value": f"file://{CHECKOUT}/bench/trivial.py"}],
                }
                for row in rows
            ],
        }
        (self.home / "canned.yaml").write_text(json.dumps(config))
        return rows

    def _run(self, command: list[str], folder: Path) -> None:
        environment = os.environ | {
            "EVALS_HOME": str(self.home),
            "PROMPTFOO_CONFIG_DIR": str(self.home / "promptfoo"),
            "BENCH_ROWS": str(self.home / "rows.json"),
        }
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RunFailed(f"{' '.join(command)} ended with {done.returncode}:\n{(done.stdout + done.stderr)[-2000:]}")
