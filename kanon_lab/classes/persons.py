"""Persons who have several records: each is counted once in a class, and once among all records compatible with it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from kanon_lab.classes.compatible import compatible_pairs
from kanon_lab.classes.sums import joined_sums
from kanon_lab.columns import coded, distinct_rows, tallied

# Pairs of a class and a person that are put together at a time.
_MOST_TOGETHER = 2**24


def person_codes(column: pd.Series) -> np.ndarray:
    """The number of each row's person, from 0 on; rows that say none are one person, since they may be."""
    codes = coded(column).codes.astype(np.int64)
    return np.where(codes < 0, codes.max(initial=-1) + 1, codes)


def with_persons(group: np.ndarray, person: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Each pair of a group and a person that occurs, once, sorted by group; both are numbers of rows from 0 on."""
    persons = int(person.max(initial=-1)) + 1
    distinct, _ = tallied(group * np.int64(persons) + person, (int(group.max(initial=-1)) + 1) * persons)
    groups = distinct // max(persons, 1)
    return groups, distinct - groups * persons


def count_persons(group: np.ndarray, person: np.ndarray, groups: int) -> np.ndarray:
    """The different persons in each group."""
    return np.bincount(with_persons(group, person)[0], minlength=groups).astype(np.int64)


def equal_persons(queries: np.ndarray, codes: np.ndarray, person: np.ndarray) -> np.ndarray:
    """For each row of `queries` the persons who have a row of codes equal to it; a missing value is one of its own."""
    group, some = distinct_rows(np.concatenate([codes, queries]))
    return count_persons(group[: len(codes)], person, len(some))[group[len(codes) :]]


def compatible_persons(
    queries: np.ndarray, codes: np.ndarray, person: np.ndarray, weights: np.ndarray | None = None
) -> np.ndarray:
    """For each row of `queries` the persons who have a row of codes compatible with it, or the sum of their weights.

    Codes, shape (rows, keys), are from 0 on, or -1 where missing, which may be any value; `weights` are by person, and
    each of their sums is rounded once.
    """
    if weights is None:
        return _persons_alike(queries, codes, person, [None])[:, 0].astype(np.int64)
    whom = np.arange(len(weights))
    return joined_sums(whom, weights, len(weights), lambda parts: _persons_alike(queries, codes, person, list(parts.T)))


def _persons_alike(
    queries: np.ndarray, codes: np.ndarray, person: np.ndarray, columns: list[np.ndarray | None]
) -> np.ndarray:
    """Sums over the persons alike of each column of numbers by person, or how many they are (None), shape (rows, c)."""
    group, some = distinct_rows(codes)
    asked, of_asked = distinct_rows(queries)
    alike, totals = codes[some], np.zeros((len(of_asked), len(columns)))
    class_, who = with_persons(group, person)
    if not (alike < 0).any() and not (queries < 0).any():
        number, rows = distinct_rows(np.concatenate([alike, queries[of_asked]]))
        of_class = number[: len(alike)][class_]
        own = [None if column is None else column[who] for column in columns]
        sums = np.stack([np.bincount(of_class, column, minlength=len(rows)) for column in own], axis=1)
        return sums[number[len(alike) :]][asked]
    for start, persons_of in _together(alike, queries[of_asked], class_, who):
        counted = np.diff(persons_of.indptr)
        rows = np.repeat(np.arange(len(counted)), counted)
        for place, column in enumerate(columns):
            summed = counted if column is None else np.bincount(rows, column[persons_of.indices], len(counted))
            totals[start : start + len(counted), place] = summed
    return totals[asked]


def compatible_items(
    codes: np.ndarray, class_: np.ndarray, item: np.ndarray, queries: np.ndarray | None = None
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """For rows of `queries` (by default codes), in turn, those and each item that a compatible row has: pairs, once.

    `class_` and `item` are the pairs of a row and one of its own items, once, sorted.
    """
    for start, items_of in _together(codes, codes if queries is None else queries, class_, item):
        rows = np.repeat(np.arange(start, start + items_of.shape[0]), np.diff(items_of.indptr))
        yield rows, items_of.indices.astype(np.int64)


def _together(codes: np.ndarray, queries: np.ndarray, class_: np.ndarray, item: np.ndarray) -> Iterator:
    """Blocks of queries: the first of them, and a sparse matrix with a row a query, of the items compatible with it."""
    from scipy import sparse

    items = int(item.max()) + 1
    has = sparse.csr_array((np.ones(len(item), dtype=np.int32), (class_, item)), shape=(len(codes), items))
    per_class = np.diff(has.indptr)
    for start, stop, row, other in compatible_pairs(codes, queries):
        pairs = np.cumsum(np.bincount(row - start, per_class[other], minlength=stop - start))
        part = (pairs // _MOST_TOGETHER).astype(np.int64)
        for number in np.unique(part):
            first, last = np.searchsorted(part, number), np.searchsorted(part, number, side="right")
            mine = slice(np.searchsorted(row, start + first), np.searchsorted(row, start + last))
            shape = (last - first, len(codes))
            places = (row[mine] - start - first, other[mine])
            meets = sparse.csr_array((np.ones(len(other[mine]), dtype=np.int32), places), shape=shape)
            yield start + first, meets @ has
