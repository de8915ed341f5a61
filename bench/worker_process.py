"""The process that `bench.worker`, `bench.turns` and `bench.memory` measure: it imports the provider once and runs the
cases of spoke-create in turn, over and over, as a worker of promptfoo does."""

from __future__ import annotations

import gc
import itertools
import json
import statistics
import sys
from pathlib import Path

import yaml

from bench.runs import CHECKOUT
from episodes.record import Episode
from providers.simulated_user import call_api

SUITE = CHECKOUT / "suites/spoke-create"


def main(target: Path, episodes: int | None, warm_up: int) -> None:
    """Write into `target` what was measured over so many episodes; None: each case once.

    `warm_up` is how many episodes come before the memory is looked at for the first time.
    """
    cases = yaml.safe_load((SUITE / "cases.yaml").read_text(encoding="utf-8"))
    promptfoo_config = yaml.safe_load((SUITE / "promptfooconfig.yaml").read_text(encoding="utf-8"))
    config = promptfoo_config["providers"][0]["config"]
    per_turn: list[float] = []
    warm_mb = 0.0
    for number, case in enumerate(itertools.islice(itertools.cycle(cases), episodes or len(cases))):
        if number == warm_up:
            warm_mb = _memory_mb("VmRSS")
        context = {
            "vars": case["vars"] | {"__evalId": "bench", "__evalStepId": f"test-{number}-prompt-0-repeat-0"},
            "test": {"metadata": case["metadata"]},
        }
        result = call_api(case["vars"]["request"], {"config": config | {"basePath": str(SUITE)}}, context)
        if "error" in result:
            raise RuntimeError(f"{case['metadata']['id']}: {result['error']}")
        episode = Episode.from_metadata(result["metadata"])
        spent = episode.timings
        if number:  # the first episode also pays for the imports and the first connections
            per_turn.append((spent.duration_ms - spent.model_ms - spent.user_model_ms) / episode.usage.agent.requests)
    measured = {
        "peakMb": _memory_mb("VmHWM"),
        "growthMb": _memory_mb("VmRSS") - warm_mb,
        "msPerTurn": statistics.median(per_turn),
    }
    target.write_text(json.dumps(measured))


def _memory_mb(which: str) -> float:
    """`VmRSS`, what is held now when nothing is waiting to be collected, or `VmHWM`, the most so far."""
    gc.collect()
    status = Path("/proc/self/status").read_text()
    line = next(line for line in status.splitlines() if line.startswith(which))
    return int(line.split()[1]) / 1024


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) or None, int(sys.argv[3]))
