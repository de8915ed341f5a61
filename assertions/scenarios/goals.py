"""The judgement behind `goals`.

| steps of the record | verdict |
|---|---|
| all reached (or the first `at_least`) | pass |
| one `not_reached` or `blocked` among those that count | fail, with the first one's reason |
| none at all: the conversation was no simulation, or never began | NOT EVALUATED |
"""

from __future__ import annotations

from assertions.evidence import Evidence
from assertions.verdict import CheckResult, ConfigError, NotEvaluated, failed, passed
from episodes.record import Goal

NAME = "goals"


def judge(evidence: Evidence, at_least: int | None) -> CheckResult:
    """Pass when every step that counts is reached. The score is the share of all steps that were."""
    goals = evidence.record().goals
    if not goals:
        raise NotEvaluated("the record has no steps: this conversation was no simulation")
    if at_least is not None and at_least > len(goals):
        raise ConfigError(
            "/at_least", f"{at_least} is more than the simulation's {len(goals)} steps", f"1 to {len(goals)}"
        )
    wanted = goals if at_least is None else goals[:at_least]
    reached = sum(goal.status == "reached" for goal in goals)
    scores = {f"{NAME}.reached": reached / len(goals)}
    heading = f"Goals ({reached}/{len(goals)})"
    missed = next((goal for goal in wanted if goal.status != "reached"), None)
    if missed is None:
        return passed(NAME, heading, 1.0, scores)
    return failed(
        NAME, f"{heading}; {_in_words(missed)}", sum(g.status == "reached" for g in wanted) / len(wanted), scores
    )


def _in_words(goal: Goal) -> str:
    return f'step {goal.step} ("{goal.text}") was {goal.status.replace("_", " ")}: {goal.reason}'
