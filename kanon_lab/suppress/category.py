"""Which cells to suppress so that every class is large enough, a missing value being a value of its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, islice

import numpy as np

from kanon_lab.classes.coding import distinct_rows
from kanon_lab.suppress.counting import equal_records

# Sets of keys that are tried before all keys are suppressed at once; up to 12 keys that is every set.
_MOST_SETS = 4096
# The same, where a class looks for others to join.
_MOST_JOINS = 256


def suppressed_as_category(
    codes: np.ndarray, records: np.ndarray, k: int, tiers: Sequence[np.ndarray], violating: np.ndarray
) -> np.ndarray:
    """Codes in which every class has k records or more; arguments as in `suppressed_as_wildcards`.

    Sets of keys are tried from the cheapest on; where classes that lose the same keys become one that is large enough,
    they are done. The last few, fewer than k, are joined by other classes, at the cheapest.
    """
    codes, left = codes.copy(), np.flatnonzero(violating)
    for keys in _sets_by_cost(tiers, _MOST_SETS):
        if not len(left):
            return codes
        settled = np.ones(len(codes), dtype=bool)
        settled[left] = False
        trial = codes[left]
        trial[:, keys] = -1
        rows = np.concatenate([codes[settled], trial])
        size = equal_records(trial, rows, np.concatenate([records[settled], records[left]]))
        done = size >= k
        codes[left[done]] = trial[done]
        left = left[~done]
    for row in left:
        if equal_records(codes[[row]], codes, records)[0] < k:
            _join(codes, records, k, tiers, row)
    return codes


def _join(codes: np.ndarray, records: np.ndarray, k: int, tiers: Sequence[np.ndarray], row: int) -> None:
    """Make one class of a row that is in too small a class and of other classes, by the fewest cells."""
    group, some = distinct_rows(codes)
    size = np.bincount(group, weights=records)
    patterns = codes[some]
    own = group[row]
    best, joined = None, None
    for keys in _sets_by_cost(tiers, _MOST_JOINS):
        like = patterns.copy()
        like[:, keys] = -1
        near = np.flatnonzero((like == like[own]).all(axis=1))
        if size[near].sum() < k:
            continue
        lost = (patterns[near] >= 0) & (like[near] < 0)
        cells = np.array([lost[:, tier].sum(axis=1) * size[near] for tier in tiers])
        # The cheapest one class that is large enough, or all that are alike.
        others = np.flatnonzero((near != own) & (size[near] >= k - size[own]))
        if len(others):
            one = others[np.lexsort(cells[::-1, others])[0]]
            chosen = (near == own) | (np.arange(len(near)) == one)
        else:
            chosen = np.ones(len(near), dtype=bool)
        cost = tuple(cells[:, chosen].sum(axis=1))
        if best is None or cost < best:
            best, joined = cost, (near[chosen], like[own])
    members, pattern = joined
    codes[np.isin(group, members)] = pattern


def _sets_by_cost(tiers: Sequence[np.ndarray], most: int) -> Iterator[list[int]]:
    """Sets of keys: fewest of the most important tier first, then of the next; at last all of them."""
    columns = [int(column) for tier in tiers for column in tier]
    tier_of = {int(column): i for i, tier in enumerate(tiers) for column in tier}
    rank = {column: i for i, column in enumerate(columns)}
    sizes = range(1, len(columns) + 1)
    sets = list(islice((chosen for size in sizes for chosen in combinations(columns, size)), most))

    def cost(chosen: tuple[int, ...]) -> tuple:
        in_tier = [sum(tier_of[column] == i for column in chosen) for i in range(len(tiers))]
        return (*in_tier, [rank[column] for column in chosen])

    yield from (list(chosen) for chosen in sorted(sets, key=cost))
    yield columns
