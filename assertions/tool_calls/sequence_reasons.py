"""Why a sequence did not take place, or which calls made it: the words of `tool_sequence`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from assertions.matching.argument_fit import ArgumentMatch
from assertions.matching.json_values import counted
from assertions.matching.selection import Seen, Selection
from assertions.tool_calls.absence import DONE, NOT_DONE, listed, why_absent
from assertions.tool_calls.alignment import Alignment
from assertions.tool_calls.sequence_config import Mode, SequenceConfig
from assertions.tool_calls.steps import Step
from episodes.frozen import frozen


@frozen
class Outcome:
    """Steps and calls, and how they were aligned. `alignment` is the one that the mode asks for.

    `surplus` are calls beyond a step's `max`; `fitting` has, for each step, the calls that fit it, `matches` how each
    call of its tools does; `undecided` says which arguments were cut, if that matters.
    """

    steps: tuple[Step, ...]
    calls: tuple[Seen, ...]
    alignment: Alignment
    in_order: Alignment
    freely: Alignment
    surplus: tuple[int, ...]
    score: float
    fitting: Sequence[Sequence[int]]
    matches: Sequence[Mapping[int, ArgumentMatch]]
    undecided: str = ""

    @property
    def serving(self) -> list[Seen]:
        """The calls that serve a step."""
        return [seen for seen, step in zip(self.calls, self.alignment.step_of, strict=True) if step is not None]

    def served(self, step: int) -> list[Seen]:
        return [self.calls[call] for call in self.alignment.calls_of(step)]


def praise(made: Sequence[Seen], config: SequenceConfig, serving: Sequence[Seen] | None = None) -> str:
    """The reason of a pass: the calls that serve a step (by default all that were made), and how many were made."""
    calls = counted(len(made), f"{DONE[config.when]} call")
    found = listed([f"{seen.call.name} ({seen.number})" for seen in (made if serving is None else serving)])
    return f"{config.mode}{config.turns}: {found}; {calls}"


def explain(outcome: Outcome, selection: Selection, config: SequenceConfig) -> str:
    """The first mismatch in one sentence, then both lists."""
    expected = listed([step.short for step in outcome.steps])
    made = listed([seen.call.name for seen in outcome.calls])
    problem = _problem(outcome, selection, config)
    return f"{problem}. Expected {config.mode}{config.turns}: {expected}. {DONE[config.when].capitalize()}: {made}"


def _problem(outcome: Outcome, selection: Selection, config: SequenceConfig) -> str:
    if config.mode is not Mode.SUBSET:
        for index, step in enumerate(outcome.steps):
            if outcome.alignment.step_of.count(index) < step.least:
                return f"step {index + 1}, {step}: {_why_missing(outcome, index, selection, config)}"
    left = outcome.surplus or tuple(outcome.alignment.left_over())
    return _why_extra(outcome, left[0], config)


def _why_missing(outcome: Outcome, index: int, selection: Selection, config: SequenceConfig) -> str:
    step = outcome.steps[index]
    spare = [call for call in outcome.alignment.left_over() if call in outcome.fitting[index]]
    if spare and config.mode.ordered:
        return _why_out_of_order(outcome, index, outcome.calls[spare[0]])
    if step.least > 1:
        served = outcome.served(index)
        return f"{counted(len(served), f'{DONE[config.when]} call')}, expected at least {step.least}"
    close = _closest(outcome, index)
    if close:
        return close
    taken = outcome.fitting[index]
    if taken:
        return f"{outcome.calls[taken[0]]} serves another step already, expected one more call"
    return f"{NOT_DONE[config.when]}{why_absent(step.pattern, selection, config.when)}"


def _why_out_of_order(outcome: Outcome, index: int, spare: Seen) -> str:
    before = [seen for earlier in range(index) for seen in outcome.served(earlier)]
    after = [seen for later in range(index + 1, len(outcome.steps)) for seen in outcome.served(later)]
    acts_on_answers = outcome.steps[index].after_answers
    for seen in reversed(before):
        if acts_on_answers and (seen.call.batch, seen.call.turn) == (spare.call.batch, spare.call.turn):
            return f"{spare} is in one parallel batch with {seen}, so it came without its answer"
        if seen.number > spare.number:
            return f"{spare} came before {seen}"
    for seen in after:
        if seen.number < spare.number:
            return f"{spare} came after {seen}"
    for seen in after:
        if (seen.call.batch, seen.call.turn) == (spare.call.batch, spare.call.turn):
            return f"{seen} is in one parallel batch with {spare}, so it came without its answer"
    return f"{spare} is out of order"


def _closest(outcome: Outcome, step: int) -> str:
    """The call of the right tool whose arguments fit best, and what is wrong with them."""
    best: tuple[float, str] | None = None
    for call, match in outcome.matches[step].items():
        if match.mismatches:
            right, considered = match.share
            if best is None or right / considered > best[0]:
                more = f" (and {len(match.mismatches) - 1} more)" if len(match.mismatches) > 1 else ""
                best = right / considered, f"{outcome.calls[call]}: {match.mismatches[0].text}{more}"
    return best[1] if best else ""


def _why_extra(outcome: Outcome, call: int, config: SequenceConfig) -> str:
    seen = outcome.calls[call]
    for index, step in enumerate(outcome.steps):
        if call in outcome.fitting[index]:
            room = step.most is None or len(outcome.served(index)) < step.most
            if room and config.mode.ordered:
                return f"step {index + 1}, {step}: {_why_out_of_order(outcome, index, seen)}"
            times = counted(step.most or 0, "time")
            return f"{seen} is one too many: step {index + 1}, {step}, is expected at most {times}"
    for row in outcome.matches:
        match = row.get(call)
        if match is not None:
            return f"{seen} is not expected: {match.mismatches[0].text}"
    return f"{seen} is not expected"
