"""Matching when a missing value is compatible with anything.

Such matching is not transitive: (1, missing) is compatible with (1, 2) and with (1, 3), which are not compatible with
each other. So there are no classes, only patterns (distinct combinations, missing among them), and for each pattern a
sum over the patterns compatible with it.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from kanon_lab.columns import distinct_rows, pack

# Rough costs in nanoseconds, measured: they only choose the faster of two exact ways.
_PER_JOIN, _PER_JOINED_ROW = 60_000, 60
_PER_WORD, _PER_PAIR = 0.7, 60
# Words of 64 rows each that are compared at a time, and values that are told apart before rows are looked up.
_WORDS, _BUCKETS = 2**16, 255
# Numbers held at a time in counts by many values, and pairs of rows.
_MOST_DENSE, _MOST_PAIRS = 2**25, 2**26


def compatible_sums(codes: np.ndarray, values: np.ndarray) -> np.ndarray:
    """For every row of codes, the sum of `values` over all rows compatible with it, itself included.

    Codes, shape (P, keys), are from 0 on, or -1 where missing. Two rows are compatible when no key has two different
    codes that are both known. They should be distinct: equal rows are right too, but cost more. `values`, shape (P,) or
    (P, c), are summed exactly up to 2^53 if they are whole numbers; the sums have their shape and dtype.
    """
    values = np.asarray(values)
    numbers = values.reshape(len(values), -1).astype(np.float64)
    missing = codes < 0
    sums = _by_masks(codes, numbers, missing) if missing.any() else _sums_of_equal(codes, numbers)
    if values.dtype.kind in "iu":
        sums = np.rint(sums)
    return sums.astype(values.dtype).reshape(values.shape)


def compatible_counts(
    codes: np.ndarray, class_: np.ndarray, value: np.ndarray, count: np.ndarray, m: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Counts of values in every row, summed over all rows compatible with it.

    `class_`, `value` (0 to m - 1) and `count` are the counts that are not zero: their row of codes (as in
    `compatible_sums`), their value, and themselves. So are the sums, sorted by row and then by value.
    """
    rows = len(codes)
    from scipy import sparse  # takes longer to load than what most files need

    own = sparse.csr_array((count, (class_, value)), shape=(rows, m))
    pairs = compatible_sums(codes, np.ones(rows, dtype=np.int64)).sum()
    if rows * m <= _MOST_DENSE or pairs > _MOST_PAIRS:
        step = max(1, _MOST_DENSE // rows)
        blocks = [own[:, start : start + step].toarray() for start in range(0, m, step)]
        sums = sparse.hstack([sparse.csr_array(compatible_sums(codes, block)) for block in blocks])
    else:
        found = [(row, other) for _, _, row, other in _compatible_pairs(codes)]
        row, other = (np.concatenate(parts) for parts in zip(*found, strict=True))
        sums = sparse.csr_array((np.ones(len(row), own.dtype), (row, other)), shape=(rows, rows)) @ own
    sums = sums.tocoo()
    order = np.lexsort((sums.col, sums.row))
    return sums.row[order], sums.col[order], sums.data[order]


def _sums_of_equal(codes: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    group, some = distinct_rows(codes)
    return _totals(group, numbers, len(some))[group]


def _by_masks(codes: np.ndarray, numbers: np.ndarray, missing: np.ndarray) -> np.ndarray:
    """Rows that miss the same keys come together; two such groups are joined on the keys that both know."""
    mask_of_row, masks = distinct_rows(missing.astype(np.int8))
    rows_of_mask = np.split(np.argsort(mask_of_row, kind="stable"), np.cumsum(np.bincount(mask_of_row))[:-1])
    sizes = np.array([len(rows) for rows in rows_of_mask])
    joins = len(masks) * (len(masks) - 1) / 2
    joining = joins * _PER_JOIN + len(masks) * sizes.sum() * _PER_JOINED_ROW
    if _cost_of_comparing(codes, missing) < joining:
        return _compared(codes, numbers)
    known = [~missing[rows[0]] for rows in rows_of_mask]
    sums = np.empty_like(numbers)
    for rows, columns in zip(rows_of_mask, known, strict=True):
        sums[rows] = _sums_of_equal(codes[rows][:, columns], numbers[rows])
    largest_first = np.argsort(-sizes, kind="stable")
    for i, large in enumerate(largest_first):
        for small in largest_first[i + 1 :]:
            _join_groups(codes, numbers, sums, rows_of_mask[large], rows_of_mask[small], known[large] & known[small])
    return sums


def _join_groups(
    codes: np.ndarray, numbers: np.ndarray, sums: np.ndarray, large: np.ndarray, small: np.ndarray, shared: np.ndarray
) -> None:
    """Add to the sums of each of two groups the values of the other's rows that agree on the `shared` keys."""
    if not shared.any():
        sums[large] += numbers[small].sum(axis=0)
        sums[small] += numbers[large].sum(axis=0)
        return
    columns = np.flatnonzero(shared)
    few = codes[small[:, None], columns]
    # Only rows of the large group whose every shared code some row of the small one has can match.
    near = np.ones(len(large), dtype=bool)
    parts = []
    for j, column in enumerate(columns):
        of_large = codes[large, column]
        has = np.zeros(max(of_large.max(), few[:, j].max()) + 1, dtype=bool)
        has[few[:, j]] = True
        near &= has[of_large]
        parts.append(of_large)
    if not near.any():
        return
    candidates = large[near]
    radices = [int(max(part.max(), few[:, j].max())) + 1 for j, part in enumerate(parts)]
    stacked = [np.concatenate([few[:, j], part[near]]) for j, part in enumerate(parts)]
    packed, _ = pack(stacked, radices)
    keys, group = np.unique(packed[: len(small)], return_inverse=True)
    place = np.searchsorted(keys, packed[len(small) :])
    place[place == len(keys)] = 0
    match = keys[place] == packed[len(small) :]
    candidates, place = candidates[match], place[match]
    of_candidates = _totals(place, numbers[candidates], len(keys))
    sums[candidates] += _totals(group, numbers[small], len(keys))[place]
    sums[small] += of_candidates[group]


def _cost_of_comparing(codes: np.ndarray, missing: np.ndarray) -> float:
    """Rough cost of `_compared`, as if keys were independent."""
    rows, keys = codes.shape
    match = 1.0
    for column, absent in zip(codes.T, missing.T, strict=True):
        shares = np.bincount(column[~absent]) / rows
        match *= 1 - (1 - absent.mean()) ** 2 + (shares**2).sum()
    return rows**2 * (keys / 64 * _PER_WORD + match * _PER_PAIR)


def _compared(codes: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    """The sums by comparing every row with every other."""
    sums = np.empty_like(numbers)
    for start, stop, row, other in _compatible_pairs(codes):
        sums[start:stop] = _totals(row - start, numbers[other], stop - start)
    return sums


def _compatible_pairs(codes: np.ndarray) -> Iterator[tuple[int, int, np.ndarray, np.ndarray]]:
    """All pairs of compatible rows, in blocks: the rows from one to another, and for each pair these and those.

    Every row is compared with 64 others at a time: one bit each, set while no key speaks against the pair.
    """
    near = [_near(column) for column in codes.T]
    wide = [column for column in codes.T if column.max() >= _BUCKETS]
    words = near[0].shape[1]
    step = max(1, _WORDS // words)
    for start in range(0, len(codes), step):
        block = codes[start : start + step]
        bits = np.full((len(block), words), ~np.uint64(0))
        for column, of_value in zip(block.T, near, strict=True):
            bits &= of_value[np.where(column < 0, -1, column % _BUCKETS)]
        row, word = np.nonzero(bits)
        which, bit = np.nonzero(np.unpackbits(bits[row, word, None].view(np.uint8), axis=1, bitorder="little"))
        row, other = start + row[which], word[which] * 64 + bit
        for column in wide:
            one, two = column[row], column[other]
            same = (one == two) | (one < 0) | (two < 0)
            row, other = row[same], other[same]
        yield start, start + len(block), row, other


def _near(column: np.ndarray) -> np.ndarray:
    """For each bucket of values the rows that it does not rule out, as bits in words; the last, for a gap, has all."""
    values = np.append(np.arange(min(int(column.max()) + 1, _BUCKETS)), -1)[:, None]
    match = (column % _BUCKETS == values) | (column < 0) | (values < 0)
    padded = np.zeros((len(values), -(-len(column) // 64) * 64), dtype=bool)
    padded[:, : len(column)] = match
    return np.packbits(padded, axis=1, bitorder="little").view(np.uint64)


def _totals(group: np.ndarray, numbers: np.ndarray, groups: int) -> np.ndarray:
    return np.stack([np.bincount(group, weights=column, minlength=groups) for column in numbers.T], axis=1)
