"""What a golden expects of each turn, read from the config of `golden_turn`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, cast

from assertions.matching.call_pattern import CallPattern, read_call_pattern
from assertions.matching.selection import When, read_when
from assertions.verdict import ConfigError
from episodes.frozen import frozen

NAME = "golden_turn"
Semantics = Literal["embedding", "judge"]
LEAST_GRADE: dict[Semantics, float] = {"embedding": 2.0, "judge": 3.0}
"""The grade from which a message passes, unless the config says otherwise."""


@frozen
class ExpectedTurn:
    """One turn. None means: nothing is expected about it. `calls` empty means that no tool may be called."""

    number: int
    message: str | None = None
    contains: tuple[str, ...] = ()
    calls: tuple[CallPattern, ...] | None = None
    handoff: bool | None = None


@frozen
class Golden:
    """All turns, and how strictly they are judged. `least_grade` is on the scale from 0 to 4."""

    turns: tuple[ExpectedTurn, ...]
    extra_turns: bool
    extra_calls: bool
    semantics: Semantics
    least_grade: float
    least_correctness: float
    when: When
    overall_grade: float | None
    overall_correctness: float | None


def read_config(config: Mapping[str, Any]) -> Golden:
    """Read the config of `golden_turn`.

    Raises:
        ConfigError: with the place, what is wrong and what is allowed.
    """
    turns = tuple(_turn(item, index) for index, item in enumerate(config["turns"]))
    numbers = [turn.number for turn in turns]
    if sorted(set(numbers)) != numbers:
        raise ConfigError("/turns", f"the turns are numbered {', '.join(map(str, numbers))}", "each once, in order")
    semantic = config.get("semantic", {})
    by = cast(Semantics, semantic.get("by", "embedding"))
    overall = config.get("overall", {})
    measured = {
        "semantic": any(turn.message is not None for turn in turns),
        "tool_correctness": any(turn.calls is not None for turn in turns),
    }
    for key in overall:
        if not measured.get(key, True):
            needed = "a turn with `message`" if key == "semantic" else "a turn with `tools`"
            raise ConfigError(f"/overall/{key}", "is the mean of nothing: no turn is measured by it", needed)
    return Golden(
        turns=turns,
        extra_turns=config.get("extra_turns", "fail") == "allow",
        extra_calls=config.get("extra_calls", "fail") == "allow",
        semantics=by,
        least_grade=float(semantic.get("threshold", LEAST_GRADE[by])),
        least_correctness=float(config.get("tool_correctness", 1.0)),
        when=read_when(config, When.EXECUTED),
        overall_grade=_optional(overall, "semantic"),
        overall_correctness=_optional(overall, "tool_correctness"),
    )


def _turn(item: Mapping[str, Any], index: int) -> ExpectedTurn:
    calls = item.get("tools")
    contains = item.get("contains", ())
    return ExpectedTurn(
        number=item.get("turn", index + 1),
        message=item.get("message"),
        contains=(contains,) if isinstance(contains, str) else tuple(contains),
        calls=None if calls is None else _calls(calls, f"/turns/{index}/tools"),
        handoff=item.get("handoff"),
    )


def _calls(calls: Sequence[Any], key: str) -> tuple[CallPattern, ...]:
    return tuple(read_call_pattern(call, f"{key}/{index}") for index, call in enumerate(calls))


def _optional(values: Mapping[str, Any], key: str) -> float | None:
    return float(values[key]) if key in values else None
