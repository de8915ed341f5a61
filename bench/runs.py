"""Whole runs as a person starts them, in a data folder of their own: ours, and the same rows with canned answers."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from evals.installation import PROMPTFOO, environment, node

CHECKOUT = Path(__file__).resolve().parent.parent


class RunFailed(RuntimeError):
    """A run that must pass did not; the text is the end of what it printed."""


@dataclass(frozen=True)
class Runs:
    """`home` is the data folder of every run here, so that nothing is left in the checkout."""

    home: Path

    def ours(self) -> None:
        """All suites, offline."""
        self._run("setup/launch.mjs", "evals", "run", "all")

    def replay(self) -> None:
        """All suites, from the cassettes in the checkout."""
        self._run("setup/launch.mjs", "evals", "run", "all", cassettes="none")

    def canned(self) -> None:
        """The same rows by promptfoo itself, as it is installed: answers read from a file, one trivial assertion, no
        hook. Nothing of ours runs beside it that such rows do not need, and nothing of ours makes it start faster.
        """
        own = {name: text for name, text in environment().items() if name != "NODE_COMPILE_CACHE"}
        self._start([str(node()), str(PROMPTFOO / "dist/src/entrypoint.js"), *self._canned_words()], own)

    def canned_quick(self) -> None:
        """`canned`, with promptfoo started as ours is."""
        self._run("setup/promptfoo.mjs", *self._canned_words())

    def _canned_words(self) -> list[str]:
        config, results = (str(self.home / "canned" / name) for name in ("promptfooconfig.yaml", "results.json"))
        return ["eval", "-c", config, "--no-table", "-o", results]

    def prepare(self) -> None:
        """Run ours once, and write the canned copy of its rows: a root config and a case file for each suite."""
        self.ours()
        rows = _rows(max((self.home / "results").glob("*.json"), key=lambda path: path.stat().st_mtime))
        answers = {row["testCase"]["metadata"]["id"]: row["response"] for row in rows}
        for answer in answers.values():
            answer["metadata"]["pullRequests"] = []  # a run that names some and abandons none ends with an error
        (self.home / "rows.json").write_text(json.dumps(answers))
        own = yaml.safe_load((CHECKOUT / "promptfooconfig.yaml").read_text(encoding="utf-8"))
        del own["extensions"]
        for provider in own["providers"]:
            provider["id"] = f"file://{CHECKOUT}/bench/canned.py"
        (loader,) = own["tests"]
        loader["path"] = f"file://{CHECKOUT}/formats/load_suite.py:tests"
        for source in loader["config"]["suites"]:
            source["file"] = self._canned_cases(Path(source["file"]).parent.name, rows)
        (self.home / "canned" / "promptfooconfig.yaml").write_text(yaml.safe_dump(own))

    def _canned_cases(self, suite: str, rows: list[dict[str, Any]]) -> str:
        file = self.home / "canned" / "suites" / suite / "cases.yaml"
        file.parent.mkdir(parents=True)
        tests = [row["testCase"] for row in rows if row["testCase"]["metadata"]["suite"] == suite]
        cases = [
            {
                "description": test["description"],
                "vars": test["vars"],
                "metadata": {name: text for name, text in test["metadata"].items() if name != "suite"},
                "assert": [{"type": "python", "value": f"file://{CHECKOUT}/bench/trivial.py"}],
            }
            for test in tests
        ]
        file.write_text(yaml.safe_dump(cases))
        return str(file)

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

    def _run(self, *words: str, cassettes: str = "off") -> None:
        self._start(["node", *words], os.environ | {"EVALS_CASSETTES": cassettes})

    def _start(self, command: list[str], inherited: Mapping[str, str]) -> None:
        own = {
            "EVALS_HOME": str(self.home),
            "PROMPTFOO_CONFIG_DIR": str(self.home / "promptfoo"),
            "BENCH_ROWS": str(self.home / "rows.json"),
        }
        done = subprocess.run(
            command, cwd=CHECKOUT, env={**inherited, **own}, capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            raise RunFailed(f"{' '.join(command)} ended with {done.returncode}:\n{(done.stdout + done.stderr)[-2000:]}")


def _rows(results: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads(results.read_text(encoding="utf-8"))["results"]["results"]
    return rows
