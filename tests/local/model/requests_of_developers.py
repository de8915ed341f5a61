"""The requests of `requests.yaml` as data classes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

REMOVED = "(removed)"
PLAIN = "a developer who is matter-of-fact and brief"


@dataclass(frozen=True)
class CopyRequest:
    """A copy: the opening message, what the developer tells when asked, and what must differ besides the move."""

    opening: str
    source: str
    name: str
    space: tuple[str, ...]
    facts: Mapping[str, str] = field(default_factory=dict)
    changes: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class BlockedRequest:
    """A request that must not lead to a pull request; what the agent says at last holds all of `said` (lower case)."""

    opening: str
    said: tuple[str, ...]
    persona: str = PLAIN


@dataclass(frozen=True)
class Question:
    """A question, and pieces of text that the answer must hold."""

    text: str
    said: tuple[str, ...]


_DATA = yaml.safe_load(Path(__file__).with_name("requests.yaml").read_text(encoding="utf-8"))


def _copies(key: str) -> tuple[CopyRequest, ...]:
    return tuple(CopyRequest(**{**item, "space": tuple(item["space"])}) for item in _DATA[key])


BY_FIELD = _copies("by_field")
BY_DESCRIPTION = _copies("by_description")
OTHER_WORDS = _copies("other_words")
BLOCKED = tuple(BlockedRequest(**{**item, "said": tuple(item["said"])}) for item in _DATA["blocked"])
QUESTIONS = tuple(Question(item["text"], tuple(item["said"])) for item in _DATA["questions"])
FROM_NOTHING_OPENING: str = _DATA["from_nothing"]["opening"]
FROM_NOTHING_FACTS: Mapping[str, str] = _DATA["from_nothing"]["facts"]
