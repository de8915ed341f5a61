"""One thing that is wrong with a spoke configuration, and where."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Problem:
    """`pointer` is a JSON Pointer (RFC 6901) into the configuration, `rule` a stable name, `message` a sentence."""

    pointer: str
    rule: str
    message: str

    def as_json(self) -> dict[str, str]:
        return {"pointer": self.pointer, "rule": self.rule, "message": self.message}


def pointer(*parts: str | int) -> str:
    """The JSON Pointer of a path; the empty text for the whole configuration."""
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in parts)


def shown(value: Any, limit: int = 120) -> str:
    """A value as JSON for a message, cut to `limit` characters."""
    text = json.dumps(value, ensure_ascii=False, default=repr)
    return text if len(text) <= limit else text[: limit - 1] + "…"


def repeated(names: Iterable[str]) -> dict[int, str]:
    """Positions (from 0) whose name stood earlier in the list already."""
    seen: set[str] = set()
    found: dict[int, str] = {}
    for index, name in enumerate(names):
        if name in seen:
            found[index] = name
        seen.add(name)
    return found
