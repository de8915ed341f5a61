"""`evals review-simulator`: how well did the simulated users of a run play their part?

A conversation whose simulated user made something up, spoke as the agent or told what nobody had asked for says little
about the agent. Each is graded: good, doubtful (drafts thrown away, told too much), or faulty (not to be relied on).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from episodes.record import Episode, EvidenceError, RoleUsage
from evals.command_line import CommandError, parser
from evals.exit_codes import Exit
from evals.results import ResultsError, Row, read_results
from evals.terminal_text import printable
from providers.agent_protocol import ConfigurationProblem
from providers.conversation.review import Grade, Review, review
from providers.conversation.script import read_script

EXAMPLES = """\
  npm run evals -- review-simulator .evals/results/spoke-create.json
  npm run evals -- review-simulator .evals/results/spoke-create.json --json review.json"""


@dataclass(frozen=True)
class Reviewed:
    """One row of the run and what is to be said about its simulated user."""

    row: Row
    review: Review
    usage: RoleUsage


def main(arguments: list[str]) -> int:
    """Grade them. 0: none is faulty; 1: one is; 4: the file has no simulated user; 5: wrong command line or file."""
    options = parser("review-simulator", __doc__ or "", EXAMPLES)
    options.add_argument("results", type=Path, help="a results file of promptfoo (.json or .jsonl)")
    options.add_argument("--json", type=Path, metavar="FILE", help="also write the grades there")
    chosen = options.parse_args(arguments)
    try:
        rows = read_results(chosen.results).rows
    except ResultsError as problem:
        raise CommandError(str(problem)) from problem
    reviewed = [one for row in rows if (one := _reviewed(row)) is not None]
    if not reviewed:
        raise CommandError(f"{chosen.results}: no row has a simulated user.", Exit.NOTHING_SELECTED)
    print("\n".join(in_words(reviewed)))
    if chosen.json:
        chosen.json.write_text(json.dumps([_as_json(one) for one in reviewed], indent=2) + "\n", encoding="utf-8")
    return Exit.FAILED if any(one.review.grade is Grade.FAULTY for one in reviewed) else Exit.PASSED


def in_words(reviewed: Sequence[Reviewed]) -> Iterator[str]:
    """The review of a run, line by line."""
    grades = Counter(one.review.grade for one in reviewed)
    yield f"{len(reviewed)} simulated users: {', '.join(f'{grades[grade]} {grade}' for grade in Grade)}."
    for one in reviewed:
        if one.review.grade is Grade.GOOD:
            continue
        yield f"  {_name(one.row)}: {one.review.grade}"
        for finding in one.review.findings:
            yield f"    turn {finding.turn}, {finding.name}: {printable(finding.text)}"
        if one.review.thrown_away:
            drafts = "1 draft" if one.review.thrown_away == 1 else f"{one.review.thrown_away} drafts"
            yield f"    {drafts} thrown away before one could be sent"
    total = RoleUsage()
    for one in reviewed:
        total = total.plus(one.usage)
    cost = "" if total.cost is None else f", cost {total.cost:.4f}"
    messages = sum(one.review.messages for one in reviewed)
    yield (
        f"They wrote {messages} messages in {total.requests} requests with "
        f"{total.prompt_tokens + total.completion_tokens} tokens{cost}."
    )


def _reviewed(row: Row) -> Reviewed | None:
    """None for a row without a readable record, and for one in which no model played the user."""
    try:
        episode = Episode.from_metadata(row.metadata)
        script = read_script(row.variables, goal_needed=False, step_texts=_step_texts(row.variables))
    except (EvidenceError, ConfigurationProblem):
        return None
    if "userModel" not in episode.fingerprint:
        return None
    return Reviewed(row, review(episode, script), episode.usage.user)


def _step_texts(variables: dict[str, Any]) -> str:
    """What a simulation's steps let the developer know, on top of its facts."""
    simulation = variables.get("simulation")
    steps = simulation.get("steps") if isinstance(simulation, dict) else None
    texts = [step.get(key) for step in steps or [] if isinstance(step, dict) for key in ("goal", "response_guide")]
    return " ".join(text for text in texts if isinstance(text, str))


def _name(row: Row) -> str:
    return " / ".join(part for part in (row.case_id, row.provider if row.provider != row.suite else "") if part)


def _as_json(one: Reviewed) -> dict[str, Any]:
    return {
        "suite": one.row.suite,
        "case": one.row.case_id,
        "provider": one.row.provider,
        "grade": one.review.grade,
        "messages": one.review.messages,
        "thrownAway": one.review.thrown_away,
        "factsTold": list(one.review.facts_told),
        "findings": [
            {"name": finding.name, "turn": finding.turn, "text": finding.text, "serious": finding.serious}
            for finding in one.review.findings
        ],
    }
