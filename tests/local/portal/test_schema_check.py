"""The portal's schema check says about a configuration exactly what the schema as it is shipped says."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from local.portal.platform_facts import seed_spokes
from local.portal.problems import pointer
from local.portal.schema_check import bare_spoke_schema, schema_problems, spoke_schema, without_references

SPOKE = json.loads(next(iter(seed_spokes().values())))
WRONG = ("no such value", -1, {"unheard": "of"})


def broken(value: Any) -> Iterator[Any]:
    """The configuration with each of its parts, one after the other, left out or replaced by something wrong."""
    if not isinstance(value, dict | list):
        return
    keys = list(value) if isinstance(value, dict) else list(range(len(value)))
    for key in keys:
        without = copy.copy(value)
        del without[key]
        yield without
        for part in (*WRONG, *broken(value[key])):
            replaced = copy.copy(value)
            replaced[key] = part
            yield replaced


def test_each_wrong_configuration_is_told_the_same_as_by_the_schema_with_its_references() -> None:
    shipped = Draft202012Validator(spoke_schema(), format_checker=Draft202012Validator.FORMAT_CHECKER)
    configurations = [SPOKE, *broken(SPOKE)][::6]
    assert len(configurations) > 100
    found = 0
    for configuration in configurations:
        expected = {
            (pointer(*error.absolute_path), f"schema.{error.validator}", error.message)
            for error in shipped.iter_errors(configuration)
        }
        problems = schema_problems(configuration)
        assert {(problem.pointer, problem.rule) for problem in problems} == {row[:2] for row in expected}
        found += len(problems)
    assert found > 100


def test_without_references_none_is_left_and_a_neighbour_of_one_still_holds() -> None:
    assert "$ref" not in json.dumps(without_references(bare_spoke_schema()))
    schema = {"properties": {"a": {"$ref": "#/$defs/text", "maxLength": 2}}, "$defs": {"text": {"type": "string"}}}
    check = Draft202012Validator(without_references(schema))
    assert check.is_valid({"a": "ab"})
    assert not check.is_valid({"a": "abc"})
    assert not check.is_valid({"a": 1})


@pytest.mark.parametrize("bare", [True, False])
def test_filling_in_changes_nothing_of_the_schema_that_is_handed_out(bare: bool) -> None:
    schema = bare_spoke_schema() if bare else spoke_schema()
    before = copy.deepcopy(schema)
    without_references(schema)
    assert schema == before
