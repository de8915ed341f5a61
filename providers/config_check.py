"""Is a provider's `config` right, as far as that can be known before a run? What an episode reads is read here, too."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from models.config_values import ModelSettingsError
from providers.agent_protocol import ConfigurationProblem
from providers.config_keys import BOUNDARY_KEYS, CONVERSATION_KEYS, ENVELOPE_KEYS, PROMPTFOO_KEYS


def check_provider_config(
    config: Mapping[str, Any], base_path: Path, environment: Mapping[str, str], *, conversation: bool
) -> None:
    """Read the agent that `config` names, with what `config` replaces in it, and the conversation's settings.

    `base_path` is the folder of the promptfoo file. A config with a template is left to the run, which has it filled
    in, and so is what somebody else's agent reads.

    Raises:
        ConfigurationProblem: with file and key, what is wrong, and what is allowed.
    """
    if "{{" in json.dumps(config) or "{%" in json.dumps(config):
        return
    own = {key: value for key, value in config.items() if key not in PROMPTFOO_KEYS}
    try:
        if ":" not in str(own.get("agent")):
            from providers.agent.options import agent_options

            keys = ENVELOPE_KEYS | BOUNDARY_KEYS | (CONVERSATION_KEYS if conversation else frozenset())
            agent_options(own, base_path, keys, environment)
        if conversation:
            from providers.conversation.settings import read_settings

            read_settings(own, environment)
        _check_boundary(own, environment)
    except ModelSettingsError as problem:
        raise ConfigurationProblem(str(problem)) from None


def _check_boundary(own: Mapping[str, Any], environment: Mapping[str, str]) -> None:
    # Most configs have none of them, and their readers are slow to import.
    if "fakes" in own:
        from providers.agent.fake_server import parse_fakes

        parse_fakes(own["fakes"])
    if "now" in own:
        from providers.agent.frozen_world import read_frozen_world

        read_frozen_world(own)
    if "cassette" in own:
        from providers.cassette_choice import read_cassette_choice

        read_cassette_choice(own, environment)
