"""An agent of our own protocol that says what it is told to: what the user's side does with it is under test."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from episodes.record import PullRequest
from providers.agent_protocol import Agent, AgentAnswer, AgentSetup
from providers.recorder import Recorder

Line = str | AgentAnswer | Exception


@dataclass
class ScriptedAgent:
    """Says its lines in order; the last one is said again and again. `seen` is what it was given."""

    lines: Sequence[Line]
    recorder: Recorder
    opens_pull_request_at: int = 0
    seen: list[str] = field(default_factory=list)
    histories: list[list[Mapping[str, Any]]] = field(default_factory=list)
    name: str = "scripted"
    echo_history: bool = False

    def begin(self, history: Sequence[Mapping[str, Any]]) -> None:
        self.histories.append(list(history))

    async def answer(self, message: str) -> AgentAnswer:
        self.seen.append(message)
        if self.echo_history:
            return AgentAnswer(" | ".join(f"{part['role']}: {part['content']}" for part in self.histories[-1]))
        if len(self.seen) == self.opens_pull_request_at:
            self.recorder.pull_request(PullRequest("https://host.example/pullrequest/7", "7", "spokes", "b", "active"))
        line = self.lines[min(len(self.seen), len(self.lines)) - 1]
        if isinstance(line, Exception):
            raise line
        return line if isinstance(line, AgentAnswer) else AgentAnswer(line)


@asynccontextmanager
async def build_agent(setup: AgentSetup) -> AsyncIterator[Agent]:
    """For a provider's `config`: `agent` names this function, `lines` is what it says.

    With `echoHistory` it tells what history it was given instead.
    """
    setup.recorder.watch_tools()
    yield ScriptedAgent(setup.options["lines"], setup.recorder, echo_history=setup.options.get("echoHistory", False))
