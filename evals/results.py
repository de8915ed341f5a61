"""Read a results file of promptfoo: what became of each row.

A run that ended writes JSON, with everything; while it goes on, and when it is stopped, the same rows stand in a JSON
Lines file, one per line as they end. Both are read here.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

NOT_EVALUATED = "NOT EVALUATED:"

_CRASHED = ("Error running Python script:", "Python code execution failed:")
"""How promptfoo words that an assertion's own program broke down. It counts that as a failed check."""
"""How the reason of a check begins that could not be made."""

_FAILURE_IS_AN_ERROR = 2
"""promptfoo's `failureReason` of a row whose provider, or whose evaluation, broke down."""


class Status(StrEnum):
    """What became of one row."""

    PASSED = "passed"
    FAILED = "failed"
    ERRORED = "errored"
    """The provider reported an error, so nothing was judged."""
    NOT_EVALUATED = "not_evaluated"
    """No check failed, but at least one could not be made."""


@dataclass(frozen=True)
class Opened:
    """A pull request that the row created. `replayed`: it did so when it was recorded, and not in this run."""

    url: str
    id: str = ""
    repository: str = ""
    replayed: bool = False


@dataclass(frozen=True)
class Tokens:
    """What a row spent, all roles together. `cost` is None when no price is known."""

    prompt: int = 0
    completion: int = 0
    requests: int = 0
    cost: float | None = None

    def __add__(self, other: Tokens) -> Tokens:
        costs = [cost for cost in (self.cost, other.cost) if cost is not None]
        return Tokens(
            self.prompt + other.prompt,
            self.completion + other.completion,
            self.requests + other.requests,
            sum(costs) if costs else None,
        )


@dataclass(frozen=True)
class Row:
    """One case, run once by one provider."""

    suite: str
    case_id: str
    group: str
    priority: str
    provider: str
    status: Status
    reason: str
    """Why it did not pass; the first reason, in promptfoo's own words. Empty when it passed."""
    score: float
    named_scores: dict[str, float]
    tokens: Tokens
    latency_ms: float
    opened: tuple[Opened, ...] = ()
    replayed: bool = False
    """The whole row comes from a recording: no model and no portal was asked."""
    cleanup: tuple[dict[str, Any], ...] = ()
    """What the cleanup after this row did: `{id, url, result, detail, …}` each."""
    metadata: dict[str, Any] = field(default_factory=dict, repr=False)
    description: str = ""
    about: dict[str, Any] = field(default_factory=dict, repr=False)
    """The metadata of the case, as it is written."""
    variables: dict[str, Any] = field(default_factory=dict, repr=False)
    """The case's vars as they are written: templates are not filled in, files are not read."""
    reasons: tuple[str, ...] = ()
    """The reason of every check that did not pass; none when nothing was judged."""


@dataclass(frozen=True)
class Results:
    """One results file. `eval_id` is empty, and `complete` False, for rows of a run that did not end."""

    file: Path
    rows: tuple[Row, ...]
    eval_id: str = ""
    complete: bool = True

    def count(self, status: Status) -> int:
        return sum(row.status is status for row in self.rows)


class ResultsError(ValueError):
    """The file is no results file of promptfoo; the text says which file, and why."""


def read_results(file: Path) -> Results:
    """Read a `.json` or `.jsonl` results file.

    A line that was cut off when the run was killed is left out.

    Raises:
        ResultsError: the file cannot be read, or is something else.
    """
    try:
        text = file.read_text(encoding="utf-8")
    except OSError as error:
        raise ResultsError(f"{file}: cannot be read: {error.strerror}") from error
    if file.suffix == ".jsonl":
        rows = _rows(list(_lines(text)))
        return Results(file, rows, _eval_id(rows), complete=False)
    try:
        content = json.loads(text)
        listed = content["results"]["results"]
        return Results(file, _rows(listed), str(content.get("evalId") or ""))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ResultsError(f"{file}: is no results file of promptfoo ({type(error).__name__}: {error})") from error


def _rows(listed: list[Mapping[str, Any]]) -> tuple[Row, ...]:
    """In the order of the cases, whichever ended first."""
    return tuple(map(_row, sorted(listed, key=lambda row: (row.get("testIdx") or 0, row.get("promptIdx") or 0))))


