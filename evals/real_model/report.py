"""A run with the real model, in words: what was used up, what the agent did wrong, and whether the machinery held."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evals.exit_codes import Exit, worst
from evals.real_model.limits import Limits, Used, faults, is_from_text, used_by
from evals.results import NOT_EVALUATED, Row, Status
from evals.summary import RunOutcome
from evals.terminal_text import one_line
from providers.conversation.simulated_user import DRAFT_WARNING

MEANING = """\
This shows that loop, tools, simulated developer, records, checks and cleanup work with what a real model writes. It
says nothing about the quality of an agent: this model is far too small for the task. No model judged; the checks are
exact."""

_STATUS = {
    Status.PASSED: "passed",
    Status.FAILED: "failed",
    Status.ERRORED: "not judged",
    Status.NOT_EVALUATED: "not evaluated",
}


@dataclass(frozen=True)
class RealRun:
    """One run. `broke_off` says why promptfoo ended before its last case; it is empty when it did not."""

    title: str
    outcome: RunOutcome
    limits: Limits
    broke_off: str = ""

    @property
    def faults(self) -> list[str]:
        """In words, where the machinery did not hold."""
        found = [
            f"{row.case_id} {fault}" for row in self.outcome.rows for fault in faults(row, used_by(row), self.limits)
        ]
        return found + ([self.broke_off] if self.broke_off else [])

    @property
    def exit(self) -> Exit:
        """0 when every case ended with a record and in bounds, whatever the agent did; else 2. 3 and 130 as always."""
        codes = [Exit.NOT_EVALUATED if self.faults else Exit.PASSED]
        if self.outcome.leftovers.left:
            codes.append(Exit.LEFT_BEHIND)
        if self.outcome.interrupted:
            codes.append(Exit.INTERRUPTED)
        return worst(codes)


def in_words(run: RealRun) -> str:
    """The report, ready to print."""
    return "\n".join(_lines(run))


def _lines(run: RealRun) -> Iterator[str]:
    rows = run.outcome.rows
    yield ""
    yield f"{run.title} was the agent and the developer, on this machine:"
    for row in rows:
        yield ""
        yield from _case(row, run.limits)
    yield ""
    counts = Counter(_STATUS[row.status] for row in rows)
    told = ", ".join(f"{counts[word]} {word}" for word in _STATUS.values() if counts[word])
    yield f"{told or 'No case ended'}, in {run.outcome.seconds:.0f} s."
    leftovers = run.outcome.leftovers
    if leftovers.opened or leftovers.left:
        yield f"Pull requests: {leftovers.opened} opened, {leftovers.abandoned} abandoned."
    yield from (f"LEFT BEHIND: {sentence}" for sentence in leftovers.left)
    if leftovers.command:
        yield f"To finish: {leftovers.command}"
    if run.outcome.interrupted:
        yield "Stopped before its last case had ended: what was going on then has no record, and says nothing."
    elif run.faults:
        yield "The machinery did NOT hold:"
        yield from (f"  {one_line(fault)}" for fault in run.faults)
    else:
        yield "The machinery held: every case ended with a record and within its limits."
        yield MEANING
    if run.outcome.results_file is not None:
        yield f"Results: {run.outcome.results_file}"
        yield "To read the conversations: npm run eval:view (or yarn eval:view)"


def _case(row: Row, limits: Limits) -> Iterator[str]:
    used = used_by(row)
    yield f"{one_line(row.description or row.case_id)}: {_STATUS[row.status]}"
    if not used.stop_reason:
        yield f"  There is no record: {one_line(row.reason)}"
        return
    yield f"  ended by {used.stop_reason} after {_spent(used, limits)}"
    tools = _tools(row)
    yield f"  tools: {tools}" if tools else "  tools: none was called"
    if row.status is Status.ERRORED:
        yield f"  no check was made: {one_line(row.reason)}"
    # A check by itself and the same check inside a contract may say the same.
    for reason in dict.fromkeys(row.reasons):
        unknown = reason.startswith(NOT_EVALUATED)
        said = one_line(reason.removeprefix(NOT_EVALUATED))
        yield f"  not judged: {said}" if unknown else f"  wrong: {said}"
    drafts = [text for text in _warnings(row) if text.startswith(DRAFT_WARNING)]
    yield from (f"  developer: {one_line(text)}" for text in drafts)


def _spent(used: Used, limits: Limits) -> str:
    return (
        f"{used.turns} of {limits.turns} turns, {used.steps} of {limits.steps} steps, "
        f"{used.seconds:.0f} of {limits.seconds:.0f} s, {used.agent_tokens:,} tokens of the agent "
        f"and {used.user_tokens:,} of the developer"
    )


def _tools(row: Row) -> str:
    calls = row.metadata.get("toolCalls")
    listed = [call for call in calls if isinstance(call, Mapping)] if isinstance(calls, list) else []
    told = [_call(call) for call in listed]
    from_text = sum(map(is_from_text, listed))
    return ", ".join(told) + (f" ({from_text} of {len(listed)} were written as text)" if from_text else "")


def _call(call: Mapping[str, Any]) -> str:
    name, status = one_line(str(call.get("name"))), str(call.get("status"))
    return name if status == "ok" else f"{name} ({status})"


def _warnings(row: Row) -> Sequence[str]:
    warnings = row.metadata.get("warnings")
    return [text for text in warnings if isinstance(text, str)] if isinstance(warnings, list) else []
