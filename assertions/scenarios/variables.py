"""The judgement of one expectation about the value of a session variable: at the end, after a step, or after a tool."""

from __future__ import annotations

from assertions.evidence import Evidence
from assertions.matching.json_values import shown, why_unknown
from assertions.scenarios.expectations import Expectation, VariablePattern
from assertions.verdict import CheckResult, ConfigError, NotEvaluated, failed, passed
from episodes.record import ToolStatus, VariableValue


def judge_variable(label: str, expectation: Expectation, wanted: VariablePattern, evidence: Evidence) -> CheckResult:
    """Judge it by the values that the variable got, in order.

    Raises:
        NotEvaluated: the record does not say how variables changed, or the value was cut when it was recorded.
    """
    history = evidence.record().variables
    if history is None:
        raise NotEvaluated("the record does not say how the session's variables changed")
    values = [value for value in history if value.name == wanted.name]
    if expectation.after_step:
        turn = _turn_of(expectation.after_step, evidence)
        if not turn:
            return failed(label, f"expected {expectation}, but step {expectation.after_step} was not reached")
        values = [value for value in values if value.turn <= turn]
    value = values[-1] if values else None
    if value is not None and (why := why_unknown(value.value)):
        raise NotEvaluated(f"the value of the variable {wanted.name} {why}")
    fits = value is not None and wanted.fits(value.value)
    found = _in_words(wanted, value, evidence)
    if not expectation.must:
        return (
            failed(label, f"expected {expectation}, but {found}") if fits else passed(label, f"{expectation}: {found}")
        )
    if not fits:
        return failed(label, f"expected {expectation}, but {found}")
    if expectation.after_tool is not None:
        return _after_tool(label, expectation, wanted, values, evidence)
    return passed(label, f"{expectation}: {found}")


def _after_tool(
    label: str, expectation: Expectation, wanted: VariablePattern, values: list[VariableValue], evidence: Evidence
) -> CheckResult:
    """The value fits at the end. It has to come from that tool, or from what came after it."""
    tool = expectation.after_tool
    assert tool is not None
    calls = evidence.calls()
    order = {call.id: number for number, call in enumerate(calls)}
    first = next((order[call.id] for call in calls if tool.fits(call) and call.status is ToolStatus.OK), None)
    if first is None:
        return failed(label, f"expected {expectation}, but {tool} did not succeed")
    early = next((one for one in values if wanted.fits(one.value) and order.get(one.call_id, -1) < first), None)
    if early is not None:
        return failed(label, f"expected {expectation}, but before that, {_in_words(wanted, early, evidence)}")
    return passed(label, f"{expectation}: {_in_words(wanted, values[-1], evidence)}")


def _turn_of(step: int, evidence: Evidence) -> int:
    """The turn in which a step was reached; 0 when it was not."""
    goals = evidence.record().goals
    if not goals:
        raise NotEvaluated("the record has no steps: this conversation was no simulation")
    if step > len(goals):
        raise ConfigError(
            "/after_step", f"{step} is more than the simulation's {len(goals)} steps", f"1 to {len(goals)}"
        )
    return next((goal.turn for goal in goals if goal.step == step and goal.status == "reached"), 0)


def _in_words(wanted: VariablePattern, value: VariableValue | None, evidence: Evidence) -> str:
    if value is None:
        return f"{wanted.name} was not set"
    setter = next(
        (call for call in evidence.record().tool_calls or () if value.call_id and call.id == value.call_id), None
    )
    where = (
        f"by {setter.name} in turn {value.turn}"
        if setter
        else f"in turn {value.turn}"
        if value.turn
        else "at the start"
    )
    return f"{wanted.name} was set to {shown(value.value, 80)} {where}"
