"""`{{name}}` in a config: the case's variables, since promptfoo hands a config over as it was written."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from assertions.verdict import ConfigError

_PLACEHOLDER = re.compile(r"\{\{\s*(.*?)\s*\}\}", re.DOTALL)
_NAME = re.compile(r"[A-Za-z_][\w-]*(\.[\w-]+)*")


def render(value: Any, variables: Mapping[str, Any], key: str = "") -> Any:
    """Return `value` with each `{{name}}` or `{{name.part}}` in its texts replaced.

    A text that is one placeholder and nothing else becomes the variable itself, with its type; inside a longer text
    the variable is written as text (objects and lists as JSON). Keys of objects are rendered too.

    Raises:
        ConfigError: no such variable, or something else than a name between the braces.
    """
    if isinstance(value, str):
        return _render_text(value, variables, key) if "{{" in value else value
    if isinstance(value, Mapping):
        return {
            str(_render_text(name, variables, key)) if isinstance(name, str) and "{{" in name else name: render(
                item, variables, f"{key}/{name}"
            )
            for name, item in value.items()
        }
    if isinstance(value, list):
        return [render(item, variables, f"{key}/{index}") for index, item in enumerate(value)]
    return value


def _render_text(text: str, variables: Mapping[str, Any], key: str) -> Any:
    whole = _PLACEHOLDER.fullmatch(text)
    if whole and "}}" not in whole.group(1):
        return _look_up(whole.group(1), variables, key)
    return _PLACEHOLDER.sub(lambda match: _as_text(_look_up(match.group(1), variables, key)), text)


def _look_up(name: str, variables: Mapping[str, Any], key: str) -> Any:
    if not _NAME.fullmatch(name):
        raise ConfigError(key, f"{{{{{name}}}}} can not be rendered", "{{name}} or {{name.part}} of the case's vars")
    value: Any = variables
    for part in name.split("."):
        if not isinstance(value, Mapping) or part not in value:
            known = sorted(str(known) for known in variables if not str(known).startswith("_"))
            raise ConfigError(key, f"{{{{{name}}}}} is not among the case's vars", known or "none, it has no vars")
        value = value[part]
    return value


def _as_text(value: Any) -> str:
    if isinstance(value, str):
        return value
    import json

    return json.dumps(value, ensure_ascii=False)
