"""The provider's `config` in a promptfoo file, as far as it is about our own agent."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from models.config_values import ModelSettingsError, check_keys, number, whole
from models.settings import MODEL_KEYS, ModelSettings, parse_model_settings
from providers.agent.agent_file import (
    AgentFile,
    known_agents,
    load_agent,
    max_steps,
    read_document,
    submission_rules,
)
from providers.agent.budget import Budget, parse_budget
from providers.agent.dispatch_settings import DispatchSettings
from providers.agent.server_settings import parse_servers
from providers.agent_protocol import AgentSetup, ConfigurationProblem

OVERRIDES = ("instructions", "maxSteps", "parallelToolCalls", "servers", "fileNameRules", "additionalSchema")
"""Keys of the agent file that a provider may replace; the keys of the model may be replaced too."""

RUN_KEYS = ("agent", "budget", "toolTimeoutSeconds", "maxResultCharacters", "marker")
OPTION_KEYS = (*RUN_KEYS, *OVERRIDES, *MODEL_KEYS)

MODEL_VARIABLE = "EVALS_AGENT_MODEL"


@dataclass(frozen=True)
class AgentOptions:
    """The agent as this provider runs it, and the limits of the run."""

    agent: AgentFile
    budget: Budget
    dispatch: DispatchSettings


def read_options(setup: AgentSetup, environment: Mapping[str, str] | None = None) -> AgentOptions:
    """`agent_options` for one episode."""
    return agent_options(setup.options, setup.base_path, setup.entry_keys, environment)


def agent_options(
    options: Mapping[str, Any],
    base_path: Path,
    entry_keys: Collection[str],
    environment: Mapping[str, str] | None = None,
) -> AgentOptions:
    """The agent that `config.agent` names, with what `config` replaces in it. `entry_keys` are read by others.

    The model's name is `config.model`, else EVALS_AGENT_MODEL, else the agent file's. A relative `instructions` file is
    looked for beside the promptfoo file first, then in the agent's folder.

    Raises:
        ConfigurationProblem: an unknown key or a wrong value, with what is allowed.
    """
    try:
        check_keys(options, (*OPTION_KEYS, *sorted(entry_keys)), "config.")
        agent = _overridden(load_agent(_agent_name(options), base_path), options, base_path, environment)
        budget = parse_budget(options.get("budget"), agent.model)
        return AgentOptions(agent, budget, _dispatch(options, agent))
    except ModelSettingsError as problem:
        raise ConfigurationProblem(str(problem)) from None


def _agent_name(options: Mapping[str, Any]) -> str:
    name = options.get("agent")
    if not isinstance(name, str) or not name:
        there = ", ".join(known_agents())
        raise ConfigurationProblem(
            f"config.agent: expected the name of an agent ({there}) or my_package.module:factory"
        )
    return name


def _overridden(
    agent: AgentFile, options: Mapping[str, Any], base_path: Path, environment: Mapping[str, str] | None
) -> AgentFile:
    if "instructions" in options:
        document = read_document(options["instructions"], "config.instructions", (base_path, agent.folder))
        agent = replace(agent, instructions=document)
    if "servers" in options:
        own = parse_servers(options["servers"], "config.servers")
        names = {server.name for server in own}
        kept = tuple(server for server in agent.servers if server.name not in names)
        agent = replace(agent, servers=(*kept, *own))
    parallel = options.get("parallelToolCalls", agent.parallel_tool_calls)
    if parallel is not None and not isinstance(parallel, bool):
        raise ConfigurationProblem(f"config.parallelToolCalls: expected true or false, found {parallel!r}")
    return replace(
        agent,
        max_steps=max_steps(options, agent.max_steps),
        parallel_tool_calls=parallel,
        rules=submission_rules(options, (base_path, agent.folder), "config.", agent.rules),
        model=_model(agent, options, os.environ if environment is None else environment),
    )


def _model(agent: AgentFile, options: Mapping[str, Any], environment: Mapping[str, str]) -> ModelSettings:
    """The agent's model settings with those of the provider in their place, key by key."""
    wanted = {key: options[key] for key in MODEL_KEYS if key in options}
    name = environment.get(MODEL_VARIABLE, "").strip() or agent.model.model
    given = parse_model_settings(wanted, "config.", default_model=name)
    fields = {
        "temperature": "temperature",
        "maxTokens": "max_tokens",
        "seed": "seed",
        "api": "api",
        "capabilities": "capabilities",
        "prices": "prices",
        "retries": "retries",
        "readTimeoutSeconds": "read_timeout_s",
        "headers": "headers",
    }
    replaced = {field: getattr(given, field) for key, field in fields.items() if key in wanted}
    return replace(agent.model, model=given.model, **replaced)


def _dispatch(options: Mapping[str, Any], agent: AgentFile) -> DispatchSettings:
    default = DispatchSettings()
    marker = options.get("marker", True)
    if not isinstance(marker, bool):
        raise ConfigurationProblem(f"config.marker: expected true or false, found {marker!r}")
    return DispatchSettings(
        tool_idle_s=number(options, "toolTimeoutSeconds", "config.", 0.05, 3600) or default.tool_idle_s,
        max_result=whole(options, "maxResultCharacters", "config.", 100) or default.max_result,
        marker=marker,
        rules=agent.rules,
    )
