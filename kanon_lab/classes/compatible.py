"""Matching when a missing value is compatible with anything.

Such matching is not transitive: (1, missing) is compatible with (1, 2) and with (1, 3), which are not compatible with
each other. So there are no classes, only patterns (distinct combinations, missing among them), and for each pattern a
sum over the patterns compatible with it.
"""

from __future__ import annotations

import numpy as np

from kanon_lab.classes.coding import grouped, pack

# Rough costs in nanoseconds, measured: they only choose the faster of two exact ways.
_PER_JOIN, _PER_JOINED_ROW, _PER_COMPARISON = 60_000, 60, 0.6
_BLOCK = 2**22


def compatible_sums(codes: np.ndarray, values: np.ndarray) -> np.ndarray:
    """For every row, the sum of `values` over all rows compatible with it, itself included.

    Parameters
    ----------
    codes : ndarray of int, shape (P, keys)
        Codes from 0 on; -1 is missing. Two rows are compatible when no key has two different codes that are both
        known. The rows should be distinct: equal rows are right too, but cost more.
    values : ndarray, shape (P,) or (P, c)
        Whole numbers are summed exactly up to 2^53.

    Returns
    -------
    ndarray
        Shape and dtype of `values`.
    """
    values = np.asarray(values)
    numbers = values.reshape(len(values), -1).astype(np.float64)
    missing = codes < 0
    sums = _by_masks(codes, numbers, missing) if missing.any() else _sums_of_equal(codes, numbers)
    if values.dtype.kind in "iu":
        sums = np.rint(sums)
    return sums.astype(values.dtype).reshape(values.shape)


def _sums_of_equal(codes: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    group, distinct = _rows_grouped(codes)
    return _totals(group, numbers, len(distinct))[group]


def _by_masks(codes: np.ndarray, numbers: np.ndarray, missing: np.ndarray) -> np.ndarray:
    """Rows that miss the same keys come together; two such groups are joined on the keys that both know."""
    mask_of_row, masks = _rows_grouped(missing.astype(np.int8))
    rows_of_mask = np.split(np.argsort(mask_of_row, kind="stable"), np.cumsum(np.bincount(mask_of_row))[:-1])
    sizes = np.array([len(rows) for rows in rows_of_mask])
    joins = len(masks) * (len(masks) - 1) / 2
    joining = joins * _PER_JOIN + len(masks) * sizes.sum() * _PER_JOINED_ROW
    comparing = len(codes) ** 2 * codes.shape[1] * _PER_COMPARISON
    if comparing < joining:
        return _compared(codes, numbers)
    known = [~missing[rows[0]] for rows in rows_of_mask]
    sums = np.empty_like(numbers)
    for rows, columns in zip(rows_of_mask, known, strict=True):
        sums[rows] = _sums_of_equal(codes[rows][:, columns], numbers[rows])
    largest_first = np.argsort(-sizes, kind="stable")
    for i, large in enumerate(largest_first):
        for small in largest_first[i + 1 :]:
            _join(codes, numbers, sums, rows_of_mask[large], rows_of_mask[small], known[large] & known[small])
    return sums


def _join(
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


def _compared(codes: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    """Every row against every other, in blocks that fit the processor's cache."""
    narrow = codes.astype(np.int16 if codes.max() < 2**15 else np.int64)
    columns = [np.ascontiguousarray(column) for column in narrow.T]
    sums = np.empty_like(numbers)
    step = max(1, _BLOCK // len(codes))
    for start in range(0, len(codes), step):
        match = np.ones((len(codes[start : start + step]), len(codes)), dtype=bool)
        for column in columns:
            part = column[start : start + step, None]
            match &= (part == column) | (column < 0) | (part < 0)
        sums[start : start + step] = match @ numbers
    return sums


def _rows_grouped(codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    if codes.shape[1] == 0:
        return np.zeros(len(codes), dtype=np.intp), np.zeros(1, dtype=np.int64)
    return grouped(*pack(list(codes.T), [int(top) + 2 for top in codes.max(axis=0)]))


def _totals(group: np.ndarray, numbers: np.ndarray, groups: int) -> np.ndarray:
    return np.stack([np.bincount(group, weights=column, minlength=groups) for column in numbers.T], axis=1)
