"""Who is talking? A developer described as data: a ready-made one, a changed one, or one in the case's own words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from providers.agent_protocol import ConfigurationProblem

PERSONAS_FILE = Path(__file__).with_name("personas.yaml")
DEFAULT_PERSONA = "plain"


@dataclass(frozen=True)
class Persona:
    """One developer. Every trait is plain text for a model to read; an empty one is left out."""

    personality: str = ""
    knowledge: str = ""
    patience: str = ""
    language: str = ""
    typing: str = ""
    never_say: tuple[str, ...] = ()
    """Phrases that must not occur in anything this developer writes."""

    def in_words(self) -> str:
        """The traits as one line of prose, without what must never be said."""
        labels = {"knowledge": "Knowledge", "patience": "Patience", "language": "Writes in", "typing": "Style"}
        parts = [self.personality, *(f"{label}: {getattr(self, key)}" for key, label in labels.items())]
        return ". ".join(part.rstrip(".") for part in parts if part and not part.endswith(": ")) + "."


_TRAITS = tuple(field.name for field in fields(Persona))


def read_persona(value: Any, where: str = "vars.persona") -> Persona:
    """The persona of a case.

    `value` is None (the plain developer), the name of a ready-made persona, a description in plain words, or a mapping
    of traits; the mapping's `like` names the ready-made persona that it changes.

    Raises:
        ConfigurationProblem: an unknown trait or name, or a trait that is not text.
    """
    ready_made = _ready_made()
    if value is None or value == "":
        return ready_made[DEFAULT_PERSONA]
    if isinstance(value, str):
        return ready_made.get(value.strip()) or Persona(personality=_one_line(value))
    if not isinstance(value, Mapping):
        raise ConfigurationProblem(f"{where} is a {type(value).__name__}; allowed: text or a map of traits.")
    traits = dict(value)
    like = traits.pop("like", None)
    if like is not None and like not in ready_made:
        raise ConfigurationProblem(f"{where}.like is {like!r}; allowed: {', '.join(sorted(ready_made))}.")
    return replace(ready_made[like] if like else Persona(), **_checked(traits, where))


def ready_made_names() -> tuple[str, ...]:
    """The personas that a case can name."""
    return tuple(_ready_made())


@cache
def _ready_made() -> dict[str, Persona]:
    data = yaml.safe_load(PERSONAS_FILE.read_text(encoding="utf-8"))
    return {name: Persona(**_checked(traits, f"{PERSONAS_FILE.name}: {name}")) for name, traits in data.items()}


def _checked(traits: Mapping[str, Any], where: str) -> dict[str, Any]:
    checked: dict[str, Any] = {}
    for key, value in traits.items():
        if key not in _TRAITS:
            raise ConfigurationProblem(f"{where}.{key} is not a trait; allowed: like, {', '.join(_TRAITS)}.")
        if key == "never_say":
            phrases = [value] if isinstance(value, str) else value
            if not isinstance(phrases, list) or not all(isinstance(item, str) and item.strip() for item in phrases):
                raise ConfigurationProblem(f"{where}.never_say must be a list of phrases (texts that are not blank).")
            checked[key] = tuple(_one_line(item) for item in phrases)
        elif not isinstance(value, str):
            raise ConfigurationProblem(f"{where}.{key} is a {type(value).__name__}; allowed: text.")
        else:
            checked[key] = _one_line(value)
    return checked


def _one_line(text: str) -> str:
    """A trait must not open a section of its own in the instructions, so line breaks become spaces."""
    return " ".join(text.split())
