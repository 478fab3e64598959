"""Local suppression on codes: which values go until every class is alike to enough records."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, islice

import numpy as np
from tqdm import tqdm

from kanon_lab.classes.compatible import Patterns, compatible_sums
from kanon_lab.columns import distinct_rows


def compatible_records(queries: np.ndarray, codes: np.ndarray, records: np.ndarray) -> np.ndarray:
    """For each row of `queries`, the records (or weights) of all classes compatible with it."""
    if _repeats(codes):
        group, some = distinct_rows(codes)
        codes, records = codes[some], np.bincount(group, weights=records).astype(records.dtype)
    if _repeats(queries):
        group, some = distinct_rows(queries)
        return compatible_sums(codes, records, queries[some])[group]
    return compatible_sums(codes, records, queries)


def _repeats(codes: np.ndarray) -> bool:
    """Whether there are so few patterns that the distinct ones are quickly found and well fewer."""
    patterns = 1
    for column in codes.T:
        if patterns < len(codes):
            patterns *= int(column.max()) + 2
    return patterns < len(codes)


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
    # Codes lie column by column, as they are matched.
    start, codes, rows = codes, codes.copy(order="F"), np.flatnonzero(violating)
    bar = tqdm(total=len(rows) * len(tiers), desc="classes", disable=None, leave=False, delay=2)
    for i, tier in enumerate(tiers):
        _take_keys(codes, records, k, tier, [column for later in tiers[i + 1 :] for column in later], rows, bar)
    # Who only gained from what others lost would still stand out: the least important known value goes.
    unchanged = rows[(codes[rows] == start[rows]).all(axis=1)]
    for column in (column for tier in reversed(tiers) for column in tier):
        codes[unchanged, column] = -1
        unchanged = unchanged[start[unchanged, column] < 0]
    counts = compatible_records(codes, codes, records)
    for parts in _PARTS:
        for column in (column for tier in tiers for column in tier[::-1]):
            _give_back(codes, counts, start, records, k, column, parts)
    bar.close()
    return codes


def _take_keys(
    codes: np.ndarray, records: np.ndarray, k: int, tier: np.ndarray, lower: list[int], rows: np.ndarray, bar: tqdm
) -> None:
    """Suppress keys of the tier in some rows until each has k compatible records when it misses the `lower` keys too.

    What every row would have without each of the keys is counted once; then only what changed with the last round.
    """
    trial = codes[rows]
    trial[:, lower] = -1
    own = compatible_records(trial, codes, records)
    bar.update(int((own >= k).sum()))
    rows, trial, own = (each[own < k] for each in (rows, trial, own))
    counts = compatible_sums(codes, records, trial, without=tier)
    while len(rows):
        counts[trial[:, tier] < 0] = -1
        enough = counts >= k
        some: np.ndarray = np.asarray(enough.any(axis=1))
        choice = enough.argmax(axis=1)
        if not some.any():
            best, choice = counts.max(axis=1), counts.argmax(axis=1)
            some = np.asarray(best == best.min())
        lose, taken = rows[some], choice[some]
        own[some] = counts[some, taken]
        before = codes[lose]
        codes[lose, tier[taken]] = trial[some, tier[taken]] = -1
        changed, change = np.concatenate([codes[lose], before]), np.concatenate([records[lose], -records[lose]])
        # Only who differs from none of them in two keys can gain.
        near = (own < k) & (_differences(trial, codes[lose]) <= 1)
        own[near] += compatible_records(trial[near], changed, change)
        left = own < k
        bar.update(int((~left).sum()))
        rows, trial, own, counts, near, some = (each[left] for each in (rows, trial, own, counts, near, some))
        near &= ~some
        counts[near] += compatible_sums(changed, change, trial[near], without=tier)
        counts[some] = compatible_sums(codes, records, trial[some], without=tier)


def _differences(rows: np.ndarray, others: np.ndarray) -> np.ndarray:
    """In how many keys, at least, each row is compatible with none of the others."""
    least = np.zeros(len(rows), dtype=np.int16)
    for column, other in zip(rows.T, others.T, strict=True):
        if len(column) and len(other) and (other >= 0).all():
            # The last is for a missing value.
            has = np.zeros(max(column.max(), other.max()) + 2, dtype=bool)
            has[other] = has[-1] = True
            least += ~has[column]
    return least


def _give_back(
    codes: np.ndarray, counts: np.ndarray, start: np.ndarray, records: np.ndarray, k: int, column: int, parts: int
) -> None:
    """Values of one column back in classes that lost more than one, where every class keeps k compatible records.

    `counts` are these of every class. Both are changed.
    """
    lost = (codes < 0) & (start >= 0)
    rows = np.flatnonzero(lost[:, column] & (lost.sum(axis=1) > 1))
    trial = codes[rows]
    trial[:, column] = start[rows, column]
    met = compatible_records(trial, codes, records)
    rows = rows[met >= k]
    # Every class as it would be with its value back; only who knows the value then can lose company.
    then, of_then = codes.copy(order="F"), counts.copy()
    then[rows, column], of_then[rows] = start[rows, column], met[met >= k]
    known = np.flatnonzero(then[:, column] >= 0)
    asked = Patterns(then[known])
    for back in np.array_split(rows, parts):
        reached = known[compatible_sums(codes[back], records[back], asked) > 0]
        while len(back):
            loss = compatible_records(then[reached], codes[back], records[back])
            loss -= compatible_records(then[reached], then[back], records[back])
            left = of_then.copy()
            left[reached] -= loss
            out = codes[:, column] >= 0
            out[back] = True
            short = np.flatnonzero((left < k) & out)
            if not len(short):
                codes[back, column] = start[back, column]
                of_then = left
                break
            # Whoever a class that is now short has lost, or is short itself, stays as it was.
            ones = np.ones(len(short), dtype=np.int64)
            kept, meets = (compatible_records(each[back], then[short], ones) for each in (codes, then))
            keep = (kept == meets) & (left[back] >= k)
            back = back[keep] if not keep.all() else back[:0]
    settled = codes[:, column] >= 0
    counts[settled] = of_then[settled]


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
            _join(codes, records, k, tiers, int(row))
    return codes


def _join(codes: np.ndarray, records: np.ndarray, k: int, tiers: Sequence[np.ndarray], row: int) -> None:
    """Make one class of a row that is in too small a class and of other classes, by the fewest cells."""
    group, some = distinct_rows(codes)
    size = np.bincount(group, weights=records)
    patterns = codes[some]
    own = group[row]
    best: tuple | None = None
    members, pattern = np.empty(0, dtype=np.intp), patterns[own]
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
            best, members, pattern = cost, near[chosen], like[own]
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
