"""A simulation: an ordered list of steps, each of which must be reached before the next one begins.

The state of a step is kept here and nowhere else. A model may propose that the current step is met; it cannot touch
another step, reopen a finished one, add one or leave one out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from episodes.record import Goal
from providers.agent_protocol import ConfigurationProblem
from providers.conversation.case_parts import read_map, read_text

DEFAULT_STEP_TURNS = 3
MOST_STEP_TURNS = 15

StepKind = Literal["goal", "static_utterance", "event"]
_KINDS: tuple[StepKind, ...] = ("goal", "static_utterance", "event")
_STEP_KEYS = (*_KINDS, "success_criteria", "max_turns", "response_guide")
_GOAL_ONLY = ("max_turns", "response_guide")
_SIMULATION_KEYS = ("name", "steps")


@dataclass(frozen=True)
class Step:
    """One step.

    `text` is the developer's goal, the message to send word for word, or the name of the event, by `kind`. `criterion`
    says what the agent must do or say; for a goal without one it is the goal itself. It is never shown to the
    developer. `max_turns` is 1 unless `kind` is `goal`. `guide` is known to the developer in this step only.
    """

    number: int
    kind: StepKind
    text: str
    criterion: str = ""
    max_turns: int = 1
    guide: str = ""

    @property
    def message(self) -> str:
        """What is sent for a step that asks no model."""
        return f"<event>{self.text}</event>" if self.kind == "event" else self.text


def read_steps(value: Any, where: str = "vars.simulation") -> tuple[Step, ...]:
    """The steps of a simulation: a mapping with `steps`, each a mapping with one of the three kinds.

    Raises:
        ConfigurationProblem: an unknown key, a step without or with two kinds, no step at all, or no step that demands
            anything of the agent (such a simulation would pass whatever the agent says).
    """
    items = read_map(value, _SIMULATION_KEYS, where).get("steps")
    if not isinstance(items, list) or not items:
        raise ConfigurationProblem(f"{where}.steps must be a list with at least one step.")
    steps = tuple(_read_step(item, index, f"{where}.steps[{index}]") for index, item in enumerate(items))
    if not any(step.criterion for step in steps):
        raise ConfigurationProblem(
            f"{where}.steps: no step has a goal or success_criteria, so it would pass whatever the agent says."
        )
    return steps


def _read_step(item: Any, index: int, where: str) -> Step:
    item = read_map(item, _STEP_KEYS, where)
    kinds = [kind for kind in _KINDS if item.get(kind) is not None]
    if len(kinds) != 1:
        found = ", ".join(kinds) or "none"
        raise ConfigurationProblem(f"{where} must have exactly one of {', '.join(_KINDS)}; found {found}.")
    kind = kinds[0]
    text = read_text(item, kind, where)
    if not text.strip():
        raise ConfigurationProblem(f"{where}.{kind} is blank.")
    if kind != "goal":
        for key in _GOAL_ONLY:
            if item.get(key) is not None:
                raise ConfigurationProblem(f"{where}.{key} is only for a step with a goal; this one has {kind}.")
    turns = item.get("max_turns", DEFAULT_STEP_TURNS if kind == "goal" else 1)
    if isinstance(turns, bool) or not isinstance(turns, int) or not 1 <= turns <= MOST_STEP_TURNS:
        raise ConfigurationProblem(f"{where}.max_turns is {turns!r}; allowed: 1 to {MOST_STEP_TURNS}.")
    criterion = read_text(item, "success_criteria", where).strip()
    if kind == "goal" and not criterion:
        criterion = f"The developer has got what this step is about: {text.strip()}"
    # A static utterance is sent character by character as it stands.
    text = text if kind == "static_utterance" else text.strip()
    return Step(index + 1, kind, text, criterion, turns, read_text(item, "response_guide", where))


class Progress:
    """How far a simulation has come. Only the current step can change, and only once."""

    def __init__(self, steps: tuple[Step, ...]) -> None:
        self._steps = steps
        self._reached: list[tuple[str, int]] = []
        self._failed: str | None = None
        self.turns = 0
        """Turns spent on the current step."""

    @property
    def current(self) -> Step | None:
        """The step that is being tried; None when all are reached or one was not."""
        if self._failed is not None or len(self._reached) == len(self._steps):
            return None
        return self._steps[len(self._reached)]

    @property
    def complete(self) -> bool:
        return len(self._reached) == len(self._steps)

    def reach(self, reason: str, turn: int = 0) -> None:
        """The current step is reached in this turn of the conversation; the next one begins."""
        if self.current is None:
            raise AssertionError("no step is open")
        self._reached.append((reason, turn))
        self.turns = 0

    def fail(self, reason: str) -> None:
        """The current step is not reached, and the rest is blocked."""
        if self.current is None:
            raise AssertionError("no step is open")
        self._failed = reason

    def goals(self, unfinished: str = "The conversation ended before this step was reached.") -> tuple[Goal, ...]:
        """Every step with its status and a written reason; `unfinished` is the reason of a step that is still open."""
        goals: list[Goal] = []
        for step in self._steps:
            done = len(self._reached)
            if step.number <= done:
                reason, turn = self._reached[step.number - 1]
                goals.append(Goal(step.number, step.text, "reached", reason, turn))
            elif step.number == done + 1:
                goals.append(Goal(step.number, step.text, "not_reached", self._failed or unfinished))
            else:
                blocker = self._steps[done]
                reason = f'Never tried: step {blocker.number} was not reached ("{blocker.text}").'
                goals.append(Goal(step.number, step.text, "blocked", reason))
        return tuple(goals)


def goals_heading(goals: tuple[Goal, ...]) -> str:
    """How many steps were reached, as it is shown with the result: `Goals (2/3)`."""
    return f"Goals ({sum(goal.status == 'reached' for goal in goals)}/{len(goals)})"
