"""The diff behind `input_diff`: its laws, and what it calls one change."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assertions.input_changes.aligned import AlignmentRules, align
from assertions.input_changes.changes import apply_changes, diff
from assertions.matching.json_values import json_equal
from assertions.matching.paths import parse_path
from tests.support.laws import law

SCALARS = st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(["a", "b", "[x]", "a/b", "~", ""])
NAMED = st.fixed_dictionaries({"name": st.sampled_from(["a", "b", "c", 1])}, optional={"v": SCALARS})
DOCUMENTS = st.recursive(
    SCALARS | st.lists(NAMED, max_size=4),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(["x", "y", "z", "0"]), inner, max_size=3)
    ),
    max_leaves=12,
)


@law(400)
@given(DOCUMENTS, DOCUMENTS)
def test_applying_the_diff_to_the_source_gives_the_submission(source: Any, submitted: Any) -> None:
    before = copy.deepcopy(source)
    changes = diff(source, submitted)
    assert json_equal(apply_changes(source, changes), submitted)
    assert json_equal(source, before)
    assert bool(changes) is not json_equal(source, submitted)


@law(200)
@given(DOCUMENTS)
def test_a_document_does_not_differ_from_itself(document: Any) -> None:
    assert diff(document, copy.deepcopy(document)) == []


@law(200)
@given(DOCUMENTS, DOCUMENTS)
def test_the_way_back_has_as_many_changes_as_the_way_there(source: Any, submitted: Any) -> None:
    there, back = diff(source, submitted), diff(submitted, source)
    mirrored = {"add": "remove", "remove": "add"}
    assert sorted(mirrored.get(change.operation, change.operation) for change in there) == sorted(
        change.operation for change in back
    )


def lines(source: Any, submitted: Any, **rules: Any) -> list[str]:
    return [str(change) for change in diff(source, submitted, AlignmentRules(**rules))]


SUBNETS = [{"name": "app", "prefix": "10.0.0.0/26"}, {"name": "data", "prefix": "10.0.0.64/26"}]


def test_one_inserted_element_of_a_named_list_is_one_change_wherever_it_stands() -> None:
    new = {"name": "links", "prefix": "10.0.0.128/27"}
    for at in range(3):
        submitted = [*SUBNETS[:at], new, *SUBNETS[at:]]
        assert lines({"subnets": SUBNETS}, {"subnets": submitted}) == [
            '+ /subnets/[name=links]: {"name": "links", "prefix": "10.0.0.128/27"}'
        ]


@pytest.mark.parametrize(
    ("source", "submitted", "expected"),
    [
        ({"a": 1}, {"a": 1.0}, []),
        ({"a": 1}, {"a": True}, ["~ /a: 1 → true"]),
        ({"a": None}, {}, ["- /a: null"]),
        ({}, {"a": {"b": [1]}}, ['+ /a: {"b": [1]}']),
        ({"a": {"b": 1, "c": 2}}, {"a": {"c": 3, "d": 4}}, ["- /a/b: 1", "~ /a/c: 2 → 3", "+ /a/d: 4"]),
        ({"a": [1]}, {"a": {"0": 1}}, ['~ /a: [1] → {"0": 1}']),
        ({"dns": ["a", "b"]}, {"dns": ["a", "c"]}, ['- /dns/[=b]: "b"', '+ /dns/[=c]: "c"']),
        ({"l": [1, 1, 2, 3]}, {"l": [1, 2, 3]}, ["- /l/1: 1"]),
        ({"l": [[1], [2]]}, {"l": [[1], [3]]}, ["- /l/1/[=2]: 2", "+ /l/1/[=3]: 3"]),
        ({"l": [{"id": 7, "v": 1}]}, {"l": [{"id": 7, "v": 2}]}, ["~ /l/[id=7]/v: 1 → 2"]),
        ({"l": [{"v": 1}]}, {"l": [{"v": 2}]}, ["~ /l/0/v: 1 → 2"]),
        ({"a/b": {"~": 1}}, {"a/b": {"~": 2}}, ["~ /a~1b/~0: 1 → 2"]),
        (1, "1", ['~ /: 1 → "1"']),
    ],
)  # fmt: skip
def test_changes_are_named_by_pointer_and_key(source: Any, submitted: Any, expected: list[str]) -> None:
    assert lines(source, submitted) == expected


def test_a_new_order_is_one_change_and_none_where_order_does_not_matter() -> None:
    other = {"subnets": SUBNETS[::-1]}
    assert lines({"subnets": SUBNETS}, other) == [
        '↕ /subnets: ["[name=app]", "[name=data]"] → ["[name=data]", "[name=app]"]'
    ]
    assert lines({"subnets": SUBNETS}, other, unordered=(parse_path("/subnets", ""),)) == []
    assert lines({"l": [1, 1, 2]}, {"l": [2, 1, 1]}, unordered=(parse_path("/**", ""),)) == []
    assert lines({"l": [1, 1, 2]}, {"l": [2, 1, 3]}, unordered=(parse_path("l", ""),)) == ["- /l/1: 1", "+ /l/2: 3"]


def test_ignored_places_do_not_count() -> None:
    ignore = (parse_path("/subnets/*/prefix", ""), parse_path("/etag", ""))
    changed = [SUBNETS[0] | {"prefix": "x"}, SUBNETS[1] | {"prefix": "y"}]
    assert lines({"subnets": SUBNETS, "etag": 1}, {"subnets": changed, "etag": 2}, ignore=ignore) == []
    place = align({"subnets": SUBNETS}, {"subnets": changed}, AlignmentRules(ignore=ignore))
    assert not place.changed


def test_elements_without_a_name_of_their_own_are_compared_by_position() -> None:
    twins = [{"name": "a", "v": 1}, {"name": "a", "v": 2}]
    assert lines({"l": twins}, {"l": [twins[0], {"name": "a", "v": 3}]}) == ["~ /l/1/v: 2 → 3"]
    assert lines({"l": [*twins, {"v": 1}]}, {"l": twins}) == ['- /l/2: {"v": 1}']
