"""Reading the nested parts of a case: maps with known keys, whether written in the case or in a file of their own."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from providers.agent_protocol import ConfigurationProblem


def read_map(value: Any, allowed: Sequence[str] | None, where: str) -> Mapping[str, Any]:
    """`value` as a map without unknown keys, or with any keys when `allowed` is None.

    It may also be JSON text: promptfoo hands over a var that is `file://….yaml` so, and what holds a `$ref` can only
    be written so, because promptfoo resolves references in case files.

    Raises:
        ConfigurationProblem: it is no map, or it has a key that is not in `allowed`.
    """
    if isinstance(value, str) and value.lstrip().startswith("{"):
        try:
            value = json.loads(value)
        except ValueError as error:
            raise ConfigurationProblem(f"{where} is text that is not JSON: {error}.") from None
    if not isinstance(value, Mapping):
        keys = f" with the keys {', '.join(allowed)}" if allowed else ""
        raise ConfigurationProblem(f"{where} is a {type(value).__name__}; allowed: a map{keys}.")
    unknown = [str(key) for key in value if allowed is not None and key not in allowed]
    if unknown and allowed:
        raise ConfigurationProblem(f"{where}.{unknown[0]} is not known; allowed: {', '.join(allowed)}.")
    return value


def read_text(part: Mapping[str, Any], key: str, where: str) -> str:
    """The text at `key`, or an empty one when it is missing or null.

    Raises:
        ConfigurationProblem: it is something else.
    """
    value = part.get(key)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise ConfigurationProblem(f"{where}.{key} is a {type(value).__name__}; allowed: text.")
    return value
