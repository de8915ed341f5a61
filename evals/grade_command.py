"""`evals grade`: judge recorded episodes again, in bulk and in one process, without promptfoo and without an agent.

Checks that ask a model are left out, and no host is asked about pull requests, because they are usually abandoned by
now: they are judged by what the host said when the episode ended, or, where the record does not hold that, by what the
creating tool said. Two options change that. EPISODES are .jsonl or .json files: records of ours, promptfoo's
results, or what other programs wrote (chat messages, Responses items, LangChain messages, spans), each line with its
`caseId`.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from assertions.adapters.choose import ADAPTERS
from assertions.grading import Graded, PreparedCase, grade_all, prepare
from assertions.verdict import Verdict
from evals.command_line import CommandError, parser
from evals.exit_codes import Exit
from evals.recorded_episodes import RecordedEpisodesError, read_recorded
from evals.sign_in.session import signed_in
from evals.terminal_text import printable
from formats.assertion_configs import is_ours
from formats.case_files import as_test, read_cases
from formats.problems import CaseFileError

EXAMPLES = """\
  npm run evals -- grade .evals/results/spoke-create.json --cases suites/spoke-create/cases.yaml
  npm run evals -- grade chats.jsonl --format openai-chat --cases suites/spoke-create/cases.yaml --json out.jsonl"""

MOST_REASONS = 20
"""So many different reasons are printed; the file of `--json` has all."""

MOST_KEPT = 1000
"""So many different reasons are counted one by one, so that memory does not grow with the number of episodes."""


@dataclass
class Tally:
    """What became of the episodes."""

    verdicts: Counter[Verdict] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)
    other_reasons: int = 0
    """Episodes whose reason came when enough different ones were kept."""
    ungraded: int = 0
    """Episodes of cases that have no check that can be made here."""

    def add(self, graded: Graded) -> None:
        if graded.left_out:
            self.left_out.update(graded.left_out)
        if graded.verdict is None:
            self.ungraded += 1
        else:
            self.verdicts[graded.verdict] += 1
        if graded.reason in self.reasons or (graded.reason and len(self.reasons) < MOST_KEPT):
            self.reasons[graded.reason] += 1
        elif graded.reason:
            self.other_reasons += 1

    @property
    def total(self) -> int:
        return self.verdicts.total() + self.ungraded


def main(arguments: list[str]) -> int:
    """0: all passed; 1: one failed; 2: one could not be judged; 4: nothing was judged; 5: command line or files."""
    options = parser("grade", __doc__ or "", EXAMPLES)
    options.add_argument("episodes", nargs="+", type=Path, help="files with recorded episodes")
    options.add_argument("--cases", nargs="+", type=Path, required=True, help="case files with what is expected")
    shapes = ["auto", *(adapter.name for adapter in ADAPTERS)]
    options.add_argument("--format", choices=shapes, default="auto", help="shape of what other programs wrote")
    options.add_argument("--case", help="the case of all episodes that do not name one")
    options.add_argument("--ask-judges", action="store_true", help="also make the checks that ask a model")
    options.add_argument(
        "--look-up", action="store_true", help="ask the host about pull requests whose record does not hold its answer"
    )
    options.add_argument("--json", type=Path, help="write one line per episode: verdict, reason, named scores")
    chosen = options.parse_args(arguments)
    cases = prepared_cases(chosen.cases, ask_judges=chosen.ask_judges, look_up=chosen.look_up)
    tally = Tally()
    start = time.perf_counter()
    try:
        with signed_in(("model",) if chosen.ask_judges else ()):
            if chosen.json is None:
                _grade_all(chosen, cases, tally, None)
            else:
                with chosen.json.open("w", encoding="utf-8") as out:
                    _grade_all(chosen, cases, tally, out)
    except (RecordedEpisodesError, OSError) as error:
        raise CommandError(str(error)) from error
    for line in report(tally, time.perf_counter() - start):
        print(line)
    return exit_code(tally)


def prepared_cases(files: Iterable[Path], *, ask_judges: bool, look_up: bool) -> dict[str, PreparedCase]:
    """The checks of all cases, by id.

    Raises:
        CommandError: a case file is faulty.
    """
    try:
        cases = read_cases([file.resolve() for file in files])
    except CaseFileError as error:
        raise CommandError(str(error)) from error
    found = {}
    for case in cases:
        test = as_test(case, None, None)
        ours = [one for one in test["assert"] if is_ours(one, case.document.file.parent)]
        checks = [(Path(one["value"].partition(".py:")[0]).stem, one.get("config", {})) for one in ours]
        made = prepare(checks, case.variables, case_id=case.id, ask_judges=ask_judges, look_up=look_up, checked=True)
        others = tuple(str(one.get("type")) for one in test["assert"] if one not in ours)
        found[case.id] = PreparedCase(made.checks, made.variables, made.case_id, made.left_out + others)
    return found


def report(tally: Tally, seconds: float) -> Iterator[str]:
    """The outcome in words."""
    counts = ", ".join(f"{tally.verdicts[verdict]} {words}" for verdict, words in _WORDS.items())
    rate = f"{tally.total / seconds:,.0f} a second" if seconds > 0 else ""
    yield f"{tally.total} episodes: {counts} ({seconds:.1f} s, {rate})"
    if tally.ungraded:
        yield f"{tally.ungraded} episodes were not graded: their cases have no check that can be made here"
    if tally.left_out:
        listed = ", ".join(f"{name} ({count})" for name, count in sorted(tally.left_out.items()))
        yield f"left out: {listed}"
    for reason, count in tally.reasons.most_common(MOST_REASONS):
        yield f"  {count} x " + "\n      ".join(map(printable, reason.splitlines()))
    if len(tally.reasons) > MOST_REASONS:
        yield f"  … and {len(tally.reasons) - MOST_REASONS} other reasons"
    if tally.other_reasons:
        yield f"  … and {tally.other_reasons} episodes with other reasons still"


def exit_code(tally: Tally) -> Exit:
    if not tally.verdicts:
        return Exit.NOTHING_SELECTED
    if tally.verdicts[Verdict.FAIL]:
        return Exit.FAILED
    return Exit.NOT_EVALUATED if tally.verdicts[Verdict.NOT_EVALUATED] else Exit.PASSED


_WORDS = {Verdict.PASS: "passed", Verdict.FAIL: "failed", Verdict.NOT_EVALUATED: "not evaluated"}


def _grade_all(chosen: Any, cases: Mapping[str, PreparedCase], tally: Tally, out: IO[str] | None) -> None:
    for file in chosen.episodes:
        for graded in grade_all(cases, read_recorded(file, chosen.format), chosen.case or ""):
            tally.add(graded)
            if out is not None:
                out.write(json.dumps(_line(graded), ensure_ascii=False) + "\n")


def _line(graded: Graded) -> dict[str, Any]:
    episode = graded.recorded.episode
    return {
        "caseId": graded.case_id,
        "stepId": episode.step_id if episode is not None else "",
        "verdict": graded.verdict,
        "reason": graded.reason,
        "results": [result.to_promptfoo() | {"name": result.name} for result in graded.results],
    }
