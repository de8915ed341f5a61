"""Structured output: make a reply fit the JSON Schema that the request asks for, or say that it can not."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from .problems import RequestProblem
from .protocol import ResponseFormat

_EMPTY: dict[str, Any] = {
    "string": "",
    "number": 0,
    "integer": 0,
    "boolean": False,
    "array": [],
    "object": {},
    "null": None,
}


def shaped(value: Mapping[str, Any], wanted: ResponseFormat) -> str:
    """`value` as JSON text in the wanted format.

    With a schema, properties that it does not know are left out and required ones that the reply lacks are filled with
    an empty value of their type, as a model under structured output would have to.

    Raises:
        RequestProblem: status 400, when the schema is no schema or no reply of this kind can satisfy it.
    """
    if wanted.schema is None:
        return json.dumps(value, ensure_ascii=False)
    # Late: it takes longer to import than the rest of the server.
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import SchemaError, best_match

    place = "response_format.json_schema.schema"
    try:
        Draft202012Validator.check_schema(dict(wanted.schema))
    except SchemaError as problem:
        raise RequestProblem.invalid(f"Invalid schema: {problem.message}", place) from problem
    fitted = _fit(value, wanted.schema)
    mismatch = best_match(Draft202012Validator(dict(wanted.schema)).iter_errors(fitted))
    if mismatch is not None:
        where = mismatch.json_path
        raise RequestProblem.invalid(
            f"This stand-in's reply can not satisfy the schema: {mismatch.message} at {where}.", place
        )
    return json.dumps(fitted, ensure_ascii=False)


def _fit(value: Any, schema: Mapping[str, Any]) -> Any:
    properties = schema.get("properties")
    if isinstance(value, Mapping) and isinstance(properties, Mapping):
        kept = {
            name: _fit(value[name], part)
            for name, part in properties.items()
            if name in value and isinstance(part, Mapping)
        }
        if schema.get("additionalProperties") is not False:
            kept.update({name: item for name, item in value.items() if name not in properties})
        for name in schema.get("required", ()):
            if name not in kept:
                kept[name] = _empty(properties.get(name, {}))
        return kept
    items = schema.get("items")
    if isinstance(value, list) and isinstance(items, Mapping):
        return [_fit(item, items) for item in value]
    return value


def _empty(schema: Any) -> Any:
    kinds = schema.get("type", "null") if isinstance(schema, Mapping) else "null"
    return _EMPTY.get(kinds[0] if isinstance(kinds, list) else kinds)
