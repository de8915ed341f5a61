"""The judgement behind `tool_sequence`: the expected tools were called, in the expected order.

Truth table. Expected steps `a, b`; the calls that count are in the left column:

| calls | `exact` | `in_order` (default) | `any_order` | `subset` | `superset` |
|---|---|---|---|---|---|
| a b | pass | pass | pass | pass | pass |
| b a | fail | fail | pass | pass | pass |
| a x b | fail | pass | fail | fail | pass |
| b x a | fail | fail | fail | fail | pass |
| a b b | fail | pass | fail | fail | pass |
| a | fail | fail | fail | pass | fail |
| (none) | fail | fail | fail | pass | fail |
| x | fail | fail | fail | fail | fail |
| a and b in one parallel batch | pass | pass | pass | pass | pass |

`exact`: these calls and no others, in this order. `in_order`: these in this order, others anywhere. `any_order`: these
and no others. `subset`: no others than these. `superset`: at least these. A call serves one step.

By default a call that ended in a tool error counts, because it ran; `when: succeeded` counts only those that worked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from assertions.evidence import Evidence
from assertions.matching.argument_fit import ArgumentMatch
from assertions.matching.selection import Seen, Selection, TurnMissing, over_worlds, select
from assertions.tool_calls.alignment import Alignment, align_freely, align_in_order, has_batch, only_alignment
from assertions.tool_calls.sequence_config import Mode, SequenceConfig
from assertions.tool_calls.sequence_reasons import Outcome, explain, praise
from assertions.tool_calls.steps import Step
from assertions.verdict import CheckResult, failed, not_evaluated, passed

NAME = "tool_sequence"


def judge(evidence: Evidence, config: SequenceConfig) -> CheckResult:
    """Pass when the record proves the sequence."""
    if config.per_turn is not None:
        from assertions.tool_calls.sequence_per_turn import judge_per_turn

        return judge_per_turn(evidence, config)
    try:
        selection = select(evidence, config.when, config.turns)
    except TurnMissing as error:
        return failed(NAME, error.reason)
    steps = resolved(config.steps, evidence) if config.reads_files else config.steps
    return over_worlds(NAME, selection, lambda world: _judge_world(world, selection, steps, config))


def resolved(steps: Sequence[Step], evidence: Evidence) -> tuple[Step, ...]:
    """The steps, with the schemas that they name read from their files."""
    from dataclasses import replace

    return tuple(replace(step, pattern=step.pattern.resolved(evidence)) for step in steps)


def _judge_world(
    world: Sequence[Seen], selection: Selection, steps: Sequence[Step], config: SequenceConfig
) -> CheckResult:
    if _step_by_step(world, steps):
        return passed(NAME, praise(world, config), 1.0, dict(_FULL_SCORES))
    outcome = compare(world, steps, config, hopeful=False)
    scores = named_scores([outcome])
    if outcome.score == 1.0:
        verdict = passed(NAME, praise(outcome.calls, config, outcome.serving), 1.0, scores)
    else:
        reason = explain(outcome, selection, config)
        if outcome.score >= config.threshold - 1e-12:
            reason = f"score {outcome.score:.4g} reaches the threshold {config.threshold:g}: {reason}"
            return passed(NAME, reason, outcome.score, scores)
        verdict = failed(NAME, reason, outcome.score, scores)
    if outcome.undecided and verdict.passed != (compare(world, steps, config, hopeful=True).score == 1.0):
        return not_evaluated(NAME, f"{outcome.undecided}; {verdict.reason}")
    return verdict


def _step_by_step(world: Sequence[Seen], steps: Sequence[Step]) -> bool:
    """Each step is served by the call at its own place, and by no other: every mode is content, nothing to align."""
    if len(world) != len(steps):
        return False
    for seen, step in zip(world, steps, strict=True):
        match = step.pattern.match(seen.call)
        if match is None or match.mismatches or not step.once:
            return False
    return not has_batch(world)


def compare(world: Sequence[Seen], steps: Sequence[Step], config: SequenceConfig, hopeful: bool) -> Outcome:
    """Align the calls with the steps. `hopeful`: arguments that were cut when they were recorded are taken to fit."""
    undecided: list[str] = []
    calls = [seen.call for seen in world]
    places: dict[str, list[int]] = {}
    for index, call in enumerate(calls):
        places.setdefault(call.name, []).append(index)
    matches = [step.pattern.match_among(calls, places) for step in steps]
    fitting = [_fitting(row, world, hopeful, undecided) for row in matches]
    surplus: list[int] = []
    only = only_alignment(steps, world, fitting)
    if only is not None:
        alignment = in_order = freely = only
    else:
        alignment, in_order, freely, surplus = _searched(world, steps, config, fitting)
    return Outcome(
        steps=tuple(steps),
        calls=tuple(world),
        alignment=alignment,
        in_order=in_order,
        freely=freely,
        surplus=tuple(surplus),
        score=_score(config.mode, alignment, len(world), len(surplus)),
        fitting=fitting,
        matches=matches,
        undecided=undecided[0] if undecided else "",
    )


def _searched(
    world: Sequence[Seen], steps: Sequence[Step], config: SequenceConfig, fitting: Sequence[Sequence[int]]
) -> tuple[Alignment, Alignment, Alignment, list[int]]:
    """The alignment that the mode asks for, the one in order, the one without order, and the calls beyond a `max`."""
    count = len(world)
    fits = [[call in row for call in range(count)] for row in fitting]
    capped = [row for row, step in zip(fits, steps, strict=True) if step.capped]
    wanted = [any(row[call] for row in capped) for call in range(count)] if capped else [False] * count
    if config.mode.ordered:
        alignment = in_order = align_in_order(steps, world, fits, wanted, config.strict_batches)
        # Without order, no call can be matched that fits nowhere.
        most = sum(map(any, zip(*fits, strict=True)))
        freely = in_order if in_order.matched == most else align_freely(steps, count, fits, wanted)
    else:
        alignment = freely = align_freely(steps, count, fits, wanted)
        single = freely.matched < 2
        in_order = freely if single else align_in_order(steps, world, fits, wanted, config.strict_batches)
    surplus = [call for call in alignment.left_over() if wanted[call]] if config.mode.allows_extra else []
    return alignment, in_order, freely, surplus


def _fitting(
    matches: Mapping[int, ArgumentMatch], world: Sequence[Seen], hopeful: bool, undecided: list[str]
) -> list[int]:
    """The calls that fit a step. What depends on arguments that were cut is added to `undecided`."""
    fitting: list[int] = []
    for index, match in matches.items():
        if not match.mismatches:
            fitting.append(index)
        elif match.could_fit:
            if hopeful:
                fitting.append(index)
            undecided.append(f"whether {world[index]} fits is unknown: {match.mismatches[0].text}")
    return fitting


_FULL_SCORES = {
    f"{NAME}.precision": 1.0,
    f"{NAME}.recall": 1.0,
    f"{NAME}.f1": 1.0,
    f"{NAME}.order_distance": 0.0,
}


def named_scores(outcomes: Sequence[Outcome]) -> Mapping[str, float]:
    """Over all outcomes together.

    precision: calls that serve a step / calls that count. recall: required calls that are there / required calls.
    order_distance: the share of the calls that serve a step in some order, but not in the expected one; left out when
    no call serves a step.
    """
    calls = sum(len(outcome.calls) for outcome in outcomes)
    matched = sum(outcome.alignment.matched for outcome in outcomes)
    required = sum(outcome.alignment.required for outcome in outcomes)
    filled = sum(outcome.alignment.filled for outcome in outcomes)
    precision = matched / calls if calls else float(not required)
    recall = filled / required if required else 1.0
    scores = {
        f"{NAME}.precision": precision,
        f"{NAME}.recall": recall,
        f"{NAME}.f1": 2 * precision * recall / (precision + recall) if precision + recall else 0.0,
    }
    freely = sum(outcome.freely.matched for outcome in outcomes)
    if freely:
        ordered = sum(outcome.in_order.matched for outcome in outcomes)
        scores[f"{NAME}.order_distance"] = max(0.0, (freely - ordered) / freely)
    return scores


def _score(mode: Mode, alignment: Alignment, calls: int, surplus: int) -> float:
    """1 exactly when the mode's demands are met.

    exact, any_order: calls that serve a step / (calls + required calls that are missing). subset: calls that serve a
    step / calls. in_order, superset: required calls that are there / (required calls + calls beyond a step's `max`).
    """
    if mode.allows_extra:
        # A sequence that requires nothing but caps something is met by no call at all.
        required = alignment.required or 1
        return (alignment.filled if alignment.required else 1) / (required + surplus)
    missing = 0 if mode is Mode.SUBSET else alignment.required - alignment.filled
    return alignment.matched / (calls + missing) if calls + missing else 1.0
