"""The spoke schema: handing it out with or without its descriptions, and checking a configuration against it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import cache, reduce
from itertools import chain
from operator import getitem
from typing import TYPE_CHECKING, Any

from local.portal.platform_facts import DATA
from local.portal.problems import Problem, pointer, shown

if TYPE_CHECKING:
    from jsonschema_rs import Draft202012Validator, ValidationError

# In these, every key is a name that somebody chose; a key `description` in them is a property, not an annotation.
_NAME_MAPS = frozenset({"properties", "patternProperties", "$defs", "dependentSchemas"})
_NOTES = frozenset({"description", "title", "$comment"})


@cache
def spoke_schema() -> dict[str, Any]:
    """The schema as shipped. Do not change it."""
    schema: dict[str, Any] = json.loads((DATA / "spoke.schema.json").read_text(encoding="utf-8"))
    return schema


@cache
def bare_spoke_schema() -> dict[str, Any]:
    """The schema without descriptions, titles and comments. Do not change it."""
    bare: dict[str, Any] = _without_notes(spoke_schema())
    return bare


def _without_notes(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_without_notes(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: {name: _without_notes(part) for name, part in value.items()}
        if key in _NAME_MAPS
        else _without_notes(value)
        for key, value in schema.items()
        if key not in _NOTES
    }


def schema_problems(configuration: Any) -> list[Problem]:
    """Everything that the schema says against a configuration, formats included, sorted by place."""
    try:
        errors = list(_validator().iter_errors(configuration))
    except ValueError as error:
        # Nested without end, or half a character as a name: no JSON that a file could hold.
        return [Problem("", "schema.json", f"the configuration can not be read as JSON: {str(error)[:200]}")]
    found = {
        Problem(pointer(*error.instance_path), f"schema.{error.kind.name}", _sentence(error, configuration))
        for error in errors
    }
    return sorted(found, key=lambda problem: (problem.pointer, problem.rule, problem.message))


@cache
def _validator() -> Draft202012Validator:
    # Another library than the one of the assertion `schema_validation`, so that neither repeats the other's mistakes;
    # and one that takes a hundredth of the time, which the agent waits for.
    from jsonschema_rs import Draft202012Validator

    return Draft202012Validator(spoke_schema(), validate_formats=True)


def warm_up() -> None:
    """Load the validation library.

    Raises:
        ImportError: it is not installed.
    """
    _validator()


def _sentence(error: ValidationError, configuration: Any) -> str:
    path, wanted = error.instance_path, error.kind.value
    place = str(path[-1]) if path else "the configuration"

    def value() -> str:
        # Not the library's own copy, in which a number that JSON does not know has become null.
        return shown(reduce(getitem, path, configuration))

    match error.kind.name:
        case "const":
            return f"{place} is {value()}, but must be {shown(wanted)} here"
        case "enum":
            return f"{place} is {value()}, but must be one of {shown(wanted)}"
        case "type":
            return f"{place} is {value()}, but must be of type {' or '.join(wanted)}"
        case "anyOf":
            return f"{place} is {value()}, which is none of the allowed forms: {_forms(wanted)}"
        case "format":
            return f"{place} is {value()}, which is not a valid {wanted}"
        case "pattern":
            return f"{place} is {value()}, which does not match {wanted}"
        case "required":
            return f"{wanted} is missing in {place}"
        case "not":
            return f"{place} is not allowed here"
        case "propertyNames":
            return f"a name in {place} is not allowed: {error.message[:200]}"
        case _:
            message = error.message
            return message if len(message) <= 300 else message[:299] + "…"


def _forms(branches: Iterable[Iterable[ValidationError]]) -> str:
    forms = []
    for inner in chain.from_iterable(branches):
        value = inner.kind.value
        forms.append(", ".join(map(str, value)) if isinstance(value, list) else str(value))
    return " or ".join(forms)[:300]
