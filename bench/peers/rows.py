"""The cases that every matcher is asked about: `rows.yaml`, read and checked.

Keys of a row:

- `id`, `case`, `why`: what `docs/matchers-compared.md` shows. `about` names the peers of whose verdict the row tells.
- `expected`, `actual`: lists of calls, a bare name or `{name, arguments, status, turn, batch}`. `arguments: null`: they
  were not captured. `actual: null`: nothing was recorded at all. Calls without a `batch` come one after the other.
- `said`: the agent's answer.
- `mode` (exact, in_order, any_order, subset, superset) and `arguments` (ignore, the default; exact; subset): what is
  asked of every matcher, in our words. Without a mode only the peers of `about` are asked.
- `settings`: the question in the own words of the peers of `about`, where ours do not say it.
- `ours`: `{assertion: config}`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

FILE = Path(__file__).with_name("rows.yaml")
MODES = ("exact", "in_order", "any_order", "subset", "superset")
ARGUMENTS = ("ignore", "exact", "subset")
PEERS: dict[str, str] = {
    "promptfoo": "promptfoo",
    "agentevals": "agentevals",
    "google-adk": "ADK",
    "deepeval": "DeepEval",
    "pydantic-evals": "pydantic_evals",
    "tau2": "tau2",
    "azure-ai-evaluation": "Azure",
}
"""The matchers by the name of their package, and what the page calls them."""


@dataclass(frozen=True)
class Call:
    """One tool call. `arguments` is None when they were not captured."""

    name: str
    arguments: dict[str, Any] | None
    status: str
    turn: int
    batch: int

    def as_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "arguments": self.arguments,
            "failed": self.status != "ok",
            "turn": self.turn,
            "batch": self.batch,
        }


@dataclass(frozen=True)
class Row:
    """One case. `actual` is None when nothing was recorded, `expected` when only `settings` say what is expected."""

    id: str
    about: tuple[str, ...]
    case: str
    why: str
    expected: tuple[Call, ...] | None
    actual: tuple[Call, ...] | None
    said: str
    mode: str | None
    arguments: str
    settings: Mapping[str, Any] | None
    assertion: str
    config: Mapping[str, Any]

    def question(self, peer: str) -> dict[str, Any] | None:
        """The row as this peer's worker is asked about it; None when the row asks nothing of it."""
        settings = self.settings if peer in self.about else None
        if self.mode is None and settings is None:
            return None
        return {
            "id": self.id,
            "mode": self.mode,
            "arguments": self.arguments,
            "expected": [call.as_json() for call in self.expected or ()],
            "actual": None if self.actual is None else [call.as_json() for call in self.actual],
            "said": self.said,
            "settings": settings,
        }


@cache
def rows() -> tuple[Row, ...]:
    """All rows, in the order of the page.

    Raises:
        ValueError: a row is not as described above; the text names it.
    """
    found = tuple(read_row(described) for described in yaml.safe_load(FILE.read_text(encoding="utf-8")))
    if len({row.id for row in found}) != len(found):
        raise ValueError(f"{FILE}: two rows have the same id")
    return found


_KEYS = {"id", "about", "case", "why", "expected", "actual", "said", "mode", "arguments", "settings", "ours"}


def read_row(described: Mapping[str, Any]) -> Row:
    """One row as it is written.

    Raises:
        ValueError: it is not as described above; the text names it and what is allowed.
    """
    where = f"{FILE}: row {described.get('id')}"
    if not described.keys() <= _KEYS:
        raise ValueError(f"{where}: unknown key {', '.join(sorted(described.keys() - _KEYS))}")
    mode, arguments = described.get("mode"), described.get("arguments", "ignore")
    if mode is not None and mode not in MODES:
        raise ValueError(f"{where}: unknown mode {mode!r}; allowed: {', '.join(MODES)}")
    if arguments not in ARGUMENTS:
        raise ValueError(f"{where}: unknown arguments {arguments!r}; allowed: {', '.join(ARGUMENTS)}")
    if not set(described["about"]) <= PEERS.keys():
        raise ValueError(f"{where}: unknown peer in {described['about']}; allowed: {', '.join(PEERS)}")
    if mode is not None and "expected" not in described:
        raise ValueError(f"{where}: a mode needs the expected calls")
    ((assertion, config),) = described["ours"].items()
    return Row(
        id=described["id"],
        about=tuple(described["about"]),
        case=described["case"],
        why=described["why"],
        expected=_calls(described.get("expected")),
        actual=_calls(described["actual"]),
        said=described.get("said", "Done."),
        mode=mode,
        arguments=arguments,
        settings=described.get("settings"),
        assertion=assertion,
        config=config,
    )


def _calls(described: list[Any] | None) -> tuple[Call, ...] | None:
    if described is None:
        return None
    calls = []
    for place, each in enumerate(described, 1):
        call: Mapping[str, Any] = {"name": each} if isinstance(each, str) else each
        calls.append(
            Call(
                name=call["name"],
                arguments=call.get("arguments", {}),
                status=call.get("status", "ok"),
                turn=call.get("turn", 1),
                batch=call.get("batch", 1000 + place),
            )
        )
    return tuple(calls)
