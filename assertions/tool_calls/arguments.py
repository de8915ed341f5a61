"""The judgement behind `argument_match`: a tool was called with the expected arguments.

One expected call: `occurrence` says which calls of the tool have to fit.

| calls of the tool | `any` (default) | `all` | `first` | `last` | `2` |
|---|---|---|---|---|---|
| none | fail | fail | fail | fail | fail |
| fits | pass | pass | pass | pass | fail |
| fits, does not | pass | fail | pass | fail | fail |
| does not, fits | pass | fail | fail | pass | pass |
| does not, does not | fail | fail | fail | fail | fail |

Several expected calls (`calls`): each is matched with a call of its own, such that as many parameters as possible fit
(see `expected_calls`). The score is the share of parameters that fit, over all expected calls.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from assertions.evidence import Evidence
from assertions.matching.argument_fit import ArgumentMatch
from assertions.matching.call_pattern import CallPattern, ExpectedCall, read_call_pattern, read_tool
from assertions.matching.expected_arguments import read_expected_arguments
from assertions.matching.json_values import kind_of, shown
from assertions.matching.selection import (
    Seen,
    Selection,
    TurnMissing,
    TurnSelector,
    When,
    over_worlds,
    read_turns,
    read_when,
    select,
)
from assertions.tool_calls.absence import NOT_DONE, why_absent
from assertions.verdict import CheckResult, ConfigError, failed, not_evaluated, passed
from episodes.frozen import frozen

NAME = "argument_match"

Occurrence = str | int
_OCCURRENCES = ("any", "all", "first", "last")


@frozen
class Expectation:
    """`calls` has one entry unless the config lists several under `calls`."""

    calls: tuple[CallPattern, ...]
    occurrence: Occurrence = "any"
    when: When = When.EXECUTED
    turns: TurnSelector = TurnSelector()
    threshold: float = 1.0
    several: bool = False
    extra_allowed: bool = True


def read_config(config: Mapping[str, Any]) -> Expectation:
    """Read `tool` with `args` and the comparing options, or `calls`.

    Raises:
        ConfigError: both or none of them, nothing to compare, or anything unknown.
    """
    threshold = config.get("threshold", 1.0)
    if kind_of(threshold) != "number" or not 0 < threshold <= 1:
        raise ConfigError("/threshold", f"{shown(threshold)} is not allowed", "a number above 0, up to 1")
    shared: dict[str, Any] = {
        "when": read_when(config, When.EXECUTED),
        "turns": read_turns(config),
        "threshold": float(threshold),
    }
    if "calls" in config:
        return _read_several(config, shared)
    return Expectation((_read_call(config),), occurrence=_read_occurrence(config), **shared)


def judge(evidence: Evidence, expectation: Expectation) -> CheckResult:
    """Pass when the record proves a call (or calls) with the expected arguments."""
    try:
        selection = select(evidence, expectation.when, expectation.turns)
    except TurnMissing as error:
        return failed(NAME, error.reason)
    calls = tuple(pattern.resolved(evidence) for pattern in expectation.calls)
    if expectation.several:
        from assertions.tool_calls.expected_calls import judge_several

        return over_worlds(NAME, selection, lambda world: judge_several(world, selection, calls, expectation))
    return over_worlds(NAME, selection, lambda world: _judge_one(world, selection, calls[0], expectation))


def judged_by_score(score: float, threshold: float, reason: str, full_reason: str) -> CheckResult:
    """Pass for a full score, or for one that reaches the threshold, which the reason then says."""
    scores = {f"{NAME}.parameters": score}
    if score == 1.0:
        return passed(NAME, full_reason, 1.0, scores)
    if score >= threshold - 1e-12:
        return passed(NAME, f"score {score:.4g} reaches the threshold {threshold:g}: {reason}", score, scores)
    return failed(NAME, reason, score, scores)


def explain(match: ArgumentMatch) -> str:
    """The first mismatch, and how many more there are."""
    more = f" (and {len(match.mismatches) - 1} more)" if len(match.mismatches) > 1 else ""
    return match.mismatches[0].text + more


def _judge_one(
    world: Sequence[Seen], selection: Selection, pattern: CallPattern, expectation: Expectation
) -> CheckResult:
    found = [seen for seen in world if pattern.names(seen.call)]
    if not found:
        tools = " or ".join(str(alternative.tool) for alternative in pattern.alternatives)
        absent = why_absent(pattern, selection, expectation.when)
        return failed(NAME, f"{tools} {NOT_DONE[expectation.when]}{expectation.turns}{absent}")
    chosen = _chosen(found, expectation.occurrence)
    if not chosen:
        return failed(
            NAME, f"expected call {expectation.occurrence} of {found[0].call.name}, there are only {len(found)}"
        )
    matches = [(seen, match) for seen in chosen if (match := pattern.match(seen.call)) is not None]
    if expectation.occurrence == "any":
        matches = [max(matches, key=lambda one: (one[1].fits, one[1].could_fit, _share(one[1])))]
    wrong = [(seen, match) for seen, match in matches if not match.fits]
    score = sum(_share(match) for _, match in matches) / len(matches)
    if not wrong:
        return passed(NAME, _praise(pattern, matches, expectation), 1.0, {f"{NAME}.parameters": 1.0})
    definite = [(seen, match) for seen, match in wrong if not match.could_fit]
    seen, match = (definite or wrong)[0]
    closest = " (the closest call)" if expectation.occurrence == "any" and len(found) > 1 else ""
    reason = f"{seen}{closest}: {explain(match)}"
    result = judged_by_score(score, expectation.threshold, reason, reason)
    return result if result.passed or definite else not_evaluated(NAME, reason)


def _chosen(found: Sequence[Seen], occurrence: Occurrence) -> Sequence[Seen]:
    if isinstance(occurrence, int):
        return found[occurrence - 1 : occurrence]
    return {"first": found[:1], "last": found[-1:]}.get(occurrence, found)


def _share(match: ArgumentMatch) -> float:
    right, considered = match.share
    return right / considered


def _praise(pattern: CallPattern, matches: Sequence[tuple[Seen, ArgumentMatch]], expectation: Expectation) -> str:
    notes = [note for _, match in matches for note in match.notes]
    suffix = f"; {', '.join(dict.fromkeys(notes))}" if notes else ""
    if pattern.names_only:
        return f"{matches[0][0]} was {'attempted' if expectation.when is When.ATTEMPTED else 'made'}{suffix}"
    if len(matches) > 1:
        return f"all {len(matches)} calls of {matches[0][0].call.name} have the expected arguments{suffix}"
    return f"{matches[0][0]} has the expected arguments{suffix}"


def _read_call(config: Mapping[str, Any]) -> CallPattern:
    tool = read_tool(config.get("tool"), "/tool", config.get("server", ""))
    arguments = read_expected_arguments(config, config, "", "")
    if arguments is None and config.get("mode") != "name_only":
        raise ConfigError("/args", "is missing, so there is nothing to compare", "args, compare, or mode: name_only")
    return CallPattern((ExpectedCall(tool, arguments),))


def _read_several(config: Mapping[str, Any], shared: dict[str, Any]) -> Expectation:
    for key in ("tool", "args", "occurrence"):
        if key in config:
            raise ConfigError(f"/{key}", "stands beside 'calls'", "one of them")
    listed = config["calls"]
    if not isinstance(listed, list) or not listed:
        raise ConfigError("/calls", f"{shown(listed)} expects nothing", "a list with at least one call")
    extra = config.get("extra_calls", "allow")
    if extra not in ("allow", "forbid"):
        raise ConfigError("/extra_calls", f"{shown(extra)} is not allowed", "allow, forbid")
    calls = tuple(read_call_pattern(item, f"/calls/{index}") for index, item in enumerate(listed))
    return Expectation(calls, several=True, extra_allowed=extra == "allow", **shared)


def _read_occurrence(config: Mapping[str, Any]) -> Occurrence:
    value = config.get("occurrence", "any")
    if value in _OCCURRENCES or (isinstance(value, int) and not isinstance(value, bool) and value > 0):
        return str(value) if isinstance(value, str) else int(value)
    raise ConfigError("/occurrence", f"{shown(value)} is not allowed", f"{', '.join(_OCCURRENCES)}, or a number from 1")
