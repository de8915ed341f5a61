"""What the config of `tool_sequence` says, read once."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from functools import cached_property
from typing import Any

from assertions.matching.json_values import kind_of, shown
from assertions.matching.selection import TurnSelector, When, read_turns, read_when
from assertions.tool_calls.steps import Step, read_steps, read_writing_tools
from assertions.verdict import ConfigError
from episodes.frozen import frozen


class Mode(StrEnum):
    EXACT = "exact"
    IN_ORDER = "in_order"
    ANY_ORDER = "any_order"
    SUBSET = "subset"
    SUPERSET = "superset"

    @property
    def ordered(self) -> bool:
        return self in (Mode.EXACT, Mode.IN_ORDER)

    @property
    def allows_extra(self) -> bool:
        """Calls that serve no step do not matter."""
        return self in (Mode.IN_ORDER, Mode.SUPERSET)


@frozen
class SequenceConfig:
    """`per_turn` holds one sequence for each turn; it is None when `steps` is one sequence for all selected turns."""

    steps: tuple[Step, ...]
    per_turn: tuple[tuple[Step, ...], ...] | None = None
    mode: Mode = Mode.IN_ORDER
    when: When = When.EXECUTED
    turns: TurnSelector = TurnSelector()
    strict_batches: bool = False
    extra_turns_allowed: bool = False
    threshold: float = 1.0

    @cached_property
    def reads_files(self) -> bool:
        """A step names a schema that has to be read."""
        return any(step.pattern.reads_files for steps in (self.steps, *(self.per_turn or ())) for step in steps)


def read_config(config: Mapping[str, Any]) -> SequenceConfig:
    """Read `steps` or `per_turn`, `mode`, `when`, `turn`/`turns`, `strict_batches`, `after_answers`, `threshold`.

    Raises:
        ConfigError: anything else; and an expectation that every record would meet.
    """
    mode = _mode(config)
    writing = read_writing_tools(config)
    if ("steps" in config) == ("per_turn" in config):
        raise ConfigError("/steps", "expects nothing, or twice", "either steps or per_turn")
    per_turn: tuple[tuple[Step, ...], ...] | None = None
    steps: tuple[Step, ...] = ()
    if "steps" in config:
        steps = read_steps(config["steps"], "/steps", writing)
        _demand_something(steps, mode, "/steps")
    else:
        per_turn = _read_per_turn(config, mode, writing)
    return SequenceConfig(
        steps=steps,
        per_turn=per_turn,
        mode=mode,
        when=read_when(config, When.EXECUTED),
        turns=read_turns(config),
        strict_batches=_flag(config, "strict_batches"),
        extra_turns_allowed=_extra_turns(config),
        threshold=_threshold(config),
    )


def _read_per_turn(config: Mapping[str, Any], mode: Mode, writing: tuple[str, ...]) -> tuple[tuple[Step, ...], ...]:
    listed = config["per_turn"]
    if not isinstance(listed, list) or not listed:
        raise ConfigError("/per_turn", f"{shown(listed)} expects nothing", "a list with the steps of each turn")
    for name in ("turn", "turns"):
        if name in config:
            raise ConfigError(f"/{name}", "stands beside 'per_turn'", "one of them")
    per_turn = tuple(read_steps(item, f"/per_turn/{index}", writing) for index, item in enumerate(listed))
    if not any(per_turn):
        raise ConfigError("/per_turn", "expects no call in any turn", "at least one step; see also tool_not_executed")
    for index, steps in enumerate(per_turn):
        if steps or mode.allows_extra:
            _demand_something(steps, mode, f"/per_turn/{index}")
    return per_turn


def _demand_something(steps: tuple[Step, ...], mode: Mode, key: str) -> None:
    """An expectation that no record can miss is a mistake, not a check."""
    if not steps:
        raise ConfigError(
            key, "is empty, so there would be nothing to check", "at least one step; for 'no calls', tool_not_executed"
        )
    if mode.allows_extra and not any(step.least or step.capped for step in steps):
        raise ConfigError(key, f"every step is optional, so mode {mode} would always pass", "a step with min above 0")


def _mode(config: Mapping[str, Any]) -> Mode:
    value = config.get("mode", Mode.IN_ORDER)
    try:
        return Mode(value)
    except ValueError:
        raise ConfigError("/mode", f"{shown(value)} is not allowed", Mode) from None


def _flag(config: Mapping[str, Any], name: str) -> bool:
    value = config.get(name, False)
    if not isinstance(value, bool):
        raise ConfigError(f"/{name}", f"{shown(value)} is not allowed", "true, false")
    return value


def _extra_turns(config: Mapping[str, Any]) -> bool:
    value = config.get("extra_turns", "forbid")
    if value not in ("allow", "forbid"):
        raise ConfigError("/extra_turns", f"{shown(value)} is not allowed", "allow, forbid")
    if "extra_turns" in config and "per_turn" not in config:
        raise ConfigError("/extra_turns", "needs 'per_turn'")
    return bool(value == "allow")


def _threshold(config: Mapping[str, Any]) -> float:
    value = config.get("threshold", 1.0)
    if kind_of(value) != "number" or not 0 < value <= 1:
        raise ConfigError("/threshold", f"{shown(value)} is not allowed", "a number above 0, up to 1")
    return float(value)
