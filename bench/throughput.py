"""Episodes in a second with a model that takes 300 ms for each answer, at one to sixteen cases at a time.

All that a run of ours does is done: `evals run`, the simulated developer, the portal's tools, one assertion's process
and one hook's for each case. The ideal is that every lane waits for the model all the time. The share of it is taken
while all lanes are busy, between the first request of the last lane to start and the first one of the last case; what
the start and the end of a run cost stands beside it.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import yaml

from bench.figure import Figure
from bench.processors import watched_processors
from bench.runs import CHECKOUT, RunFailed
from bench.talk import AGENT_ANSWERS, GOAL, TOOLS, USER_ANSWERS, Talk
from bench.timed_model import KEY, Asked, timed_model

LATENCY_S = 0.3
LANES: dict[int, int] = {1: 8, 4: 32, 8: 56, 16: 96}
"""Cases at a time, and how many cases there are."""
GOALS: dict[int, float] = {1: 80.0, 4: 80.0}
"""The least share of the ideal in percent. With more lanes two processors are too few, so there is no goal for them."""
IDEAL_S = LATENCY_S * (AGENT_ANSWERS + USER_ANSWERS)
"""Seconds of an episode in which nothing but the model takes time."""


@dataclass(frozen=True)
class Busy:
    """The time in which every lane had a case: from when to when, and for how many seconds lanes waited for the model.

    All in seconds of the log's clock; what several lanes wait at once is added up.
    """

    first: float
    last: float
    waited: float

    def share(self, lanes: int) -> float:
        """Of the time of all lanes, between 0 and 1."""
        return self.waited / ((self.last - self.first) * lanes)


def measure() -> list[Figure]:
    return [figure for lanes, cases in LANES.items() for figure in measured(lanes, cases)]


def measured(lanes: int, cases: int) -> list[Figure]:
    """One run with so many lanes and cases."""
    with tempfile.TemporaryDirectory() as name, timed_model(LATENCY_S) as model, watched_processors() as processors:
        home = Path(name)
        _write_suite(home, cases)
        start = perf_counter()
        _run(home, lanes, model.url)
        seconds = perf_counter() - start
    time = busy_time(model.log, lanes, LATENCY_S)
    share, ideal = time.share(lanes), 60 * lanes / IDEAL_S
    figures = [
        Figure(f"-j {lanes}: share of the ideal", 100 * share, "%", GOALS.get(lanes), at_least=True),
        Figure(f"-j {lanes}: episodes in a minute (ideal: {ideal:.0f})", share * ideal, ""),
        Figure(f"-j {lanes}: whole run of {cases} cases, start and end included", seconds, "s"),
    ]
    busy = processors.busy(time.first, time.last)
    if busy is not None:
        figures.append(Figure(f"-j {lanes}: busy processors of {os.cpu_count()}, model and portal included", busy, ""))
    return figures


def busy_time(log: Sequence[Asked], lanes: int, latency_s: float) -> Busy:
    """When every lane had a case, and how long the lanes waited for the model then.

    An answer that came late counts as the latency and not more: the rest is this machine's doing.

    Raises:
        ValueError: there were too few cases for all lanes to be busy at once.
    """
    begun: dict[Talk, float] = {}
    for asked in sorted(log, key=lambda asked: asked.arrived):
        begun.setdefault(asked.talk, asked.arrived)
    starts = list(begun.values())
    if len(starts) <= lanes:
        raise ValueError(f"{len(starts)} cases can not keep {lanes} lanes busy")
    first, last = starts[lanes - 1], starts[-1]
    waited = 0.0
    for asked in log:
        end = min(asked.answered, asked.arrived + latency_s)
        waited += max(0.0, min(end, last) - max(asked.arrived, first))
    return Busy(first, last, waited)


def _write_suite(home: Path, cases: int) -> None:
    """A root with one suite, which is like ours in all but its cases."""
    root = home / "root"
    file = root / "suites" / "throughput" / "cases.yaml"
    file.parent.mkdir(parents=True)
    file.write_text(yaml.safe_dump([_case(number) for number in range(cases)]))
    own = yaml.safe_load((CHECKOUT / "promptfooconfig.yaml").read_text(encoding="utf-8"))
    config: dict[str, Any] = {
        "prompts": own["prompts"],
        "providers": [
            {
                "id": f"file://{CHECKOUT}/providers/simulated_user.py",
                "label": "throughput",
                "config": {"agent": "spoke"},
            }
        ],
        "tests": [
            {
                "path": f"file://{CHECKOUT}/formats/load_suite.py:tests",
                "config": {"suites": [{"file": str(file), "provider": "throughput"}]},
            }
        ],
        "extensions": [hook.replace("file://", f"file://{CHECKOUT}/") for hook in own["extensions"]],
    }
    (root / "promptfooconfig.yaml").write_text(yaml.safe_dump(config))


def _case(number: int) -> dict[str, Any]:
    name = f"T{number:03}"
    check = {"tool_sequence": {"steps": [tool for tool, _ in TOOLS]}}
    return {
        "description": f"{name} ask for an address space and its rule",
        "metadata": {"id": name, "group": "throughput", "priority": "full", "risk": "low"},
        "vars": {"request": Talk("plain", number).opening, "goal": GOAL},
        "assert": [{"type": "python", "value": f"file://{CHECKOUT}/assertions/contract.py", "config": check}],
    }


def _run(home: Path, lanes: int, model_url: str) -> None:
    environment = os.environ | {
        "EVALS_HOME": str(home),
        "EVALS_MODEL_BASE_URL": model_url,
        "EVALS_MODEL_API_KEY": KEY,
        "EVALS_CASSETTES": "off",
    }
    environment.pop("PROMPTFOO_PYTHON_WORKERS", None)
    command = ["node", "setup/launch.mjs", "evals", "run", "all", "--root", str(home / "root"), "-j", str(lanes)]
    done = subprocess.run(command, cwd=CHECKOUT, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RunFailed(f"-j {lanes} ended with {done.returncode}:\n{(done.stdout + done.stderr)[-2000:]}")
