"""Who speaks when: the user says something, the agent answers, never two messages of one side in a row.

A turn is one message of the user and the agent's answer to it. No message of the user is asked for that the agent would
not get to answer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Protocol

from episodes.record import StopReason
from providers.agent_protocol import Agent, AgentAnswer, take_turn
from providers.recorder import Recorder

MOST_TURNS = 15
"""No conversation is longer; `maxTurns` may only lower it."""

Source = Literal["opening", "model", "static", "event"]
"""Where a message of the user comes from: the case's own words, the simulated user's model, or a scripted step."""


@dataclass(frozen=True)
class UserMove:
    """What the user does next.

    A move without text ends the conversation at once. One with text is delivered and answered; `ends` then ends it.
    `reason` is why it ends. `regenerated` counts drafts that were thrown away for this one.
    """

    text: str
    source: Source
    ends: bool = False
    reason: StopReason = StopReason.USER_STOP
    problem: str = ""
    regenerated: int = 0

    def notes(self) -> dict[str, Any]:
        """What the record keeps beside the message."""
        return {"source": self.source, **({"regenerated": self.regenerated} if self.regenerated else {})}


@dataclass(frozen=True)
class Ending:
    """Why the user's side ends the conversation after an answer."""

    reason: StopReason
    problem: str = ""


class User(Protocol):
    """The side that talks to the agent."""

    async def move(self) -> UserMove:
        """The next message.

        Raises:
            EpisodeStopped: there is none, and the reason is not the agent's.
        """
        ...

    async def hear(self, answer: AgentAnswer) -> Ending | None:
        """Take in the agent's answer; an ending when nothing more is to be said.

        Raises:
            EpisodeStopped: the answer could not be judged, and the reason is not the agent's.
        """
        ...


async def converse(agent: Agent, user: User, recorder: Recorder, *, most_turns: int = MOST_TURNS) -> None:
    """Let the two sides talk until one of them ends it or `most_turns` turns are over, and record why.

    Raises:
        EpisodeStopped: the machinery of one side failed; the record holds what was said before.
    """
    for _ in range(most_turns):
        move = await user.move()
        if not move.text:
            recorder.stop(move.reason, move.problem)
            return
        answer = await take_turn(agent, recorder, move.text, move.notes())
        ending = await user.hear(answer)
        if answer.stop is not None:
            recorder.stop(answer.stop, answer.problem)
        elif ending is not None:
            recorder.stop(ending.reason, ending.problem)
        elif move.ends:
            recorder.stop(move.reason, move.problem)
        else:
            continue
        return
    recorder.stop(StopReason.MAX_TURNS, f"the conversation was not over after {most_turns} turns")
