"""Paths: pointers, keys of list elements, globs."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assertions.matching.paths import Item, parse_path, pointer
from assertions.verdict import ConfigError

DOCUMENT: dict[str, Any] = {
    "name": "x",
    "a/b": {"~c": 1},
    "subnets": [
        {"name": "snet-app", "prefix": "10.0.0.0/26", "rules": [{"id": 7}]},
        {"name": "snet-data", "prefix": "10.0.0.64/26", "rules": []},
    ],
    "dns": ["10.0.0.4", "10.0.0.5/32", True, 3],
    "tags": {"costCenter": 1, "costOwner": 2, "0": 3},
}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", ["/"]),
        ("name", ["/name"]),
        ("/a~1b/~0c", ["/a~1b/~0c"]),
        ("/subnets/0/name", ["/subnets/0/name"]),
        ("/subnets/[name=snet-data]/prefix", ["/subnets/1/prefix"]),
        ("/subnets/[prefix=10.0.0.0/26]", ["/subnets/0"]),
        ("/subnets/[name=snet-*]/name", ["/subnets/0/name", "/subnets/1/name"]),
        ("/subnets/*/rules/*/id", ["/subnets/0/rules/0/id"]),
        ("/subnets/[name=gone]", []),
        ("/subnets/[rules=x]", []),
        ("/dns/[=10.0.0.5/32]", ["/dns/1"]),
        ("/dns/[=true]", ["/dns/2"]),
        ("/dns/[=3]", ["/dns/3"]),
        ("/tags/cost*", ["/tags/costCenter", "/tags/costOwner"]),
        ("/tags/0", ["/tags/0"]),
        ("/tags/?", ["/tags/0"]),
        ("/**/id", ["/subnets/0/rules/0/id"]),
        ("/**/name", ["/name", "/subnets/0/name", "/subnets/1/name"]),
        ("/name/below", []),
        ("/TAGS", []),
    ],
)
def test_a_path_finds_its_places_and_matches_exactly_those(text: str, found: list[str]) -> None:
    pattern = parse_path(text, "")
    places = [path for path, _ in pattern.find(DOCUMENT)]
    assert sorted({pointer(path) for path in places}) == sorted(found)
    everywhere = [path for path, _ in parse_path("/**", "").find(DOCUMENT)]
    assert sorted(pointer(path) for path in everywhere if pattern.matches(path)) == sorted(found)


def test_a_path_covers_what_is_below_it_and_reaches_what_is_above() -> None:
    pattern = parse_path("/subnets/*/rules", "")
    subnet = Item((0,), (DOCUMENT["subnets"][0],))
    assert pattern.covers(("subnets", subnet, "rules", Item((0,), ({},)), "id"))
    assert not pattern.covers(("subnets", subnet))
    assert pattern.reaches(("subnets", subnet))
    assert not pattern.reaches(("subnets", subnet, "rules"))
    assert not pattern.reaches(("tags",))
    assert parse_path("/**/id", "").reaches(("anything",))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("/a/[name=x", "/ignore/0: the bracket in '/a/[name=x' is not closed; allowed: [key=value] or [=value]"),
        ("/a/[x]/b", "/ignore/0: the bracket in '/a/[x]/b' has no '='; allowed: [key=value] or [=value]"),
        (7, "/ignore/0: 7 is no path; allowed: a JSON Pointer such as /subnets/[name=snet-app]/addressPrefix"),
    ],
)
def test_a_wrong_path_is_a_config_error(text: Any, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_path(text, "/ignore/0")
    assert str(caught.value) == message


KEYS = st.text(st.sampled_from("ab/~ [1"), min_size=1, max_size=4).filter(lambda key: not key.startswith("["))


@given(st.lists(KEYS, min_size=1, max_size=4))
def test_a_pointer_leads_back_to_its_place(keys: list[str]) -> None:
    document: Any = "leaf"
    for key in reversed(keys):
        document = {key: document}
    pattern = parse_path(pointer(tuple(keys)), "")
    assert [(path, value) for path, value in pattern.find(document)] == [(tuple(keys), "leaf")]
    assert pattern.is_literal
