"""Local suppression on codes: which values go until every class is alike to enough records."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, islice

import numpy as np
from tqdm import tqdm

from kanon_lab.classes.compatible import compatible_sums
from kanon_lab.columns import distinct_rows


def compatible_records(queries: np.ndarray, codes: np.ndarray, records: np.ndarray) -> np.ndarray:
    """For each row of `queries`, the records (or weights) of all classes compatible with it."""
    rows = np.concatenate([codes, queries])
    group, some = distinct_rows(rows)
    own = np.bincount(group[: len(codes)], weights=records, minlength=len(some)).astype(records.dtype)
    return compatible_sums(rows[some], own)[group[len(codes) :]]


def equal_records(queries: np.ndarray, codes: np.ndarray, records: np.ndarray) -> np.ndarray:
    """For each row of `queries`, the records of all classes equal to it: a missing value is a value of its own."""
    group, some = distinct_rows(np.concatenate([codes, queries]))
    own = np.bincount(group[: len(codes)], weights=records, minlength=len(some)).astype(np.int64)
    return own[group[len(codes) :]]


#: Columns of keys, and how many records must be alike in them.
Combination = tuple[Sequence[int], int]


def suppressed_codes(
    start: np.ndarray,
    records: np.ndarray,
    wanted: Sequence[Combination],
    ranks: Sequence[int],
    values: Sequence[int],
    missing: str,
) -> np.ndarray:
    """Codes of classes (the last column is the stratum) with values missing, so that every combination is met.

    `ranks` and `values` are, of each key, its importance (1 first) and how many different values it has.
    """
    search = _suppressed_as_wildcards if missing == "wildcard" else _suppressed_as_category
    codes = start.copy()
    while True:
        before = codes
        for columns, k in wanted:
            violating = violating_classes(codes, records, columns, k, missing)
            if violating.any():
                tiers = _tiers(columns, ranks, values)
                part = [*columns, codes.shape[1] - 1]
                codes = codes.copy()
                codes[:, part] = search(codes[:, part], records, k, tiers, violating)
        # Wildcards only ever gain company; values of their own may leave a class of another combination too small.
        if missing == "wildcard" or (codes == before).all():
            return codes


def violating_classes(
    codes: np.ndarray, records: np.ndarray, columns: Sequence[int], k: int, missing: str
) -> np.ndarray:
    """Whether each class has too few records alike in the columns, and in its stratum."""
    part = codes[:, [*columns, codes.shape[1] - 1]]
    alike = compatible_records if missing == "wildcard" else equal_records
    return alike(part, part, records) < k


def _tiers(columns: Sequence[int], ranks: Sequence[int], values: Sequence[int]) -> list[np.ndarray]:
    """Positions in `columns` by importance, most important first; in a tier the keys with most values first."""
    tiers = []
    for rank in sorted({ranks[column] for column in columns}):
        tier = [i for i, column in enumerate(columns) if ranks[column] == rank]
        tiers.append(np.array(sorted(tier, key=lambda i: -values[columns[i]]), dtype=np.intp))
    return tiers


# Into how many parts the records are divided of which one more value may be given back: all at once, then fewer.
_PARTS = (1, 8)


def _suppressed_as_wildcards(
    codes: np.ndarray, records: np.ndarray, k: int, tiers: Sequence[np.ndarray], violating: np.ndarray
) -> np.ndarray:
    """Codes in which every class has k compatible records or more, and every violating one a suppressed value.

    `tiers` are the columns that may be suppressed, most important tier first. An important key is suppressed only where
    all less important ones together are not enough then. In a tier, a class takes the first key that is enough. When no
    key is enough for any class that is left, those that are farthest from k take the key that brings them nearest. So
    later classes gain from what earlier ones lost, and what is enough stays so: suppression of a value never takes a
    compatible record away. At last, values that are not needed any more come back.
    """
    start, codes, rows = codes, codes.copy(), np.flatnonzero(violating)
    bar = tqdm(total=len(rows) * len(tiers), desc="classes", disable=None, leave=False, delay=2)
    for i, tier in enumerate(tiers):
        lower = [column for later in tiers[i + 1 :] for column in later]
        while True:
            trial = codes[rows]
            trial[:, lower] = -1
            need = compatible_records(trial, codes, records) < k
            bar.update(len(rows) * (i + 1) - int(need.sum()) - bar.n)
            if not need.any():
                break
            _take_one_key(codes, records, k, tier, rows[need], trial[need])
    # Who only gained from what others lost would still stand out: the least important known value goes.
    unchanged = rows[(codes[rows] == start[rows]).all(axis=1)]
    for column in (column for tier in reversed(tiers) for column in tier):
        codes[unchanged, column] = -1
        unchanged = unchanged[start[unchanged, column] < 0]
    for parts in _PARTS:
        for column in (column for tier in tiers for column in tier[::-1]):
            codes = _with_values_back(codes, start, records, k, column, parts)
    bar.close()
    return codes


def _take_one_key(
    codes: np.ndarray, records: np.ndarray, k: int, tier: np.ndarray, rows: np.ndarray, trial: np.ndarray
) -> None:
    """Suppress one key of the tier in some of the rows, at least in one."""
    tried = np.repeat(trial[None], len(tier), axis=0)
    tried[np.arange(len(tier)), :, tier] = -1
    counts = compatible_records(tried.reshape(-1, codes.shape[1]), codes, records).reshape(len(tier), len(rows))
    counts[(trial[:, tier] < 0).T] = -1
    enough = counts >= k
    some = enough.any(axis=0)
    choice = enough.argmax(axis=0)
    if not some.any():
        best = counts.max(axis=0)
        some, choice = best == best.min(), counts.argmax(axis=0)
    codes[rows[some], tier[choice[some]]] = -1


def _with_values_back(
    codes: np.ndarray, start: np.ndarray, records: np.ndarray, k: int, column: int, parts: int
) -> np.ndarray:
    """Codes with values of one column back in classes that lost more than one, where every class keeps k."""
    lost = (codes < 0) & (start >= 0)
    rows = np.flatnonzero(lost[:, column] & (lost.sum(axis=1) > 1))
    trial = codes[rows]
    trial[:, column] = start[rows, column]
    enough = compatible_records(trial, codes, records) >= k
    for back in np.array_split(rows[enough], parts):
        while len(back):
            trial = codes.copy()
            trial[back, column] = start[back, column]
            short = compatible_records(trial, trial, records) < k
            if not short.any():
                codes = trial
                break
            # Whoever a class that is now short has lost, or is short itself, stays as it was.
            ones = np.ones(int(short.sum()), dtype=np.int64)
            met, meets = (compatible_records(each[back], trial[short], ones) for each in (codes, trial))
            keep = (met == meets) & ~short[back]
            back = back[keep] if not keep.all() else back[:0]
    return codes


# Sets of keys that are tried before all keys are suppressed at once; up to 12 keys that is every set.
_MOST_SETS = 4096
# The same, where a class looks for others to join.
_MOST_JOINS = 256


def _suppressed_as_category(
    codes: np.ndarray, records: np.ndarray, k: int, tiers: Sequence[np.ndarray], violating: np.ndarray
) -> np.ndarray:
    """Codes in which every class has k records or more; arguments as in `_suppressed_as_wildcards`.

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
