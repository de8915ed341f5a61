"""Whole runs as a person starts them, in a data folder of their own: ours, and the same rows with canned answers."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

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
        self._run("setup/launch.mjs", "evals", "run", "all", "-j", PARALLEL)

    def canned(self) -> None:
        """The rows that `prepare` took from a run of ours: answers read from a file, one trivial assertion, no hook."""
        self._run("setup/promptfoo.mjs", "eval", "-c", str(self.home / "canned.yaml"), "-j", PARALLEL)

    def prepare(self) -> None:
        """Run ours once, and write the canned copy of its rows."""
        self.ours()
        rows = _rows(max((self.home / "results").glob("*.json"), key=lambda path: path.stat().st_mtime))
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

    def open_pull_request(self, case: str) -> dict[str, Any]:
        """Run one case of spoke-create without hooks, so that its pull request stays open, and return its row."""
        config = yaml.safe_load((CHECKOUT / "suites/spoke-create/promptfooconfig.yaml").read_text(encoding="utf-8"))
        del config["extensions"]
        for part, place in ((config["providers"][0], "id"), (config["tests"][0], "path")):
            part[place] = part[place].replace("file://../..", f"file://{CHECKOUT}")
        own, results = self.home / "open.yaml", self.home / "open.json"
        own.write_text(yaml.safe_dump(config))
        self._run("setup/promptfoo.mjs", "eval", "-c", str(own), "--filter-pattern", case, "-o", str(results))
        (row,) = _rows(results)
        return row

    def _run(self, *words: str) -> None:
        environment = os.environ | {
            "EVALS_HOME": str(self.home),
            "PROMPTFOO_CONFIG_DIR": str(self.home / "promptfoo"),
            "BENCH_ROWS": str(self.home / "rows.json"),
        }
        command = ["node", *words]
        done = subprocess.run(command, cwd=CHECKOUT, env=environment, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RunFailed(f"{' '.join(command)} ended with {done.returncode}:\n{(done.stdout + done.stderr)[-2000:]}")


def _rows(results: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads(results.read_text(encoding="utf-8"))["results"]["results"]
    return rows
