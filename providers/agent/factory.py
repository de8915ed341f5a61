"""Builds the agent under test: ours from its production configuration, or somebody else's from their own factory."""

from __future__ import annotations

import importlib
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from providers.agent.agent_file import AgentFile
from providers.agent.created import CreationLedger
from providers.agent.dispatch import Dispatcher
from providers.agent.fake_server import check_fakes
from providers.agent.loop import LoopAgent
from providers.agent.options import read_options
from providers.agent.toolbox import Toolbox, fill_toolbox
from providers.agent_protocol import Agent, AgentFactory, AgentSetup, ConfigurationProblem
from providers.recorder import Recorder
from providers.side_files import SideFiles


def agent_factory(setup: AgentSetup) -> AgentFactory:
    """The factory that `config.agent` names: `my_package.module:build_agent`, or ours for the name of an agent.

    Raises:
        ConfigurationProblem: the module can not be imported, or has no such factory.
    """
    name = setup.options.get("agent")
    if not isinstance(name, str) or ":" not in name:
        return configured_agent
    module_name, _, attribute = name.partition(":")
    folder = str(setup.base_path)
    if folder not in sys.path:
        sys.path.append(folder)
    try:
        factory = getattr(importlib.import_module(module_name), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise ConfigurationProblem(f"config.agent: {name!r} can not be loaded: {error}") from error
    if not callable(factory):
        raise ConfigurationProblem(f"config.agent: {name!r} is a {type(factory).__name__}, not a factory")
    typed: AgentFactory = factory
    return typed


@asynccontextmanager
async def open_agent(setup: AgentSetup) -> AsyncIterator[Agent]:
    """The agent under test, for one episode."""
    async with agent_factory(setup)(setup) as agent:
        yield agent


@asynccontextmanager
async def configured_agent(setup: AgentSetup) -> AsyncIterator[Agent]:
    """Our own agent: model, sessions with its servers, and its loop."""
    options = read_options(setup)
    agent = options.agent
    recorder = setup.recorder
    recorder.watch_tools()
    recorder.watch_variables()
    boundary = setup.boundary
    model = await boundary.model("agent", agent.model)
    servers = [await boundary.server(server) for server in agent.servers]
    toolbox, warnings = await fill_toolbox(servers, agent.tools, agent.creating_tools)
    check_fakes(boundary.fakes, toolbox.offered)
    for warning in warnings:
        recorder.warn(warning)
    _note_fingerprint(recorder, agent, toolbox)
    dispatcher = Dispatcher(
        toolbox,
        recorder,
        CreationLedger(boundary.ledger(), recorder.identity.step_id),
        SideFiles(boundary.home),
        setup.deadline,
        options.dispatch,
    )
    yield LoopAgent(agent, model, toolbox, dispatcher, recorder, setup.deadline, options.budget, boundary.world)


def _note_fingerprint(recorder: Recorder, agent: AgentFile, toolbox: Toolbox) -> None:
    """Everything of the agent that can change a result."""
    model = agent.model
    recorder.fingerprint("agent", agent.name, agent.name)
    recorder.fingerprint("instructions", agent.instructions.name, agent.instructions.text)
    recorder.fingerprint("skills", f"{len(agent.skills)} skills", [[skill.name, skill.text] for skill in agent.skills])
    recorder.fingerprint("model", model.model, {"model": model.model, "api": model.api, "seed": model.seed})
    recorder.fingerprint(
        "temperature", "default" if model.temperature is None else f"{model.temperature:g}", model.temperature
    )
    recorder.fingerprint("tools", f"{len(toolbox.tools)} tools", toolbox.schemas())
    if agent.rules.in_words():
        recorder.fingerprint("rules", "rules for what is submitted", agent.rules.fingerprint())
    limits = {"maxSteps": agent.max_steps, "maxTokens": model.max_tokens, "parallel": agent.parallel_tool_calls}
    recorder.fingerprint("limits", f"at most {agent.max_steps} steps", limits)
