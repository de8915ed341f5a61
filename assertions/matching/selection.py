"""Which calls of the record does a check count?

| `when` | counts a call that |
|---|---|
| `attempted` | the model asked for with readable arguments, whatever became of it |
| `executed` | ran: it answered, well or with an error |
| `succeeded` | ran and answered without an error |

A call that was sent and never answered may have run. It is *unknown* for `executed` and `succeeded`: it never helps a
check to pass, and a pass that it could overturn is NOT EVALUATED. A call whose arguments are no JSON object could not
be sent to any tool: it is counted nowhere and mentioned in the reason.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Any

from assertions.evidence import Evidence
from assertions.matching.json_values import counted, shown
from assertions.remember import remembered
from assertions.verdict import NOT_EVALUATED_PREFIX, CheckResult, ConfigError, NotEvaluated, Verdict, not_evaluated
from episodes.frozen import frozen
from episodes.record import ToolCall, ToolStatus


class When(StrEnum):
    ATTEMPTED = "attempted"
    EXECUTED = "executed"
    SUCCEEDED = "succeeded"

    def counts(self, status: ToolStatus) -> bool | None:
        """True, False, or None for unknown."""
        if status is ToolStatus.PARSE_ERROR:
            return False
        if self is When.ATTEMPTED:
            return True
        if status.executed is None:
            return None
        return status.executed if self is When.EXECUTED else status is ToolStatus.OK


class TurnMissing(NotEvaluated):
    """A selected turn did not take place: no evidence for a ban, and a failure of what was expected there."""


class Seen:
    """A call with its number: its position in the whole record, from 1."""

    __slots__ = ("call", "number")

    def __init__(self, number: int, call: ToolCall) -> None:
        self.number = number
        self.call = call

    @property
    def place(self) -> str:
        return f"call {self.number}, turn {self.call.turn}" if self.call.turn else f"call {self.number}"

    def __str__(self) -> str:
        status = "" if self.call.status is ToolStatus.OK else f": {self.call.status}"
        return f"{self.call.name} ({self.place}{status})"


@frozen
class TurnSelector:
    """`turns` counts from 1; -1 is the last turn that took place. Empty: all turns."""

    turns: tuple[int, ...] = ()

    def __str__(self) -> str:
        if not self.turns:
            return ""
        names = ["the last turn" if turn == LAST else f"turn {turn}" for turn in self.turns]
        return f" in {' and '.join(names)}"


LAST = -1

_FEW = 5
"""Up to so many unknown calls, every set of them is tried."""


@frozen
class Selection:
    """The calls of the selected turns: counted, unknown (may count), and left out."""

    counted: tuple[Seen, ...]
    unknown: tuple[Seen, ...] = ()
    left_out: tuple[Seen, ...] = ()

    def worlds(self) -> Iterator[tuple[Seen, ...]]:
        """What may have been: first without any unknown call, then with each of them, then with all.

        Every set of unknown calls is tried while they are few; beyond that each alone and all together.
        """
        yield self.counted
        count = len(self.unknown)
        if not count:
            return
        if count <= _FEW:
            masks = range(1, 2**count)
            choices = [tuple(one for index, one in enumerate(self.unknown) if mask >> index & 1) for mask in masks]
        else:
            choices = [(one,) for one in self.unknown] + [self.unknown]
        for choice in choices:
            yield tuple(sorted((*self.counted, *choice), key=lambda seen: seen.number))


def read_when(config: Mapping[str, Any], default: When, key: str = "") -> When:
    """Raises ConfigError for an unknown word."""
    value = config.get("when", default)
    try:
        return When(value)
    except ValueError:
        raise ConfigError(f"{key}/when", f"{shown(value)} is not allowed", When) from None


def read_turns(config: Mapping[str, Any], key: str = "") -> TurnSelector:
    """`turn: 2`, `turn: last`, `turns: [1, 2]`, `turns: [1, last]`, or nothing for all turns.

    Raises:
        ConfigError: both are given, or something else than a turn.
    """
    if "turn" in config and "turns" in config:
        raise ConfigError(f"{key}/turns", "stands beside 'turn'", "one of them")
    if "turn" in config:
        return TurnSelector((_turn(config["turn"], f"{key}/turn"),))
    listed = config.get("turns")
    if listed is None:
        return TurnSelector()
    if not isinstance(listed, list) or not listed:
        raise ConfigError(f"{key}/turns", f"{shown(listed)} is not allowed", "a list of turns, such as [1, last]")
    return TurnSelector(tuple(_turn(turn, f"{key}/turns/{index}") for index, turn in enumerate(listed)))


def _turn(value: Any, key: str) -> int:
    if value == "last":
        return LAST
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ConfigError(key, f"{shown(value)} is no turn", "a whole number from 1, or last")
    return value


def _numbered(calls: tuple[ToolCall, ...]) -> tuple[Seen, ...]:
    return tuple(map(Seen, range(1, len(calls) + 1), calls))


numbered = remembered(_numbered, most=1)
"""The calls of a record with their numbers; several checks of one case ask for the same."""


def select(evidence: Evidence, when: When, selector: TurnSelector) -> Selection:
    """The calls that count, in the record's order.

    Raises:
        TurnMissing: a selected turn did not take place.
        NotEvaluated: telemetry is missing, or the record does not know turns.
    """
    seen = numbered(evidence.calls())
    if selector.turns:
        wanted = _wanted_turns(evidence, selector, seen)
        seen = tuple(one for one in seen if one.call.turn in wanted)
    return sorted_by_status(seen, when)


def sorted_by_status(seen: Sequence[Seen], when: When) -> Selection:
    answers = _ANSWERS[when]
    if all(map(answers.__getitem__, [one.call.status for one in seen])):
        return Selection(tuple(seen))
    groups: dict[bool | None, list[Seen]] = {True: [], None: [], False: []}
    for one in seen:
        groups[answers[one.call.status]].append(one)
    return Selection(tuple(groups[True]), tuple(groups[None]), tuple(groups[False]))


_ANSWERS = {when: {status: when.counts(status) for status in ToolStatus} for when in When}


def _wanted_turns(evidence: Evidence, selector: TurnSelector, seen: Sequence[Seen]) -> set[int]:
    if any(one.call.turn < 1 for one in seen):
        raise NotEvaluated("the record does not say in which turn each tool was called")
    count = evidence.turn_count()
    if count < 1:
        raise NotEvaluated("the record does not say how many turns the conversation had")
    wanted = {count if turn == LAST else turn for turn in selector.turns}
    beyond = max(wanted)
    if beyond > count:
        raise TurnMissing(f"turn {beyond} did not take place: the conversation has {counted(count, 'turn')}")
    return wanted


def over_worlds(name: str, selection: Selection, judge: Callable[[Sequence[Seen]], CheckResult]) -> CheckResult:
    """`judge` on the counted calls; a pass that an unknown call could overturn is NOT EVALUATED."""
    if not selection.unknown:
        return judge(selection.counted)
    worlds = selection.worlds()
    verdict = judge(next(worlds))
    if verdict.verdict is not Verdict.PASS:
        return verdict
    for world in worlds:
        other = judge(world)
        if other.verdict is not Verdict.PASS:
            reason = other.reason.removeprefix(NOT_EVALUATED_PREFIX).lstrip()
            return not_evaluated(
                name, f"whether {selection.unknown[0]} ran is unknown, no answer came back; if it did: {reason}"
            )
    return verdict


def uncounted_note(selection: Selection, concerns: Callable[[ToolCall], bool]) -> str:
    """A remark about calls with unreadable arguments, for the end of a reason; empty when there are none.

    `concerns` says which tools the check is about.
    """
    unreadable = [
        seen for seen in selection.left_out if seen.call.status is ToolStatus.PARSE_ERROR and concerns(seen.call)
    ]
    if not unreadable:
        return ""
    times = "once" if len(unreadable) == 1 else f"{len(unreadable)} times"
    return f"; {unreadable[0].call.name} attempted {times}, arguments unparsable ({unreadable[0].place})"
