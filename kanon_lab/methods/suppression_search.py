"""Local suppression on codes: which values to suppress so that every class has enough similar records."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, islice

import numpy as np
from tqdm import tqdm

from kanon_lab.classes.compatible import Patterns, compatible_sums
from kanon_lab.classes.sums import Sums, joined_sums
from kanon_lab.columns import distinct_rows


def compatible_records(queries: np.ndarray, codes: np.ndarray, records: np.ndarray) -> np.ndarray:
    """For each row of `queries`, the records of all classes compatible with it."""
    if _repeats(codes):
        group, some = distinct_rows(codes)
        codes, records = codes[some], np.bincount(group, weights=records).astype(records.dtype)
    if _repeats(queries):
        group, some = distinct_rows(queries)
        return compatible_sums(codes, records, queries[some])[group]
    return compatible_sums(codes, records, queries)


def compatible_weights(queries: np.ndarray, codes: np.ndarray, weights: np.ndarray | Sums) -> np.ndarray:
    """For each row of `queries`, the weights of all rows of codes compatible with it: exact sums, rounded once."""
    group, some = distinct_rows(codes)
    return joined_sums(group, weights, len(some), lambda parts: compatible_records(queries, codes[some], parts))


def _repeats(codes: np.ndarray) -> bool:
    """Whether there are fewer possible patterns than rows, so that distinct ones are worth finding."""
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


#: Columns of keys, and how many records must be alike in these columns.
Combination = tuple[Sequence[int], int]


def suppressed_codes(
    start: np.ndarray,
    records: np.ndarray,
    required: Sequence[Combination],
    ranks: Sequence[int],
    values: Sequence[int],
    missing: str,
    rng: np.random.Generator | None = None,
) -> np.ndarray:
    """Codes of classes (the last column is the stratum) with values suppressed so that every combination is met.

    `ranks` holds the importance of each key (1 first), `values` its number of different values. With `rng`, the key
    that a class loses is drawn among those that serve equally well.
    """
    search = _suppressed_as_wildcards if missing == "wildcard" else _suppressed_as_category
    codes = start.copy()
    while True:
        before = codes
        for columns, k in required:
            violating = violating_classes(codes, records, columns, k, missing)
            if violating.any():
                tiers = tiers_of(columns, ranks, values)
                part = [*columns, codes.shape[1] - 1]
                codes = codes.copy()
                codes[:, part] = search(codes[:, part], records, k, tiers, violating, rng)
        # Wildcards only gain compatible records; under category, a class of another combination may become too small.
        if missing == "wildcard" or (codes == before).all():
            return codes


def tiers_of(columns: Sequence[int], ranks: Sequence[int], values: Sequence[int]) -> list[np.ndarray]:
    """Positions in `columns`, most important tier first; in a tier the keys with most values first."""
    tiers = []
    for rank in sorted({ranks[column] for column in columns}):
        tier = [i for i, column in enumerate(columns) if ranks[column] == rank]
        tiers.append(np.array(sorted(tier, key=lambda i: -values[columns[i]]), dtype=np.intp))
    return tiers


def violating_classes(
    codes: np.ndarray, records: np.ndarray, columns: Sequence[int], k: int, missing: str
) -> np.ndarray:
    """Whether each class has too few records alike in the columns and the stratum."""
    part = codes[:, [*columns, codes.shape[1] - 1]]
    alike = compatible_records if missing == "wildcard" else equal_records
    return alike(part, part, records) < k


def _suppressed_as_wildcards(
    codes: np.ndarray,
    records: np.ndarray,
    k: int,
    tiers: Sequence[np.ndarray],
    violating: np.ndarray,
    rng: np.random.Generator | None = None,
) -> np.ndarray:
    """Codes in which every class has k compatible records or more, and every violating one a suppressed value.

    `tiers` are the columns that may be suppressed, most important tier first. An important key is suppressed only where
    all less important ones together are not enough. In a tier, a class loses the first key that is enough. When no key
    is enough for any remaining class, those farthest from k lose the key that brings them nearest. Later classes gain
    from what earlier ones lost: suppressing a value never removes a compatible record. In the end, values whose
    suppression is no longer needed come back.
    """
    # Codes lie column by column, as they are matched.
    start, codes, rows = codes, codes.copy(order="F"), np.flatnonzero(violating)
    bar = tqdm(total=len(rows) * len(tiers), desc="classes", disable=None, leave=False, delay=2)
    for i, tier in enumerate(tiers):
        lower = [column for later in tiers[i + 1 :] for column in later]
        _take_keys(codes, records, k, tier, lower, rows, bar, rng)
    # A class that only gained from the losses of others would still stand out: it loses its least important value.
    unchanged = rows[(codes[rows] == start[rows]).all(axis=1)]
    for column in (column for tier in reversed(tiers) for column in tier):
        codes[unchanged, column] = -1
        unchanged = unchanged[start[unchanged, column] < 0]
    counts = compatible_records(codes, codes, records)
    for parts in (1, 8):  # values come back in all classes at once, then in parts of them
        for column in (column for tier in tiers for column in tier[::-1]):
            _give_back(codes, counts, start, records, k, column, parts)
    bar.close()
    return codes


def _take_keys(
    codes: np.ndarray,
    records: np.ndarray,
    k: int,
    tier: np.ndarray,
    lower: list[int],
    rows: np.ndarray,
    bar: tqdm,
    rng: np.random.Generator | None,
) -> None:
    """Suppress keys of the tier in some rows until each has k compatible records without the `lower` keys.

    The records compatible with each row without each key are counted once; then only the changes of the last round.
    """
    trial = codes[rows]
    trial[:, lower] = -1
    own = compatible_records(trial, codes, records)
    bar.update(int((own >= k).sum()))
    rows, trial, own = rows[own < k], trial[own < k], own[own < k]
    counts = compatible_sums(codes, records, trial, without=tier)
    while len(rows):
        counts[trial[:, tier] < 0] = -1
        enough = counts >= k
        some: np.ndarray = np.asarray(enough.any(axis=1))
        equal = enough
        if not some.any():
            best = counts.max(axis=1)
            some, equal = np.asarray(best == best.min()), counts == best[:, None]
        # The first of the keys that serve equally well, or any of them.
        choice = (equal if rng is None else equal * (1 + rng.random(equal.shape))).argmax(axis=1)
        lose, taken = rows[some], choice[some]
        own[some] = counts[some, taken]
        before = codes[lose]
        codes[lose, tier[taken]] = trial[some, tier[taken]] = -1
        changed, change = np.concatenate([codes[lose], before]), np.concatenate([records[lose], -records[lose]])
        # Only rows that differ from one of them in at most one key can gain.
        near = (own < k) & (_differences(trial, codes[lose]) <= 1)
        own[near] += compatible_records(trial[near], changed, change)
        left = own < k
        bar.update(int((~left).sum()))
        rows, trial, own, counts, near, some = (array[left] for array in (rows, trial, own, counts, near, some))
        near &= ~some
        counts[near] += compatible_sums(changed, change, trial[near], without=tier)
        counts[some] = compatible_sums(codes, records, trial[some], without=tier)


def _differences(rows: np.ndarray, others: np.ndarray) -> np.ndarray:
    """The least number of keys in which each row is compatible with none of the others."""
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
    """Restore values of a column in classes that lost several, where every class keeps k compatible records.

    Changes `codes` and `counts`, the compatible records of every class.
    """
    lost = (codes < 0) & (start >= 0)
    rows = np.flatnonzero(lost[:, column] & (lost.sum(axis=1) > 1))
    trial = codes[rows]
    trial[:, column] = start[rows, column]
    met = compatible_records(trial, codes, records)
    rows = rows[met >= k]
    # Every class as it would be with its value back; only classes that then have a value can lose compatible records.
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
            # Classes that a class now short has lost, or that are short themselves, stay as they were.
            ones = np.ones(len(short), dtype=np.int64)
            kept, meets = (compatible_records(rows_of[back], then[short], ones) for rows_of in (codes, then))
            keep = (kept == meets) & (left[back] >= k)
            back = back[keep] if not keep.all() else back[:0]
    settled = codes[:, column] >= 0
    counts[settled] = of_then[settled]


def _suppressed_as_category(
    codes: np.ndarray,
    records: np.ndarray,
    k: int,
    tiers: Sequence[np.ndarray],
    violating: np.ndarray,
    rng: np.random.Generator | None = None,
) -> np.ndarray:
    """Codes in which every class has k records or more; arguments as in `_suppressed_as_wildcards`.

    Sets of keys are tried from the cheapest on; classes that lose the same keys and so merge into one that is large
    enough are done. The last few, fewer than k, are joined by other classes at the least cost.
    """
    codes, left = codes.copy(), np.flatnonzero(violating)
    for keys in sets_by_cost(tiers, 4096, rng):  # every set of up to 12 keys
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
            _join(codes, records, k, tiers, int(row), rng)
    return codes


def _join(
    codes: np.ndarray,
    records: np.ndarray,
    k: int,
    tiers: Sequence[np.ndarray],
    row: int,
    rng: np.random.Generator | None,
) -> None:
    """Merge the class of a row, which is too small, with other classes by suppressing the fewest cells."""
    group, some = distinct_rows(codes)
    size = np.bincount(group, weights=records)
    patterns = codes[some]
    own = group[row]
    best: tuple | None = None
    members, pattern = np.empty(0, dtype=np.intp), patterns[own]
    for keys in sets_by_cost(tiers, 256, rng):
        like = patterns.copy()
        like[:, keys] = -1
        near = np.flatnonzero((like == like[own]).all(axis=1))
        if size[near].sum() < k:
            continue
        lost = (patterns[near] >= 0) & (like[near] < 0)
        cells = np.array([lost[:, tier].sum(axis=1) * size[near] for tier in tiers])
        # The cheapest single class that is large enough, or all that are alike.
        others = np.flatnonzero((near != own) & (size[near] >= k - size[own]))
        if len(others):
            cheapest = others[np.lexsort(cells[::-1, others])[0]]
            chosen = (near == own) | (np.arange(len(near)) == cheapest)
        else:
            chosen = np.ones(len(near), dtype=bool)
        cost = tuple(cells[:, chosen].sum(axis=1))
        if best is None or cost < best:
            best, members, pattern = cost, near[chosen], like[own]
    codes[np.isin(group, members)] = pattern


def sets_by_cost(tiers: Sequence[np.ndarray], most: int, rng: np.random.Generator | None = None) -> Iterator[list[int]]:
    """Sets of keys, at most `most`: fewest of the most important tier first, then of the next; in the end all keys.

    Of sets that cost the same, those of keys with more values come first, or with `rng` any of them.
    """
    columns = [int(column) for tier in tiers for column in tier]
    tier_of = {int(column): i for i, tier in enumerate(tiers) for column in tier}
    rank = {column: i for i, column in enumerate(columns)}
    sizes = range(1, len(columns) + 1)
    sets = list(islice((chosen for size in sizes for chosen in combinations(columns, size)), most))

    def cost(chosen: tuple[int, ...]) -> tuple:
        in_tier = [sum(tier_of[column] == i for column in chosen) for i in range(len(tiers))]
        return (*in_tier, [rank[column] for column in chosen] if rng is None else rng.random())

    yield from (list(chosen) for chosen in sorted(sets, key=cost))
    yield columns
