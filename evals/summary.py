"""A run in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from evals.exit_codes import Exit, worst
from evals.leftovers import Leftovers
from evals.results import Row, Status, Tokens
from evals.terminal_text import one_line

LONGEST_REASON = 300
"""Characters of a reason that are shown; the viewer has all of it."""

_COUNTED = (
    (Status.PASSED, "passed", "passed"),
    (Status.FAILED, "failed", "failed"),
    (Status.ERRORED, "error", "errors"),
    (Status.NOT_EVALUATED, "not evaluated", "not evaluated"),
)


@dataclass(frozen=True)
class RunOutcome:
    """All that is known about one promptfoo run when it is over. `results_file` is None when it wrote none."""

    suite: str
    rows: tuple[Row, ...]
    leftovers: Leftovers
    seconds: float
    results_file: Path | None
    interrupted: bool = False
    stand_in: bool = False
    """Whether the local model answered."""

    @property
    def exit(self) -> Exit:
        codes = [Exit.PASSED]
        if not self.rows and not self.interrupted:
            codes.append(Exit.NOTHING_SELECTED)
        if any(row.status is Status.FAILED for row in self.rows):
            codes.append(Exit.FAILED)
        if any(row.status in (Status.ERRORED, Status.NOT_EVALUATED) for row in self.rows):
            codes.append(Exit.NOT_EVALUATED)
        if self.leftovers.left:
            codes.append(Exit.LEFT_BEHIND)
        if self.interrupted:
            codes.append(Exit.INTERRUPTED)
        return worst(codes)


def in_words(outcome: RunOutcome) -> str:
    """The summary of one run, ready to print."""
    return "\n".join(_lines(outcome))


def _lines(outcome: RunOutcome) -> Iterator[str]:
    rows = outcome.rows
    yield ""
    if outcome.interrupted:
        yield f"Stopped after {len(rows)} {_plural(len(rows), 'case', 'cases')}; what is known until then:"
    if not rows:
        yield f"No case of {outcome.suite} was selected." if not outcome.interrupted else "No case had ended."
    else:
        yield from _groups(rows)
        yield from _reasons(rows)
        yield ""
        yield f"{_counts(rows)} of {_amount(rows)} in {_duration(outcome.seconds)}."
    found = outcome.leftovers
    replayed = sum(pull.replayed for row in rows for pull in row.opened)
    if replayed:
        abandoned = f", {found.abandoned} abandoned" if found.opened else ""
        yield f"Pull requests: {found.opened} opened ({replayed} replayed){abandoned}."
    elif found.opened or found.left:
        yield f"Pull requests: {found.opened} opened, {found.abandoned} abandoned."
    if found.left:
        yield f"LEFT BEHIND, {len(found.left)} {_plural(len(found.left), 'thing', 'things')} to look at:"
        yield from (f"  {sentence}" for sentence in found.left)
        if found.command:
            yield f"  To finish: {found.command}"
    if any(row.tokens.requests for row in rows):
        yield _spent(rows)
    if outcome.stand_in and not all(row.replayed for row in rows):
        yield "Model: the local stand-in, which proves nothing about a real one."
    if outcome.results_file is not None:
        yield f"Results: {_short(outcome.results_file)}"
        yield "To look at them: npm run eval:view (or yarn eval:view)"


def _groups(rows: Sequence[Row]) -> Iterator[str]:
    for suite in dict.fromkeys(row.suite for row in rows):
        of_suite = [row for row in rows if row.suite == suite]
        yield f"{suite}: {_counts(of_suite)}"
        names = list(dict.fromkeys((_provider(row, of_suite), row.group) for row in of_suite))
        labels = {name: " / ".join(part for part in name if part) or "(no group)" for name in names}
        width = max(map(len, labels.values()))
        for name in names if len(names) > 1 else ():
            of_group = [row for row in of_suite if (_provider(row, of_suite), row.group) == name]
            yield f"  {labels[name]:<{width}}  {_counts(of_group)}"


def _reasons(rows: Sequence[Row]) -> Iterator[str]:
    words = {Status.FAILED: "failed", Status.ERRORED: "error", Status.NOT_EVALUATED: "not evaluated"}
    bad = [row for row in rows if row.status is not Status.PASSED]
    if bad:
        yield ""
        yield "Did not pass:"
    for row in bad:
        provider = _provider(row, [other for other in rows if other.suite == row.suite])
        name = " / ".join(part for part in (row.case_id, provider) if part)
        yield f"  {name}, {words[row.status]}: {one_line(row.reason, LONGEST_REASON)}"


def _provider(row: Row, others: Sequence[Row]) -> str:
    """The provider's label, where several ran the same suite."""
    return row.provider if len({other.provider for other in others}) > 1 else ""


def _counts(rows: Sequence[Row]) -> str:
    parts = []
    for status, one, many in _COUNTED:
        count = sum(row.status is status for row in rows)
        if count or status is Status.PASSED:
            parts.append(f"{count} {_plural(count, one, many)}")
    return ", ".join(parts)


def _amount(rows: Sequence[Row]) -> str:
    cases = len({(row.suite, row.case_id) for row in rows})
    what = f"{cases} {_plural(cases, 'case', 'cases')}"
    return what if cases == len(rows) else f"{len(rows)} runs of {what}"


def _spent(rows: Sequence[Row]) -> str:
    total = sum((row.tokens for row in rows), Tokens())
    cost = "" if total.cost is None else f", cost {total.cost:.4f}"
    replayed = sum(row.replayed for row in rows)
    when = (
        ", spent when they were recorded"
        if replayed == len(rows)
        else ", those of recordings included" * bool(replayed)
    )
    return (
        f"Tokens: {total.prompt + total.completion:,} ({total.prompt:,} in, {total.completion:,} out) "
        f"in {total.requests:,} model {_plural(total.requests, 'request', 'requests')}{cost}{when}."
    )


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{seconds:.1f} s"


def _plural(count: int, one: str, many: str) -> str:
    return one if count == 1 else many


def _short(file: Path) -> str:
    try:
        return str(file.relative_to(Path.cwd()))
    except ValueError:
        return str(file)
