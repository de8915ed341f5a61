"""`per_turn`: one expected sequence for each turn, and no calls in turns beyond them."""

from __future__ import annotations

from collections.abc import Sequence

from assertions.evidence import Evidence
from assertions.matching.json_values import counted
from assertions.matching.selection import Seen, Selection, TurnSelector, over_worlds, select, sorted_by_status
from assertions.tool_calls.absence import NOT_DONE
from assertions.tool_calls.sequence import NAME, compare, named_scores, resolved
from assertions.tool_calls.sequence_config import SequenceConfig
from assertions.tool_calls.sequence_reasons import Outcome, explain
from assertions.tool_calls.steps import Step
from assertions.verdict import CheckResult, NotEvaluated, failed, not_evaluated, passed


def judge_per_turn(evidence: Evidence, config: SequenceConfig) -> CheckResult:
    """Turn 1 against the first sequence, and so on. The score is the mean over all turns, extra ones as 0.

    Raises:
        NotEvaluated: the record does not know turns.
    """
    selection = select(evidence, config.when, TurnSelector())
    everything = (*selection.counted, *selection.unknown, *selection.left_out)
    if any(seen.call.turn < 1 for seen in everything):
        raise NotEvaluated("the record does not say in which turn each tool was called")
    written = config.per_turn or ()
    expected = [resolved(steps, evidence) for steps in written] if config.reads_files else written
    count = evidence.turn_count()
    return over_worlds(NAME, selection, lambda world: _judge_world(world, everything, expected, count, config))


def _judge_world(
    world: Sequence[Seen],
    everything: Sequence[Seen],
    expected: Sequence[Sequence[Step]],
    turn_count: int,
    config: SequenceConfig,
) -> CheckResult:
    outcomes = [compare(_of_turn(world, turn), steps, config, False) for turn, steps in enumerate(expected, 1)]
    beyond = [seen for seen in world if seen.call.turn > len(expected)]
    extra_turns = 0 if config.extra_turns_allowed else len({seen.call.turn for seen in beyond})
    score = sum(outcome.score for outcome in outcomes) / (len(outcomes) + extra_turns)
    scores = named_scores(outcomes)
    if score == 1.0:
        turns = counted(len(expected), "turn")
        verdict = passed(NAME, f"{config.mode} in each of {turns}: {_all_found(outcomes)}", 1.0, scores)
    else:
        reason = _reason(outcomes, everything, beyond, turn_count, config)
        if score >= config.threshold - 1e-12:
            reason = f"score {score:.4g} reaches the threshold {config.threshold:g}: {reason}"
            return passed(NAME, reason, score, scores)
        verdict = failed(NAME, reason, score, scores)
    undecided = next((outcome.undecided for outcome in outcomes if outcome.undecided), "")
    if undecided:
        hopeful = [compare(_of_turn(world, turn), steps, config, True) for turn, steps in enumerate(expected, 1)]
        if verdict.passed != (not extra_turns and all(outcome.score == 1.0 for outcome in hopeful)):
            return not_evaluated(NAME, f"{undecided}; {verdict.reason}")
    return verdict


def _reason(
    outcomes: Sequence[Outcome],
    everything: Sequence[Seen],
    beyond: Sequence[Seen],
    turn_count: int,
    config: SequenceConfig,
) -> str:
    for turn, outcome in enumerate(outcomes, 1):
        if outcome.score < 1.0:
            if turn > turn_count:
                return f"turn {turn} did not take place: the conversation has {counted(turn_count, 'turn')}"
            own: Selection = sorted_by_status(_of_turn(everything, turn), config.when)
            return f"turn {turn}: {explain(outcome, own, config)}"
    seen = beyond[0]
    verb = NOT_DONE[config.when].replace("was not", "was").replace("did not succeed", "succeeded")
    return f"turn {seen.call.turn} not in reference, which has {counted(len(outcomes), 'turn')}: {seen} {verb}"


def _of_turn(seen: Sequence[Seen], turn: int) -> list[Seen]:
    return [one for one in seen if one.call.turn == turn]


def _all_found(outcomes: Sequence[Outcome]) -> str:
    lists = [", ".join(seen.call.name for seen in outcome.calls) or "nothing" for outcome in outcomes]
    return "; ".join(lists)
