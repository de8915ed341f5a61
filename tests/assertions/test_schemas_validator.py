"""The one JSON Schema validator: drafts, formats, references, and the order of problems."""

from __future__ import annotations

from typing import Any

import pytest

from assertions.validation.schemas import MAX_MESSAGE, check_schema, validate
from assertions.verdict import ConfigError, NotEvaluated

TICKET = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "$id": "https://example.test/ticket",
    "type": "object",
    "required": ["id", "due"],
    "additionalProperties": False,
    "properties": {"id": {"$ref": "#/$defs/num"}, "due": {"type": "string", "format": "date"}},
    "$defs": {"num": {"type": "integer", "minimum": 1}},
}


def problems(schema: Any, document: Any, references: dict[str, Any] | None = None) -> list[str]:
    return [str(problem) for problem in validate(schema, document, references)]


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ({"id": 7, "due": "2026-03-01"}, []),
        ({"id": 7.0, "due": "2026-03-01"}, []),
        ({"id": True, "due": "2026-03-01"}, ["/id: True is not of type 'integer' [#/properties/id/type]"]),
        ({"id": 7, "due": "2026-02-31"}, ["/due: '2026-02-31' is not a 'date' [#/properties/due/format]"]),
        (
            {"id": 7, "due": "2026-03-01", "x": 1},
            ["/: Additional properties are not allowed ('x' was unexpected) [#/additionalProperties]"],
        ),
    ],
)
def test_one_schema_with_an_id_judges_any_number_of_documents_in_one_run(document: Any, expected: list[str]) -> None:
    assert problems(TICKET, document) == expected
    assert problems(TICKET, document) == expected


@pytest.mark.parametrize("name", ["datetime", "Date", "cidr", "e-mail"])
def test_an_unknown_format_is_an_error_of_the_config_and_not_a_pass(name: str) -> None:
    schema = {"properties": {"a": {"items": [True], "anyOf": [{"format": name}]}}, "$schema": _draft("7")}
    with pytest.raises(ConfigError) as caught:
        validate(schema, {})
    assert str(caught.value).startswith(f"/: unknown format '{name}' in the schema; allowed: ")
    assert "date-time, " in caught.value.allowed


def test_a_property_called_format_and_a_value_with_one_are_no_formats() -> None:
    schema = {"properties": {"format": {"type": "string"}}, "default": {"format": "zz"}}
    assert problems(schema, {"format": "yaml"}) == []


@pytest.mark.parametrize(
    ("format_name", "good", "bad"),
    [
        ("date", "2028-02-29", "2027-02-29"),
        ("time", "19:00:00Z", "19:00"),
        ("date-time", "2026-03-01T10:00:00Z", "2026-03-01 10:00"),
        ("ipv4", "10.0.0.1", "10.0.0.256"),
        ("ipv6", "::1", "::g"),
        ("email", "a@example.test", "a"),
        ("hostname", "a.example.test", "-a"),
        ("uri", "https://example.test/a", "not a uri"),
        ("uuid", "123e4567-e89b-12d3-a456-426614174000", "123"),
        ("duration", "P3D", "3 days"),
        ("json-pointer", "/a~1b", "a"),
        ("regex", "a+", "a("),
    ],
)
def test_formats_are_really_checked(format_name: str, good: str, bad: str) -> None:
    assert problems({"format": format_name}, good) == []
    assert problems({"format": format_name}, bad) == [f"/: {bad!r} is not a {format_name!r} [#/format]"]


def _draft(version: str) -> str:
    old = {"4": "04", "6": "06", "7": "07"}
    if version in old:
        return f"http://json-schema.org/draft-{old[version]}/schema#"
    return f"https://json-schema.org/draft/{version}/schema"


@pytest.mark.parametrize(
    ("version", "whole_float_is_an_integer", "const_is_known", "prefix_items_is_known"),
    [
        ("4", False, False, False),
        ("6", True, True, False),
        ("7", True, True, False),
        ("2019-09", True, True, False),
        ("2020-12", True, True, True),
    ],
)
def test_the_draft_is_the_one_that_the_schema_names(
    version: str, whole_float_is_an_integer: bool, const_is_known: bool, prefix_items_is_known: bool
) -> None:
    draft = _draft(version)
    assert (problems({"$schema": draft, "type": "integer"}, 7.0) == []) is whole_float_is_an_integer
    assert (problems({"$schema": draft, "const": 1}, 2) != []) is const_is_known
    assert (problems({"$schema": draft, "prefixItems": [{"type": "string"}]}, [1]) != []) is prefix_items_is_known


