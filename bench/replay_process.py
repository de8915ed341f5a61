"""The process that `bench.replay` measures: a provider worker that runs each case live and then replays it."""

from __future__ import annotations

import json
import os
import statistics
import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

from bench.runs import CHECKOUT
from formats.load_suite import tests
from providers import production_agent, simulated_user
from providers.warm_up import ready

CallApi = Callable[[str, dict[str, Any], dict[str, Any]], dict[str, Any]]
PROVIDERS: dict[str, CallApi] = {"spoke-create": simulated_user.call_api, "spoke-qa": production_agent.call_api}
MODES = {"live": "off", "replayed": "none"}


def main(target: Path, rounds: int) -> None:
    """Write the seconds that all cases took into `target`, live and replayed: the median of so many rounds."""
    cases = [(suite, test) for suite in PROVIDERS for test in tests({"file": f"suites/{suite}/cases.yaml"})]
    ready()
    _seconds(*cases[0], "live")  # starts the local portal and model
    totals: dict[str, list[float]] = {name: [] for name in MODES}
    for _ in range(rounds):
        spent = dict.fromkeys(MODES, 0.0)
        for suite, test in cases:
            for name in MODES:
                spent[name] += _seconds(suite, test, name)
        for name in MODES:
            totals[name].append(spent[name])
    target.write_text(json.dumps({name: statistics.median(seconds) for name, seconds in totals.items()}))


def _seconds(suite: str, test: dict[str, Any], mode: str) -> float:
    os.environ["EVALS_CASSETTES"] = MODES[mode]
    options = {"config": {"agent": "spoke", "basePath": str(CHECKOUT / "suites" / suite)}}
    context = {"vars": test["vars"] | {"__evalId": "bench", "__evalStepId": "test-0-prompt-0-repeat-0"}, "test": test}
    start = perf_counter()
    result = PROVIDERS[suite](test["vars"]["request"], options, context)
    seconds = perf_counter() - start
    if "error" in result:
        raise RuntimeError(f"{test['metadata']['id']}, {mode}: {result['error']}")
    return seconds


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
