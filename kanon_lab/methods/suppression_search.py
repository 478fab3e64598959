"""Local suppression on codes: which values to suppress so that every class has enough similar records."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from tqdm import tqdm

from kanon_lab.classes.compatible import Patterns, compatible_sums
from kanon_lab.classes.sums import Sums, joined_sums
from kanon_lab.columns import distinct_rows, memory_in_use
from kanon_lab.methods.suppression_bound import Combination
from kanon_lab.methods.suppression_of_classes import Parts, equal_records, suppressed_as_category


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


def suppressed_parts(
    start: np.ndarray,
    records: np.ndarray,
    required: Sequence[Combination],
    ranks: Sequence[int],
    values: Sequence[int],
    missing: str,
    rng: np.random.Generator | None = None,
    whole: bool = False,
) -> Parts:
    """Parts of classes (the last column is the stratum) with values suppressed so that every combination is met.

    `ranks` holds the importance of each key (1 first), `values` its number of different values. With `rng`, the key
    that a class loses is drawn among those that serve equally well. Under ``wildcard`` each class is one part, and so
    it is under ``category`` where classes stay `whole`. Parts are in the order of their classes.
    """
    parts = np.arange(len(start)), start, records
    if missing == "wildcard":
        memory, key = memory_in_use() if rng is None else None, b""
        if memory is not None:
            key = memory.key(f"suppressed {required} {ranks} {values}", start, records)
            if (kept := memory.number(key)) is not None:
                return parts[0], kept, records
        codes = _compatible_codes(start, records, required, ranks, values, rng)
        if memory is not None:
            memory.keep(key, codes)
        return parts[0], codes, records
    while True:
        before = parts[1]
        for columns, k in required:
            parts = _merged(parts, [*columns, start.shape[1] - 1], k, tiers_of(columns, ranks, values), rng, whole)
        # A class of another combination may have become too small.
        if len(required) == 1 or (len(parts[1]) == len(before) and (parts[1] == before).all()):
            return parts


def _merged(
    parts: Parts, part: list[int], k: int, tiers: Sequence[np.ndarray], rng: np.random.Generator | None, whole: bool
) -> Parts:
    """Parts in which k records or more are equal in some columns, each part cut where its records differ then."""
    of, codes, records = parts
    group, some = distinct_rows(codes[:, part])
    sizes = np.bincount(group, records).astype(np.int64)
    if (sizes >= k).all():
        return parts
    of_group, of_part, taken = suppressed_as_category(codes[some][:, part], sizes, k, tiers, rng, whole)
    # Records in the order of groups, as the old parts cut them and as the new ones do.
    order = np.argsort(group, kind="stable")
    old, new = np.cumsum(records[order]), np.cumsum(taken)
    ends = np.union1d(old, new)
    row, place = order[np.searchsorted(old, ends)], np.searchsorted(new, ends)
    cut = codes[row]
    cut[:, part] = of_part[place]
    back = np.argsort(of[row], kind="stable")
    return of[row][back], cut[back], np.diff(ends, prepend=0)[back]


def _compatible_codes(
    start: np.ndarray,
    records: np.ndarray,
    required: Sequence[Combination],
    ranks: Sequence[int],
    values: Sequence[int],
    rng: np.random.Generator | None,
) -> np.ndarray:
    codes = start.copy()
    for columns, k in required:  # suppression never takes a compatible record away
        violating = violating_classes(codes, records, columns, k, "wildcard")
        if violating.any():
            part = [*columns, codes.shape[1] - 1]
            tiers = tiers_of(columns, ranks, values)
            codes[:, part] = _suppressed_as_wildcards(codes[:, part], records, k, tiers, violating, rng)
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
