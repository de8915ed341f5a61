"""A digest that differs for equal values would make every comparison of two runs cry wolf."""

from __future__ import annotations

import json

import pytest

from episodes.canonical import canonical_json, digest, digest_text


def test_key_order_and_whole_floats_do_not_change_the_digest() -> None:
    assert digest({"b": 1.0, "a": [True, None]}) == digest({"a": (True, None), "b": 1})


@pytest.mark.parametrize(("left", "right"), [(1, True), (1, "1"), ([1, 2], [2, 1]), ({}, None), (0.1, 0.2)])
def test_different_values_have_different_digests(left: object, right: object) -> None:
    assert digest(left) != digest(right)


def test_canonical_json_reads_back_as_the_same_value() -> None:
    value = {"name": "café", "list": [1, 2.5, None, {"x": "y"}]}
    assert json.loads(canonical_json(value)) == value


def test_nan_has_no_canonical_form() -> None:
    with pytest.raises(ValueError, match="Out of range"):
        canonical_json(float("nan"))


def test_text_with_an_unpaired_surrogate_still_has_a_digest() -> None:
    assert len(digest_text("\ud800")) == 64
