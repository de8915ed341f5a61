"""`evals save-golden`: keep a finished conversation of a run as a golden.

Its user's turns become fixed, and what the agent said and called becomes what is expected of each turn. Read the file
before you use it: loosen what may differ, and take out what was chance.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from episodes.record import Episode, EvidenceError
from evals.case_yaml import block, write_new
from evals.command_line import CommandError, parser
from evals.exit_codes import Exit
from evals.golden_case import golden_case
from evals.results import ResultsError, Row, Status, read_results

EXAMPLES = """\
  npm run evals -- save-golden .evals/results/spoke-create.json C01
  npm run evals -- save-golden .evals/results/spoke-create.json C01 --replay naive --id G01 --out goldens/G01.yaml"""


def main(arguments: list[str]) -> int:
    """Write the golden. 0: written; 4: no such conversation in the file; 5: wrong command line or file."""
    options = parser("save-golden", __doc__ or "", EXAMPLES)
    options.add_argument("results", type=Path, help="a results file of promptfoo (.json or .jsonl)")
    options.add_argument("case", help="the id of the case whose conversation is to be kept")
    options.add_argument("--provider", help="the provider's label, where several ran the case")
    options.add_argument("--repeat", type=int, help="which repeat, counted from 1, where it was repeated")
    options.add_argument("--replay", choices=("stable", "naive"), default="stable", help="default: stable")
    options.add_argument("--id", help="the golden's id; default: the case's id with -golden behind it")
    options.add_argument("--out", type=Path, help="the file to write; default: <id>.yaml")
    options.add_argument("--although-failed", action="store_true", help="also when the case did not pass")
    chosen = options.parse_args(arguments)
    try:
        rows = read_results(chosen.results).rows
    except ResultsError as problem:
        raise CommandError(str(problem)) from problem
    row = _one(rows, chosen.case, chosen.provider, chosen.repeat)
    if row.status is not Status.PASSED and not chosen.although_failed:
        raise CommandError(
            f"{row.case_id} did not pass ({row.reason}); a golden is an ideal. --although-failed keeps it all the same."
        )
    try:
        episode = Episode.from_metadata(row.metadata)
    except EvidenceError as problem:
        raise CommandError(f"{row.case_id}: its record cannot be read: {problem}") from problem
    case_id = chosen.id or f"{row.case_id}-golden"
    file = chosen.out or Path(f"{case_id}.yaml")
    case = golden_case(row, episode, case_id=case_id, replay=chosen.replay, file=file)
    header = [
        f"Golden of {row.case_id}, {row.provider}, from {chosen.results.name}. What is expected stands under assert:",
        "loosen what may differ. vars.golden.turns is what a stable replay gives the agent as its history.",
    ]
    write_new(file, header, [block(case)])
    turns = len(case["vars"]["golden"]["turns"])
    print(f"{case_id}, {turns} turn{'' if turns == 1 else 's'}, {chosen.replay} replay: {file}")
    return Exit.PASSED


def _one(rows: Sequence[Row], case_id: str, provider: str | None, repeat: int | None) -> Row:
    found = [row for row in rows if row.case_id == case_id and provider in (None, row.provider)]
    if not found:
        there = ", ".join(dict.fromkeys(row.case_id for row in rows)) or "none"
        raise CommandError(f"There is no conversation of {case_id}; cases in the file: {there}.", Exit.NOTHING_SELECTED)
    labels = list(dict.fromkeys(row.provider for row in found))
    if len(labels) > 1:
        raise CommandError(f"{case_id} was run by {', '.join(labels)}: choose one with --provider.")
    if repeat is None and len(found) > 1:
        raise CommandError(f"{case_id} was run {len(found)} times: choose one with --repeat 1 to {len(found)}.")
    if repeat is not None and not 1 <= repeat <= len(found):
        raise CommandError(f"--repeat {repeat}: {case_id} was run {len(found)} times.", Exit.NOTHING_SELECTED)
    return found[(repeat or 1) - 1]
