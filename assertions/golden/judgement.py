"""The judgement behind `golden_turn`: each turn by itself, and the whole.

| of a turn | measured as | passes |
|---|---|---|
| `message` | likeness from 0 to 4, by an embedding on this machine or by a judge | from `semantic.threshold` |
| `contains` | facts that must stand in what the agent said | when all do |
| `tools` | tool correctness, see below | from `tool_correctness`, and without other calls |
| `handoff` | the conversation ended here because the agent handed it over | when as expected |

Tool correctness is the mean over the expected calls of the share of their expected parameters that match. A missing
call counts 0, a call without expected parameters 1. An unexpected call fails its turn (unless `extra_calls: allow`)
and leaves the tool correctness as it is. A turn that the golden does not have fails the whole (unless
`extra_turns: allow`), and so does one that did not take place.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from assertions.contracts.answer_facts import answer_facts
from assertions.contracts.judgement import combined
from assertions.evidence import Evidence
from assertions.golden.expectations import NAME, ExpectedTurn, Golden, read_config
from assertions.matching.selection import Seen, over_worlds, sorted_by_status
from assertions.pull_requests.proof import message_text
from assertions.run_check import judged
from assertions.tool_calls.expected_calls import assign
from assertions.verdict import CheckResult, NotEvaluated, Verdict, failed, not_evaluated, passed
from episodes.frozen import frozen
from episodes.record import StopReason

if TYPE_CHECKING:
    from assertions.judging.judge import Judge


@frozen
class Graded:
    """A message's grade from 0 to 4, why, and what is to be kept about the grading."""

    grade: float
    why: str
    details: Mapping[str, Any]


Grader = Callable[[str, str], Graded]


def judge(evidence: Evidence, config: Mapping[str, Any], by: Judge | None = None) -> CheckResult:
    """Judge a conversation against a golden. `by` replaces the judge that the config names."""
    golden = read_config(config)
    grader = _by_judge(evidence, config, by) if golden.semantics == "judge" else _by_embedding
    parts = [
        judged(f"{NAME}.turn {turn.number}", _turn_check(turn, golden, grader), evidence, {}) for turn in golden.turns
    ]
    parts += _extra_turns(evidence, golden)
    scores = _overall_scores(parts)
    parts += _overall(golden, scores)
    whole = combined(NAME, parts)
    marks = {key: value for key, value in whole.named_scores.items() if key.endswith(".not_evaluated")}
    return CheckResult(NAME, whole.verdict, whole.score, whole.reason, scores | marks, whole.components)


def _turn_check(
    turn: ExpectedTurn, golden: Golden, grader: Grader
) -> Callable[[Evidence, Mapping[str, Any]], CheckResult]:
    name = f"{NAME}.turn {turn.number}"

    def check(evidence: Evidence, _: Mapping[str, Any]) -> CheckResult:
        happened = evidence.turn_count()
        if happened < 1:
            raise NotEvaluated("the record does not number its turns")
        if turn.number > happened:
            return failed(
                name, f"it did not take place: the conversation has {happened} turns", 0.0, _zeros(name, turn)
            )
        parts: list[CheckResult] = []
        if turn.message is not None:
            parts.append(judged(f"{name}.semantic", _semantic(turn, golden, grader), evidence, {}))
        if turn.contains:
            parts.append(judged(f"{name}.facts", _facts(turn), evidence, {}))
        if turn.calls is not None:
            parts.append(judged(f"{name}.tool_correctness", _tools(turn, golden), evidence, {}))
        if turn.handoff is not None:
            parts.append(_handoff(turn, evidence, happened))
        return combined(name, parts)

    return check


def _semantic(turn: ExpectedTurn, golden: Golden, grader: Grader) -> Callable[..., CheckResult]:
    name = f"{NAME}.turn {turn.number}.semantic"

    def check(evidence: Evidence, _: Mapping[str, Any]) -> CheckResult:
        said = _said(evidence, turn.number)
        expected = turn.message or ""
        if not said:
            return failed(name, f"the agent said nothing; expected {expected!r}", 0.0, {name: 0.0})
        graded = grader(expected, said)
        enough = graded.grade >= golden.least_grade
        wanted = f"at least {golden.least_grade:g} wanted"
        reason = f"{graded.grade:g} of 4 ({graded.why}), {wanted}"
        if not enough:
            reason += f"; expected {expected!r}, the agent said {said[:200]!r}"
        verdict = Verdict.PASS if enough else Verdict.FAIL
        return CheckResult(name, verdict, graded.grade / 4, reason, {name: graded.grade}, (), graded.details)

    return check


def _facts(turn: ExpectedTurn) -> Callable[..., CheckResult]:
    name = f"{NAME}.turn {turn.number}.facts"

    def check(evidence: Evidence, _: Mapping[str, Any]) -> CheckResult:
        own = Evidence(None, _said(evidence, turn.number), evidence.vars, evidence.case_id)
        return answer_facts(name, own, {"contains": list(turn.contains)})

    return check


