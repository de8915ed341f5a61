"""One conversation in a test: a scripted agent of our own protocol, and models that are asked over real HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Any

from endpoints import ModelEndpoint
from episodes.record import Episode, StopReason
from models.deadline import Deadline
from models.service import open_model
from models.settings import ModelSettings
from providers.agent_protocol import EpisodeStopped
from providers.conversation.golden import GoldenTalk, read_golden
from providers.conversation.open_talk import OpenTalk
from providers.conversation.script import read_script
from providers.conversation.simulated_user import SimulatedUser
from providers.conversation.simulation import read_steps
from providers.conversation.simulation_talk import SimulationTalk
from providers.conversation.step_check import StepCheck
from providers.conversation.turn_taking import MOST_TURNS, converse
from providers.recorder import CaseIdentity, Recorder
from tests.providers.conversation.agents import Line, ScriptedAgent
from tests.providers.conversation.queues import Queues, Reply, model_queues


@dataclass(frozen=True)
class Outcome:
    episode: Episode
    agent: ScriptedAgent
    model: Queues
    problem: str

    @property
    def stop(self) -> StopReason:
        return self.episode.stop_reason

    @property
    def said(self) -> list[tuple[str, str]]:
        return [(message["role"], message["content"]) for message in self.episode.messages]

    @property
    def by_user(self) -> list[str]:
        return [text for role, text in self.said if role == "user"]


def talk(
    variables: Mapping[str, Any],
    agent_lines: Sequence[Line],
    user: Sequence[Reply] = (),
    judge: Sequence[Reply] = (),
    *,
    most_turns: int = MOST_TURNS,
    opens_pull_request_at: int = 0,
) -> Outcome:
    """Run one conversation to its end and return what is on record."""
    with model_queues(user=user, judge=judge) as model:
        return asyncio.run(_talk(variables, agent_lines, model, most_turns, opens_pull_request_at))


async def _talk(
    variables: Mapping[str, Any], agent_lines: Sequence[Line], model: Queues, most_turns: int, opens_at: int
) -> Outcome:
    recorder = Recorder(CaseIdentity("T01", "test-0-prompt-0-repeat-0", "eval-1", "suite"))
    recorder.watch_tools()
    deadline = Deadline.after(30)
    agent = ScriptedAgent(agent_lines, recorder, opens_at)
    async with AsyncExitStack() as stack:
        endpoint = ModelEndpoint("compatible", model.url, "key")
        user_model, judge_model = [
            await stack.enter_async_context(open_model(endpoint, ModelSettings(name, retries=0)))
            for name in ("user", "judge")
        ]
        simulation = None
        try:
            if "golden" in variables:
                await converse(agent, GoldenTalk(read_golden(variables["golden"]), agent), recorder)
            else:
                steps = read_steps(variables["simulation"]) if "simulation" in variables else ()
                script = read_script(variables, goal_needed=not steps)
                user = SimulatedUser(script, user_model, recorder, deadline)
                if steps:
                    check = StepCheck(judge_model, recorder, deadline)
                    simulation = SimulationTalk(steps, user, check, recorder)
                await converse(agent, simulation or OpenTalk(user), recorder, most_turns=most_turns)
        except EpisodeStopped as stopped:
            recorder.stop(stopped.reason, stopped.problem)
        if simulation is not None:
            for goal in simulation.progress.goals():
                recorder.goal(goal)
    return Outcome(recorder.episode(), agent, model, recorder.problem)
