"""The same scripted conversation, driven by ours, by promptfoo's own simulated user, and by tau2-bench's orchestrator.

All ask one model service on this machine, which is the stopwatch, too. Ours and promptfoo's simulated user have the
same agent, ours, with the local portal's tools over MCP. `promptfoo:simulated-user` calls it anew for each turn; its
lines come from PROMPTFOO_REMOTE_GENERATION_URL. tau2 has its own agent, and tools inside its process.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from bench.figure import Figure
from bench.peers.environment import PeerEnvironmentError, environment, python_of
from bench.process_memory import watched_memory
from bench.runs import CHECKOUT, RunFailed
from bench.talk import GOAL, TOOLS, Talk
from bench.talk_log import read_drive
from bench.timed_model import AGENT, KEY, USER, Asked, TimedModel, timed_model
from endpoints import resolve

LATENCY_S = 0.02
TALKS = [
    *(Talk("plain", number) for number in range(25)),
    *(Talk("glued", number) for number in range(3)),
    *(Talk("inverted", number) for number in range(3)),
]
ROUNDS = 2
"""All take turns, so that a slow minute of the machine hits all."""
MOST_TURNS = 6
GOAL_MS = 45.0
"""For each turn: three answers of the model, and for each what `bench.turns` allows."""

Log = list[Asked]


@dataclass(frozen=True)
class Driven:
    """One process's work. `tool_results` are on record of the first conversation, in which two tools were called."""

    log: Log
    peak_mb: float
    tool_results: Mapping[str, Any]


def measure() -> list[Figure]:
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        # This process keeps the portal alive, so that it counts as nobody's memory.
        resolve({"EVALS_HOME": name})
        drivers: dict[str, Callable[[], Driven]] = {
            "ours": lambda: _by_promptfoo(home, "ours", _our_config()),
            "promptfoo": lambda: _by_promptfoo(home, "promptfoo", _promptfoo_config()),
        }
        try:
            python = python_of("tau2")
        except PeerEnvironmentError as problem:
            print(f"  tau2 is left out: {problem}")
        else:
            drivers["tau2"] = lambda: _by_tau2(home, python, driven["ours"][0].tool_results)
        driven: dict[str, list[Driven]] = {who: [] for who in drivers}
        for _ in range(ROUNDS):
            for who, drive in drivers.items():
                driven[who].append(drive())
    return [figure for who, rounds in driven.items() for figure in _figures(who, rounds)]


def _figures(who: str, rounds: Sequence[Driven]) -> list[Figure]:
    """Goals are ours only; the others' figures are there for comparison."""
    drive = read_drive([driven.log for driven in rounds])
    mine = who == "ours"
    made = len(TOOLS)
    on_record = len(rounds[0].tool_results)
    lost, heard = 100 * drive.last_lines_lost, 100 * drive.inverted_heard
    return [
        Figure(f"{who}: a turn between the model's answers", drive.between_ms, "ms", GOAL_MS if mine else None),
        Figure(f"{who}: a turn, all included but the model", drive.whole_ms, "ms"),
        Figure(f"{who}: peak memory of all its processes", max(driven.peak_mb for driven in rounds), "MB"),
        Figure(f"{who}: tool calls on record, of {made}", on_record, "", made if mine else None, at_least=True),
        Figure(f"{who}: last lines that the agent never gets", lost, "%", 0 if mine else None),
        Figure(f"{who}: lines spoken as the agent that it gets", heard, "%", 0 if mine else None),
    ]


def _our_config() -> dict[str, Any]:
    provider = {"id": f"file://{CHECKOUT}/providers/simulated_user.py", "config": {"agent": "spoke"}}
    return {"prompts": ["{{request}}"], "providers": [provider]}


def _promptfoo_config() -> dict[str, Any]:
    user = {
        "id": "promptfoo:simulated-user",
        "config": {
            "maxTurns": MOST_TURNS,
            "instructions": "{{goal}}",
            "initialMessages": [{"role": "user", "content": "{{request}}"}],
        },
    }
    agent = {"id": f"file://{CHECKOUT}/providers/production_agent.py", "config": {"agent": "spoke"}}
    return {
        "prompts": ["A developer asks something of you."],
        "providers": [agent],
        "defaultTest": {"provider": user},
    }


def _by_promptfoo(home: Path, name: str, config: Mapping[str, Any]) -> Driven:
    """Let promptfoo run every conversation, one after the other, without any check."""
    own, results = home / f"{name}.yaml", home / f"{name}.json"
    tests = [{"vars": {"request": talk.opening, "goal": GOAL}} for talk in TALKS]
    own.write_text(yaml.safe_dump({**config, "tests": tests}))
    command = ["node", "setup/promptfoo.mjs", "eval", "-c", str(own), "-o", str(results)]
    with timed_model(LATENCY_S) as model:
        variables = os.environ | {
            "EVALS_HOME": str(home),
            "PROMPTFOO_CONFIG_DIR": str(home / "promptfoo"),
            "PROMPTFOO_REMOTE_GENERATION_URL": model.task_url,
            "EVALS_MODEL_BASE_URL": model.url,
            "EVALS_MODEL_API_KEY": KEY,
            "EVALS_CASSETTES": "off",
        }
        variables.pop("PROMPTFOO_DISABLE_REMOTE_GENERATION", None)  # the address above is on this machine
        peak = _run([*command, "-j", "1", "--no-table", "--no-cache"], variables)
    row = next(iter(json.loads(results.read_text(encoding="utf-8"))["results"]["results"]))
    calls = row["response"]["metadata"].get("toolCalls") or []
    return Driven(model.log, peak, {call["name"]: call["result"] for call in calls})


def _by_tau2(home: Path, python: Path, tool_results: Mapping[str, Any]) -> Driven:
    question, answer = home / "question.json", home / "answer.json"
    with timed_model(LATENCY_S) as model:
        question.write_text(json.dumps(_question(model, tool_results)))
        script = CHECKOUT / "bench/peers/tau2_talk.py"
        peak = _run([str(python), str(script), str(question), str(answer)], environment(home))
    first = json.loads(answer.read_text(encoding="utf-8"))[0]
    return Driven(model.log, peak, first["toolResults"])


def _question(model: TimedModel, tool_results: Mapping[str, Any]) -> dict[str, Any]:
    """The same texts and tool results as ours, where tau2 has a place for them."""
    folder = CHECKOUT / "agent_config/agents/spoke"
    texts = [folder / "instructions.md", *sorted((folder / "skills").glob("*.md"))]
    return {
        "url": model.url,
        "key": KEY,
        "agent": AGENT,
        "user": USER,
        "policy": "\n\n".join(text.read_text(encoding="utf-8") for text in texts),
        "goal": GOAL,
        "tools": dict(tool_results),
        "talks": [talk.opening for talk in TALKS],
    }


def _run(command: Sequence[str], variables: Mapping[str, str]) -> float:
    """Run to the end and return the peak memory of all its processes in MB.

    Raises:
        RunFailed: it ended with an error; the text is the end of what it printed.
    """
    with tempfile.TemporaryFile("w+") as printed:
        child = subprocess.Popen(
            command, cwd=CHECKOUT, env=dict(variables), stdout=printed, stderr=printed, stdin=subprocess.DEVNULL
        )
        with watched_memory(child.pid) as peak:
            code = child.wait()
        printed.seek(0)
        if code != 0:
            raise RunFailed(f"{' '.join(command[:3])} ended with {code}:\n{printed.read()[-2000:]}")
    return peak.megabytes
