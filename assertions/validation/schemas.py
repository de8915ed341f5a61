"""The one JSON Schema validator: draft by `$schema`, formats really checked, nothing fetched.

Each schema has a registry of its own, so one `$id` can be used in any number of checks of one run. A schema
that can not be trusted is an error of the config, not of the document: an unknown draft, a misspelt format, a pattern
that does not compile, a `$ref` that leads nowhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin

from assertions.json_pointer import join
from assertions.validation import known_schemas, lazy_formats
from assertions.verdict import ConfigError, NotEvaluated
from episodes.canonical import digest
from episodes.frozen import frozen

if TYPE_CHECKING:
    from jsonschema import ValidationError
    from referencing import Registry, Resource

jsonschema = lazy_formats.load()
_best_match = import_module("jsonschema.exceptions").best_match
_Unresolvable = import_module("referencing.exceptions").Unresolvable
_specification_with = import_module("referencing.jsonschema").specification_with

MAX_MESSAGE = 240
"""Longer messages are cut: the validator quotes the whole value, which may be the whole document."""

MOST_KEPT = 64
_KEPT: dict[str, Any] = {}

_METASCHEMAS: Registry[Any] = import_module("jsonschema_specifications").REGISTRY

_DRAFTS: dict[str, Any] = {
    "http://json-schema.org/draft-04/schema": jsonschema.Draft4Validator,
    "http://json-schema.org/draft-06/schema": jsonschema.Draft6Validator,
    "http://json-schema.org/draft-07/schema": jsonschema.Draft7Validator,
    "https://json-schema.org/draft/2019-09/schema": jsonschema.Draft201909Validator,
    "https://json-schema.org/draft/2020-12/schema": jsonschema.Draft202012Validator,
}


@frozen
class Problem:
    """One thing that is wrong with a document: where in it, by which rule of the schema, and in words."""

    pointer: str
    rule: str
    message: str

    def __str__(self) -> str:
        return f"{self.pointer or '/'}: {self.message} [{self.rule}]"


def validate(schema: Any, document: Any, references: Mapping[str, Any] | None = None, key: str = "") -> list[Problem]:
    """Everything that is wrong with `document`, the most telling problem first; an empty list when it is valid.

    `references` are further schemas that `$ref` may name, by name; each is also known by its `$id`. `key` is the place
    of the schema in the config, for errors.

    Raises:
        ConfigError: the schema or one of `references` can not be used.
        NotEvaluated: schema and document together nest without end.
    """
    validator = _prepared(schema, references or {}, key)
    try:
        errors = list(validator.iter_errors(document))
    except _Unresolvable as error:
        raise _dangling(error.ref, key) from None
    except RecursionError:
        raise NotEvaluated("the schema refers to itself without end, or the document nests too deeply") from None
    return [_problem(error) for error in _best_first(errors)]


def _prepared(schema: Any, references: Mapping[str, Any], key: str) -> Any:
    """The validator of a schema, kept for the next document: grading in bulk meets the same schema again and again.

    Kept by content, each with a registry of its own, so that two schemas with one `$id` never meet.
    """
    name = digest([schema, dict(references)])
    if name not in _KEPT:
        draft = _draft(schema, key)
        registry = _registry(schema, references, draft, key, name)
        if len(_KEPT) >= MOST_KEPT:
            _KEPT.clear()
        _KEPT[name] = draft(schema, registry=registry, format_checker=draft.FORMAT_CHECKER)
    return _KEPT[name]


def check_schema(schema: Any, references: Mapping[str, Any] | None = None, key: str = "") -> None:
    """Check the schema alone, as `validate` does before it looks at a document.

    Raises:
        ConfigError: as above.
    """
    _registry(schema, references or {}, _draft(schema, key), key, digest([schema, dict(references or {})]))


def has_rule(schema: Any, key: str = "") -> bool:
    """Whether any document could miss the schema. One without a rule is misspelt, or something else than a schema.

    Raises:
        ConfigError: an unknown draft, or no schema at all.
    """
    rules: Mapping[str, Any] = _draft(schema, key).VALIDATORS
    return schema is False or (schema is not True and not rules.keys().isdisjoint(schema))


def _draft(schema: Any, key: str) -> Any:
    if isinstance(schema, bool):
        return jsonschema.Draft202012Validator
    if not isinstance(schema, dict):
        raise ConfigError(key, f"a JSON Schema is an object, this is a {type(schema).__name__}")
    named = schema.get("$schema")
    if named is None:
        return jsonschema.Draft202012Validator
    draft = _DRAFTS.get(named.removesuffix("#")) if isinstance(named, str) else None
    if draft is None:
        raise ConfigError(f"{key}/$schema", f"unknown draft {named!r}", _DRAFTS)
    return draft


def _registry(schema: Any, references: Mapping[str, Any], draft: Any, key: str, mark: str) -> Registry[Any]:
    """All schemas that may be named, each of them checked, unless what has the digest `mark` was right before."""
    resources: list[tuple[str, Resource[Any], str, Any]] = [("", _resource(schema, draft), key, draft)]
    for name, other in references.items():
        place = f"/references/{name}"
        other_draft = _draft(other, place)
        resources.append((name, _resource(other, other_draft), place, other_draft))
    base = resources[0][1].id() or ""
    named = {uri: item[1] for item in resources for uri in (item[0], urljoin(base, item[0]), item[1].id()) if uri}
    registry = _METASCHEMAS.with_resources([("", resources[0][1]), *named.items()]).crawl()
    if not known_schemas.is_known(mark):
        for name, resource, place, resource_draft in resources:
            _check_one(resource, resource_draft, place)
            _check_references(resource, registry.resolver(base_uri=resource.id() or name), place)
        known_schemas.remember(mark)
    return registry


def _resource(schema: Any, draft: Any) -> Resource[Any]:
    specification = _specification_with(draft.META_SCHEMA.get("$schema") or draft.META_SCHEMA["$id"])
    resource: Resource[Any] = specification.create_resource(schema)
    return resource


def _check_one(resource: Resource[Any], draft: Any, key: str) -> None:
    try:
        draft.check_schema(resource.contents, format_checker=draft.FORMAT_CHECKER)
    except jsonschema.SchemaError as error:
        raise ConfigError(key + join(error.absolute_path), f"is not valid JSON Schema: {_cut(error.message)}") from None
    known = draft.FORMAT_CHECKER.checkers
    for part in _with_parts(resource):
        name = part.contents.get("format") if isinstance(part.contents, dict) else None
        if isinstance(name, str) and name not in known:
            raise ConfigError(key, f"unknown format {name!r} in the schema", sorted(known))


def _check_references(resource: Resource[Any], resolver: Any, key: str) -> None:
    contents = resource.contents
    if isinstance(contents, dict):
        for keyword in ("$ref", "$dynamicRef"):
            target = contents.get(keyword)
            if isinstance(target, str):
                try:
                    resolver.lookup(target)
                except (_Unresolvable, ValueError):
                    raise _dangling(target, key) from None
    for part in resource.subresources():
        _check_references(part, resolver.in_subresource(part), key)


def _with_parts(resource: Resource[Any]) -> Iterator[Resource[Any]]:
    yield resource
    for part in resource.subresources():
        yield from _with_parts(part)


def _dangling(target: str, key: str) -> ConfigError:
    allowed = "places in the schema itself, and files named in `references`; nothing is fetched"
    return ConfigError(key, f"$ref {target!r} leads nowhere", allowed)


def _best_first(errors: Iterable[ValidationError]) -> list[ValidationError]:
    """First the one nearest to the root, since it may explain others (an `anyOf` says least), then by place.

    An `anyOf` or `oneOf` is shown by the branch that was probably meant.
    """
    listed = sorted(errors, key=lambda error: (join(error.absolute_path), str(error.validator), error.message))
    if listed:
        first = min(listed, key=lambda error: (len(error.absolute_path), error.validator in ("anyOf", "oneOf")))
        listed.remove(first)
        listed.insert(0, first)
    return [_best_match([error]) or error for error in listed]


def _problem(error: ValidationError) -> Problem:
    # The rule's path is the way the validator took, a `$ref` left out: it reads well, and is no pointer into the file.
    return Problem(join(error.absolute_path), "#" + join(error.absolute_schema_path), _cut(error.message))


def _cut(message: str) -> str:
    """Cut in the middle: the value stands in front, what is wrong with it behind."""
    if len(message) <= MAX_MESSAGE:
        return message
    half = MAX_MESSAGE // 2
    return f"{message[:half]} … {message[-half:]}"