def test_an_unknown_draft_is_refused_and_the_known_ones_are_named() -> None:
    with pytest.raises(ConfigError) as caught:
        validate({"$schema": "http://json-schema.org/draft-03/schema#"}, {}, key="/schema")
    assert str(caught.value) == (
        "/schema/$schema: unknown draft 'http://json-schema.org/draft-03/schema#'; allowed: "
        "http://json-schema.org/draft-04/schema, http://json-schema.org/draft-06/schema, "
        "http://json-schema.org/draft-07/schema, https://json-schema.org/draft/2019-09/schema, "
        "https://json-schema.org/draft/2020-12/schema"
    )


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        (
            {"type": "strin"},
            "/schema/type: is not valid JSON Schema: 'strin' is not valid under any of the given schemas",
        ),
        (
            {"properties": {"a": {"pattern": "^("}}},
            "/schema/properties/a/pattern: is not valid JSON Schema: '^(' is not a 'regex'",
        ),
        ([], "/schema: a JSON Schema is an object, this is a list"),
    ],
)
def test_what_is_no_schema_is_refused_with_its_place(schema: Any, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        check_schema(schema, key="/schema")
    assert str(caught.value) == message


@pytest.mark.parametrize(
    "target", ["https://example.test/other", "#/$defs/none", "other.json", "file:///etc/passwd", "#anchor"]
)
def test_a_reference_that_leads_nowhere_is_found_before_a_document_needs_it(target: str) -> None:
    with pytest.raises(ConfigError) as caught:
        check_schema({"properties": {"never": {"$ref": target}}}, key="/schema")
    assert str(caught.value) == (
        f"/schema: $ref '{target}' leads nowhere; allowed: places in the schema itself, and files named in "
        "`references`; nothing is fetched"
    )


@pytest.mark.parametrize(
    ("own_id", "name", "reference_id"),
    [
        (None, "common.json", None),
        ("https://example.test/root/main.json", "common.json", None),
        ("https://example.test/root/main.json", "anything", "https://example.test/root/common.json"),
    ],
)
def test_a_reference_reaches_a_given_file_by_name_or_by_id(
    own_id: str | None, name: str, reference_id: str | None
) -> None:
    schema: dict[str, Any] = {"properties": {"a": {"$ref": "common.json#/$defs/a"}}}
    common: dict[str, Any] = {"$defs": {"a": {"type": "string"}}}
    if own_id:
        schema["$id"] = own_id
    if reference_id:
        common["$id"] = reference_id
    assert problems(schema, {"a": 1}, {name: common}) == ["/a: 1 is not of type 'string' [#/properties/a/type]"]


def test_given_files_are_checked_like_the_schema_itself() -> None:
    with pytest.raises(ConfigError, match=r"^/references/common\.json: unknown format 'datetime'"):
        check_schema({}, {"common.json": {"format": "datetime"}})


def test_every_problem_is_reported_and_the_most_telling_one_comes_first() -> None:
    schema = {
        "required": ["name", "kind"],
        "properties": {
            "size": {"minimum": 1},
            "list": {"items": {"properties": {"deep": {"type": "string"}}}},
            "choice": {"anyOf": [{"type": "string"}, {"type": "object", "required": ["b"]}]},
        },
    }
    document = {"size": 0, "list": [{"deep": 1}, {"deep": 2}], "choice": {}, "kind": "x"}
    assert problems(schema, document) == [
        "/: 'name' is a required property [#/required]",
        "/choice: 'b' is a required property [#/properties/choice/anyOf/1/required]",
        "/list/0/deep: 1 is not of type 'string' [#/properties/list/items/properties/deep/type]",
        "/list/1/deep: 2 is not of type 'string' [#/properties/list/items/properties/deep/type]",
        "/size: 0 is less than the minimum of 1 [#/properties/size/minimum]",
    ]


def test_a_pointer_is_escaped() -> None:
    schema = {"additionalProperties": {"type": "string"}}
    assert problems(schema, {"a/b~c": 1}) == ["/a~1b~0c: 1 is not of type 'string' [#/additionalProperties/type]"]


def test_a_long_message_keeps_its_beginning_and_its_end() -> None:
    [problem] = validate({"type": "string"}, list(range(10_000)))
    assert problem.message.startswith("[0, 1, 2, ")
    assert problem.message.endswith("9999] is not of type 'string'")
    assert len(problem.message) < MAX_MESSAGE + 10


def test_a_schema_without_end_is_not_evaluated() -> None:
    with pytest.raises(NotEvaluated, match="refers to itself without end"):
        validate({"$ref": "#"}, {})


@pytest.mark.parametrize(("schema", "valid"), [(True, True), (False, False), ({}, True)])
def test_a_boolean_is_a_schema_too(schema: Any, valid: bool) -> None:
    assert (validate(schema, {"a": 1}) == []) is valid
