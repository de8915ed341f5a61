"""Krippendorff's alpha equals published worked examples, and behaves at its edges."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.agreement import Level, confusion, krippendorff_alpha

N = None
# K. Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011), example C: four observers, twelve units.
FOUR_OBSERVERS = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, N, N, N],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, N, 3],
    [N, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, N],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, N],
]
# The same, example A: two observers, binary data, ten units.
TWO_OBSERVERS = [[0, 1, 0, 0, 0, 0, 0, 0, 1, 0], [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]]


@pytest.mark.parametrize(
    ("observers", "level", "published"),
    [
        (TWO_OBSERVERS, "nominal", 0.095),
        (FOUR_OBSERVERS, "nominal", 0.743),
        (FOUR_OBSERVERS, "ordinal", 0.815),
        (FOUR_OBSERVERS, "interval", 0.849),
    ],
)
def test_alpha_equals_the_published_examples(observers: list[list[Any]], level: Level, published: float) -> None:
    units = list(zip(*observers, strict=True))
    alpha = krippendorff_alpha(units, level)
    assert alpha is not None
    assert round(alpha, 3) == published


def test_agreement_without_exception_is_one_and_chance_is_about_zero() -> None:
    assert krippendorff_alpha([("a", "a"), ("b", "b")]) == 1.0
    chance = krippendorff_alpha([("a", "b"), ("b", "a"), ("a", "a"), ("b", "b")] * 50)
    assert chance == pytest.approx(0.0, abs=0.01)
    opposite = krippendorff_alpha([("a", "b"), ("b", "a")] * 50)
    assert opposite is not None
    assert opposite < -0.9


@pytest.mark.parametrize("units", [[], [("a", None)], [("a", "a"), ("a", "a")], [(None, None)]])
def test_alpha_is_not_defined_without_pairs_or_without_variation(units: list[Any]) -> None:
    assert krippendorff_alpha(units) is None


@given(st.lists(st.lists(st.sampled_from([0, 1, 2, None]), min_size=2, max_size=4), max_size=12), st.data())
def test_alpha_does_not_depend_on_the_order_of_judges_or_items(units: list[list[Any]], data: st.DataObject) -> None:
    shuffled = data.draw(st.permutations([list(data.draw(st.permutations(unit))) for unit in units]))
    levels: tuple[Level, ...] = ("nominal", "ordinal", "interval")
    for level in levels:
        left, right = krippendorff_alpha(units, level), krippendorff_alpha(shuffled, level)
        assert left == right or left == pytest.approx(right)
        assert left is None or left <= 1.0 + 1e-9


def test_the_confusion_matrix_has_labels_in_rows() -> None:
    assert confusion([(True, True), (True, False), (True, False), (False, False)], (True, False)) == [[1, 2], [0, 1]]
