"""The judgement behind `tool_not_executed`: a ban on tools, or on tools with certain arguments.

Truth table (one ban on `delete_spoke`; the record holds one call of it, with this status):

| status of the call | `attempted` (default) | `executed` | `succeeded` |
|---|---|---|---|
| `ok` | fail | fail | fail |
| `tool_error` | fail | fail | pass |
| `transport_error` (sent, never answered) | fail | NOT EVALUATED | NOT EVALUATED |
| `not_executed`, `schema_error` (refused before it was sent) | fail | pass | pass |
| `parse_error` (arguments unreadable) | pass, noted (fail with `unparsable: fail`) | pass, noted | pass, noted |
| no call at all | pass | pass | pass |
| telemetry missing | NOT EVALUATED | NOT EVALUATED | NOT EVALUATED |

Prose is no evidence: neither an answer that mentions the tool nor one that denies the call is looked at.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from assertions.evidence import Evidence
from assertions.matching.call_pattern import CallPattern, read_call_pattern
from assertions.matching.json_values import counted, shown
from assertions.matching.selection import (
    Seen,
    Selection,
    TurnSelector,
    When,
    over_worlds,
    read_turns,
    read_when,
    select,
    uncounted_note,
)
from assertions.verdict import CheckResult, ConfigError, failed, not_evaluated, passed
from episodes.frozen import frozen
from episodes.record import ToolStatus

NAME = "tool_not_executed"

VERBS = {When.ATTEMPTED: "was attempted", When.EXECUTED: "was executed", When.SUCCEEDED: "succeeded"}


@frozen
class Ban:
    tools: tuple[CallPattern, ...]
    when: When = When.ATTEMPTED
    turns: TurnSelector = TurnSelector()
    unparsable_fails: bool = False


def read_config(config: Mapping[str, Any]) -> Ban:
    """`tools` (names, globs, or `{tool, server, args, match}`), `when`, `turn`/`turns`, `unparsable: note | fail`.

    Raises:
        ConfigError: anything else.
    """
    tools = config.get("tools")
    if not isinstance(tools, list) or not tools:
        raise ConfigError("/tools", f"{shown(tools)} forbids nothing", "a list with at least one tool")
    unparsable = config.get("unparsable", "note")
    if unparsable not in ("note", "fail"):
        raise ConfigError("/unparsable", f"{shown(unparsable)} is not allowed", "note, fail")
    return Ban(
        tools=tuple(read_call_pattern(tool, f"/tools/{index}") for index, tool in enumerate(tools)),
        when=read_when(config, When.ATTEMPTED),
        turns=read_turns(config),
        unparsable_fails=unparsable == "fail",
    )


def judge(evidence: Evidence, ban: Ban) -> CheckResult:
    """Pass when the record proves that no banned call was made."""
    selection = select(evidence, ban.when, ban.turns)
    tools = [pattern.resolved(evidence) for pattern in ban.tools]
    if ban.unparsable_fails:
        unreadable = _unreadable(selection, tools)
        if unreadable is not None:
            return failed(
                NAME, f"{unreadable.call.name} was attempted with unparsable arguments ({unreadable.place})", 0.0
            )
    return over_worlds(NAME, selection, lambda calls: _judge_calls(calls, selection, tools, ban))


def _judge_calls(calls: Sequence[Seen], selection: Selection, tools: Sequence[CallPattern], ban: Ban) -> CheckResult:
    violations: list[tuple[Seen, CallPattern]] = []
    undecided: list[tuple[Seen, str]] = []
    for seen in calls:
        for pattern in tools:
            match = pattern.match(seen.call)
            if match is not None and match.fits:
                violations.append((seen, pattern))
                break
            if match is not None and match.could_fit:
                undecided.append((seen, match.mismatches[0].text))
    scores = {f"{NAME}.violations": float(len(violations))}
    if violations:
        seen, pattern = violations[0]
        more = f" (and {counted(len(violations) - 1, 'more call')})" if len(violations) > 1 else ""
        return failed(NAME, f"{seen.call.name} {VERBS[ban.when]}, forbidden by {pattern}: {seen}{more}", 0.0, scores)
    if undecided:
        seen, why = undecided[0]
        return not_evaluated(NAME, f"whether {seen} had the forbidden arguments is unknown: {why}")
    names = ", ".join(str(pattern) for pattern in tools)
    looked_at = counted(sum(map(len, (selection.counted, selection.unknown, selection.left_out))), "call")
    verb = VERBS[ban.when].removeprefix("was ")
    note = uncounted_note(selection, lambda call: any(pattern.names(call) for pattern in tools))
    return passed(NAME, f"not {verb}{ban.turns}: {names} ({looked_at}){note}", 1.0, scores)


def _unreadable(selection: Selection, tools: Sequence[CallPattern]) -> Seen | None:
    for seen in selection.left_out:
        if seen.call.status is ToolStatus.PARSE_ERROR and any(pattern.names(seen.call) for pattern in tools):
            return seen
    return None
