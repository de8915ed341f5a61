"""The spoke schema: handing it out with or without its descriptions, and checking a configuration against it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from local.portal.platform_facts import DATA
from local.portal.problems import Problem, pointer, shown

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import ValidationError

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
    found = [
        Problem(pointer(*error.absolute_path), f"schema.{error.validator}", _sentence(error))
        for error in _validator().iter_errors(configuration)
    ]
    return sorted(set(found), key=lambda problem: (problem.pointer, problem.rule, problem.message))


@cache
def _validator() -> Draft202012Validator:
    # Imported late: with all its format checkers it takes longer to import than everything else of the portal, and
    # the portal loads it in the background while it already answers.
    from jsonschema import Draft202012Validator

    schema = without_references(bare_spoke_schema())
    return Draft202012Validator(schema, format_checker=Draft202012Validator.FORMAT_CHECKER)


def without_references(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The same rules with each `$ref` replaced by the part of `$defs` that it names.

    A library that looks each of them up again for every value takes half as long again. No part may contain itself.
    """
    parts = schema.get("$defs", {})

    def filled_in(value: Any) -> Any:
        if isinstance(value, list):
            return [filled_in(item) for item in value]
        if not isinstance(value, dict):
            return value
        rest = {key: filled_in(item) for key, item in value.items() if key not in ("$ref", "$defs")}
        if "$ref" not in value:
            return rest
        part = filled_in(parts[value["$ref"].removeprefix("#/$defs/")])
        return {"allOf": [part, rest]} if rest else part

    filled: dict[str, Any] = filled_in(dict(schema))
    return filled


def warm_up() -> None:
    """Load the validation library. Safe to call from a thread."""
    _validator()


def _sentence(error: ValidationError) -> str:
    place = str(error.absolute_path[-1]) if error.absolute_path else "the configuration"
    value = shown(error.instance)
    match error.validator:
        case "const":
            return f"{place} is {value}, but must be {shown(error.validator_value)} here"
        case "anyOf":
            return f"{place} is {value}, which is none of the allowed forms: {_forms(error)}"
        case "format":
            return f"{place} is {value}, which is not a valid {error.validator_value}"
        case "pattern":
            return f"{place} is {value}, which does not match {error.validator_value}"
        case "not":
            return f"{place} is not allowed here"
        case _:
            message = error.message
            return message if len(message) <= 300 else message[:299] + "…"


def _forms(error: ValidationError) -> str:
    forms = []
    for inner in error.context or ():
        value = inner.validator_value
        forms.append(", ".join(str(item) for item in value) if isinstance(value, list) else str(value))
    return " or ".join(forms)[:300]
