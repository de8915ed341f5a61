"""A rubric: does the answer meet each criterion, in a judge's eyes and with a quotation that really stands there?"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from assertions.evidence import Evidence
from assertions.judging.judge import Judge, ModelJudge, Order, read_settings, refuse_placeholders
from assertions.judging.material import answer_text
from assertions.judging.replies import BadReply, Finding, Verdicts
from assertions.verdict import CheckResult, ConfigError, Verdict, failed, passed
from episodes.quotations import FEWEST_WORDS, long_enough, same_words, stands_in

NAME = "rubric"


def judge(evidence: Evidence, config: Mapping[str, Any], by: Judge | None = None) -> CheckResult:
    """Config: `criteria` (texts) or `file` (a line per criterion, beginning with `-`), `question` (default: the case's
    `request`), `scope` (`all` or `last` of what the agent said), `threshold` (share of criteria, default all), `judge`.
    """
    criteria = read_criteria(evidence, config)
    question = str(config.get("question", evidence.vars.get("request", "")))
    refuse_placeholders({f"/criteria/{index}": text for index, text in enumerate(criteria)} | {"/question": question})
    answer = answer_text(evidence, config.get("scope", "all"))
    order = Order("rubric", answer, criteria=criteria, question=question)
    judging = by or ModelJudge(read_settings(config), evidence)
    verdicts, details = judging.ask(order, Verdicts, acceptable(criteria, answer))
    parts = tuple(_part(number, finding) for number, finding in enumerate(verdicts.findings, 1))
    score = sum(part.score for part in parts) / len(parts)
    threshold = float(config.get("threshold", 1.0))
    missed = [finding.text for finding in verdicts.findings if not finding.holds]
    head = f"{len(parts) - len(missed)} of {len(parts)} criteria met"
    enough = score >= threshold
    reason = head if not missed else f"{head}; not met: {'; '.join(missed)}. The judge: {verdicts.reason}"
    verdict = Verdict.PASS if enough else Verdict.FAIL
    return CheckResult(NAME, verdict, score, reason, {NAME: score}, parts, details)


def read_criteria(evidence: Evidence, config: Mapping[str, Any]) -> tuple[str, ...]:
    """The criteria of a config.

    Raises:
        ConfigError: the file is not there or holds no criterion.
    """
    if "criteria" in config:
        return tuple(config["criteria"])
    from assertions.matching.documents import find_file
    from assertions.templates import render

    path = find_file(config["file"], evidence, "/file")
    lines = [line.strip() for line in path.read_text(encoding="utf-8").splitlines()]
    found = tuple(
        str(render(line[1:].strip(), evidence.vars, "/file")) for line in lines if line.startswith(("-", "*"))
    )
    if not all(found) or not found:
        raise ConfigError("/file", f"{config['file']} holds no criterion", "lines that begin with -")
    return found


def acceptable(criteria: Sequence[str], answer: str) -> Callable[[Verdicts], None]:
    """What makes a reply usable: the same criteria in the same order, and quotations that stand in the answer
    and are long enough to be evidence.
    """

    def accept(reply: Verdicts) -> None:
        if len(reply.findings) != len(criteria):
            raise BadReply(f"it grades {len(reply.findings)} criteria instead of {len(criteria)}")
        for index, (finding, criterion) in enumerate(zip(reply.findings, criteria, strict=True)):
            if not same_words(finding.text, criterion):
                raise BadReply(f"criteria[{index}] is not {criterion!r}")
            if finding.evidence.strip() and not stands_in(finding.evidence, answer):
                raise BadReply(
                    f"criteria[{index}] quotes {finding.evidence[:120]!r}, which does not stand in the answer"
                )
            if finding.evidence.strip() and not long_enough(finding.evidence, answer):
                raise BadReply(
                    f"criteria[{index}] quotes {finding.evidence[:120]!r}, which is too little to be evidence: "
                    f"at least {FEWEST_WORDS} words in a row, or a whole sentence"
                )

    return accept


def _part(number: int, finding: Finding) -> CheckResult:
    name = f"{NAME}.{number}"
    quoted = f": “{finding.evidence}”" if finding.evidence.strip() else ""
    if finding.holds:
        return passed(name, f"met: {finding.text}{quoted}")
    return failed(name, f"not met: {finding.text}{quoted}")
