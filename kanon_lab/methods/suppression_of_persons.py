"""Suppression that reaches k different persons, where a person may have several records.

A person who has records in several classes counts once for a record that is compatible with all of them, so counts of
persons do not add up as counts of records do. The search for records goes first, which counts too many; then what is
still short loses more, as persons are counted.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kanon_lab.classes.persons import compatible_persons, equal_persons
from kanon_lab.methods.suppression_search import Combination, suppressed_parts, tiers_of

#: Classes, and a person who has a record in each: numbers, each pair once.
Pairs = tuple[np.ndarray, np.ndarray]


def persons_alike(codes: np.ndarray, pairs: Pairs, columns: Sequence[int], missing: str) -> np.ndarray:
    """For each class the persons who have a record alike in some columns and the stratum (the last column)."""
    part = codes[:, [*columns, codes.shape[1] - 1]]
    alike = compatible_persons if missing == "wildcard" else equal_persons
    return alike(part, part[pairs[0]], pairs[1])


def suppressed_for_persons(
    start: np.ndarray,
    pairs: Pairs,
    required: Sequence[Combination],
    ranks: Sequence[int],
    values: Sequence[int],
    missing: str,
) -> np.ndarray:
    """Codes of classes with values suppressed so that every combination is met in persons.

    As `kanon_lab.methods.suppression_search.suppressed_parts`. Under ``category``, where classes merge as a whole, more
    records than k are asked for until they are those of k persons.
    """
    records = np.bincount(pairs[0], minlength=len(start))
    strata, more = np.bincount(start[:, -1], records), 0
    while True:
        wanted = [(columns, k + more) for columns, k in required]
        _, codes, _ = suppressed_parts(start, records, wanted, ranks, values, missing, whole=True)
        if missing == "wildcard":
            for columns, k in required:
                codes = _until_enough(codes, pairs, columns, k, tiers_of(columns, ranks, values))
            return codes
        alike = [persons_alike(codes, pairs, columns, missing) for columns, _ in required]
        short = [int(k - persons.min()) for (_, k), persons in zip(required, alike, strict=True)]
        if max(short) <= 0:
            return codes
        more += max(short)
        if max(k for _, k in required) + more > strata[strata > 0].min():  # nothing but one class is left
            for (columns, k), persons in zip(required, alike, strict=True):
                rows = np.isin(codes[:, -1], codes[persons < k, -1])
                codes[np.ix_(rows, np.asarray(columns))] = -1
            return codes


def _until_enough(
    codes: np.ndarray, pairs: Pairs, columns: Sequence[int], k: int, tiers: Sequence[np.ndarray]
) -> np.ndarray:
    """Codes in which each class has k compatible persons: it loses the least important key that is enough.

    If no key is, it loses the one that brings most persons. Suppression never takes a compatible person away.
    """
    codes, part = codes.copy(), [*columns, codes.shape[1] - 1]
    order = [int(column) for tier in reversed(tiers) for column in tier]
    while True:
        short = np.flatnonzero(persons_alike(codes, pairs, columns, "wildcard") < k)
        if not len(short):
            return codes
        best, choice = np.full(len(short), -1), np.zeros(len(short), dtype=np.intp)
        persons = codes[pairs[0]][:, part]
        for column in order:
            trial = codes[short][:, part]
            known = trial[:, column] >= 0
            trial[:, column] = -1
            gained = np.where(known, np.minimum(compatible_persons(trial, persons, pairs[1]), k), -1)
            better = gained > best
            best, choice = np.where(better, gained, best), np.where(better, column, choice)
        codes[short, np.asarray(columns)[choice]] = -1
