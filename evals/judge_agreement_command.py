"""`evals judge-agreement`: let the judge grade items whose right verdict is known, and say how far it agrees.

Prints, for each kind of judging, a confusion matrix (rows: the label, columns: the judge), the share of equal verdicts
and Krippendorff's alpha. Run it when the judge's model or prompt changes, and before you believe a rubric.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from assertions.judging import judge as judging
from assertions.judging.groundedness import acceptable as sources_accepted
from assertions.judging.judge import JudgeSettings, ModelJudge, Order, prompt_hash, read_settings
from assertions.judging.replies import Grade, Task, Verdicts
from assertions.judging.rubric import acceptable as rubric_accepted
from assertions.verdict import ConfigError, NotEvaluated
from evals.agreement import Level, confusion, krippendorff_alpha
from evals.command_line import CommandError, parser
from evals.exit_codes import Exit
from evals.sign_in.session import signed_in
from evals.terminal_text import printable

EXAMPLES = """\
  npm run evals -- judge-agreement
  npm run evals -- judge-agreement --judge gpt-judge --least-alpha 0.8
  npm run evals -- judge-agreement --labels my-labels.jsonl --task rubric"""

LABELS = Path(judging.__file__).with_name("labels.jsonl")

VALUES: dict[Task, tuple[Any, ...]] = {
    "rubric": (True, False),
    "groundedness": ("supported", "unsupported", "none"),
    "goal": (1, 0, -1),
    "semantic": (0, 1, 2, 3, 4),
}
LEVELS: dict[Task, Level] = {"rubric": "nominal", "groundedness": "nominal", "goal": "nominal", "semantic": "ordinal"}


@dataclass(frozen=True)
class Item:
    """One item of the labelled set. A `rubric` has one criterion, a `groundedness` answer one claim or none."""

    id: str
    order: Order
    label: Any


@dataclass
class Outcome:
    """What the judge said of the items of one task."""

    task: Task
    pairs: list[tuple[Any, Any]] = field(default_factory=list)
    differing: list[str] = field(default_factory=list)
    unjudged: list[str] = field(default_factory=list)

    @property
    def alpha(self) -> float | None:
        return krippendorff_alpha(self.pairs, LEVELS[self.task])


def main(arguments: list[str]) -> int:
    """0: done; 1: alpha of one task is below `--least-alpha`; 2: an item could not be judged; 5: files or settings."""
    options = parser("judge-agreement", __doc__ or "", EXAMPLES)
    options.add_argument("--labels", type=Path, default=LABELS, help="labelled items (.jsonl); default: the pack's own")
    options.add_argument("--judge", help="model that judges; default: EVALS_JUDGE_MODEL, else the local stand-in")
    options.add_argument("--task", choices=list(VALUES), action="append", help="only this kind of judging")
    options.add_argument("--least-alpha", type=float, help="end with 1 when alpha of a task is lower")
    chosen = options.parse_args(arguments)
    items = [item for item in read_labels(chosen.labels) if not chosen.task or item.order.task in chosen.task]
    if not items:
        raise CommandError(f"{chosen.labels} holds no item of {', '.join(chosen.task)}.", Exit.NOTHING_SELECTED)
    settings = read_settings({"judge": chosen.judge} if chosen.judge else {})
    try:
        with signed_in(("model",)):
            outcomes = judge_items(items, ModelJudge(settings))
    except ConfigError as error:
        raise CommandError(str(error)) from error
    for line in report(outcomes, settings):
        print(line)
    if chosen.least_alpha is not None and any((one.alpha or 0.0) < chosen.least_alpha for one in outcomes):
        return Exit.FAILED
    return Exit.NOT_EVALUATED if any(one.unjudged for one in outcomes) else Exit.PASSED


def read_labels(file: Path) -> list[Item]:
    """The labelled items of a file.

    Raises:
        CommandError: it can not be read, or an item is not complete.
    """
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise CommandError(f"{file} can not be read: {error.strerror}.") from error
    items = []
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                items.append(_item(json.loads(line)))
            except (ValueError, KeyError, TypeError) as error:
                raise CommandError(f"{file}:{number}: {error}.") from error
    return items


def judge_items(items: Sequence[Item], judge: ModelJudge) -> list[Outcome]:
    """Ask the judge about every item; an item without a usable reply is counted apart."""
    outcomes: dict[Task, Outcome] = {}
    for item in items:
        outcome = outcomes.setdefault(item.order.task, Outcome(item.order.task))
        try:
            verdict = _verdict(item.order, judge)
        except NotEvaluated as error:
            outcome.unjudged.append(f"{item.id}: {error.reason}")
            continue
        outcome.pairs.append((item.label, verdict))
        if item.label != verdict:
            outcome.differing.append(f"{item.id}: labelled {_shown(item.label)}, judged {_shown(verdict)}")
    return list(outcomes.values())


def report(outcomes: Sequence[Outcome], settings: JudgeSettings) -> Iterator[str]:
    """The outcome in words and tables."""
    yield f"Judge: {settings.model}"
    for outcome in outcomes:
        values = [str(_shown(value)) for value in VALUES[outcome.task]]
        equal = len(outcome.pairs) - len(outcome.differing)
        alpha = "not defined" if outcome.alpha is None else f"{outcome.alpha:.3f}"
        yield ""
        yield f"{outcome.task} (prompt {prompt_hash(outcome.task)[:12]})"
        yield f"  equal: {equal} of {len(outcome.pairs)}; Krippendorff's alpha ({LEVELS[outcome.task]}): {alpha}"
        width = max(len("label"), *map(len, values))
        yield "  " + "  ".join(f"{text:>{width}}" for text in ("label", *values))
        for value, row in zip(values, confusion(outcome.pairs, VALUES[outcome.task]), strict=True):
            yield "  " + "  ".join(f"{text:>{width}}" for text in (value, *map(str, row)))
        yield from (f"  differs: {printable(line)}" for line in outcome.differing)
        yield from (f"  not judged: {printable(line)}" for line in outcome.unjudged)


def _item(data: dict[str, Any]) -> Item:
    task = data["task"]
    if task not in VALUES:
        raise ValueError(f"task is {task!r}; allowed: {', '.join(VALUES)}")
    label = data["label"]
    if not any(label == value and type(label) is type(value) for value in VALUES[cast(Task, task)]):
        raise ValueError(f"label is {label!r}; allowed: {', '.join(map(repr, VALUES[cast(Task, task)]))}")
    criteria = tuple(data.get("criteria", ()))
    if task == "rubric" and len(criteria) != 1:
        raise ValueError("a rubric item has exactly one criterion")
    texts = {key: str(data.get(key, "")) for key in ("question", "context", "expected")}
    return Item(str(data["id"]), Order(cast(Task, task), str(data["answer"]), criteria, **texts), label)


def _verdict(order: Order, judge: ModelJudge) -> Any:
    if order.task == "rubric":
        verdicts, _ = judge.ask(order, Verdicts, rubric_accepted(order.criteria, order.answer))
        return verdicts.findings[0].holds
    if order.task == "groundedness":
        verdicts, _ = judge.ask(order, Verdicts, sources_accepted(order.context))
        if not verdicts.findings:
            return "none"
        return "supported" if all(finding.holds for finding in verdicts.findings) else "unsupported"
    grade, _ = judge.ask(order, Grade, lambda _: None)
    return grade.value


def _shown(value: Any) -> Any:
    return {True: "met", False: "not met"}[value] if isinstance(value, bool) else value
