"""Whole conversations for tests: tool calls with results, messages of both sides, pull requests, usage."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from assertions.evidence import Evidence
from assertions.verdict import Verdict
from episodes.record import Episode, PullRequest, StopReason, Timings, ToolCall, ToolStatus, Usage

PASS, FAIL, NOT_EVALUATED = Verdict.PASS, Verdict.FAIL, Verdict.NOT_EVALUATED


def tool(
    name: str,
    arguments: dict[str, Any] | None = None,
    result: Any = None,
    *,
    status: str = "ok",
    turn: int = 1,
    batch: int = 0,
    replayed: bool = False,
    problem: str = "",
) -> ToolCall:
    """One call with its result. A batch of 0 becomes its position in `conversation`."""
    raw = json.dumps(arguments or {}) if arguments is not None or status != "parse_error" else '{"cut'
    return ToolCall(
        id=f"{name}-{turn}",
        turn=turn,
        step=turn,
        batch=batch,
        server="portal",
        name=name,
        arguments=None if status == "parse_error" else (arguments or {}),
        arguments_raw=raw,
        status=ToolStatus(status),
        result=result,
        problem=problem,
        replayed=replayed,
    )


def says(role: str, content: Any, turn: int = 1) -> dict[str, Any]:
    return {"role": role, "content": content, "turn": turn}


def conversation(
    *calls: ToolCall,
    messages: Sequence[dict[str, Any]] = (),
    output: str = "Done.",
    pull_requests: Sequence[PullRequest] = (),
    known: bool = True,
    usage: Usage | None = None,
    timings: Timings | None = None,
    stop: StopReason = StopReason.USER_STOP,
    variables: dict[str, Any] | None = None,
) -> Evidence:
    """The evidence of one episode; `known=False` leaves the tool calls unknown."""
    episode = Episode(
        case_id="C01",
        step_id="test-0-prompt-0-repeat-0",
        stop_reason=stop,
        messages=tuple(messages),
        tool_calls=tuple(calls) if known else None,
        pull_requests=tuple(pull_requests),
        usage=usage or Usage(),
        timings=timings or Timings(),
    )
    return Evidence(episode, output, variables or {}, "C01")
