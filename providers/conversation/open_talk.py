"""One open goal: the developer talks until it is content, or has had enough (a scenario)."""

from __future__ import annotations

from providers.agent_protocol import AgentAnswer
from providers.conversation.simulated_user import SimulatedUser
from providers.conversation.turn_taking import Ending, UserMove

WELCOME = "<event>welcome</event>"
"""Delivered as the first message when the agent speaks first: chat models answer a message, not silence."""


class OpenTalk:
    """A `User` with one goal. Its opening, when the case has one, is sent word for word and without a model call."""

    def __init__(self, user: SimulatedUser) -> None:
        self._user = user
        self._welcome_due = user.script.speaks_first == "agent"
        self._opening_due = bool(user.script.opening)
        self._spoken = False

    async def move(self) -> UserMove:
        if self._welcome_due:
            self._welcome_due = False
            return UserMove(WELCOME, "event")
        if self._opening_due:
            self._opening_due, self._spoken = False, True
            return self._user.say(self._user.script.opening, "opening")
        first, self._spoken = not self._spoken, True
        return await self._user.next_move(must_speak=first)

    async def hear(self, answer: AgentAnswer) -> Ending | None:
        self._user.hear(answer.text)
        return None
