"""Who is matched with whom? Optimal one-to-one assignment, so that no verdict depends on the order of a list."""

from __future__ import annotations

from collections.abc import Callable, Sequence


def best_assignment(weights: Sequence[Sequence[int]]) -> list[int | None]:
    """For each row the column it is matched with, such that the sum of the weights is the greatest possible.

    Rows and columns are used at most once; a row stays alone (None) when there are too few columns. Weights are whole
    numbers from 0, so that the sum is exact. Among equal sums the result depends on the order of rows and columns,
    the sum does not. With the shorter side of length n and the longer of length m this needs O(n²m) steps (Hungarian
    algorithm with potentials).
    """
    rows, columns = len(weights), max((len(row) for row in weights), default=0)
    chosen: list[int | None] = [None] * rows
    if not rows or not columns:
        return chosen
    top = max(max(row) for row in weights)
    if rows <= columns:
        for column, row in enumerate(_cheapest([[top - weight for weight in row] for row in weights], columns)):
            if row is not None:
                chosen[row] = column
    else:
        turned = [[top - weights[row][column] for row in range(rows)] for column in range(columns)]
        chosen = _cheapest(turned, rows)
    return chosen


def _cheapest(cost: Sequence[Sequence[int]], columns: int) -> list[int | None]:
    """The cheapest way to give each row a column of its own: for each column its row. There are columns enough."""
    row_price, column_price = [0] * len(cost), [0] * (columns + 1)
    row_of: list[int | None] = [None] * (columns + 1)  # the last entry is the row that is being placed
    for row in range(len(cost)):
        row_of[columns] = row
        column = columns
        slack: list[int | None] = [None] * columns
        came_from = [columns] * columns
        done = [False] * (columns + 1)
        while (current := row_of[column]) is not None:
            done[column] = True
            step, nearest = None, columns
            for other in range(columns):
                if done[other]:
                    continue
                reduced = cost[current][other] - row_price[current] - column_price[other]
                best = slack[other]
                if best is None or reduced < best:
                    slack[other], came_from[other], best = reduced, column, reduced
                if step is None or best < step:
                    step, nearest = best, other
            delta = step or 0
            for other in range(columns + 1):
                owner = row_of[other]
                if done[other] and owner is not None:
                    row_price[owner] += delta
                    column_price[other] -= delta
                elif other < columns and not done[other] and (free := slack[other]) is not None:
                    slack[other] = free - delta
            column = nearest
        while column != columns:
            previous = came_from[column]
            row_of[column] = row_of[previous]
            column = previous
    return row_of[:columns]


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
