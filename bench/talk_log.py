"""What the model service's log says about who drove the scripted conversation: its own time, and what got through."""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from bench.talk import TURNS, Kind, Talk
from bench.timed_model import Asked


@dataclass(frozen=True)
class Drive:
    """Medians over the plain conversations without the first, in milliseconds for each turn.

    `between_ms`: from an answer of the model to the next request. `whole_ms`: all but the model's time, from the first
    request of a conversation to that of the next one.
    """

    between_ms: float
    whole_ms: float
    last_lines_lost: float
    """Share of the last lines with a glued stop signal that the agent was never shown."""
    inverted_heard: float
    """Share of the lines in which the developer speaks as the agent that the agent was shown."""


def read_drive(logs: Sequence[Sequence[Asked]]) -> Drive:
    """What processes did of which each has a log and drove one conversation after the other.

    Raises:
        ValueError: in a log there are no three plain conversations, or none of another kind.
    """
    between: list[float] = []
    whole: list[float] = []
    lost: list[bool] = []
    heard: list[bool] = []
    for log in logs:
        talks = _talks(log)
        conversations = list(talks.values())
        pairs = list(itertools.pairwise(conversations[: sum(talk.kind == "plain" for talk in talks)]))[1:]
        glued, inverted = (_of_kind(talks, kind) for kind in ("glued", "inverted"))
        if not pairs or not glued or not inverted:
            raise ValueError("there are too few conversations")
        between += [_between(asked) for asked, _ in pairs]
        whole += [_whole(asked, following) for asked, following in pairs]
        lost += map(_last_line_lost, glued)
        heard += [any(one.heard_inverted for one in asked) for asked in inverted]
    return Drive(
        between_ms=statistics.median(between) * 1000 / TURNS,
        whole_ms=statistics.median(whole) * 1000 / TURNS,
        last_lines_lost=statistics.mean(lost),
        inverted_heard=statistics.mean(heard),
    )


def _talks(log: Sequence[Asked]) -> dict[Talk, list[Asked]]:
    talks: dict[Talk, list[Asked]] = {}
    for asked in sorted(log, key=lambda asked: asked.arrived):
        talks.setdefault(asked.talk, []).append(asked)
    return talks


def _of_kind(talks: dict[Talk, list[Asked]], kind: Kind) -> list[list[Asked]]:
    return [asked for talk, asked in talks.items() if talk.kind == kind]


def _between(asked: Sequence[Asked]) -> float:
    return sum(later.arrived - earlier.answered for earlier, later in itertools.pairwise(asked))


def _whole(asked: Sequence[Asked], following: Sequence[Asked]) -> float:
    models = sum(one.answered - one.arrived for one in asked)
    return following[0].arrived - asked[0].arrived - models


def _last_line_lost(asked: Sequence[Asked]) -> bool:
    """Whether nobody asked the agent after the developer's line."""
    said = next(place for place, one in enumerate(asked) if one.side == "user")
    return all(one.side == "user" for one in asked[said:])
