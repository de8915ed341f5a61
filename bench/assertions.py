"""The process of one assertion, started by promptfoo's own wrapper, against the one of a bare `get_assert`.

In a run it is forked from one that has everything imported; the bare one is started by the ordinary Python in any case.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from bench.figure import Figure, interleaved
from bench.process import process
from bench.runs import CHECKOUT, Runs
from endpoints import resolve
from endpoints.settings import FORKED_PYTHON
from evals.forking.start import fork_server

ROUNDS = 25
CASE = "C01"
SINGLE = ("tool_sequence", "tool_not_executed", "argument_match", "input_diff", "pull_request", "schema_validation")
MORE: dict[str, Any] = {
    "tool_not_executed": {"tools": ["complete_pull_request"]},
    "argument_match": {"tool": "get_spoke", "args": {"name": "spoke-webshop-dev"}},
}
"""Checks that the case's own contract does not hold."""
IN_A_RUN = ("schema_validation", "contract")
"""Those that load the most by themselves."""
SCHEMA_ALLOWANCE_MS = 100.0


def measure() -> list[Figure]:
    with tempfile.TemporaryDirectory() as name, fork_server():
        home = Path(name)
        resolve({"EVALS_HOME": name})  # this process keeps the local portal alive, so that the pull request stays there
        row = Runs(home).open_pull_request(CASE)
        whole = next(check["config"] for check in row["testCase"]["assert"] if "contract" in check["value"])
        configs = {part: whole.get(part) or MORE[part] for part in SINGLE}
        all_checks = _arguments(home, row, "contract", whole)
        starts = [
            process(CHECKOUT / "bench/trivial.py", "get_assert", all_checks, home, _failed),
            process(CHECKOUT / "assertions/contract.py", "get_assert", all_checks, home, _failed),
        ]
        for part, config in configs.items():
            arguments = _arguments(home, row, part, config)
            starts.append(process(CHECKOUT / f"assertions/{part}.py", "get_assert", arguments, home, _failed))
        for part in IN_A_RUN:
            file = CHECKOUT / f"assertions/{part}.py"
            starts.append(process(file, "get_assert", home / f"{part}.json", home, _failed, FORKED_PYTHON))
        bare, contract, *others = interleaved(starts, ROUNDS)
        singles, forked = others[: len(SINGLE)], others[len(SINGLE) :]
    figures = [
        _figure(f"{part} / bare get_assert", seconds, bare, 1.25, part == "schema_validation")
        for part, seconds in zip(configs, singles, strict=True)
    ]
    with_schema = "schema" in whole.get("schema_validation", {})
    return [
        *figures,
        _figure("contract with all checks / bare get_assert", contract, bare, 1.3, with_schema),
        *(
            _figure(f"{part} in a run / bare get_assert", seconds, bare, 1.25, False)
            for part, seconds in zip(IN_A_RUN, forked, strict=True)
        ),
    ]


def _figure(name: str, seconds: float, bare: float, goal: float, with_schema: bool) -> Figure:
    """With a schema 100 ms more are allowed; the goal says so as a ratio, because the floor is measured here too."""
    allowed = goal + (SCHEMA_ALLOWANCE_MS / 1000 / bare if with_schema else 0)
    return Figure(name, seconds / bare, "x", round(allowed, 2))


def _failed(result: dict[str, Any]) -> str:
    return "" if result["pass"] else f"was to pass and did not: {result['reason']}"


def _arguments(folder: Path, row: dict[str, Any], name: str, config: dict[str, Any]) -> Path:
    """The file in which promptfoo hands an assertion its two arguments; a single check is marked as checked, too."""
    response = row["response"]
    context = {
        "config": config if name == "contract" else _checked(name, config),
        "metadata": response["metadata"],
        "prompt": row["prompt"]["raw"],
        "providerResponse": response,
        "test": row["testCase"],
        "vars": row["vars"],
    }
    path = folder / f"{name}.json"
    path.write_text(json.dumps([response["output"], context]))
    return path


def _checked(name: str, config: dict[str, Any]) -> dict[str, Any]:
    from assertions.config_check import stamped

    return stamped(name, config, {})
