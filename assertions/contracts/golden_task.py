"""The plain terms of a contract: which tools, how many calls and turns, how much money and time, which facts.

| key | passes when | what counts |
|---|---|---|
| `required_tools` | each was executed at least once | calls that ran, whether or not they succeeded |
| `allowed_tools` | no other tool was called | every attempt, refused ones included |
| `forbidden_tools` | none of them was called | every attempt that could be read, refused ones included |
| `max_tool_calls` | not more calls than that | every attempt: a failed call costs as much as another |
| `max_turns` | not more user messages than that | turns of the record |
| `max_cost` | the agent cost no more | the agent's model calls, in the price table's currency |
| `max_latency_s` | the episode took no longer | its duration without the calls of the models beside it |
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from typing import Any

from assertions.evidence import Evidence
from assertions.remember import remembered
from assertions.verdict import CheckResult, NotEvaluated, failed, passed
from episodes.record import ToolCall


def required_tools(name: str, evidence: Evidence, wanted: Sequence[str]) -> CheckResult:
    calls = evidence.calls()
    ran = [call.name for call in calls if call.status.executed]
    missing = [tool for tool in wanted if not any(fnmatchcase(called, tool) for called in ran)]
    score = 1.0 - len(missing) / len(wanted)
    if not missing:
        return passed(name, f"executed: {', '.join(wanted)}")
    unanswered = [call.name for call in calls if call.status.executed is None]
    if all(any(fnmatchcase(called, tool) for called in unanswered) for tool in missing):
        raise NotEvaluated(f"{missing[0]} was sent and never answered, so it may or may not have run")
    attempts = [call for call in calls if fnmatchcase(call.name, missing[0])]
    tried = f" (attempted {_times(attempts)}, {attempts[-1].status}: {attempts[-1].problem})" if attempts else ""
    return failed(name, f"not executed: {', '.join(missing)}{tried}; executed: {_names(ran)}", score)


def allowed_tools(name: str, evidence: Evidence, allowed: Sequence[str]) -> CheckResult:
    for number, call in enumerate(evidence.calls(), 1):
        if not any(fnmatchcase(call.name, tool) for tool in allowed):
            return failed(name, f"{_place(call, number)} is not allowed; allowed: {_names(allowed)}")
    return passed(name, "only allowed tools were called")


def forbidden_tools(name: str, evidence: Evidence, forbidden: Sequence[str]) -> CheckResult:
    """As the assertion `tool_not_executed`, which has the rules for calls without a readable text or an answer."""
    from assertions.tool_not_executed import check

    found = check(evidence, _ban_on(forbidden))
    return CheckResult(name, found.verdict, found.score, found.reason)


def _as_config(forbidden: Sequence[str]) -> dict[str, Any]:
    return {"tools": list(forbidden)}


_ban_on = remembered(_as_config)


def max_tool_calls(name: str, evidence: Evidence, most: int) -> CheckResult:
    return _at_most(name, len(evidence.calls()), most, "tool calls")


def max_turns(name: str, evidence: Evidence, most: int) -> CheckResult:
    turns = evidence.turn_count()
    if turns == 0:
        raise NotEvaluated("the record does not number its turns")
    return _at_most(name, turns, most, "turns")


def max_cost(name: str, evidence: Evidence, most: float) -> CheckResult:
    cost = evidence.record().usage.agent.cost
    if cost is None:
        raise NotEvaluated("the agent's cost is unknown: the price table does not have its model")
    return _at_most(name, cost, most, "spent by the agent")


def max_latency_s(name: str, evidence: Evidence, most: float) -> CheckResult:
    timings = evidence.record().timings
    if timings.duration_ms <= 0:
        raise NotEvaluated("the record has no duration")
    others_ms = timings.user_model_ms + timings.judge_model_ms
    return _at_most(name, max(0.0, timings.duration_ms - others_ms) / 1000, most, "seconds")


Term = Callable[[str, Evidence, Any], CheckResult]

TERMS: dict[str, Term] = {
    "required_tools": required_tools,
    "allowed_tools": allowed_tools,
    "forbidden_tools": forbidden_tools,
    "max_tool_calls": max_tool_calls,
    "max_turns": max_turns,
    "max_cost": max_cost,
    "max_latency_s": max_latency_s,
}


def _at_most(name: str, actual: float, most: float, what: str) -> CheckResult:
    if actual <= most:
        return passed(name, f"{actual:.6g} {what}, at most {most:.6g} allowed")
    return failed(name, f"{actual:.6g} {what}, at most {most:.6g} allowed")


def _place(call: ToolCall, number: int) -> str:
    return f"call {number}, {call.name} in turn {call.turn},"


def _times(calls: Sequence[ToolCall]) -> str:
    return "once" if len(calls) == 1 else f"{len(calls)} times"


def _names(names: Sequence[str]) -> str:
    return ", ".join(dict.fromkeys(names)) or "none"
