"""The provider's `config`, as far as it is about the user's side of the conversation."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from models.config_values import ModelSettingsError
from models.settings import ModelSettings, parse_model_settings
from providers.agent_protocol import ConfigurationProblem
from providers.conversation.turn_taking import MOST_TURNS

USER_MODEL = "developer"
JUDGE_MODEL = "judge"
"""Names that the local model service knows. With another service, the configuration or the environment names one."""


@dataclass(frozen=True)
class ConversationSettings:
    """`user` plays the developer; `judge` checks the steps of a simulation and is not used otherwise."""

    most_turns: int
    user: ModelSettings
    judge: ModelSettings


def read_settings(options: Mapping[str, Any], environment: Mapping[str, str] | None = None) -> ConversationSettings:
    """Read `maxTurns`, `user` and `judge`.

    A model's name is the one in `config`, else EVALS_USER_MODEL or EVALS_JUDGE_MODEL, else the local stand-in's.

    Raises:
        ConfigurationProblem: a wrong value, with what is allowed.
    """
    names = os.environ if environment is None else environment
    most = options.get("maxTurns", MOST_TURNS)
    if isinstance(most, bool) or not isinstance(most, int) or not 1 <= most <= MOST_TURNS:
        raise ConfigurationProblem(f"config.maxTurns is {most!r}; allowed: a whole number from 1 to {MOST_TURNS}.")
    return ConversationSettings(
        most,
        _model(options, "user", names.get("EVALS_USER_MODEL", "").strip() or USER_MODEL),
        _model(options, "judge", names.get("EVALS_JUDGE_MODEL", "").strip() or JUDGE_MODEL),
    )


def _model(options: Mapping[str, Any], key: str, default: str) -> ModelSettings:
    value = options.get(key) or {}
    if not isinstance(value, Mapping):
        raise ConfigurationProblem(
            f"config.{key} is a {type(value).__name__}; allowed: a map with the model's settings."
        )
    try:
        return parse_model_settings(value, f"config.{key}.", default_model=default)
    except ModelSettingsError as problem:
        raise ConfigurationProblem(str(problem)) from None
