"""What do tokens cost? A price table in configuration; without a price the cost is unknown, never 0."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from models.config_values import ModelSettingsError

PRICE_KEYS = ("input", "cachedInput", "output")
TOKENS_PER_PRICE = 1_000_000


@dataclass(frozen=True)
class Price:
    """Prices for a million tokens, in one currency of your choice. `cached_input` falls back to `input`."""

    input: float
    output: float
    cached_input: float | None = None

    def cost(self, prompt_tokens: int, completion_tokens: int, cached_tokens: int = 0) -> float:
        """What one request costs; `cached_tokens` are those of the prompt that came from the service's cache."""
        cached = min(max(cached_tokens, 0), prompt_tokens)
        cached_price = self.input if self.cached_input is None else self.cached_input
        fresh = (prompt_tokens - cached) * self.input
        return (fresh + cached * cached_price + completion_tokens * self.output) / TOKENS_PER_PRICE


@dataclass(frozen=True)
class PriceTable:
    """Prices by the name under which a model is asked for; `*` is for every model that is not named."""

    prices: Mapping[str, Price] = field(default_factory=dict)

    def cost(self, model: str, prompt_tokens: int, completion_tokens: int, cached_tokens: int = 0) -> float | None:
        """What one request costs, or None when the table has no price for the model."""
        price = self.prices.get(model) or self.prices.get("*")
        return None if price is None else price.cost(prompt_tokens, completion_tokens, cached_tokens)


def parse_prices(data: Any, where: str = "prices") -> PriceTable:
    """Read `{<model>: {input, output, cachedInput?}}`, prices for a million tokens.

    Raises:
        ModelSettingsError: the table has another shape, an unknown key, or a price that is not a number from 0.
    """
    if data is None:
        return PriceTable()
    if not isinstance(data, Mapping):
        raise ModelSettingsError(f"{where}: expected a mapping of model names to prices, found {type(data).__name__}")
    return PriceTable({str(model): _parse_price(price, f"{where}.{model}") for model, price in data.items()})


def _parse_price(data: Any, where: str) -> Price:
    if not isinstance(data, Mapping):
        raise ModelSettingsError(f"{where}: expected a mapping with {', '.join(PRICE_KEYS)}")
    for key, value in data.items():
        if key not in PRICE_KEYS:
            raise ModelSettingsError(f"{where}.{key}: unknown key; allowed: {', '.join(PRICE_KEYS)}")
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < float("inf"):
            raise ModelSettingsError(f"{where}.{key}: expected a price from 0 for a million tokens, found {value!r}")
    missing = [key for key in ("input", "output") if key not in data]
    if missing:
        raise ModelSettingsError(f"{where}.{missing[0]}: missing; input and output are both needed")
    return Price(float(data["input"]), float(data["output"]), data.get("cachedInput"))
