"""The portal's schema check, beside the other library that the assertion `schema_validation` judges with."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from local.portal.platform_facts import seed_spokes
from local.portal.problems import pointer
from local.portal.schema_check import schema_problems, spoke_schema

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


def test_both_libraries_find_the_same_rules_broken_at_the_same_places() -> None:
    other = Draft202012Validator(spoke_schema(), format_checker=Draft202012Validator.FORMAT_CHECKER)
    configurations = [SPOKE, *broken(SPOKE)][::6]
    assert len(configurations) > 100
    found = 0
    for configuration in configurations:
        expected = {
            (pointer(*error.absolute_path), f"schema.{error.validator}") for error in other.iter_errors(configuration)
        }
        problems = schema_problems(configuration)
        assert {(problem.pointer, problem.rule) for problem in problems} == expected
        found += len(problems)
    assert found > 100


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"region": "mars"}, 'region is "mars", but must be one of ["westeurope", "northeurope", '),
        ({"costCenter": "CC-1"}, 'costCenter is "CC-1", which does not match ^CC-[0-9]{4}$'),
        ({"reviewDate": "2027-02-30"}, 'reviewDate is "2027-02-30", which is not a valid date'),
        ({"colour": "blue"}, "Additional properties are not allowed ('colour' was unexpected)"),
        ({"owner": {}}, "team is missing in owner"),
        ({"tags": 3}, "tags is 3, but must be of type object"),
        ({"tags": float("nan")}, "tags is NaN, but must be of type object"),
        ({"tags": {"Bad-Name": "x"}}, 'a name in tags is not allowed: "Bad-Name" does not match '),
    ],
)
def test_a_sentence_tells_the_place_the_value_and_what_is_allowed(change: dict[str, Any], sentence: str) -> None:
    assert any(problem.message.startswith(sentence) for problem in schema_problems(SPOKE | change))


def test_none_of_several_forms_is_told_with_all_of_them() -> None:
    spoke = copy.deepcopy(SPOKE)
    spoke["networkSecurityGroups"][0]["rules"][0]["source"] = "the moon"
    (problem,) = schema_problems(spoke)
    assert problem.message.startswith('source is "the moon", which is none of the allowed forms: ')
    assert "VirtualNetwork" in problem.message
    assert " or " in problem.message


def nested(depth: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize("part", [{"\ud800": 1}, {"tags": nested(2_000)}])
def test_what_no_file_could_hold_is_a_problem_and_not_a_crash(part: dict[str, Any]) -> None:
    assert [problem.rule for problem in schema_problems(SPOKE | part)] == ["schema.json"]
