"""Has the person got what they wanted? And, as the conjunction of it all, was the task completed?

`user_goal`: 1 reached is a pass, 0 a fail, -1 (the text names no goal) NOT EVALUATED.
`task_completion`: goal reached, and nothing said that the sources do not say, and every expectation met, and, where the
conversation was a simulation, every step reached.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from assertions.contracts.judgement import combined
from assertions.evidence import Evidence
from assertions.judging.judge import Judge, ModelJudge, Order, read_settings, refuse_placeholders
from assertions.judging.material import transcript
from assertions.judging.replies import Grade
from assertions.run_check import judged
from assertions.verdict import CheckResult, ConfigError, NotEvaluated, Verdict

NAME = "user_goal"
COMPLETION = "task_completion"


def judge(evidence: Evidence, config: Mapping[str, Any], by: Judge | None = None) -> CheckResult:
    """Config: `goal` (default: the case's `goal`), `expected` (what the end should look like), `judge`."""
    goal = str(config.get("goal", evidence.vars.get("goal", "")))
    if not goal.strip():
        raise ConfigError("/goal", "there is no goal", "a text here, or `goal` among the case's vars")
    expected = str(config.get("expected", ""))
    refuse_placeholders({"/goal": goal, "/expected": expected})
    order = Order("goal", transcript(evidence), question=goal, expected=expected)
    judging = by or ModelJudge(read_settings(config), evidence)
    grade, details = judging.ask(order, Grade, lambda _: None)
    if grade.value < 0:
        raise NotEvaluated(f"the judge finds no goal in {goal!r}: {grade.reason}", details)
    verdict = Verdict.PASS if grade.value else Verdict.FAIL
    head = "the goal was reached" if grade.value else "the goal was not reached"
    score = float(grade.value)
    return CheckResult(NAME, verdict, score, f"{head}: {grade.reason}", {NAME: score}, (), details)


def judge_completion(evidence: Evidence, config: Mapping[str, Any], by: Judge | None = None) -> CheckResult:
    """Config: `user_goal`, `groundedness` and `scenario` (the configs of these assertions; the first two may be left
    out), and `judge` for both judged parts.
    """
    shared = {"judge": config["judge"]} if "judge" in config else {}
    groundedness = import_module("assertions.judging.groundedness").judge
    parts = [
        judged(NAME, lambda seen, own: judge(seen, own, by), evidence, shared | dict(config.get(NAME, {}))),
        judged(
            "groundedness",
            lambda seen, own: groundedness(seen, own, by),
            evidence,
            shared | dict(config.get("groundedness", {})),
        ),
    ]
    if "scenario" in config:
        parts.append(judged("scenario", import_module("assertions.scenario").check, evidence, config["scenario"]))
    if evidence.record().goals:
        parts.append(judged("goals", import_module("assertions.goals").check, evidence, {}))
    return combined(COMPLETION, parts)
