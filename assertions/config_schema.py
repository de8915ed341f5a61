"""A config against its JSON Schema, and the validator's errors in words a maintainer can act on.

Only loaded when a config has not been checked before: the import of `jsonschema` is the dear part.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from jsonschema import Draft202012Validator, ValidationError
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012

from assertions.config_check import document_names, load_document
from assertions.verdict import ConfigError

MESSAGE_KEYWORD = "x-problem"
"""A schema may say in this keyword, in words, what is wrong when it does not match."""

_EMPTY = {"minItems", "minProperties", "minLength"}


def validate(schema: Mapping[str, Any], config: Any) -> None:
    """Check `config` against an assertion's `schema`.

    Raises:
        ConfigError: for the first wrong place; it says how many more there are.
    """
    validator = Draft202012Validator(dict(schema), registry=_siblings())
    errors = sorted((_innermost(error) for error in validator.iter_errors(config)), key=_rank)
    if errors:
        first = _explain(errors[0])
        more = f" ({len(errors) - 1} more)" if len(errors) > 1 else ""
        raise ConfigError(first.key, first.problem + more, first.allowed)


def _siblings() -> Registry[Any]:
    """Schemas may refer to files of their own folder; nothing is fetched."""
    empty: Registry[Any] = Registry()
    return empty.with_resources(
        (name, Resource.from_contents(load_document(name), default_specification=DRAFT202012))
        for name in document_names()
    )


def _innermost(error: ValidationError) -> ValidationError:
    """The branch of an `anyOf`/`oneOf` that was probably meant: the one that fails deepest inside."""
    while error.context and MESSAGE_KEYWORD not in _schema_of(error):
        error = max(error.context, key=lambda inner: (len(inner.absolute_path), inner.validator != "type"))
    return error


def _rank(error: ValidationError) -> tuple[int, str, str]:
    # An unknown key explains most other errors beside it (a typo leaves the real key missing as well).
    return (0 if error.validator == "additionalProperties" else 1, _pointer(error.absolute_path), error.message)


def _explain(error: ValidationError) -> ConfigError:
    schema, key = _schema_of(error), _pointer(error.absolute_path)
    rule: Any = error.validator_value
    value: Any = error.instance
    if MESSAGE_KEYWORD in schema:
        return ConfigError(key, schema[MESSAGE_KEYWORD])
    if error.validator == "additionalProperties":
        known = list(schema.get("properties", {}))
        unknown = next(str(name) for name in value if name not in known)
        return ConfigError(f"{key}/{unknown}", "unknown key", sorted(known))
    if error.validator == "enum":
        return ConfigError(key, f"{_shown(value)} is not allowed", (_shown(item) for item in rule))
    if error.validator == "const":
        return ConfigError(key, f"{_shown(value)} is not allowed", _shown(rule))
    if error.validator == "type":
        return ConfigError(
            key, f"{_shown(value)} has the wrong type", rule if isinstance(rule, str) else " or ".join(rule)
        )
    if error.validator == "required":
        missing = next(name for name in rule if name not in value)
        return ConfigError(key, f"the key {missing!r} is missing")
    if error.validator in _EMPTY:
        return ConfigError(key, "is empty, so there would be nothing to check")
    return ConfigError(key, error.message)


def _schema_of(error: ValidationError) -> Mapping[str, Any]:
    return error.schema if isinstance(error.schema, Mapping) else {}


def _pointer(path: Iterable[Any]) -> str:
    return "".join(f"/{str(part).replace('~', '~0').replace('/', '~1')}" for part in path)


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}…"
