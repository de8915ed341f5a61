"""The judgement behind `scenario`: each expectation is met or not, and the scenario is their conjunction.

| expectation | met when |
|---|---|
| message | a message of the agent holds the words |
| tool call | such a call was executed, whatever else was called |
| variable | the session variable has the value when the conversation ends |
| variable with `after_step` | it had the value when that step of the simulation was reached |
| variable with `after_tool` | it has the value at the end, and got it from that tool or after it, and not before |
| variable with `must: false` | it does not have the value at that moment |
| with `after_tool` | the same, but after that tool succeeded, and never before |
| `must: false` | there is no such message, or no such call was even attempted |
| `must: false` with `after_tool` | there is none after that tool succeeded; what came before does not matter |
| with `if_variable` | the same, if the session's variables have these values; otherwise it does not apply |

A tool call that was sent and never answered may have run: an expectation that hangs on it is NOT EVALUATED. So is a
scenario of which no expectation applies, and a variable of an agent whose changes nobody watched.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from assertions.contracts.judgement import combined
from assertions.evidence import Evidence
from assertions.matching.call_pattern import CallPattern, ToolName
from assertions.matching.json_values import shown
from assertions.pull_requests.proof import message_text
from assertions.run_check import judged
from assertions.scenarios.expectations import NAME, Expectation, MessagePattern, VariablePattern
from assertions.scenarios.variables import judge_variable
from assertions.verdict import CheckResult, NotEvaluated, failed, passed
from episodes.frozen import frozen
from episodes.record import ToolCall, ToolStatus

_NOWHERE = 10**9


@frozen
class Found:
    """Something that fits: where it stands in the conversation, and how to name it."""

    place: int
    name: str


def judge(evidence: Evidence, expectations: Sequence[Expectation]) -> CheckResult:
    """Judge every expectation that applies."""
    parts: list[CheckResult] = []
    for number, expectation in enumerate(expectations, 1):
        if _applies(expectation, evidence):
            label = f"expectation {number}"
            parts.append(judged(label, _check_of(label, expectation), evidence, {}))
    if not parts:
        raise NotEvaluated("no expectation applies: the session's variables have other values")
    return combined(NAME, parts)


def _check_of(label: str, expectation: Expectation) -> Any:
    return lambda evidence, _: _judge_one(label, expectation, evidence)


def _judge_one(label: str, expectation: Expectation, evidence: Evidence) -> CheckResult:
    if isinstance(expectation.wanted, VariablePattern):
        return judge_variable(label, expectation, expectation.wanted, evidence)
    begin = -1
    if expectation.after_tool is not None:
        begin = _first_success(evidence, expectation.after_tool)
        if begin == _NOWHERE:
            if not expectation.must:
                return passed(
                    label, f"{expectation}: {expectation.after_tool} did not succeed, so nothing came after it"
                )
            return failed(label, f"expected {expectation}, but {expectation.after_tool} did not succeed")
    found = list(_found(expectation, evidence))
    after = [one for one in found if one.place > begin]
    early = [one for one in found if one.place <= begin]
    if not expectation.must:
        if after:
            return failed(label, f"expected {expectation}, but there is {after[0].name}")
        return passed(label, str(expectation))
    if early:
        return failed(label, f"expected {expectation}, but it came before: {early[0].name}")
    if not after:
        return failed(label, f"expected {expectation}, but there is none")
    return passed(label, f"{expectation}: {after[0].name}")


def _applies(expectation: Expectation, evidence: Evidence) -> bool:
    if expectation.if_variable is None:
        return True
    given = evidence.vars.get("session_parameters")
    values = given if isinstance(given, Mapping) else {}
    return all(name in values and _same(values[name], value) for name, value in expectation.if_variable.items())


def _same(left: Any, right: Any) -> bool:
    """JSON equality: true is not 1."""
    return isinstance(left, bool) == isinstance(right, bool) and left == right


def _found(expectation: Expectation, evidence: Evidence) -> Iterator[Found]:
    if isinstance(expectation.wanted, MessagePattern):
        yield from _messages(expectation.wanted, evidence)
    elif isinstance(expectation.wanted, CallPattern):
        yield from _calls(expectation, expectation.wanted, evidence)


def _messages(wanted: MessagePattern, evidence: Evidence) -> Iterator[Found]:
    messages = evidence.record().messages
    if not any(message.get("role") == "assistant" for message in messages):
        raise NotEvaluated("the record holds no words of the agent")
    for place, message in enumerate(messages):
        text = message_text(message) if message.get("role") == "assistant" else ""
        if text and wanted.found_in(text):
            yield Found(place, f"{shown(' '.join(text.split()), 80)} in turn {message.get('turn')}")


def _calls(expectation: Expectation, wanted: CallPattern, evidence: Evidence) -> Iterator[Found]:
    pattern, must = wanted.resolved(evidence), expectation.must
    for number, call in enumerate(evidence.calls(), 1):
        match = pattern.match(call)
        if match is None or not match.fits:
            continue
        if must and call.status.executed is None:
            raise NotEvaluated(
                f"{call.name} (call {number}) was sent and never answered, so it may or may not have run"
            )
        if must and not call.status.executed:
            continue
        # Where it stands matters, and must be known, only for an expectation about what comes after something.
        place = 0 if expectation.after_tool is None else _place(call, evidence)
        yield Found(place, f"{call.name} (call {number}, turn {call.turn}, {call.status})")


def _first_success(evidence: Evidence, tool: ToolName) -> int:
    places = [_place(call, evidence) for call in evidence.calls() if tool.fits(call) and call.status is ToolStatus.OK]
    return min(places, default=_NOWHERE)


def _place(call: ToolCall, evidence: Evidence) -> int:
    """Where the call's result stands among the messages; calls of one batch stand together.

    Raises:
        NotEvaluated: the record does not hold the messages that the calls belong to.
    """
    for place, message in enumerate(evidence.record().messages):
        asked = message.get("tool_calls")
        if isinstance(asked, list) and any(isinstance(one, dict) and one.get("id") == call.id for one in asked):
            return place
    raise NotEvaluated(f"the record does not show where {call.name} was called among the messages")
