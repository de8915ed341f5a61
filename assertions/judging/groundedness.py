"""Groundedness: does the agent say only what its sources say? Judged answer by answer.

| the answer | its part |
|---|---|
| of a turn without tool calls (unless `turns: all`) | not judged |
| claims nothing | a dash, counted as neither grounded nor ungrounded |
| every claim is supported by a passage that really stands in the context | pass |
| one claim is not | fail |
| one claim is not, and the context was cut | NOT EVALUATED: the support may have stood in the missing part |
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from assertions.contracts.judgement import combined
from assertions.evidence import Evidence
from assertions.judging.judge import Judge, ModelJudge, Order, read_settings
from assertions.judging.material import Answer, answers
from assertions.judging.replies import BadReply, Verdicts
from assertions.run_check import judged
from assertions.verdict import CheckResult, NotEvaluated, Verdict, passed
from episodes.quotations import FEWEST_WORDS, long_enough, stands_in

NAME = "groundedness"
NOTHING_CLAIMED = "\u2013"
"""How a dash of this kind is written where there is nothing to judge."""


def judge(evidence: Evidence, config: Mapping[str, Any], by: Judge | None = None) -> CheckResult:
    """Config: `turns` (`with_tools`, default, or `all`), `threshold` (share of an answer's claims, default all),
    `judge`.
    """
    everything = config.get("turns", "with_tools") == "all"
    chosen = [answer for answer in answers(evidence) if everything or answer.used_tools]
    if not chosen:
        return passed(NAME, f"{NOTHING_CLAIMED} no answer rests on a tool call", 1.0, {f"{NAME}.not_applicable": 1.0})
    judging = by or ModelJudge(read_settings(config), evidence)
    threshold = float(config.get("threshold", 1.0))
    parts = []
    for answer in chosen:
        name = f"{NAME}.turn {answer.turn}"
        # One answer that can not be judged must not hide what the others say.
        parts.append(judged(name, _one(name, answer, judging, threshold), evidence, {}))
    if all(part.verdict is Verdict.PASS and not part.named_scores for part in parts):
        reason = f"{NOTHING_CLAIMED} no answer claims anything"
        return CheckResult(NAME, Verdict.PASS, 1.0, reason, {f"{NAME}.not_applicable": 1.0}, tuple(parts))
    whole = combined(NAME, parts)
    claimed = [part.score for part in parts if part.verdict is not Verdict.NOT_EVALUATED and part.named_scores]
    scores = {NAME: sum(claimed) / len(claimed)} if claimed else {}
    scores |= {key: value for key, value in whole.named_scores.items() if key.endswith(".not_evaluated")}
    return CheckResult(NAME, whole.verdict, whole.score, whole.reason, scores, whole.components)


def acceptable(context: str) -> Callable[[Verdicts], None]:
    """What makes a reply usable: every supported claim comes with a passage that stands in the context and is
    long enough to be evidence.
    """

    def accept(reply: Verdicts) -> None:
        for index, finding in enumerate(reply.findings):
            if finding.holds and not stands_in(finding.evidence, context):
                shown = repr(finding.evidence[:120]) if finding.evidence.strip() else "nothing"
                raise BadReply(f"claims[{index}] is called supported by {shown}, which does not stand in the context")
            if finding.holds and not long_enough(finding.evidence, context):
                raise BadReply(
                    f"claims[{index}] is called supported by {finding.evidence[:120]!r}, which is too little to be "
                    f"evidence: at least {FEWEST_WORDS} words in a row, or a whole sentence"
                )

    return accept


def _one(
    name: str, answer: Answer, judging: Judge, threshold: float
) -> Callable[[Evidence, Mapping[str, Any]], CheckResult]:
    def check(_evidence: Evidence, _config: Mapping[str, Any]) -> CheckResult:
        order = Order("groundedness", answer.text, question=answer.question, context=answer.context)
        verdicts, details = judging.ask(order, Verdicts, acceptable(answer.context))
        if not verdicts.findings:
            return CheckResult(name, Verdict.PASS, 1.0, f"{NOTHING_CLAIMED} nothing is claimed", {}, (), details)
        unsupported = [finding.text for finding in verdicts.findings if not finding.holds]
        share = (len(verdicts.findings) - len(unsupported)) / len(verdicts.findings)
        head = f"{len(verdicts.findings) - len(unsupported)} of {len(verdicts.findings)} claims are supported"
        if share >= threshold:
            return CheckResult(name, Verdict.PASS, share, head, {name: share}, (), details)
        reason = f"{head}; not supported: {'; '.join(unsupported)}"
        if answer.context_is_cut:
            raise NotEvaluated(f"{reason}. The context was cut, so the support may be missing from it", details)
        return CheckResult(name, Verdict.FAIL, share, reason, {name: share}, (), details)

    return check
