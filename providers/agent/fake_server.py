"""Fakes: chosen calls of real tools get a made-up answer, an error or a delay; every other call goes through.

fakes:
  seed: 7
  rules:
    - {tool: get_spoke, arguments: {name: spoke-shop-dev}, result: {name: spoke-shop-dev}}
    - {tool: validate_spoke, error: the validation service is down, probability: 0.3}
    - {tool: search_docs, latencyMs: 800}
    - {tool: verify_customer, result: verified, variables: {verified: true}}
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from episodes.canonical import canonical_json
from models.config_values import check_keys, number, whole
from models.deadline import Deadline
from providers.agent.tool_server import ToolAnswer, ToolInfo, ToolServer
from providers.agent_protocol import ConfigurationProblem

FAKES_KEYS = ("seed", "rules")
RULE_KEYS = ("tool", "arguments", "result", "variables", "error", "latencyMs", "probability")
FAKED = "this answer is a fake"


@dataclass(frozen=True)
class FakeRule:
    """One rule. `arguments` must be part of the call's; a rule with neither result nor error only adds its latency.

    `variables` are session variables that the made-up result sets.
    """

    tool: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    result: Any = None
    variables: Mapping[str, Any] = field(default_factory=dict)
    error: str = ""
    latency_s: float = 0.0
    probability: float = 1.0


@dataclass(frozen=True)
class Fakes:
    """All rules. The first that fits a call decides; the seed and the number of the call decide about chance."""

    seed: int = 0
    rules: tuple[FakeRule, ...] = ()


def parse_fakes(data: Any) -> Fakes:
    """Read `fakes`.

    Raises:
        ConfigurationProblem: with the place, what is wrong and what is allowed.
    """
    if data is None:
        return Fakes()
    if not isinstance(data, Mapping) or not isinstance(data.get("rules"), list):
        raise ConfigurationProblem(f"config.fakes: expected a mapping with {', '.join(FAKES_KEYS)}; rules is a list")
    check_keys(data, FAKES_KEYS, "config.fakes.")
    rules = tuple(_rule(item, f"config.fakes.rules[{index}].") for index, item in enumerate(data["rules"]))
    return Fakes(whole(data, "seed", "config.fakes.") or 0, rules)


def check_fakes(fakes: Fakes, offered: Collection[str]) -> None:
    """Refuse a rule that could never apply: the real tool that was meant would be called instead.

    Raises:
        ConfigurationProblem: with the tool's name, and what there is.
    """
    for rule in fakes.rules:
        if rule.tool not in offered:
            there = ", ".join(sorted(offered)) or "(none)"
            raise ConfigurationProblem(f"config.fakes: no server offers the tool {rule.tool!r}; offered: {there}")


def _rule(data: Any, where: str) -> FakeRule:
    if not isinstance(data, Mapping):
        raise ConfigurationProblem(f"{where.rstrip('.')}: expected a mapping with {', '.join(RULE_KEYS)}")
    check_keys(data, RULE_KEYS, where)
    if not isinstance(data.get("tool"), str) or not data["tool"]:
        raise ConfigurationProblem(f"{where}tool: expected the name of a tool, found {data.get('tool')!r}")
    if "result" in data and "error" in data:
        raise ConfigurationProblem(f"{where}error: a fake has either a result or an error")
    if not {"result", "error", "latencyMs"} & set(data):
        raise ConfigurationProblem(f"{where}result: a fake needs a result, an error or a latencyMs")
    if "result" in data and data["result"] is None:
        raise ConfigurationProblem(f"{where}result: null makes up nothing, and the real tool would be called")
    if "error" in data and (not isinstance(data["error"], str) or not data["error"].strip()):
        raise ConfigurationProblem(f"{where}error: expected what the tool says, found {data['error']!r}")
    arguments = data.get("arguments") or {}
    if not isinstance(arguments, Mapping):
        raise ConfigurationProblem(f"{where}arguments: expected a mapping, found {arguments!r}")
    variables = data.get("variables") or {}
    if not isinstance(variables, Mapping) or (variables and "result" not in data):
        raise ConfigurationProblem(f"{where}variables: expected a mapping, beside a result, found {variables!r}")
    chance = number(data, "probability", where, 0, 1)
    return FakeRule(
        tool=data["tool"],
        arguments=arguments,
        result=data.get("result"),
        variables=variables,
        error=data.get("error", ""),
        latency_s=(number(data, "latencyMs", where, 0, 600_000) or 0) / 1000,
        probability=1.0 if chance is None else chance,
    )


class FakeServer:
    """A server of which some calls are faked."""

    def __init__(self, behind: ToolServer, fakes: Fakes) -> None:
        self._behind = behind
        self._fakes = fakes
        self._count = 0

    @property
    def name(self) -> str:
        return self._behind.name

    @property
    def live(self) -> bool:
        return self._behind.live

    async def tools(self) -> tuple[ToolInfo, ...]:
        """See `ToolServer.tools`."""
        return await self._behind.tools()

    async def call(self, tool: str, arguments: Mapping[str, Any], *, idle_s: float, deadline: Deadline) -> ToolAnswer:
        """See `ToolServer.call`. A made-up answer counts as replayed: nothing was created by it."""
        self._count += 1
        rule = next((rule for rule in self._fakes.rules if self._hits(rule, tool, arguments)), None)
        if rule is not None:
            await asyncio.sleep(deadline.clip(rule.latency_s))
            if rule.error:
                return ToolAnswer(rule.error, is_error=True, replayed=True, faked=True, notes=(FAKED,))
            if rule.result is not None:
                return replace(_made_up(rule.result), variables=rule.variables)
        return await self._behind.call(tool, arguments, idle_s=idle_s, deadline=deadline)

    def _hits(self, rule: FakeRule, tool: str, arguments: Mapping[str, Any]) -> bool:
        if rule.tool != tool:
            return False
        given = {key: arguments[key] for key in rule.arguments if key in arguments}
        if canonical_json(given) != canonical_json(dict(rule.arguments)):
            return False
        return self._dice(tool, arguments) < rule.probability

    def _dice(self, tool: str, arguments: Mapping[str, Any]) -> float:
        """A number in [0, 1) that depends on seed, call and its place in the episode only."""
        text = f"{self._fakes.seed}/{self._count}/{tool}/{canonical_json(dict(arguments))}"
        return int.from_bytes(hashlib.sha256(text.encode()).digest()[:7]) / 2**56


def _made_up(result: Any) -> ToolAnswer:
    if isinstance(result, str):
        return ToolAnswer(result, replayed=True, faked=True, notes=(FAKED,))
    text = json.dumps(result, ensure_ascii=False)
    return ToolAnswer(text, structured=result, replayed=True, faked=True, notes=(FAKED,))
