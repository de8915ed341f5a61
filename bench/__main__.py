"""`npm run bench`: measure what a run costs beyond its model calls.

`--json FILE` writes a list of {"name", "value", "unit", "goal", "atLeast", "holds"}; `goal` is null for a figure that
is there for comparison. The exit code is 1 when a goal does not hold.
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
from pathlib import Path
from time import perf_counter

from bench.figure import Figure

BENCHMARKS: dict[str, str] = {
    "suites": "all 26 cases offline against the same rows with canned answers and one trivial assertion",
    "assertions": "one assertion's process against a bare get_assert, and contract with all checks of a case",
    "hooks": "the process of afterEach without its work against a hook that does nothing",
    "turns": "time per turn of the agent's loop that is not the model's",
    "worker": "peak memory of a provider worker that ran every case",
    "memory": "peak and growth of a worker's memory over 200 episodes",
    "throughput": "episodes in a minute at -j 1, 4, 8, 16 with a model that takes 300 ms, against the ideal",
    "bulk": "10,000 episodes graded by ours, agentevals, DeepEval and pydantic_evals; growth of evals grade",
    "dialogue": "one scripted conversation by ours, promptfoo's simulated user and tau2-bench's orchestrator",
    "replay": "all 26 cases replayed from their cassettes against the same cases live",
    "start": "our own overhead when everything is set up",
}
"""Name of the module in this folder, and what it measures. Each has `measure() -> list[Figure]`."""


def main(arguments: list[str] | None = None) -> int:
    lines = "\n".join(f"  {name:<11} {text}" for name, text in BENCHMARKS.items())
    parser = argparse.ArgumentParser(
        prog="npm run bench --",
        description="Measure what a run costs beyond its model calls. Nothing else should run meanwhile.",
        epilog=f"benchmarks:\n{lines}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--only", action="append", choices=list(BENCHMARKS), metavar="NAME", help="repeat for several")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there")
    options = parser.parse_args(arguments)
    figures: list[Figure] = []
    for name in options.only or BENCHMARKS:
        print(f"{name}: {BENCHMARKS[name]} …", flush=True)
        start = perf_counter()
        measured: list[Figure] = importlib.import_module(f"bench.{name}").measure()
        for figure in measured:
            print(f"  {figure.name:<58} {figure.value:9.2f} {figure.unit:<4} {figure.verdict}".rstrip())
        print(f"  measured in {perf_counter() - start:.0f} s", flush=True)
        figures += measured
    if options.json:
        options.json.write_text(json.dumps([figure.as_json() for figure in figures], indent=2) + "\n")
    return 0 if all(figure.holds for figure in figures) else 1


if __name__ == "__main__":
    sys.exit(main())
