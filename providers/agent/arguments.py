"""What a model sent as the arguments of a tool call: a JSON object that fits the tool's schema, or a problem in words.

Nothing is repaired: arguments that cannot be read are never read as `{}`, and no value is turned into another type.
An empty text counts as `{}` only for a tool that requires nothing, because several services send it for a call without
arguments.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NoReturn

from endpoints.redaction import brief

if TYPE_CHECKING:
    from jsonschema.protocols import Validator


MAX_ERRORS = 5
"""Errors of one call that the model is told."""


class UnreadableArguments(ValueError):
    """The arguments are not a JSON object that can be sent. The text says what they are instead."""


def read_arguments(raw: str, schema: Mapping[str, Any], *, cut_off: bool) -> dict[str, Any]:
    """Parse the raw text; `cut_off` says that the model's answer ended at its token limit.

    Raises:
        UnreadableArguments: it is no JSON object, or one that can not be sent.
    """
    if not raw.strip():
        required = schema.get("required") or []
        if required:
            raise UnreadableArguments(f"the arguments are empty, and the tool requires {', '.join(map(str, required))}")
        return {}
    try:
        value = json.loads(raw, parse_constant=_refuse_constant)
    except RecursionError:
        raise UnreadableArguments("the arguments are nested too deeply") from None
    except ValueError as error:
        cut = " (the answer was cut off at its token limit)" if cut_off else ""
        raise UnreadableArguments(f"the arguments are not JSON: {error}{cut}") from None
    if not isinstance(value, dict):
        kind = {list: "list", str: "string", bool: "boolean", type(None): "null"}.get(type(value), "number")
        raise UnreadableArguments(f"the arguments must be a JSON object, found a {kind}")
    try:
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        raise UnreadableArguments(
            "a text in the arguments holds half a surrogate pair, which can not be sent"
        ) from None
    return value


class ArgumentCheck:
    """Checks arguments, or a part of them, against a JSON Schema: the one that a server advertises for its tool, say.

    `formats` says whether values have to have the `format` that the schema names.
    """

    def __init__(self, schema: Mapping[str, Any], *, formats: bool = False) -> None:
        self._validator, self.problem = _validator(json.dumps(schema), formats)
        """`problem`: why the schema cannot be used; then nothing is checked. Empty when it can."""

    def errors(self, arguments: Mapping[str, Any]) -> tuple[str, ...]:
        """What does not fit, as `<JSON Pointer>: <message>`, the first few; empty when all does."""
        if self._validator is None:
            return ()
        from referencing.exceptions import Unresolvable

        try:
            found = sorted(self._validator.iter_errors(dict(arguments)), key=lambda error: list(map(str, error.path)))
        except Unresolvable as error:
            self.problem = f"the schema refers to something outside itself: {error}"
            self._validator = None
            return ()
        return tuple(f"{_pointer(error.absolute_path)}: {brief(error.message, 300)}" for error in found[:MAX_ERRORS])


@functools.lru_cache(maxsize=256)
def _validator(schema_text: str, formats: bool) -> tuple[Validator | None, str]:
    """The validator for a schema, or why there is none. Checking a schema takes longer than checking a call with it."""
    # Late: a configuration is read without them, too.
    import jsonschema
    from referencing import Registry

    schema = json.loads(schema_text)
    kind = jsonschema.validators.validator_for(schema, default=jsonschema.Draft202012Validator)
    try:
        kind.check_schema(schema)
    except jsonschema.SchemaError as error:
        return None, f"the schema is not valid: {brief(error.message, 200)}"
    # A registry of its own without a way to fetch: a schema may not make us read an address.
    checker = kind.FORMAT_CHECKER if formats else None
    return kind(schema, registry=Registry(), format_checker=checker), ""


def _pointer(path: Any) -> str:
    return "/" + "/".join(str(part).replace("~", "~0").replace("/", "~1") for part in path)


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")
