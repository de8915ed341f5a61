"""What may one episode's agent use up? Tokens, money, model answers and tool calls."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from models.config_values import check_keys, number, whole
from models.settings import ModelSettings
from providers.agent_protocol import ConfigurationProblem
from providers.recorder import Recorder

BUDGET_KEYS = ("tokens", "cost", "steps", "toolCalls")


@dataclass(frozen=True)
class Budget:
    """Limits for a whole episode; None is no limit. `cost` is in the price table's currency."""

    tokens: int | None = None
    cost: float | None = None
    steps: int | None = None
    tool_calls: int | None = None

    def exceeded(self, recorder: Recorder) -> str:
        """In words, which limit is reached, or empty. Asked before each request, so the last one may go over."""
        used = recorder.usage.agent
        tokens = used.prompt_tokens + used.completion_tokens
        if self.tokens is not None and tokens >= self.tokens:
            return f"{tokens} tokens are used, of {self.tokens} (budget.tokens)"
        if self.cost is not None and used.cost is not None and used.cost >= self.cost:
            return f"{used.cost:g} is spent, of {self.cost:g} (budget.cost)"
        if self.steps is not None and recorder.step >= self.steps:
            return f"{recorder.step} model answers were given, of {self.steps} (budget.steps)"
        if self.tool_calls is not None and len(recorder.tool_calls) >= self.tool_calls:
            return f"{len(recorder.tool_calls)} tools were called, of {self.tool_calls} (budget.toolCalls)"
        return ""


def parse_budget(data: Any, model: ModelSettings) -> Budget:
    """Read `budget`: `tokens`, `cost`, `steps`, `toolCalls`, each above 0.

    Raises:
        ConfigurationProblem, ModelSettingsError: a wrong value, or a `cost` for a model that has no price.
    """
    if data is None:
        return Budget()
    if not isinstance(data, Mapping):
        raise ConfigurationProblem(f"budget: expected a mapping with {', '.join(BUDGET_KEYS)}")
    check_keys(data, BUDGET_KEYS, "budget.")
    cost = number(data, "cost", "budget.")
    if cost is not None and cost <= 0:
        raise ConfigurationProblem(f"budget.cost: expected a number above 0, found {cost!r}")
    if cost is not None and model.prices.cost(model.model, 0, 0) is None:
        raise ConfigurationProblem(
            f"budget.cost: `prices` has no price for the model {model.model!r}, so what is spent is unknown"
        )
    return Budget(
        tokens=whole(data, "tokens", "budget.", 1),
        cost=cost,
        steps=whole(data, "steps", "budget.", 1),
        tool_calls=whole(data, "toolCalls", "budget.", 1),
    )