def _tools(turn: ExpectedTurn, golden: Golden) -> Callable[..., CheckResult]:
    name = f"{NAME}.turn {turn.number}.tool_correctness"

    def check(evidence: Evidence, _: Mapping[str, Any]) -> CheckResult:
        patterns = [pattern.resolved(evidence) for pattern in turn.calls or ()]
        if any(call.turn < 1 for call in evidence.calls()):
            raise NotEvaluated("the record does not say in which turn each tool was called")
        seen = [Seen(number, call) for number, call in enumerate(evidence.calls(), 1) if call.turn == turn.number]

        def judge_calls(made: Sequence[Seen]) -> CheckResult:
            table = [[pattern.match(one.call) for one in made] for pattern in patterns]
            chosen = assign(table, hopeful=False)
            shares, problems, lost = [], [], []
            for row, (pattern, column) in enumerate(zip(patterns, chosen, strict=True)):
                match = None if column is None else table[row][column]
                right, considered = (0, 1) if match is None else match.share
                shares.append(right / considered)
                if match is None:
                    problems.append(f"{pattern} is missing")
                elif not match.fits:
                    problems.append(f"{pattern}: {match.mismatches[0].text}")
                    if match.could_fit:
                        lost.append(row)
            score = sum(shares) / len(shares) if shares else 1.0
            scores = {name: score}
            extra = [one for index, one in enumerate(made) if index not in set(chosen)]
            hopeful = [1.0 if row in lost else share for row, share in enumerate(shares)]
            if lost and score < golden.least_correctness <= sum(hopeful) / len(hopeful):
                return not_evaluated(name, "; ".join(problems))
            if score < golden.least_correctness:
                return failed(
                    name,
                    f"{score:.2f} of 1, at least {golden.least_correctness:g} wanted: {'; '.join(problems)}",
                    score,
                    scores,
                )
            if extra and not golden.extra_calls:
                return failed(name, f"{extra[0]} is not expected", score, scores)
            return passed(name, f"{score:.2f} of 1" + "".join(f"; {problem}" for problem in problems), score, scores)

        return over_worlds(name, sorted_by_status(seen, golden.when), judge_calls)

    return check


def _handoff(turn: ExpectedTurn, evidence: Evidence, happened: int) -> CheckResult:
    name = f"{NAME}.turn {turn.number}.handoff"
    reason = evidence.record().stop_reason
    handed_over = reason is StopReason.AGENT_HANDOFF and turn.number == happened
    if handed_over is turn.handoff:
        return passed(name, "the agent handed over" if handed_over else "the agent did not hand over")
    if turn.handoff:
        return failed(
            name, f"the agent did not hand over here: the conversation has {happened} turns and ended by {reason}"
        )
    return failed(name, "the agent handed over, which was not expected")


def _extra_turns(evidence: Evidence, golden: Golden) -> list[CheckResult]:
    happened, last = evidence.turn_count(), golden.turns[-1].number
    if golden.extra_turns or happened <= last:
        return []
    names = [call.name for call in evidence.record().tool_calls or () if call.turn > last]
    called = f"; it called {', '.join(names)}" if names else ""
    return [failed(f"{NAME}.turns", f"turn {last + 1} is not in the golden, which ends with turn {last}{called}")]


def _overall_scores(parts: Sequence[CheckResult]) -> dict[str, float]:
    """The means over all turns of which something was measured."""
    found: dict[str, list[float]] = {"semantic": [], "tool_correctness": []}
    for part in parts:
        for key, value in part.all_named_scores().items():
            measure = key.rpartition(".")[2]
            if measure in found and key.startswith(f"{NAME}.turn ") and key.count(".") == 2:
                found[measure].append(value)
    return {f"{NAME}.{measure}": sum(values) / len(values) for measure, values in found.items() if values}


def _overall(golden: Golden, scores: Mapping[str, float]) -> list[CheckResult]:
    wanted = {"semantic": golden.overall_grade, "tool_correctness": golden.overall_correctness}
    parts = []
    for measure, least in wanted.items():
        value = scores.get(f"{NAME}.{measure}")
        if least is None or value is None:
            continue
        name, reason = f"{NAME}.overall {measure}", f"{value:.2f} on average, at least {least:g} wanted"
        parts.append(passed(name, reason) if value >= least else failed(name, reason))
    return parts


def _said(evidence: Evidence, turn: int) -> str:
    """What the agent said in a turn, its messages one below the other."""
    messages = evidence.record().messages
    if not any(message.get("role") == "assistant" for message in messages):
        raise NotEvaluated("the record holds no words of the agent")
    spoken = [message for message in messages if message.get("role") == "assistant" and message.get("turn") == turn]
    return "\n".join(text for text in map(message_text, spoken) if text.strip())


def _zeros(name: str, turn: ExpectedTurn) -> dict[str, float]:
    """A turn that did not take place counts as 0 in what it would have been measured by."""
    zeros = {f"{name}.semantic": 0.0} if turn.message is not None else {}
    return zeros | ({f"{name}.tool_correctness": 0.0} if turn.calls else {})


def _by_embedding(expected: str, said: str) -> Graded:
    # Late: loading the model costs more than all the rest together.
    from assertions.golden.likeness import likeness
    from assertions.golden.sentence_vectors import MODEL, MODEL_SHA256, cosine

    found = likeness(expected, said, cosine)
    return Graded(found.grade, found.why, {"model": MODEL, "modelSha256": MODEL_SHA256})


def _by_judge(evidence: Evidence, config: Mapping[str, Any], by: Judge | None) -> Grader:
    from assertions.judging.judge import ModelJudge, Order, read_settings
    from assertions.judging.replies import Grade

    judging = by or ModelJudge(read_settings(config), evidence)

    def grade(expected: str, said: str) -> Graded:
        reply, details = judging.ask(Order("semantic", said, expected=expected), Grade, lambda _: None)
        return Graded(reply.value, reply.reason, details)

    return grade
