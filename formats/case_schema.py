"""Check case files against `suites/case.schema.json`, in words that a writer of cases can use."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from formats.problems import Problem, nearest
from formats.yaml_document import Document, Step

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError
    from jsonschema.protocols import Validator

SCHEMA = Path(__file__).resolve().parent.parent / "suites" / "case.schema.json"

NO_ASSERTION = "has no assertion, so it could never fail: add at least one under assert"

LIST_IN_VARS = (
    "is a list, for which promptfoo runs the case once per item; allowed is a text, a number, true or false, "
    "or a mapping, and expectations belong into an assertion's config"
)

_WORDS = {"object": "a mapping", "array": "a list", "string": "a text", "null": "empty", "boolean": "true or false"}


def schema_problems(document: Document) -> Iterator[Problem]:
    """Every place where the document differs from the schema, in the order of the file."""
    told: set[tuple[Step, ...]] = set()
    for error in sorted(_validator().iter_errors(document.value), key=_rank):
        path: tuple[Step, ...] = tuple(error.absolute_path)
        if path in told and error.validator in ("type", "pattern", "minLength", "enum"):
            continue  # One value, one complaint.
        told.add(path)
        for extra, message in _in_words(error):
            yield Problem(document.file, document.line((*path, *extra)), f"{_place(path)}{message}")


def _rank(error: ValidationError) -> tuple[str, bool]:
    """By place, and the kind of a value last: a list of the allowed values says more."""
    return "/".join(map(str, error.absolute_path)), error.validator == "type"


@functools.cache
def _validator() -> Validator:
    # Late: the import takes longer than reading all case files.
    from jsonschema import Draft7Validator
    from referencing import Registry
    from referencing.jsonschema import DRAFT7

    text = SCHEMA.read_text(encoding="utf-8")
    # The schemas of the assertions' configs are named for editors. Here a config is checked when it is filled in.
    elsewhere = re.findall(r'"\$ref": "(\.\./[^"]+)"', text)
    empty: Registry[Any] = Registry()
    registry = empty.with_resources((name, DRAFT7.create_resource({})) for name in elsewhere)
    return Draft7Validator(json.loads(text), registry=registry)


def _place(path: tuple[Step, ...]) -> str:
    """`vars.facts: `, without the number of the case, which the line number replaces."""
    words = "".join(f"[{step + 1}]" if isinstance(step, int) else f".{step}" for step in path[1:])
    return f"{words.lstrip('.')}: " if words else ""


def _in_words(error: ValidationError) -> Iterator[tuple[tuple[Step, ...], str]]:
    """The path below the error's own where the writer should look, and the sentence."""
    value: Any = error.instance
    rule: Any = error.validator_value
    path = list(error.absolute_path)
    match error.validator:
        case "required":
            missing = next(key for key in rule if key not in value and f"'{key}'" in error.message)
            yield (), NO_ASSERTION if missing == "assert" else f"{missing} is missing; needed are {', '.join(rule)}"
        case "minItems" if path and path[-1] == "assert":
            yield (), NO_ASSERTION
        case "additionalProperties" if rule is False:
            schema: Any = error.schema
            known = list(schema.get("properties", {}))
            for key in value:
                if key not in known:
                    yield (key,), f"unknown key {key}{nearest(key, known)}; allowed are {', '.join(known)}"
        case "enum":
            hint = nearest(value, map(str, rule)) if isinstance(value, str) else ""
            yield (), f"{value!r} is not allowed{hint}; allowed are {', '.join(map(str, rule))}"
        case "type" if path[1:2] == ["vars"] and len(path) == 3 and isinstance(value, list):
            yield (), LIST_IN_VARS
        case "type":
            kinds = [rule] if isinstance(rule, str) else list(rule)
            yield (), f"is {_kind(value)}; allowed is {' or '.join(_WORDS.get(kind, f'a {kind}') for kind in kinds)}"
        case "minItems" | "minProperties" | "minLength":
            yield (), "is empty; at least one is needed" if error.validator != "minLength" else "is blank"
        case "not":
            yield (), "is set by the case loader; remove it"
        case "pattern":
            yield (), "is blank" if rule == "\\S" else f"{value!r} does not match {rule}"
        case _:
            yield (), error.message


def _kind(value: Any) -> str:
    if value is None:
        return "empty"
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, int | float):
        return "a number"
    if isinstance(value, str):
        return "a text"
    return "a list" if isinstance(value, list) else "a mapping"
