"""`npm run chaos -- --episodes N --seed N`: break everything, sweep once, count what is left."""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from chaos.count import Count, count
from chaos.gateway import TOKEN, Fault, Gateway, Service
from chaos.plan import Round, make_plan
from chaos.rounds import RoundResult, play, sweep_once
from chaos.stage import FULL_NAME, Stage

MODEL_FAULTS = (Fault.REFUSED, Fault.LOST, Fault.CUT, Fault.GARBLED, Fault.BROKEN, Fault.BUSY, Fault.SLOW)
PORTAL_FAULTS = (Fault.REFUSED, Fault.LOST, Fault.CUT, Fault.BROKEN, Fault.BUSY, Fault.SLOW)
HOST_FAULTS = MODEL_FAULTS


def main(arguments: Sequence[str] | None = None) -> int:
    """Run, print the count, and return 0 when everything holds, else 1."""
    parser = argparse.ArgumentParser(prog="npm run chaos --", description=__doc__)
    parser.add_argument("--episodes", type=_positive, default=200, help="episodes in all (default 200)")
    parser.add_argument("--seed", type=int, default=1, help="what breaks, and when (default 1)")
    parser.add_argument("--keep", action="store_true", help="keep the folder with all logs, ledgers and repositories")
    options = parser.parse_args(arguments)
    home = Path(tempfile.mkdtemp(prefix="chaos-"))
    try:
        counted = run(options.episodes, options.seed, home)
    finally:
        if options.keep:
            print(f"kept: {home}")
        else:
            shutil.rmtree(home, ignore_errors=True)
    return 1 if counted.faults else 0


def run(episodes: int, seed: int, home: Path) -> Count:
    """The whole of it, in the data folder `home`."""
    begun = time.monotonic()
    rounds = make_plan(episodes, seed)
    print(f"{episodes} episodes in {len(rounds)} rounds, seed {seed}", flush=True)
    stage = Stage(home)
    services = [
        Service("model", stage.model, MODEL_FAULTS),
        Service("portal", stage.portal, PORTAL_FAULTS),
        Service("host", stage.host, HOST_FAULTS),
    ]
    stage.start()
    try:
        with Gateway(services, seed) as gateway:
            variables = _variables(home, *services)
            results = [_round(one, stage, gateway, services, variables, seed) for one in rounds]
            for service in services:
                service.share = 0.0
            swept = sweep_once(variables)
        print(swept.stdout + swept.stderr, end="")
        counted = count(stage, results, swept.returncode)
    finally:
        stage.stop()
    _print(counted, services, time.monotonic() - begun)
    return counted


def _round(
    one: Round,
    stage: Stage,
    gateway: Gateway,
    services: Sequence[Service],
    variables: dict[str, str],
    seed: int,
) -> RoundResult:
    _open_foreign(stage, one.number)
    for service in services:
        service.share = one.faults
    result = play(one, stage, gateway, variables, seed)
    killed = ", ".join(sorted({f"{kill.victim}" for kill in one.kills})) or "nobody"
    print(
        f"round {one.number}: {len(one.episodes)} episodes, {one.workers} workers, faults {one.faults:.0%}, "
        f"killed: {killed} ({result.kills}x); {result.rows} rows, {result.without_record} without a record, "
        f"{result.seconds:.0f} s",
        flush=True,
    )
    return result


def _open_foreign(stage: Stage, number: int) -> None:
    """Pull requests that resemble ours: same title, same kind of branch, a marker in the text, the same account."""
    stage.open_foreign(f"feature/review-{number}", "Copy a spoke", f"See evals/{number:012x}")
    stage.open_foreign(f"evals/{number:012x}/spoke-webshop-test", "Copy a spoke", "")
    if number % 3 == 1:
        stage.open_foreign_by_tool("spoke-webshop-dev", f"evals/{number + 4096:012x}")


def _variables(home: Path, model: Service, portal: Service, host: Service) -> dict[str, str]:
    return {
        "EVALS_HOME": str(home),
        "EVALS_PORTAL_URL": portal.url,
        "EVALS_PORTAL_TOKEN": TOKEN,
        "EVALS_MODEL_BASE_URL": f"{model.url}/v1",
        "EVALS_MODEL_API_KEY": TOKEN,
        "EVALS_PULL_REQUEST_API": f"{host.url}/landing-zones",
        "EVALS_PULL_REQUEST_TOKEN": TOKEN,
        "EVALS_REPOSITORIES": FULL_NAME,
        "PROMPTFOO_CONFIG_DIR": str(home / "promptfoo"),
    }


def _print(counted: Count, services: Sequence[Service], seconds: float) -> None:
    for service in services:
        met = ", ".join(f"{fault.name.lower()} {times}" for fault, times in sorted(service.met.items()))
        print(f"  {service.name:<7} {service.seen} requests: {met}")
    print(f"  pull requests opened        {counted.opened}")
    print(f"  abandoned                   {counted.abandoned}")
    print(f"  left                        {counted.left}")
    print(f"  branches left               {counted.branches_left}")
    print(f"  somebody else's touched     {counted.foreign_touched} of {counted.foreign}")
    print(f"  rows without a record       {counted.rows_without_record} of {counted.rows}")
    print(f"  time                        {seconds:.0f} s")
    for fault in counted.faults:
        print(f"DOES NOT HOLD: {fault}")
    if not counted.faults:
        print("All of it holds.")


def _positive(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of episodes; 1 or more is")
    return int(text)


if __name__ == "__main__":
    sys.exit(main())
