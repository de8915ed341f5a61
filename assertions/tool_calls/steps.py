"""The steps of an expected sequence, read from a config."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from assertions.matching.call_pattern import CallPattern, read_call_pattern
from assertions.matching.globs import glob_fits
from assertions.matching.json_values import shown
from assertions.verdict import ConfigError
from episodes.frozen import frozen

MOST_REPEATS = 100
"""A step's `min` and `max` may not be greater."""

WRITING_TOOLS = (
    "create_*", "update_*", "delete_*", "remove_*", "write_*", "merge_*", "complete_*", "abandon_*", "submit_*",
)  # fmt: skip
"""Tools that act on what the steps before them answered, unless `after_answers` says which do."""


@frozen
class Step:
    """`least` to `most` calls (None: any number) that fit the pattern.

    `after_answers`: it must not be in one parallel batch with a step before it whose answer it acts on.
    `capped`: `max` stands in the config, so more calls of it are wrong even where other extra calls are allowed.
    """

    pattern: CallPattern
    least: int = 1
    most: int | None = 1
    after_answers: bool = False
    capped: bool = False

    @cached_property
    def once(self) -> bool:
        """Exactly one call is expected."""
        return self.least == self.most == 1

    @cached_property
    def short(self) -> str:
        """For a list of steps: the tool's name, `?` when optional, `{2,3}` when repeated."""
        names = "|".join(dict.fromkeys(str(alternative.tool) for alternative in self.pattern.alternatives))
        if not self.pattern.names_only:
            names += "(…)"
        if (self.least, self.most) == (1, 1):
            return names
        if (self.least, self.most) == (0, 1):
            return f"{names}?"
        if self.least == self.most:
            return f"{names}{{{self.least}}}"
        return f"{names}{{{self.least},{'' if self.most is None else self.most}}}"

    def __str__(self) -> str:
        return str(self.pattern)


def read_steps(listed: Any, key: str, writing: Sequence[str]) -> tuple[Step, ...]:
    """Raises ConfigError for what is no list of steps; an empty list is left to the caller."""
    if not isinstance(listed, list):
        raise ConfigError(key, f"{shown(listed)} is not allowed", "a list of steps")
    return tuple(_read_step(item, f"{key}/{index}", writing) for index, item in enumerate(listed))


def read_writing_tools(config: Mapping[str, Any]) -> tuple[str, ...]:
    """The globs of `after_answers`; by default `WRITING_TOOLS`.

    Raises:
        ConfigError: no list of names.
    """
    listed = config.get("after_answers", list(WRITING_TOOLS))
    if not isinstance(listed, list) or not all(isinstance(name, str) and name for name in listed):
        raise ConfigError("/after_answers", f"{shown(listed)} is not allowed", "a list of tool names or globs")
    return tuple(listed)


def _read_step(item: Any, key: str, writing: Sequence[str]) -> Step:
    pattern = read_call_pattern(item, key, ("min", "max", "optional", "after_answers"))
    own = item if isinstance(item, Mapping) else {}
    optional = _flag(own, "optional", key) or False
    if optional and "min" in own:
        raise ConfigError(f"{key}/optional", "stands beside 'min'", "one of them; min: 0 is optional")
    least = 0 if optional else _count(own, "min", key, 1)
    most: int | None = _count(own, "max", key, 1) if "max" in own or "min" not in own else None
    if most is not None and (most < 1 or most < least):
        raise ConfigError(f"{key}/max", f"{most} is too small", f"a whole number from {max(1, least)}")
    after_answers = _flag(own, "after_answers", key)
    if after_answers is None:
        after_answers = all(
            any(_means(glob, alternative.tool.text) for glob in writing) for alternative in pattern.alternatives
        )
    return Step(pattern, least, most, after_answers, capped="max" in own)


def _means(glob: str, tool: str) -> bool:
    """Whether the tool, or the glob for tools, is what `glob` means: `create*` is meant by `create_*` as well."""
    return glob_fits(glob, tool) or (glob.endswith("_*") and tool == f"{glob[:-2]}*")


def _count(own: Mapping[str, Any], name: str, key: str, default: int) -> int:
    value = own.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MOST_REPEATS:
        raise ConfigError(f"{key}/{name}", f"{shown(value)} is not allowed", f"a whole number from 0 to {MOST_REPEATS}")
    return value


def _flag(own: Mapping[str, Any], name: str, key: str) -> bool | None:
    value = own.get(name)
    if value is not None and not isinstance(value, bool):
        raise ConfigError(f"{key}/{name}", f"{shown(value)} is not allowed", "true, false")
    return value
