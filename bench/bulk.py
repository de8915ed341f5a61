"""Bulk grading of 10,000 episodes: ours, agentevals, DeepEval and pydantic_evals, and `evals grade` on 10 to 10,000.

Everybody gets the same episodes, in its own form and in memory before the clock starts, in a process of its own that
does nothing else; what counts is processor time. Verdicts are compared first: speed means nothing where they differ.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from bench.bulk_episodes import HARMLESS, STILL_RIGHT, generate
from bench.bulk_ours import case_id, config_of, lines
from bench.figure import Figure
from bench.peers.environment import PeerEnvironmentError, ask, python_of
from bench.runs import CHECKOUT

EPISODES = 10_000
ROUNDS = 3
PEERS = ("agentevals", "deepeval", "pydantic-evals")
GRADERS = CHECKOUT / "bench/peers/graders"

EXPLAINED = {"true written as 1": "in Python, True == 1"}
"""Changes that the peers do not see, and why; ours does, because JSON tells them apart."""

LENGTHS = (10, 100, 1_000, 10_000)
"""Lines of the files for `evals grade`. The time of an empty file is taken off; what is left of 10 lines is less than
what the start varies by, so growth of time is held from 1,000 on, growth of memory from 10 on."""

Answers = dict[str, dict[str, Any]]
"""For each task: `seconds`, and which episodes `passed`. Times below are processor time per episode."""


def measure(episodes: int = EPISODES, rounds: int = ROUNDS) -> list[Figure]:
    cases, recorded = generate(episodes)
    question = {"cases": cases, "episodes": recorded}
    peers = [peer for peer in PEERS if _there(peer)]
    taken: dict[str, list[Answers]] = {name: [] for name in ("ours", *peers)}
    for _ in range(rounds):  # they take turns, so that a slow minute of the machine hits all
        taken["ours"].append(_ours(question))
        for peer in peers:
            taken[peer].append(ask(peer, GRADERS / f"{peer.replace('-', '_')}_grader.py", question))
    agreement = list(_compared(recorded, {name: answers[0] for name, answers in taken.items()}))
    times = {
        name: {task: min(one[task]["seconds"] for one in answers) / episodes * 1e6 for task in answers[0]}
        for name, answers in taken.items()
    }
    compared = Figure("libraries that ours is compared with", len(peers), "", len(PEERS), at_least=True)
    return [compared, *agreement, *_speeds(times), *_growth(cases)]


def _there(peer: str) -> bool:
    """Whether there is an environment for the peer, or one can be made; if not, it says why."""
    try:
        python_of(peer, lambda line: print(f"  {line}", flush=True))
    except PeerEnvironmentError as problem:
        print(f"  left out: {problem}", flush=True)
        return False
    return True


def _ours(question: Mapping[str, Any]) -> Answers:
    with tempfile.TemporaryDirectory() as name:
        asked, answered = Path(name) / "question.json", Path(name) / "answer.json"
        asked.write_text(json.dumps(question), encoding="utf-8")
        command = [sys.executable, "-m", "bench.bulk_ours", str(asked), str(answered)]
        subprocess.run(command, cwd=CHECKOUT, check=True)
        answers: Answers = json.loads(answered.read_text(encoding="utf-8"))
        return answers


def _compared(recorded: list[dict[str, Any]], answers: Mapping[str, Answers]) -> Iterator[Figure]:
    """Ours against what was done to each episode, then each peer against ours."""
    wrong = sum(
        passed is not is_right(one["change"], task)
        for task, answer in answers["ours"].items()
        for one, passed in zip(recorded, answer["passed"], strict=True)
    )
    yield Figure("our verdicts that are wrong", wrong, "", 0)
    for peer in list(answers)[1:]:
        differ = Counter(
            one["change"]
            for task, answer in answers[peer].items()
            for one, passed, own in zip(
                recorded, answer["passed"], answers["ours"][task.removesuffix(" by hand")]["passed"], strict=True
            )
            if passed is not own
        )
        for change, count in differ.items():
            print(f"  {peer} differs on {count} x {change}: {EXPLAINED.get(change, 'NOT EXPLAINED')}", flush=True)
        unexplained = sum(count for change, count in differ.items() if change not in EXPLAINED)
        yield Figure(f"verdicts of {peer} that differ without an explanation", unexplained, "", 0)


def is_right(change: str, task: str) -> bool:
    """Whether an episode is still what its case expects."""
    return change in HARMLESS or change in STILL_RIGHT[task]


def _speeds(times: Mapping[str, Mapping[str, float]]) -> Iterator[Figure]:
    for name, tasks in times.items():
        shown = ", ".join(f"{task} {microseconds:,.0f} µs" for task, microseconds in tasks.items())
        print(f"  {name}, per episode: {shown}", flush=True)
    ours = times["ours"]
    yield Figure("ours: episodes a second and core, exact", 1e6 / ours["exact"], "/s")
    peers = list(times)[1:]
    if peers:
        fastest = min(times[peer]["exact"] for peer in peers)
        yield Figure("the fastest of them / ours, exact", fastest / ours["exact"], "x", 50, at_least=True)
    for peer in peers:
        for task, microseconds in times[peer].items():
            own = ours[task.removesuffix(" by hand")]
            yield Figure(f"{peer} / ours, {task}", microseconds / own, "x")


def _growth(cases: list[Any]) -> Iterator[Figure]:
    """`evals grade` on a short file and on a long one: how time and memory grow."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        expected = folder / "cases.yaml"
        expected.write_text(yaml.safe_dump([_as_case(index, calls) for index, calls in enumerate(cases)]))
        _, recorded = generate(LENGTHS[-1])
        seconds, memory = {}, {}
        for count in (0, *LENGTHS):
            file = folder / f"{count}.jsonl"
            with file.open("w", encoding="utf-8") as out:
                out.writelines(lines(recorded[:count]))
            seconds[count], memory[count] = min(_graded(file, expected) for _ in range(3))
    first, *_, before, last = LENGTHS
    each = {count: (seconds[count] - seconds[0]) / count for count in LENGTHS}
    yield Figure("evals grade from a file: episodes a second and core", 1 / each[last], "/s")
    for count in LENGTHS:
        yield Figure(f"evals grade, {count:,} episodes: beyond an empty file", each[count] * count * 1000, "ms")
    yield Figure(f"time per episode of {last:,} / of {before:,}", each[last] / each[before], "x", 1.1)
    yield Figure(f"peak memory at {last:,} episodes beyond that at {first}", memory[last] - memory[first], "MB", 8)


def _graded(file: Path, cases: Path) -> tuple[float, float]:
    """Processor time in seconds and peak memory in MB of one `evals grade`."""
    command = [sys.executable, "-m", "evals", "grade", str(file), "--cases", str(cases)]
    with subprocess.Popen(command, cwd=CHECKOUT, stdout=subprocess.DEVNULL) as process:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 1, 4):
        raise RuntimeError(f"{' '.join(command)} ended with {process.returncode}")
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def _as_case(index: int, calls: list[Any]) -> dict[str, Any]:
    check = {"type": "python", "value": f"file://{CHECKOUT}/assertions/tool_sequence.py"}
    return {
        "description": f"{case_id(index)} makes a spoke",
        "metadata": {"id": case_id(index), "group": "bulk", "priority": "full", "risk": "low"},
        "vars": {"request": "Please make the spoke."},
        "assert": [check | {"config": config_of(calls, "exact")}],
    }
