"""What does the simulated user know? The part of a case that reaches it, and nothing else of the test.

The case's `vars` are read by name. What is not named here (expectations, ids, notes) never gets into a prompt.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from providers.agent_protocol import ConfigurationProblem
from providers.conversation.case_parts import read_text
from providers.conversation.persona import Persona, read_persona

Speaker = Literal["user", "agent"]


@dataclass(frozen=True)
class Script:
    """One developer with one wish.

    `opening` is sent as it is, without asking a model; when it is empty, the model writes the first message. `goal` is
    what the developer wants in the end. `facts` are told only when the agent asks. `parameters` are the session's
    variables: the agent has them from the start, the developer knows those that its own texts mention by name.
    """

    goal: str
    opening: str = ""
    persona: Persona = field(default_factory=Persona)
    facts: tuple[tuple[str, str], ...] = ()
    speaks_first: Speaker = "user"
    parameters: tuple[tuple[str, str], ...] = ()

    def known(self, text: str = "") -> tuple[tuple[str, str], ...]:
        """The facts, and the session's variables that the goal, the persona or `text` names."""
        named = f"{self.goal} {self.persona.in_words()} {text}"
        topics = {topic for topic, _ in self.facts}
        return (*self.facts, *((key, value) for key, value in self.parameters if key in named and key not in topics))


def read_script(variables: Mapping[str, Any], *, goal_needed: bool = True, step_texts: str = "") -> Script:
    """The script of a case.

    Args:
        variables: the case's vars: `request` (opening message), `goal`, `persona` (text or map), `facts` (map of topic
            to value), `speaks_first` (`user` or `agent`), `session_parameters` (map).
        goal_needed: whether the case must say what is wanted (a simulation has a goal for each step instead).
        step_texts: what a simulation's steps say, for a reader who looks at the whole conversation at once.

    Raises:
        ConfigurationProblem: one of them has the wrong form, or there is neither a goal nor a request.
    """
    opening = read_text(variables, "request", "vars")
    opening = opening if opening.strip() else ""
    goal = " ".join(read_text(variables, "goal", "vars").split())
    if goal_needed and not goal and not opening:
        raise ConfigurationProblem("vars: neither `goal` nor `request` says what the simulated user wants.")
    first = variables.get("speaks_first") or "user"
    if first not in ("user", "agent"):
        raise ConfigurationProblem(f"vars.speaks_first is {first!r}; allowed: user, agent.")
    return Script(
        goal=" ".join([goal or " ".join(opening.split()), *step_texts.split()]).strip(),
        opening=opening,
        persona=read_persona(variables.get("persona")),
        facts=_pairs(variables, "facts"),
        speaks_first="agent" if first == "agent" else "user",
        parameters=_pairs(variables, "session_parameters"),
    )


def in_words(value: Any) -> str:
    """A fact's value as a person would type it: text as it is, lists with commas, maps as JSON, on one line."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list) and not any(isinstance(item, list | dict) for item in value):
        return ", ".join(in_words(item) for item in value)
    if isinstance(value, str):
        return " ".join(value.split())
    return json.dumps(value, ensure_ascii=False, default=str)


def _pairs(variables: Mapping[str, Any], key: str) -> tuple[tuple[str, str], ...]:
    value = variables.get(key)
    if value is None or value == "":
        return ()
    if not isinstance(value, Mapping):
        raise ConfigurationProblem(f"vars.{key} is a {type(value).__name__}; allowed: a map of name to value.")
    return tuple((" ".join(str(name).split()), in_words(item)) for name, item in value.items())
