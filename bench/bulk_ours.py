"""Our side of `bench.bulk`: the same question as the peers get, and records for `evals grade`.

`python -m bench.bulk_ours QUESTION ANSWER`, so that ours is measured in a process of its own too.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from time import process_time
from typing import Any

from assertions import PreparedCase, Recorded, Verdict, grade_all, prepare
from bench.bulk_episodes import Call
from episodes.record import Episode, StopReason, ToolCall, ToolStatus

WARM_UP = 50


def answer(question: dict[str, Any]) -> dict[str, Any]:
    """For each task: processor time in seconds, and which episodes passed."""
    recorded = [Recorded.of(episode_of(one)) for one in question["episodes"]]
    answers: dict[str, Any] = {}
    for task in ("exact", "any_order", "superset"):
        cases = prepared(question["cases"], task)
        for _ in grade_all(cases, recorded[:WARM_UP]):
            pass
        start = process_time()
        graded = [(one.verdict, one.reason) for one in grade_all(cases, recorded)]
        answers[task] = {
            "seconds": process_time() - start,
            "passed": [verdict is Verdict.PASS for verdict, _ in graded],
        }
    return answers


def prepared(cases: Iterable[list[Call]], mode: str) -> dict[str, PreparedCase]:
    return {
        case_id(index): prepare([("tool_sequence", config_of(calls, mode))], {}, case_id=case_id(index))
        for index, calls in enumerate(cases)
    }


def config_of(calls: list[Call], mode: str) -> dict[str, Any]:
    """These calls with just these arguments."""
    steps = [{"tool": call["name"], "args": call["arguments"], "match": {"mode": "exact"}} for call in calls]
    return {"mode": mode, "steps": steps}


def case_id(index: int) -> str:
    return f"B{index:02}"


def episode_of(one: dict[str, Any]) -> Episode:
    calls = tuple(
        ToolCall(
            id=f"call_{number}",
            turn=1,
            step=number,
            batch=number,
            server="portal",
            name=call["name"],
            arguments=call["arguments"],
            arguments_raw=json.dumps(call["arguments"]),
            status=ToolStatus.OK,
            result={"ok": True},
        )
        for number, call in enumerate(one["calls"], 1)
    )
    messages = (
        {"role": "user", "content": "Please make the spoke.", "turn": 1},
        {"role": "assistant", "content": "The pull request is open.", "turn": 1},
    )
    return Episode(case_id(one["case"]), "step", StopReason.GOAL_REACHED, messages=messages, tool_calls=calls)


def lines(episodes: Iterable[dict[str, Any]]) -> Iterator[str]:
    """The records as lines of a file for `evals grade`."""
    for one in episodes:
        yield json.dumps(episode_of(one).to_metadata()) + "\n"


def main(question: str, answered: str) -> None:
    asked = json.loads(Path(question).read_text(encoding="utf-8"))
    Path(answered).write_text(json.dumps(answer(asked)), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
