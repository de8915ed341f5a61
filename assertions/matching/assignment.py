"""Who is matched with whom? Optimal one-to-one assignment, so that no verdict depends on the order of a list."""

from __future__ import annotations

from collections.abc import Callable, Sequence


def best_assignment(weights: Sequence[Sequence[int]]) -> list[int | None]:
    """For each row the column it is matched with, such that the sum of the weights is the greatest possible.

    Rows and columns are used at most once; a row stays alone (None) when there are too few columns. Weights are whole
    numbers from 0, so that the sum is exact. Among equal sums the result depends on the order of rows and columns,
    the sum does not. Needs O(n³) steps (Hungarian algorithm with potentials).
    """
    rows, columns = len(weights), max((len(row) for row in weights), default=0)
    size = max(rows, columns)
    if not rows or not columns:
        return [None] * rows
    # Costs in a square: the greatest weight becomes 0, a made-up partner costs as much as no match.
    top = max(max(row) for row in weights)
    cost = [
        [top - weights[row][column] if row < rows and column < columns else top for column in range(size)]
        for row in range(size)
    ]
    by_column = _cheapest(cost)
    chosen: list[int | None] = [None] * rows
    for column, row in enumerate(by_column):
        if row < rows and column < columns:
            chosen[row] = column
    return chosen


def _cheapest(cost: Sequence[Sequence[int]]) -> list[int]:
    """The cheapest complete assignment of a square: for each column its row."""
    size = len(cost)
    row_price, column_price = [0] * (size + 1), [0] * (size + 1)
    row_of = [size] * (size + 1)  # column -> row; index `size` is the row that is being placed
    for row in range(size):
        row_of[size] = row
        column = size
        slack: list[int | None] = [None] * size
        came_from = [size] * size
        done = [False] * (size + 1)
        while row_of[column] != size:
            done[column] = True
            current, step, nearest = row_of[column], None, size
            for other in range(size):
                if done[other]:
                    continue
                reduced = cost[current][other] - row_price[current] - column_price[other]
                best = slack[other]
                if best is None or reduced < best:
                    slack[other], came_from[other], best = reduced, column, reduced
                if step is None or best < step:
                    step, nearest = best, other
            delta = step or 0
            for other in range(size + 1):
                if done[other]:
                    row_price[row_of[other]] += delta
                    column_price[other] -= delta
                elif other < size and (free := slack[other]) is not None:
                    slack[other] = free - delta
            column = nearest
        while column != size:
            previous = came_from[column]
            row_of[column] = row_of[previous]
            column = previous
    return row_of[:size]


def largest_matching(lefts: int, rights: int, fits: Callable[[int, int], bool]) -> list[int | None]:
    """For each of `lefts` its partner among `rights`, such that as many as possible have one.

    `fits(left, right)` is asked at most once per pair.
    """
    edges = [[right for right in range(rights) if fits(left, right)] for left in range(lefts)]
    partner_of: list[int | None] = [None] * rights
    for left in range(lefts):
        augment(left, edges, partner_of)
    chosen: list[int | None] = [None] * lefts
    for right, partner in enumerate(partner_of):
        if partner is not None:
            chosen[partner] = right
    return chosen


def augment(
    left: int,
    edges: Sequence[Sequence[int]],
    partner_of: list[int | None],
    can_leave: Callable[[int], bool] | None = None,
) -> int | None:
    """Find a partner for `left`, moving others to other partners where that helps; nobody is left without one.

    With `can_leave`, somebody of whom it is true may give up their partner, because there is room for them elsewhere.
    Returns who left, or `left` itself when nobody had to, or None when there is no partner for `left`.
    Works without recursion, so that a chain of any length can be moved.
    """
    seen: set[int] = set()
    path: list[tuple[int, int]] = []  # (left, right that it tries)
    waiting = [(left, iter(edges[left]))]
    while waiting:
        current, rest = waiting[-1]
        right = next((candidate for candidate in rest if candidate not in seen), None)
        if right is None:
            waiting.pop()
            if path:
                path.pop()
            continue
        seen.add(right)
        path.append((current, right))
        partner = partner_of[right]
        if partner is None or (can_leave is not None and can_leave(partner)):
            for taker, taken in path:
                partner_of[taken] = taker
            return left if partner is None else partner
        waiting.append((partner, iter(edges[partner])))
    return None
