"""Matching when a missing value is compatible with anything.

Such matching is not transitive: (1, missing) is compatible with (1, 2) and with (1, 3), which are not compatible with
each other. So there are no classes, only patterns (distinct combinations of values, some missing), and for each pattern
a sum over the patterns compatible with it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from kanon_lab.columns import distinct_rows, grouped, pack

# Rough costs in nanoseconds, measured: they only choose the faster of two exact ways.
_PER_JOIN, _PER_JOINED_ROW = 60_000, 20
_PER_WORD, _PER_PAIR, _PER_BIT, _PER_LOOK_UP = 0.7, 60, 1, 35
# Words of 64 rows each that are compared at a time, and values that are told apart before rows are looked up.
_WORDS, _BUCKETS = 2**16, 255
# Rows by which costs are judged.
_SOME = 2**10
# Numbers held at a time in counts by many values, and pairs of rows.
_MOST_DENSE, _MOST_PAIRS = 2**25, 2**26


class _Mask(NamedTuple):
    """Rows that miss the same keys."""

    known: np.ndarray
    rows: np.ndarray
    columns: np.ndarray


class Patterns:
    """Rows of codes, shape (P, keys), from 0 on or -1 where missing, that are matched several times."""

    def __init__(self, codes: np.ndarray):
        self.codes = codes

    @cached_property
    def masks(self) -> list[_Mask]:
        """The rows by the keys that they miss."""
        mask_of_row, some = distinct_rows((self.codes < 0).astype(np.int8))
        order = np.argsort(mask_of_row.astype(np.min_scalar_type(len(some))), kind="stable")
        parts = np.split(order, np.cumsum(np.bincount(mask_of_row))[:-1])
        known = self.codes[some] >= 0
        return [_Mask(has, rows, self.codes.T[:, rows]) for has, rows in zip(known, parts, strict=True)]


def compatible_sums(
    codes: np.ndarray | Patterns,
    values: np.ndarray,
    queries: np.ndarray | Patterns | None = None,
    *,
    without: Sequence[int] | np.ndarray | None = None,
) -> np.ndarray:
    """For every row of queries, by default of codes, the sum of `values` over all rows of codes compatible with it.

    Codes, shape (P, keys), are from 0 on, or -1 where missing. Two rows are compatible when no key has two different
    codes that are both known. They should be distinct: equal rows are right too, but cost more. `values`, shape (P,) or
    (P, c), are summed exactly up to 2^53 if they are whole numbers; the sums have their dtype. With some keys `without`
    which queries are asked in turn, the sums have a column for each; they are 0 for queries that miss it.
    """
    values = np.asarray(values)
    numbers = (values if values.ndim > 1 else values[:, None]).astype(np.float64)
    data = codes if isinstance(codes, Patterns) else Patterns(codes)
    asked = data if queries is None else queries if isinstance(queries, Patterns) else Patterns(queries)
    turns = [[]] if without is None else [[key] for key in without]
    sums = np.zeros((len(asked.codes), len(turns), numbers.shape[1]))
    if not data.codes.shape[1]:  # without keys all are alike
        sums[:] = numbers.sum(axis=0)
    elif len(data.codes) and len(asked.codes):
        for i, blank in enumerate(turns):
            _add_sums(sums[:, i], data, numbers, asked, blank)
    if values.dtype.kind in "iu":
        sums = np.rint(sums)
    shape = values.shape[1:] if without is None else [len(turns)]
    return sums.astype(values.dtype).reshape(len(sums), *shape)


def _add_sums(sums: np.ndarray, data: Patterns, numbers: np.ndarray, asked: Patterns, blank: list[int]) -> None:
    """Add to the sums of the queries that know the `blank` keys, asked as if they did not."""
    joining = len(data.masks) * len(asked.masks) * _PER_JOIN
    joining += (len(data.masks) * len(asked.codes) + len(asked.masks) * len(data.codes)) * _PER_JOINED_ROW
    if _cost_of_comparing(data.codes, asked.codes, blank) > joining:
        _join_masks(sums, data.masks, numbers, asked.masks, blank)
    elif len(rows := np.flatnonzero((asked.codes[:, blank] >= 0).all(axis=1))):
        queries = asked.codes[rows]
        queries[:, blank] = -1
        sums[rows] = _compare(data.codes, numbers, queries)


def compatible_counts(
    codes: np.ndarray,
    class_: np.ndarray,
    value: np.ndarray,
    count: np.ndarray,
    m: int,
    queries: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Counts of values in every row of `queries` (by default, of codes), summed over all rows compatible with it.

    `class_`, `value` (0 to m - 1) and `count` are the counts that are not zero: their row of codes (as in
    `compatible_sums`), their value, and themselves. So are the sums, sorted by row and then by value.
    """
    queries = codes if queries is None else queries
    rows = len(queries)
    from scipy import sparse  # takes longer to load than what most files need

    own = sparse.csr_array((count, (class_, value)), shape=(len(codes), m))
    pairs = compatible_sums(codes, np.ones(len(codes), dtype=np.int64), queries).sum()
    if rows * m <= _MOST_DENSE or pairs > _MOST_PAIRS:
        step = max(1, _MOST_DENSE // rows)
        blocks = [own[:, start : start + step].toarray() for start in range(0, m, step)]
        sums = sparse.hstack([sparse.csr_array(compatible_sums(codes, block, queries)) for block in blocks])
    else:
        blocks_of_pairs = [(row, other) for _, _, row, other in compatible_pairs(codes, queries)]
        row, other = (np.concatenate(parts) for parts in zip(*blocks_of_pairs, strict=True))
        sums = sparse.csr_array((np.ones(len(row), own.dtype), (row, other)), shape=(rows, len(codes))) @ own
    sums = sums.tocoo()
    order = np.lexsort((sums.col, sums.row))
    return sums.row[order], sums.col[order], sums.data[order]


def _join_masks(sums: np.ndarray, data: list[_Mask], numbers: np.ndarray, asked: list[_Mask], blank: list[int]) -> None:
    """Add the sums by joining rows that miss the same keys with all rows that share the same known keys with them."""
    values = np.max([mask.columns.max(axis=1) for mask in (*data, *asked)], axis=0) + 1
    by_values = np.argsort(-values, kind="stable")
    numbers_of = [numbers[mask.rows] for mask in data]
    for mask in asked:
        if not mask.known[blank].all():
            continue
        known = mask.known.copy()
        known[blank] = False
        alike: dict[bytes, list[int]] = {}
        for i, other in enumerate(data):
            alike.setdefault((known & other.known).tobytes(), []).append(i)
        of_mask = np.zeros((len(mask.rows), numbers.shape[1]))
        for shared, members in alike.items():
            columns = by_values[np.frombuffer(shared, dtype=bool)[by_values]]
            theirs = [_together([data[i].columns[column] for i in members]) for column in columns]
            ours = [mask.columns[column] for column in columns]
            _add_matches(of_mask, ours, theirs, _together([numbers_of[i] for i in members]), values[columns])
        sums[mask.rows] = of_mask


def _together(parts: list[np.ndarray]) -> np.ndarray:
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _add_matches(
    sums: np.ndarray, ours: list[np.ndarray], theirs: list[np.ndarray], numbers: np.ndarray, values: np.ndarray
) -> None:
    """Add to each of our rows the numbers of all their rows that have the same codes, of which there are `values`."""
    if not ours:
        sums += numbers.sum(axis=0)
        return
    swapped = len(ours[0]) > len(theirs[0])
    few, many = (theirs, ours) if swapped else (ours, theirs)
    # Only rows whose every code some row of the fewer has can match.
    size, near = len(few[0]), None
    for column, others, n in zip(few, many, values, strict=True):
        if size < 4 * n:
            has = np.zeros(n, dtype=bool)
            has[column] = True
            near = np.flatnonzero(has[others]) if near is None else near[has[others[near]]]
    near = np.arange(len(many[0])) if near is None else near
    if not len(near):
        return
    many = [others[near] for others in many] if len(near) < len(many[0]) else many
    packed, bound = pack([np.concatenate(pair) for pair in zip(few, many, strict=True)], [int(n) for n in values])
    fewer, more, far = packed[:size], packed[size:], np.arange(size)
    if bound > 4 * len(packed):
        if len(packed) > _FILTERED:
            met = _may_be_among(fewer, more)
            near, more = near[met], more[met]
            met = _may_be_among(more, fewer)
            far, fewer = far[met], fewer[met]
        packed, distinct = grouped(np.concatenate([fewer, more]), bound)
        fewer, more, bound = packed[: len(fewer)], packed[len(fewer) :], len(distinct)
    to, place, group, own = (near, more, fewer, far) if swapped else (far, fewer, more, near)
    for total, column in zip(sums.T, numbers.T, strict=True):
        total[to] += np.bincount(group, column[own], bound)[place]


# Rows from which on those without a match are filtered out, and an odd number that spreads codes over a table.
_FILTERED, _ODD = 2**12, np.uint64(0x9E3779B97F4A7C15)


def _may_be_among(numbers: np.ndarray, asked: np.ndarray) -> np.ndarray:
    """Whether each number asked for may be among the numbers: true for all that are, and for few that are not."""
    shift = np.uint64(64 - max(10, (8 * len(numbers)).bit_length()))
    places, asked_places = (((array.view(np.uint64) * _ODD) >> shift).view(np.int64) for array in (numbers, asked))
    has = np.zeros(2 ** (64 - int(shift)), dtype=bool)
    has[places] = True
    return has[asked_places]


def _cost_of_comparing(codes: np.ndarray, queries: np.ndarray, blank: list[int]) -> float:
    """Rough cost of `_compare`, as if keys were independent, by some of the rows."""
    some, others = (rows[:: max(1, len(rows) // _SOME)] for rows in (codes, queries))
    match, bits = 1.0, 0
    for i, pair in enumerate(zip(some.T, others.T, strict=True)):
        size = int(max(*(column.max() for column in pair), 0)) + 1
        share, asked = (np.bincount(column[column >= 0], minlength=size) / len(column) for column in pair)
        match *= 1 if i in blank else 1 - share.sum() * asked.sum() + (share * asked).sum()
        bits += min(size, _BUCKETS) + 1
    fewer, more = sorted((len(codes), len(queries)))
    pair = codes.shape[1] / 64 * _PER_WORD + match * _PER_PAIR
    return fewer * more * pair + fewer * bits * _PER_BIT + more * codes.shape[1] * _PER_LOOK_UP


def _compare(codes: np.ndarray, numbers: np.ndarray, queries: np.ndarray) -> np.ndarray:
    """The sums by comparing every row with every other, in blocks of the more."""
    sums = np.zeros((len(queries), numbers.shape[1]))
    if len(codes) > len(queries):
        for start, stop, row, other in compatible_pairs(queries, codes):
            sums += _totals(other, numbers[start:stop][row - start], len(sums))
    else:
        for start, stop, row, other in compatible_pairs(codes, queries):
            sums[start:stop] = _totals(row - start, numbers[other], stop - start)
    return sums


def compatible_pairs(codes: np.ndarray, queries: np.ndarray) -> Iterator[tuple[int, int, np.ndarray, np.ndarray]]:
    """All pairs of compatible rows, in blocks of queries: these from one to another, and of each pair the two rows.

    Every row is compared with 64 others at a time: one bit each, set while no key rules the pair out.
    """
    values = np.maximum(codes.max(axis=0), queries.max(axis=0)) + 1
    near = [_near(column, min(int(n), _BUCKETS)) for column, n in zip(codes.T, values, strict=True)]
    wide = np.flatnonzero(values > _BUCKETS)
    words = near[0].shape[1]
    step = max(1, _WORDS // words)
    for start in range(0, len(queries), step):
        block = queries[start : start + step]
        bits = np.full((len(block), words), ~np.uint64(0))
        for column, of_value in zip(block.T, near, strict=True):
            bits &= of_value[np.where(column < 0, -1, column % _BUCKETS)]
        row, word = np.nonzero(bits)
        which, bit = np.nonzero(np.unpackbits(bits[row, word, None].view(np.uint8), axis=1, bitorder="little"))
        row, other = start + row[which], word[which] * 64 + bit
        for column in wide:
            first, second = queries[row, column], codes[other, column]
            same = (first == second) | (first < 0) | (second < 0)
            row, other = row[same], other[same]
        yield start, start + len(block), row, other


def _near(column: np.ndarray, buckets: int) -> np.ndarray:
    """For each bucket of values the rows that it does not rule out, as bits in words; the last, for a gap, has all."""
    values = np.append(np.arange(buckets), -1)[:, None]
    match = (column % _BUCKETS == values) | (column < 0) | (values < 0)
    padded = np.zeros((len(values), -(-len(column) // 64) * 64), dtype=bool)
    padded[:, : len(column)] = match
    return np.packbits(padded, axis=1, bitorder="little").view(np.uint64)


def _totals(group: np.ndarray, numbers: np.ndarray, groups: int) -> np.ndarray:
    return np.stack([np.bincount(group, weights=column, minlength=groups) for column in numbers.T], axis=1)
