"""The process of one assertion, started by promptfoo's own wrapper, against the one of a bare `get_assert`."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.figure import Figure, interleaved
from bench.runs import CHECKOUT, Runs

ROUNDS = 25
WRAPPER = CHECKOUT / "setup/promptfoo/node_modules/promptfoo/dist/src/python/wrapper.py"
CASE = "C01"
SINGLE = ("tool_sequence", "tool_not_executed", "argument_match", "input_diff", "pull_request", "schema_validation")
SCHEMA_ALLOWANCE_MS = 100.0


def measure() -> list[Figure]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rows = Runs(folder).prepare()
        row = next(row for row in rows if row["testCase"]["metadata"]["id"] == CASE)
        whole = next(check["config"] for check in row["testCase"]["assert"] if "contract" in check["value"])
        parts = [part for part in SINGLE if part in whole]
        files = {part: _arguments(folder, row, part, _first(whole[part])) for part in parts}
        all_checks = _arguments(folder, row, "contract", whole)
        starts = [
            _start(CHECKOUT / "bench/trivial.py", all_checks),
            _start(CHECKOUT / "assertions/contract.py", all_checks),
            *(_start(CHECKOUT / f"assertions/{part}.py", files[part]) for part in parts),
        ]
        bare, contract, *singles = interleaved(starts, ROUNDS)
    figures = [
        _figure(f"{part} / bare get_assert", seconds, bare, 1.25, part == "schema_validation")
        for part, seconds in zip(parts, singles, strict=True)
    ]
    return [
        *figures,
        _figure("contract with all checks / bare get_assert", contract, bare, 1.3, "schema_validation" in whole),
    ]


def _figure(name: str, seconds: float, bare: float, goal: float, with_schema: bool) -> Figure:
    """With a schema 100 ms more are allowed; the goal says so as a ratio, because the floor is measured here too."""
    allowed = goal + (SCHEMA_ALLOWANCE_MS / 1000 / bare if with_schema else 0)
    return Figure(name, seconds / bare, "x", round(allowed, 2))


def _first(config: Any) -> Any:
    return config[0] if isinstance(config, list) else config


def _arguments(folder: Path, row: dict[str, Any], name: str, config: Any) -> Path:
    """The file in which promptfoo hands an assertion its two arguments."""
    response = row["response"]
    context = {
        "config": config,
        "metadata": response["metadata"],
        "prompt": row["prompt"]["raw"],
        "providerResponse": response,
        "test": row["testCase"],
        "vars": row["vars"],
    }
    path = folder / f"{name}.json"
    path.write_text(json.dumps([response["output"], context]))
    return path


def _start(script: Path, arguments: Path) -> Callable[[], None]:
    output = arguments.with_suffix(".out")
    command = [sys.executable, str(WRAPPER), str(script), "get_assert", str(arguments), str(output)]

    def run() -> None:
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        result = json.loads(output.read_text())["data"]
        if not result["pass"]:
            raise RuntimeError(f"{script.name} was to pass and did not: {result['reason']}")

    return run
