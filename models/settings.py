"""How one model is to be called, read from a mapping in YAML: the agent's, the simulated user's, the judge's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeVar, cast

from models.config_values import ModelSettingsError, check_keys, number, whole
from models.prices import PriceTable, parse_prices

T = TypeVar("T")
Api = Literal["chat", "responses"]
TokenLimit = Literal["max_tokens", "max_completion_tokens", "none"]

APIS: tuple[Api, ...] = ("chat", "responses")
TOKEN_LIMITS: tuple[TokenLimit, ...] = ("max_tokens", "max_completion_tokens", "none")
CAPABILITY_KEYS = ("temperature", "parallelToolCalls", "structuredOutput", "seed", "tokenLimit")
MODEL_KEYS = (
    "model",
    "temperature",
    "maxTokens",
    "seed",
    "api",
    "capabilities",
    "prices",
    "retries",
    "readTimeoutSeconds",
    "headers",
)


@dataclass(frozen=True)
class Capabilities:
    """What the deployment takes. A parameter that it does not take is never sent.

    `token_limit` is the name under which it takes the limit of the answer's length. Nothing here is guessed from the
    model's name: names of deployments say nothing.
    """

    temperature: bool = True
    parallel_tool_calls: bool = True
    structured_output: bool = True
    seed: bool = True
    token_limit: TokenLimit = "max_completion_tokens"

    def without(self, parameter: str) -> Capabilities | None:
        """These capabilities after the service refused `parameter`; None when nothing can be left out."""
        match parameter:
            case "temperature" if self.temperature:
                return replace(self, temperature=False)
            case "parallel_tool_calls" if self.parallel_tool_calls:
                return replace(self, parallel_tool_calls=False)
            case "response_format" | "text.format" if self.structured_output:
                return replace(self, structured_output=False)
            case "seed" if self.seed:
                return replace(self, seed=False)
            case "max_tokens" if self.token_limit == "max_tokens":
                return replace(self, token_limit="max_completion_tokens")
            case "max_completion_tokens" if self.token_limit == "max_completion_tokens":
                return replace(self, token_limit="max_tokens")
            case "max_output_tokens" if self.token_limit != "none":
                return replace(self, token_limit="none")
        return None


@dataclass(frozen=True)
class ModelSettings:
    """`retries` counts tries after the first. `read_timeout_s` is how long one answer may take."""

    model: str
    temperature: float | None = None
    max_tokens: int | None = None
    seed: int | None = None
    api: Api = "chat"
    capabilities: Capabilities = field(default_factory=Capabilities)
    prices: PriceTable = field(default_factory=PriceTable)
    retries: int = 4
    read_timeout_s: float = 120.0
    headers: Mapping[str, str] = field(default_factory=dict)
    """Extra headers of every request, for gateways. Not for keys: those come from the environment."""


def parse_model_settings(
    data: Mapping[str, Any], where: str = "", *, default_model: str | None = None
) -> ModelSettings:
    """Read the settings of one model; `where` is put before every complaint.

    Raises:
        ModelSettingsError: an unknown key, a missing model, or a value of the wrong kind.
    """
    check_keys(data, MODEL_KEYS, where)
    model = data.get("model", default_model)
    if not isinstance(model, str) or not model.strip():
        raise ModelSettingsError(f"{where}model: expected the name of a model or deployment, found {model!r}")
    api = data.get("api", "chat")
    if api not in APIS:
        raise ModelSettingsError(f"{where}api: expected one of {', '.join(APIS)}, found {api!r}")
    headers = data.get("headers") or {}
    if not isinstance(headers, Mapping) or not all(isinstance(value, str) for value in headers.values()):
        raise ModelSettingsError(f"{where}headers: expected a mapping of names to texts")
    return ModelSettings(
        model=model.strip(),
        temperature=number(data, "temperature", where, 0, 2),
        max_tokens=whole(data, "maxTokens", where, 1),
        seed=whole(data, "seed", where, None),
        api=cast(Api, api),
        capabilities=parse_capabilities(data.get("capabilities"), f"{where}capabilities."),
        prices=parse_prices(data.get("prices"), f"{where}prices"),
        retries=_or(whole(data, "retries", where, 0), 4),
        read_timeout_s=_or(number(data, "readTimeoutSeconds", where, 0.001, 3600), 120.0),
        headers=dict(headers),
    )


def parse_capabilities(data: Any, where: str) -> Capabilities:
    """Read `capabilities`: flags `temperature`, `parallelToolCalls`, `structuredOutput`, `seed`, and `tokenLimit`."""
    if data is None:
        return Capabilities()
    if not isinstance(data, Mapping):
        raise ModelSettingsError(f"{where.rstrip('.')}: expected a mapping with {', '.join(CAPABILITY_KEYS)}")
    check_keys(data, CAPABILITY_KEYS, where)
    for key in CAPABILITY_KEYS[:-1]:
        if not isinstance(data.get(key, True), bool):
            raise ModelSettingsError(f"{where}{key}: expected true or false, found {data[key]!r}")
    limit = data.get("tokenLimit", "max_completion_tokens")
    if limit not in TOKEN_LIMITS:
        raise ModelSettingsError(f"{where}tokenLimit: expected one of {', '.join(TOKEN_LIMITS)}, found {limit!r}")
    return Capabilities(
        temperature=data.get("temperature", True),
        parallel_tool_calls=data.get("parallelToolCalls", True),
        structured_output=data.get("structuredOutput", True),
        seed=data.get("seed", True),
        token_limit=cast(TokenLimit, limit),
    )


def _or(value: T | None, default: T) -> T:
    return default if value is None else value
