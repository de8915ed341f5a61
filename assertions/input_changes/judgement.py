"""The judgement behind `input_diff`: what was submitted differs from its source exactly as expected.

| expected | in the documents | verdict |
|---|---|---|
| `replace: /a, value: 2` | `/a` 1 → 2 | pass |
| `replace: /a, value: 2` | `/a` 1 → 3, or unchanged, or `/a` was not there | fail: missing |
| (nothing) | `/a` 1 → 2 | fail: unexpected; pass with `allow_other: true` or `["/a"]` |
| `add: /subnets/[name=x]` | the list has one more element, anywhere | pass |
| `remove: /tags/old` | the key is gone | pass |
| `changes: []` | equal documents | pass |
| anything | the answer with the source was cut | NOT EVALUATED |
| anything | nothing was submitted, or the source was not read before | fail |
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assertions.evidence import Evidence
from assertions.input_changes.aligned import DEFAULT_LIST_KEYS, AlignmentRules
from assertions.input_changes.documents import (
    FromCall,
    FromFile,
    SourceNeverRead,
    read_from_call,
    read_source,
    source_document,
    submitted_document,
)
from assertions.input_changes.expected import ExpectedChange, read_changes, renamings
from assertions.input_changes.outcome import Outcome, compare
from assertions.matching.json_values import shown
from assertions.matching.options import read_patterns
from assertions.matching.paths import PathPattern
from assertions.matching.selection import (
    Seen,
    Selection,
    TurnMissing,
    TurnSelector,
    When,
    read_turns,
    read_when,
    select,
)
from assertions.tool_calls.absence import NOT_DONE, why_absent
from assertions.verdict import CheckResult, ConfigError, Verdict, failed, not_evaluated, passed
from episodes.frozen import frozen

NAME = "input_diff"

OCCURRENCES = ("all", "any", "first", "last")


@frozen
class DiffConfig:
    """`allowed` are the places whose changes need not be expected; None: every place."""

    changes: tuple[ExpectedChange, ...]
    source: FromCall | FromFile
    submitted: FromCall
    rules: AlignmentRules
    allowed: tuple[PathPattern, ...] | None = ()
    occurrence: str | int = "all"
    when: When = When.SUCCEEDED
    turns: TurnSelector = TurnSelector()


def read_config(config: Mapping[str, Any]) -> DiffConfig:
    """Read `changes`, `source`, `submitted`, `allow_other`, `ignore`, `unordered`, `list_keys`, `occurrence`, `when`.

    Raises:
        ConfigError: anything else; and an expectation that every submission would meet.
    """
    changes = read_changes(config.get("changes"), "/changes")
    allow = config.get("allow_other", False)
    if not isinstance(allow, bool | list):
        raise ConfigError("/allow_other", f"{shown(allow)} is not allowed", "true, false, or a list of paths")
    if allow is True and not any(not change.optional for change in changes):
        raise ConfigError("/changes", "expects nothing while all other changes are allowed", "at least one change")
    if not {"/**", "**"}.isdisjoint(config.get("ignore", ())):
        raise ConfigError("/ignore", "'/**' leaves nothing to compare", "the places that do not matter")
    return DiffConfig(
        changes=changes,
        source=read_source(config.get("source", {}), "/source"),
        submitted=read_from_call(config.get("submitted", {}), "/submitted", "create_spoke_pull_request"),
        rules=AlignmentRules(
            list_keys=_list_keys(config),
            unordered=read_patterns(config, "unordered", ""),
            ignore=read_patterns(config, "ignore", ""),
            renamings=renamings(changes),
        ),
        allowed=None if allow is True else read_patterns(config, "allow_other", "") if allow else (),
        occurrence=_occurrence(config),
        when=read_when(config, When.SUCCEEDED),
        turns=read_turns(config),
    )


def judge(evidence: Evidence, config: DiffConfig) -> CheckResult:
    """Pass when the record proves that each chosen submission differs from its source as expected."""
    try:
        selection = select(evidence, config.when, config.turns)
    except TurnMissing as error:
        return failed(NAME, error.reason)
    chosen, problem = _submissions(selection, config)
    if problem:
        return failed(NAME, problem)
    results = [_judge_one(evidence, seen, config) for seen in chosen]
    if config.occurrence == "any":
        return max(results, key=lambda result: (result.passed, result.verdict is Verdict.NOT_EVALUATED, result.score))
    for verdict in (Verdict.FAIL, Verdict.NOT_EVALUATED):
        for result in results:
            if result.verdict is verdict:
                return result
    unknown = [seen for seen in selection.unknown if _is_submission(seen, config)]
    if unknown and config.occurrence in ("all", "last"):
        return not_evaluated(NAME, f"whether {unknown[0]} ran is unknown, no answer came back")
    return results[0]


def _submissions(selection: Selection, config: DiffConfig) -> tuple[list[Seen], str]:
    found = [seen for seen in selection.counted if _is_submission(seen, config)]
    if not found:
        call = config.submitted.call
        return [], f"nothing was submitted: {call} {NOT_DONE[config.when]}{why_absent(call, selection, config.when)}"
    if isinstance(config.occurrence, int):
        chosen = found[config.occurrence - 1 : config.occurrence]
        return chosen, "" if chosen else f"expected submission {config.occurrence}, there are only {len(found)}"
    return {"first": found[:1], "last": found[-1:]}.get(config.occurrence, found), ""


def _is_submission(seen: Seen, config: DiffConfig) -> bool:
    match = config.submitted.call.match(seen.call)
    return match is not None and match.could_fit


def _judge_one(evidence: Evidence, seen: Seen, config: DiffConfig) -> CheckResult:
    submitted = submitted_document(config.submitted, seen)
    if submitted is None:
        return failed(NAME, f"{seen} submitted nothing at {config.submitted.path.text or '/'}")
    try:
        source = source_document(config.source, seen, evidence)
    except SourceNeverRead as error:
        return failed(NAME, str(error))
    outcome = compare(source, submitted, config.changes, config.rules, config.allowed)
    return _verdict(outcome)


def _verdict(outcome: Outcome) -> CheckResult:
    scores = {f"{NAME}.missing": float(len(outcome.missing)), f"{NAME}.unexpected": float(len(outcome.unexpected))}
    wrong = len(outcome.missing) + len(outcome.unexpected)
    score = len(outcome.met) / (len(outcome.met) + wrong) if wrong else 1.0
    if wrong:
        return failed(NAME, outcome.explanation(), score, scores)
    if outcome.undecided:
        return not_evaluated(NAME, outcome.undecided)
    return passed(NAME, outcome.praise(), 1.0, scores)


def _list_keys(config: Mapping[str, Any]) -> tuple[str, ...]:
    listed = config.get("list_keys", list(DEFAULT_LIST_KEYS))
    if not isinstance(listed, list) or not listed or not all(isinstance(key, str) and key for key in listed):
        raise ConfigError("/list_keys", f"{shown(listed)} is not allowed", "a list of keys, such as [name]")
    return tuple(listed)


def _occurrence(config: Mapping[str, Any]) -> str | int:
    value = config.get("occurrence", "all")
    if isinstance(value, int) and not isinstance(value, bool) and value > 0:
        return value
    if value not in OCCURRENCES:
        raise ConfigError(
            "/occurrence", f"{shown(value)} is not allowed", f"{', '.join(OCCURRENCES)}, or a number from 1"
        )
    return str(value)