def _lines(text: str) -> Iterator[Mapping[str, Any]]:
    for line in text.splitlines():
        try:
            row = json.loads(line)
        except ValueError:
            continue
        if isinstance(row, dict):
            yield row


def _eval_id(rows: tuple[Row, ...]) -> str:
    """The id that our own providers write into their records."""
    return next((str(row.metadata["evalId"]) for row in rows if row.metadata.get("evalId")), "")


def _row(row: Mapping[str, Any]) -> Row:
    test = _mapping(row.get("testCase"))
    about = _mapping(test.get("metadata"))
    record = {**_mapping(_mapping(row.get("response")).get("metadata")), **_mapping(row.get("metadata"))}
    provider = _mapping(row.get("provider"))
    label = str(provider.get("label") or provider.get("id") or "")
    status, reason = _judged(row)
    return Row(
        suite=str(about.get("suite") or label),
        case_id=str(about.get("id") or test.get("description") or f"test {row.get('testIdx')}"),
        group=str(about.get("group") or ""),
        priority=str(about.get("priority") or ""),
        provider=label,
        status=status,
        reason=reason,
        score=float(row.get("score") or 0),
        named_scores={name: float(value) for name, value in _mapping(row.get("namedScores")).items()},
        tokens=_tokens(record, row),
        latency_ms=float(row.get("latencyMs") or 0),
        opened=tuple(_opened(record)),
        replayed=_mapping(record.get("cassette")).get("mode") == "none",
        cleanup=tuple(entry for entry in _list(record.get("cleanup")) if isinstance(entry, dict)),
        metadata=record,
        description=str(test.get("description") or ""),
        about=dict(about),
        variables=dict(_mapping(row.get("vars")) or _mapping(test.get("vars"))),
        reasons=() if row.get("success") else tuple(_failing(_mapping(row.get("gradingResult")))),
    )


def _judged(row: Mapping[str, Any]) -> tuple[Status, str]:
    if row.get("success"):
        return Status.PASSED, ""
    error = str(row.get("error") or "")
    if row.get("failureReason") == _FAILURE_IS_AN_ERROR:
        return Status.ERRORED, error or "no reason was given"
    grading = _mapping(row.get("gradingResult"))
    reasons = list(_failing(grading)) or [str(grading.get("reason") or error or "no reason was given")]
    failed = [reason for reason in reasons if not reason.startswith((NOT_EVALUATED, *_CRASHED))]
    if failed:
        return Status.FAILED, failed[0]
    return Status.NOT_EVALUATED, reasons[0].removeprefix(NOT_EVALUATED).strip()


def _failing(result: Mapping[str, Any]) -> Iterator[str]:
    """The reasons of the innermost checks that did not pass."""
    if result.get("pass"):
        return
    parts = [_mapping(part) for part in _list(result.get("componentResults"))]
    inner = [reason for part in parts for reason in _failing(part)]
    if inner:
        yield from inner
    elif result.get("reason"):
        yield str(result["reason"])


def _tokens(record: Mapping[str, Any], row: Mapping[str, Any]) -> Tokens:
    roles = [_mapping(part) for part in _mapping(record.get("usage")).values()]
    if roles:
        total = Tokens()
        for role in roles:
            cost = role.get("cost")
            total += Tokens(
                int(role.get("promptTokens") or 0),
                int(role.get("completionTokens") or 0),
                int(role.get("requests") or 0),
                float(cost) if isinstance(cost, int | float) else None,
            )
        return total
    usage = _mapping(row.get("tokenUsage"))
    cost = row.get("cost")
    return Tokens(
        int(usage.get("prompt") or 0),
        int(usage.get("completion") or 0),
        int(usage.get("numRequests") or 0),
        float(cost) if isinstance(cost, int | float) and cost else None,
    )


def _opened(record: Mapping[str, Any]) -> Iterator[Opened]:
    for pull in _list(record.get("pullRequests")):
        if isinstance(pull, dict) and (pull.get("url") or pull.get("id")):
            url, number, repository = (str(pull.get(key) or "") for key in ("url", "id", "repository"))
            yield Opened(url, number, repository, replayed=pull.get("replayed") is True)


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
