"""Persons who have several records: each is counted once in a class, and once among all records compatible with it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
import pandas as pd

from kanon_lab.classes.compatible import compatible_pairs
from kanon_lab.classes.sums import joined_sums
from kanon_lab.columns import coded, distinct_rows, grouped, tallied
from kanon_lab.errors import DataError

# Pairs of a class and a person that are put together at a time; pairs of two records of a person that are looked at.
_MOST_TOGETHER, _MOST_PAIRS = 2**24, 2**27


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


def fewest_in_both(
    codes: Sequence[np.ndarray], persons: Sequence[np.ndarray], *, wild: bool
) -> tuple[np.ndarray, np.ndarray]:
    """For each person in two files, how many persons have a record alike in the first and one in the second.

    That is the fewest, over the pairs of a record of the person in each file; and the number of each person. Codes are
    as in `compatible_persons`; unless they are `wild`, a missing value is one of its own.
    """
    both = np.intersect1d(persons[0], persons[1])
    if not len(both):
        return np.zeros(0, dtype=np.int64), both
    classes, of_class, has_gaps = [], [], []
    for of, person in zip(codes, persons, strict=True):
        rows = np.isin(person, both)
        group, some = distinct_rows(of[rows])
        known = of[rows][some]
        known = known[:, (known >= 0).any(axis=0)] if wild else known  # a key that only the other file has
        classes.append(known)
        of_class.append(with_persons(group, np.searchsorted(both, person[rows])))
        has_gaps.append(wild and bool((known < 0).any()))
    first, second, person = _pairs_of_person(*of_class)
    number, pair = grouped(first * np.int64(len(classes[1])) + second, len(classes[0]) * len(classes[1]))
    persons_of = np.bincount(number, minlength=len(pair))
    if any(has_gaps):
        persons_of = _shared_persons(classes, of_class, has_gaps, len(both), *np.divmod(pair, len(classes[1])))
    least = np.full(len(both), len(both), dtype=np.int64)
    np.minimum.at(least, person, persons_of[number])
    return least, both


def _pairs_of_person(
    old: tuple[np.ndarray, np.ndarray], new: tuple[np.ndarray, np.ndarray]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """All pairs of a class of a person in one file and a class of the same person in the other, and the person."""
    order = np.argsort(old[1], kind="stable")
    n_of = np.bincount(old[1])
    times = n_of[new[1]]
    if (total := int(times.sum())) > _MOST_PAIRS:
        raise DataError(f"persons have {total:,} pairs of records in both editions, too many to count; take fewer keys")
    ends = np.cumsum(times)
    place = np.arange(total) - np.repeat(ends - times, times) + np.repeat((np.cumsum(n_of) - n_of)[new[1]], times)
    return old[0][order[place]], np.repeat(new[0], times), np.repeat(new[1], times)


def _shared_persons(
    classes: list[np.ndarray],
    of_class: list[tuple[np.ndarray, np.ndarray]],
    has_gaps: list[bool],
    persons: int,
    first: np.ndarray,
    second: np.ndarray,
) -> np.ndarray:
    """For each pair of a class of one file and one of the other, the persons with records compatible with both."""
    from scipy import sparse

    has = []
    for codes, (class_, person), gaps in zip(classes, of_class, has_gaps, strict=True):
        if gaps:
            class_, person = (
                np.concatenate(part) for part in zip(*compatible_items(codes, class_, person), strict=True)
            )
        ones = np.ones(len(class_), dtype=np.int32)
        has.append(sparse.csr_array((ones, (class_, person)), shape=(len(codes), persons)))
    steps = np.cumsum(np.diff(has[0].indptr)[first] + np.diff(has[1].indptr)[second]) // _MOST_TOGETHER
    edges = [*np.flatnonzero(np.diff(steps, prepend=-1)), len(first)]
    parts = [has[0][first[i:j]].multiply(has[1][second[i:j]]).sum(axis=1) for i, j in pairwise(edges)]
    return np.concatenate([np.zeros(0, dtype=np.int64), *parts]).astype(np.int64)
