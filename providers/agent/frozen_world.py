"""Frozen time and seeds: what the agent's texts and its tools are told about now, so that a run can be repeated.

    now: 2026-03-01T12:00:00Z
    seed: 7

`{{now}}` and `{{seed}}` in instructions and skills are filled in, and both go with every tool call as MCP `_meta` under
the names below; a tool that knows them uses them. Without `now` the texts get the real time and the tools none.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from models.config_values import whole
from providers.agent_protocol import ConfigurationProblem
from providers.recorder import utc_now

NOW_META = "agent-evals/now"
SEED_META = "agent-evals/seed"


@dataclass(frozen=True)
class FrozenWorld:
    """`now` is ISO 8601 with an offset, or empty when time is not frozen."""

    now: str = ""
    seed: int | None = None

    def meta(self) -> dict[str, Any]:
        """What tools are told."""
        told: dict[str, Any] = {NOW_META: self.now} if self.now else {}
        return told if self.seed is None else {**told, SEED_META: self.seed}

    def fill_in(self, text: str) -> str:
        """`text` with `{{now}}` and `{{seed}}` replaced."""
        if "{{" not in text:
            return text
        text = text.replace("{{now}}", self.now or utc_now())
        return text if self.seed is None else text.replace("{{seed}}", str(self.seed))


def read_frozen_world(options: Mapping[str, Any]) -> FrozenWorld:
    """Read `now` and `seed` of a provider's config.

    Raises:
        ConfigurationProblem: `now` is no point in time with an offset.
    """
    return FrozenWorld(_now(options.get("now")), whole(options, "seed", "config."))


def _now(value: Any) -> str:
    if value is None:
        return ""
    # YAML turns a timestamp without quotes into a datetime, and promptfoo that into a text.
    text = value.isoformat() if isinstance(value, dt.datetime) else value
    try:
        moment = dt.datetime.fromisoformat(text) if isinstance(text, str) else None
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        raise ConfigurationProblem(f"config.now: expected a time such as 2026-03-01T12:00:00Z, found {value!r}")
    return str(text)
