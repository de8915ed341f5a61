"""Is an assertion's `config` right? Each assertion has a JSON Schema; the message names the key and what is allowed.

Importing `jsonschema` costs a process more than judging does, so the case loader checks every config once before a run
and stamps it (`stamped`); an assertion whose config carries the right stamp does not check again.
"""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from typing import Any

from assertions.verdict import ConfigError

STAMP_KEY = "checked"
"""Key of the stamp: the first 16 hexadecimal digits of the digest of `[schema, config without the stamp]`."""

_FOLDER = __file__.removesuffix("config_check.py") + "schemas"
_SUFFIX = ".schema.json"


def stamped(name: str, config: Mapping[str, Any], variables: Mapping[str, Any]) -> dict[str, Any]:
    """`config` with its stamp, for the case loader. `variables` are the case's vars.

    Raises:
        ConfigError: the config is wrong. Its `key` is the place inside the config.
    """
    bare = {key: value for key, value in config.items() if key != STAMP_KEY}
    check_config(name, bare, variables)
    return bare | {STAMP_KEY: stamp(name, bare)}


def check_config(name: str, config: Mapping[str, Any], variables: Mapping[str, Any]) -> None:
    """Render `config` and check it: by its schema, and by reading it as the assertion itself does.

    Raises:
        ConfigError: an unknown key or mode, an empty expectation, a variable that the case does not have, a value that
            no schema can judge (a date that does not exist, a pattern that does not compile).
    """
    from assertions.config_schema import validate
    from assertions.templates import render

    rendered = render(dict(config), variables)
    validate(load_schema(name), rendered)
    reader = _config_reader(name)
    if reader is not None:
        reader(rendered)


def ensure_checked(name: str, written: Mapping[str, Any], rendered: Mapping[str, Any], given: Any) -> None:
    """Check the `rendered` config unless `given` is the right stamp of the `written` one.

    Raises:
        ConfigError: the config is wrong.
    """
    if isinstance(given, str) and given == stamp(name, written):
        return
    from assertions.config_schema import validate

    validate(load_schema(name), rendered)


def stamp(name: str, bare: Mapping[str, Any]) -> str:
    """The stamp of a config that was found right (see `STAMP_KEY`)."""
    from episodes.canonical import digest

    return digest([load_schema(name), dict(bare)])[:16]


def load_schema(name: str) -> dict[str, Any]:
    """The JSON Schema of the assertion called `name`.

    Raises:
        ConfigError: there is no such assertion.
    """
    try:
        return load_document(name + _SUFFIX)
    except FileNotFoundError:
        raise ConfigError("", f"there is no assertion {name!r}", assertion_names()) from None


def load_document(file_name: str) -> dict[str, Any]:
    """A file of `assertions/schemas`. Read without `pathlib`, whose import costs more than the file.

    Raises:
        FileNotFoundError: there is no such file.
    """
    with io.FileIO(f"{_FOLDER}/{file_name}") as file:
        document: dict[str, Any] = json.loads(file.readall())
        return document


def document_names() -> list[str]:
    """The files of `assertions/schemas`, sorted."""
    from pathlib import Path

    return sorted(path.name for path in Path(_FOLDER).glob("*.json"))


def assertion_names() -> list[str]:
    """The assertions that have a config schema, sorted."""
    return [name.removesuffix(_SUFFIX) for name in document_names() if name.endswith(_SUFFIX)]


def _config_reader(name: str) -> Any:
    """The assertion's own `read_config`, which finds what a schema can not; None where it has none."""
    from importlib import import_module
    from importlib.util import find_spec

    if find_spec(f"assertions.{name}") is None:
        return None
    return getattr(import_module(f"assertions.{name}"), "read_config", None)
