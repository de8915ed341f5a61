"""The assignment is compared with brute force: all ways to match, for sizes where all can be tried."""

from __future__ import annotations

from itertools import permutations
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from assertions.matching.assignment import best_assignment, largest_matching


@st.composite
def weight_tables(draw: st.DrawFn) -> list[list[int]]:
    rows, columns = draw(st.integers(1, 5)), draw(st.integers(1, 5))
    return draw(
        st.lists(st.lists(st.integers(0, 12), min_size=columns, max_size=columns), min_size=rows, max_size=rows)
    )


def total(weights: list[list[int]], chosen: list[int | None]) -> int:
    return sum(weights[row][column] for row, column in enumerate(chosen) if column is not None)


def brute_force(weights: list[list[int]]) -> int:
    rows, columns = len(weights), len(weights[0])
    padded = [*range(columns), *[None] * rows]
    return max(total(weights, list(choice)) for choice in set(permutations(padded, rows)))


@given(weight_tables())
def test_the_sum_is_the_greatest_possible(weights: list[list[int]]) -> None:
    chosen = best_assignment(weights)
    taken = [column for column in chosen if column is not None]
    assert len(taken) == len(set(taken)) == min(len(weights), len(weights[0]))
    assert total(weights, chosen) == brute_force(weights)


@given(weight_tables(), st.randoms(use_true_random=False))
def test_the_sum_does_not_depend_on_the_order_of_rows_and_columns(weights: list[list[int]], random: Random) -> None:
    rows = list(weights)
    random.shuffle(rows)
    order = list(range(len(weights[0])))
    random.shuffle(order)
    shuffled = [[row[column] for column in order] for row in rows]
    assert total(shuffled, best_assignment(shuffled)) == total(weights, best_assignment(weights))


@given(weight_tables())
def test_the_largest_matching_is_the_best_assignment_of_zeros_and_ones(weights: list[list[int]]) -> None:
    edges = [[1 if weight > 6 else 0 for weight in row] for row in weights]
    chosen = largest_matching(len(edges), len(edges[0]), lambda left, right: edges[left][right] == 1)
    taken = [column for column in chosen if column is not None]
    assert len(taken) == len(set(taken)) == brute_force(edges)
    assert all(edges[row][column] for row, column in enumerate(chosen) if column is not None)


def test_nothing_to_match_is_no_error() -> None:
    assert best_assignment([]) == []
    assert best_assignment([[], []]) == [None, None]
    assert largest_matching(2, 0, lambda _left, _right: True) == [None, None]


def test_a_long_chain_of_moves_is_found_without_recursion() -> None:
    size = 1500
    # Everybody takes their own number first; the last one wants number 0, so that all others have to move up by one.
    chosen = largest_matching(size, size, lambda left, right: right - left in (0, 1) if left < size - 1 else right == 0)
    assert chosen == [*range(1, size), 0]


def test_exact_sums_are_found_where_floats_would_round() -> None:
    huge = 10**18
    assert best_assignment([[huge, huge + 1], [huge + 1, huge + 3]]) == [0, 1]


def test_a_few_rows_among_very_many_columns_are_placed() -> None:
    weights = [[column % 97 for column in range(20_000)] for _ in range(4)]
    chosen = best_assignment(weights)
    assert [weights[row][column] for row, column in enumerate(chosen) if column is not None] == [96] * 4
    turned = [list(column) for column in zip(*weights, strict=True)]
    assert sum(column is not None for column in best_assignment(turned)) == 4
