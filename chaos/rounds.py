"""One round: a promptfoo run with faults in every service, and somebody who is killed in the middle of it."""

from __future__ import annotations

import json
import os
import random
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chaos.gateway import Gateway
from chaos.plan import Kill, Round, Victim
from chaos.processes import end_all, kill_one
from chaos.stage import Stage
from endpoints.settings import CHECKOUT
from evals.installation import environment, promptfoo_command

ROUND_SECONDS = 180.0
"""A run that takes longer is killed, and counted as stuck."""
EPISODE_SECONDS = 40
ORPHAN_SECONDS = 60.0
"""How long a worker may go on after promptfoo: at most its episode."""
DOWN_SECONDS = (0.1, 1.5)
"""How long a killed portal stays away."""


@dataclass(frozen=True)
class RoundResult:
    """What one round left. `rows` is 0 when promptfoo was killed before it wrote its results."""

    round: Round
    rows: int
    without_record: int
    workers_killed: int
    kills: int
    outlived: int
    stuck: bool
    seconds: float


def play(round_: Round, stage: Stage, gateway: Gateway, variables: Mapping[str, str], seed: int) -> RoundResult:
    """Play one round to its end. When it returns, no process of the run is left."""
    begun = time.monotonic()
    folder = stage.home / "rounds" / str(round_.number)
    folder.mkdir(parents=True, exist_ok=True)
    results = folder / "results.json"
    (folder / "promptfooconfig.json").write_text(json.dumps(_config(round_), default=str), encoding="utf-8")
    command = promptfoo_command(
        *["eval", "-c", str(folder / "promptfooconfig.json"), "-o", str(results), "-j", str(round_.workers)],
        *["--no-cache", "--no-table", "--no-progress-bar"],
    )
    gateway.created.clear()
    with (folder / "log.txt").open("w", encoding="utf-8") as log:
        process = subprocess.Popen(
            command,
            env={**environment(), **variables},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
        give_up = begun + ROUND_SECONDS
        _wait_for_creation(gateway, process, give_up)
        chance = random.Random(f"{seed} kills {round_.number}")
        done = [_kill(kill, process, stage, chance, give_up) for kill in round_.kills]
        try:
            process.wait(max(1.0, give_up - time.monotonic()))
            stuck = False
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            stuck = True
    outlived = end_all(process.pid, ORPHAN_SECONDS)
    rows = _rows(results)
    workers = sum(one and kill.victim is Victim.WORKER for one, kill in zip(done, round_.kills, strict=True))
    return RoundResult(
        round_,
        len(rows),
        sum(not _has_record(row) for row in rows),
        workers,
        sum(done),
        outlived,
        stuck,
        time.monotonic() - begun,
    )


def _wait_for_creation(gateway: Gateway, process: subprocess.Popen[bytes], give_up: float) -> None:
    while not gateway.created.wait(0.1):
        if process.poll() is not None or time.monotonic() > give_up:
            return


def _kill(kill: Kill, process: subprocess.Popen[bytes], stage: Stage, chance: random.Random, give_up: float) -> bool:
    end = time.monotonic() + kill.after_s
    while time.monotonic() < end:
        if process.poll() is not None:
            return False
        time.sleep(0.02)
    if kill.victim is Victim.PORTAL:
        stage.kill()
        time.sleep(chance.uniform(*DOWN_SECONDS))
        stage.start()
        return True
    return kill_one(process.pid, kill.victim, chance, give_up)


def _config(round_: Round) -> dict[str, Any]:
    requests = _requests()
    hooks = ("cleanup.py:beforeAll", "cleanup.mjs:afterEach", "cleanup.py:afterAll")
    provider = {
        "id": f"file://{CHECKOUT / 'providers' / 'simulated_user.py'}",
        "config": {"agent": "spoke", "deadlineSeconds": EPISODE_SECONDS, "timeout": 1000 * (EPISODE_SECONDS + 20)},
    }
    return {
        "prompts": ["{{request}}"],
        "providers": [provider],
        "tests": [
            {
                "description": f"{index}",
                "vars": requests[number % len(requests)],
                "assert": [{"type": "javascript", "value": "true"}],
            }
            for index, number in enumerate(round_.episodes)
        ],
        "extensions": [f"file://{CHECKOUT}/hooks/{hook}" for hook in hooks],
    }


def _requests() -> list[dict[str, Any]]:
    """What developers ask for in the suite whose cases lead to a pull request."""
    import yaml

    text = (CHECKOUT / "suites" / "spoke-create" / "cases.yaml").read_text(encoding="utf-8")
    cases: Sequence[Mapping[str, Any]] = yaml.safe_load(text)
    return [dict(case["vars"]) for case in cases if str(case["vars"].get("goal", "")).startswith("A pull request")]


def _rows(results: Path) -> list[dict[str, Any]]:
    try:
        rows: list[dict[str, Any]] = json.loads(results.read_text(encoding="utf-8"))["results"]["results"]
    except (OSError, ValueError, KeyError):
        return []
    return rows


def _has_record(row: Mapping[str, Any]) -> bool:
    metadata = (row.get("response") or {}).get("metadata") or row.get("metadata") or {}
    return bool(metadata.get("schema")) and bool(metadata.get("stopReason"))


def sweep_once(variables: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """`evals cleanup`, as a person types it after a crash."""
    import sys

    return subprocess.run(
        [sys.executable, "-m", "evals", "cleanup"],
        cwd=CHECKOUT,
        # A person's own endpoints, in .env, are none of this run's business.
        env={**os.environ, "EVALS_ENV_FILE": "off", **variables},
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
