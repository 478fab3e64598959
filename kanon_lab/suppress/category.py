"""Which cells to suppress so that every class is large enough, a missing value being a value of its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, islice

import numpy as np

from kanon_lab.classes.coding import distinct_rows
from kanon_lab.suppress.counting import equal_records

# Sets of keys that are tried before all keys are suppressed at once; up to 12 keys that is every set.
_MOST_SETS = 4096


def suppressed_as_category(
    codes: np.ndarray, records: np.ndarray, k: int, tiers: Sequence[np.ndarray], violating: np.ndarray
) -> np.ndarray:
    """Codes in which every class has k records or more; arguments as in `suppressed_as_wildcards`.

    Sets of keys are tried from the cheapest on; where classes that lose the same keys become one that is large enough,
    they are done. The last few lose every key; if they are fewer than k, whole classes join them, cheapest first.
    """
    codes, left = codes.copy(), np.flatnonzero(violating)
    columns = np.concatenate(tiers)
    for keys in _sets_by_cost(tiers):
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
    while len(left):
        codes[np.ix_(left, columns)] = -1
        left = _joining(codes, records, k, left, columns)
    return codes


def _joining(codes: np.ndarray, records: np.ndarray, k: int, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Classes that should lose every key so that the first of `rows` that is in too small a class has company."""
    small = rows[equal_records(codes[rows], codes, records) < k]
    if not len(small):
        return small
    same_stratum = (np.delete(codes, columns, axis=1) == np.delete(codes[small[0]], columns)).all(axis=1)
    known = (codes[:, columns] >= 0).sum(axis=1)
    group, some = distinct_rows(codes)
    size = np.bincount(group, weights=records)[group]
    # Enough records at once where one class has them, at the least cells; else the one that has most.
    others = np.flatnonzero(same_stratum & (known > 0))
    lacking = k - size[small[0]]
    order = np.lexsort((others, known[others] * size[others], size[others] < lacking))
    return np.append(small, np.flatnonzero(group == group[others[order[0]]]))


def _sets_by_cost(tiers: Sequence[np.ndarray]) -> Iterator[list[int]]:
    """Sets of keys: fewest of the most important tier first, then of the next; at last all of them."""
    columns = [int(column) for tier in tiers for column in tier]
    tier_of = {int(column): i for i, tier in enumerate(tiers) for column in tier}
    rank = {column: i for i, column in enumerate(columns)}
    sizes = range(1, len(columns) + 1)
    sets = list(islice((chosen for size in sizes for chosen in combinations(columns, size)), _MOST_SETS))

    def cost(chosen: tuple[int, ...]) -> tuple:
        in_tier = [sum(tier_of[column] == i for column in chosen) for i in range(len(tiers))]
        return (*in_tier, [rank[column] for column in chosen])

    yield from (list(chosen) for chosen in sorted(sets, key=cost))
    yield columns
