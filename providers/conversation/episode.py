"""One conversation from a case: which form it has, who takes part, and what is on record at the end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from providers.agent.factory import open_agent
from providers.agent_protocol import Agent, ConfigurationProblem
from providers.conversation.golden import Golden, GoldenTalk, read_golden
from providers.conversation.open_talk import OpenTalk
from providers.conversation.script import Script, read_script
from providers.conversation.settings import ConversationSettings, read_settings
from providers.conversation.simulated_user import SimulatedUser
from providers.conversation.simulation import Progress, Step, goals_heading, read_steps
from providers.conversation.simulation_talk import SimulationTalk
from providers.conversation.step_check import StepCheck
from providers.conversation.turn_taking import User, converse
from providers.envelope import ProviderCall
from providers.transcript import transcript


@dataclass(frozen=True)
class Plan:
    """What a case asks for: a golden, a simulation's steps, or one open goal."""

    script: Script
    steps: tuple[Step, ...] = ()
    golden: Golden | None = None


def read_plan(variables: Mapping[str, Any], most_turns: int) -> Plan:
    """The form of a conversation follows from the case's vars: `golden`, `simulation`, or neither.

    Raises:
        ConfigurationProblem: both at once, one of them is wrong, or a simulation has more steps than there are turns.
    """
    has_golden, has_steps = (variables.get(key) not in (None, "") for key in ("golden", "simulation"))
    if has_golden and has_steps:
        raise ConfigurationProblem("vars: `golden` and `simulation` are two forms of conversation; a case has one.")
    golden = read_golden(variables["golden"], most_turns=most_turns) if has_golden else None
    steps = read_steps(variables["simulation"]) if has_steps else ()
    if len(steps) > most_turns:
        raise ConfigurationProblem(
            f"vars.simulation.steps: {len(steps)} steps take at least {len(steps)} turns; a conversation has at most "
            f"{most_turns}."
        )
    script = read_script(variables, goal_needed=not (golden or steps))
    return Plan(script, steps, golden)


async def run_conversation(call: ProviderCall) -> str:
    """Run the case's conversation and return its transcript.

    Raises:
        ConfigurationProblem: before anything is opened, when the case or the provider's config is wrong.
        EpisodeStopped: the machinery failed.
    """
    settings = read_settings(call.options)
    plan = read_plan(call.variables, settings.most_turns)
    for name, value in (call.variables.get("session_parameters") or {}).items():
        call.recorder.variable(str(name), value)
    user: User | None = None
    try:
        async with open_agent(call.setup) as agent:
            preface = _preface(plan.script)
            if preface:
                agent.begin(preface)
            user = await _user(call, plan, settings, agent)
            await converse(agent, user, call.recorder, most_turns=settings.most_turns)
    finally:
        # Also of a simulation that never began: each step has its status and a reason.
        progress = user.progress if isinstance(user, SimulationTalk) else Progress(plan.steps)
        for goal in progress.goals():
            call.recorder.goal(goal)
    text = transcript(call.recorder.messages)
    goals = call.recorder.episode().goals
    # Only the count: a step's own words in the output could satisfy an assertion that is meant for the agent's.
    return f"{text}\n\n{goals_heading(goals)}" if goals else text


async def _user(call: ProviderCall, plan: Plan, settings: ConversationSettings, agent: Agent) -> User:
    recorder = call.recorder
    if plan.golden is not None:
        recorder.fingerprint("golden", f"{plan.golden.replay} replay", call.variables["golden"])
        return GoldenTalk(plan.golden, agent, _preface(plan.script))
    boundary = call.setup.boundary
    model = await boundary.model("user", settings.user)
    simulated = SimulatedUser(plan.script, model, recorder, call.deadline)
    if not plan.steps:
        return OpenTalk(simulated)
    judge = await boundary.model("judge", settings.judge)
    recorder.fingerprint("simulation", f"{len(plan.steps)} steps", call.variables["simulation"])
    return SimulationTalk(plan.steps, simulated, StepCheck(judge, recorder, call.deadline), recorder)


def _preface(script: Script) -> list[dict[str, Any]]:
    """What the agent has before the first word: the session's variables."""
    if not script.parameters:
        return []
    lines = [f"- {name}: {value}" for name, value in script.parameters]
    return [{"role": "system", "content": "\n".join(["Variables of this session:", *lines])}]
