"""The process that `bench.worker` measures: imports the provider once and runs each case of spoke-create in turn."""

from __future__ import annotations

import json
import statistics
import sys
from pathlib import Path

import yaml

from bench.runs import CHECKOUT
from episodes.record import Episode
from providers.simulated_user import call_api

SUITE = CHECKOUT / "suites/spoke-create"


def main(target: Path) -> None:
    cases = yaml.safe_load((SUITE / "cases.yaml").read_text(encoding="utf-8"))
    promptfoo_config = yaml.safe_load((SUITE / "promptfooconfig.yaml").read_text(encoding="utf-8"))
    config = promptfoo_config["providers"][0]["config"]
    per_turn: list[float] = []
    for number, case in enumerate(cases):
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
    measured = {"peakMb": _peak_mb(), "msPerTurn": statistics.median(per_turn)}
    target.write_text(json.dumps(measured))


def _peak_mb() -> float:
    status = Path("/proc/self/status").read_text()
    line = next(line for line in status.splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) / 1024


if __name__ == "__main__":
    main(Path(sys.argv[1]))
