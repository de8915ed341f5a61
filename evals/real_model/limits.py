"""What a conversation with the real model may use up, and whether one kept to it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evals.real_model.engine_process import CONTEXT_TOKENS
from evals.results import Row

CONFIG = Path(__file__).with_name("promptfooconfig.yaml")

GRACE_SECONDS = 15.0
"""How much longer than its limit a conversation may take to close what it opened and to be written down."""

NO_VERDICT = frozenset({"provider_error", "tool_unavailable"})
"""Stop reasons that say: the machinery failed. A deadline or a budget is a bound that did its work."""

FROM_TEXT = "from_text_"
"""How the id of a call begins that what serves the model has read from text (`local/real_model/app.py`)."""

TOO_LONG = "context_length_exceeded"
"""In the reason of a conversation that no longer fitted into the model: a bound too, though the service's own."""


@dataclass(frozen=True)
class Limits:
    """Bounds of one conversation. `tokens` are the agent's; the request that reaches the bound may go over it."""

    turns: int
    steps: int
    tokens: int
    seconds: float


def read_limits(seconds: float, config: Path = CONFIG) -> Limits:
    """The limits that the config sets, and the seconds that the command sets."""
    from formats.yaml_document import read_yaml

    content: Any = read_yaml(config).value
    options = content["providers"][0]["config"]
    return Limits(options["maxTurns"], options["budget"]["steps"], options["budget"]["tokens"], seconds)


@dataclass(frozen=True)
class Used:
    """What one conversation used up, from its record. `stop_reason` is empty when there is no record."""

    stop_reason: str
    turns: int
    steps: int
    calls: int
    calls_from_text: int
    agent_tokens: int
    user_tokens: int
    seconds: float


def used_by(row: Row) -> Used:
    """Read the record of a row."""
    record = row.metadata
    calls = [call for call in _list(record.get("toolCalls")) if isinstance(call, Mapping)]
    usage = _mapping(record.get("usage"))
    turns = [message.get("turn") for message in _list(record.get("messages")) if isinstance(message, Mapping)]
    return Used(
        stop_reason=str(record.get("stopReason") or ""),
        turns=max((turn for turn in turns if isinstance(turn, int)), default=0),
        steps=int(_mapping(usage.get("agent")).get("requests") or 0),
        calls=len(calls),
        calls_from_text=sum(is_from_text(call) for call in calls),
        agent_tokens=_tokens(usage.get("agent")),
        user_tokens=_tokens(usage.get("user")),
        seconds=float(_mapping(record.get("timings")).get("durationMs") or 0) / 1000,
    )


def is_from_text(call: Mapping[str, Any]) -> bool:
    """Whether the model had written this call as text, and what serves it read it."""
    return str(call.get("id")).startswith(FROM_TEXT)


def faults(row: Row, used: Used, limits: Limits) -> list[str]:
    """In words, where the machinery did not hold; empty when the case ended with a record and in bounds."""
    if not used.stop_reason:
        return [f"ended without a record: {row.reason}"]
    found = []
    if used.stop_reason in NO_VERDICT and TOO_LONG not in row.reason:
        found.append(f"the machinery failed: {row.reason}")
    if used.turns > limits.turns:
        found.append(f"{used.turns} turns, of at most {limits.turns}")
    if used.steps > limits.steps:
        found.append(f"{used.steps} steps, of at most {limits.steps}")
    if used.agent_tokens > limits.tokens + CONTEXT_TOKENS:
        found.append(f"{used.agent_tokens:,} tokens, of at most {limits.tokens:,} and one request")
    if used.seconds > limits.seconds + GRACE_SECONDS:
        found.append(f"{used.seconds:.0f} s, of at most {limits.seconds:.0f} s")
    return found


def _tokens(role: Any) -> int:
    spent = _mapping(role)
    return int(spent.get("promptTokens") or 0) + int(spent.get("completionTokens") or 0)


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
