"""What an agent must offer to be tested: ours, or somebody else's named as `agent: my_package.module:build_agent`.

A factory gets an `AgentSetup` and returns an async context manager; entering it opens what the agent needs (sessions,
clients), leaving it closes that again, in the same task. The agent keeps its message history in memory for that one
episode, and tells the recorder what it does (`tool_call`, `pull_request`, `variable`). Tool calls and session variables
count as unknown unless it says that it watches them (`watch_tools`, `watch_variables`).

    @asynccontextmanager
    async def build_agent(setup: AgentSetup) -> AsyncIterator[Agent]:
        async with MyAgent(setup.options, setup.recorder) as agent:
            yield agent
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from episodes.record import StopReason
from models.deadline import Deadline
from providers.recorder import Recorder
from providers.tracing import turn_span

if TYPE_CHECKING:
    from providers.boundary import Boundary


class EpisodeStopped(Exception):
    """Raised anywhere inside an episode to end it with a typed reason; the record made so far is kept."""

    def __init__(self, reason: StopReason, problem: str) -> None:
        super().__init__(problem)
        self.reason = reason
        self.problem = problem


class ConfigurationProblem(ValueError):
    """The provider's or the agent's configuration is wrong. The text says where, what, and what is allowed."""


@dataclass(frozen=True)
class AgentSetup:
    """What a factory may use to build the agent for one episode.

    `options` is the provider's `config` from the promptfoo file, without promptfoo's own keys. Relative files in it are
    relative to `base_path`, the folder of that file. `variables` are the case's vars, never those that begin with `__`.
    `entry_keys` are the keys of `options` that the provider entry reads itself; a factory leaves them alone.
    `boundary` opens models and tool servers, so that they can be recorded; what it opens it also closes.
    """

    options: Mapping[str, Any]
    base_path: Path
    recorder: Recorder
    deadline: Deadline
    boundary: Boundary
    variables: Mapping[str, Any] = field(default_factory=dict)
    entry_keys: frozenset[str] = frozenset()


@dataclass(frozen=True)
class AgentAnswer:
    """The agent's answer to one message of the user.

    `stop` is set when the agent can or will not go on: it handed over, or a limit of its own was reached. None means
    that it waits for the user's next message.
    """

    text: str
    stop: StopReason | None = None
    problem: str = ""
    """In words, why it stopped."""


class Agent(Protocol):
    """One agent in one episode."""

    @property
    def name(self) -> str:
        """For people: which agent this is."""
        ...

    def begin(self, history: Sequence[Mapping[str, Any]]) -> None:
        """Forget the conversation and continue from `history`: Chat Completions messages, tool messages included."""
        ...

    async def answer(self, message: str) -> AgentAnswer:
        """Answer one message of the user, calling tools as needed.

        Raises:
            EpisodeStopped: the machinery failed (model or server not reachable, deadline), so that no answer exists.
        """
        ...


class AgentFactory(Protocol):
    def __call__(self, setup: AgentSetup) -> AbstractAsyncContextManager[Agent]: ...


async def take_turn(
    agent: Agent, recorder: Recorder, message: str, notes: Mapping[str, Any] | None = None
) -> AgentAnswer:
    """Give the agent the user's `message`, record both sides, and return its answer.

    `notes` are recorded beside the message, and the agent does not see them.

    An agent that records its own messages has its answer recorded once; for one that does not, it is added here.

    Raises:
        TypeError: somebody else's agent answered with something else; what it said must not count as silence.
    """
    recorder.user_message(message, notes)
    with turn_span(agent.name, recorder.turn):
        answer = await agent.answer(message)
    if not isinstance(answer, AgentAnswer) or not isinstance(answer.text, str):
        found = f"one with a {type(answer.text).__name__}" if isinstance(answer, AgentAnswer) else type(answer).__name__
        raise TypeError(f"the agent {agent.name} has to answer with an AgentAnswer that holds text, found {found}")
    # An empty answer is one too: two messages of the user in a row would look as if the agent had been passed over.
    if (answer.text or answer.stop is None) and not recorder.ends_with_answer(answer.text):
        recorder.message({"role": "assistant", "content": answer.text})
    return answer


__all__ = [
    "Agent",
    "AgentAnswer",
    "AgentFactory",
    "AgentSetup",
    "ConfigurationProblem",
    "EpisodeStopped",
    "take_turn",
]
