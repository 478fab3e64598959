"""The fewest cells that any local suppression needs for a requirement: bounds from below.

Where a missing value is a value of its own, a suppression says how many records of each class are released under which
pattern, a combination of values some of which are suppressed. Each pattern that is used has k records or more. Taken as
a linear program (numbers of records need not be whole, patterns may be used in part) its optimum is a bound, and its
solution shows a search which patterns to use.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import ceil

import numpy as np

from kanon_lab.classes.compatible import compatible_sums
from kanon_lab.columns import distinct_rows

#: Columns of keys, and how many records must be alike in these columns.
Combination = tuple[Sequence[int], int]
# The most classes times sets of keys that are counted; the most pairs of a linear program (about a second), and of one
# in whole numbers, which gives up after so many nodes. No clock: the same file always has the same bound.
_MOST_COUNTED, _MOST_PAIRS, _MOST_WHOLE, _NODES = 2**25, 2**14, 2**9, 200
# Optima are right to about 1e-7 of themselves.
_ROUNDING = 1e-6


class Pairs:
    """Pairs of a class and a pattern that it becomes by losing some keys, where k records or more could be alike.

    Only patterns that a class below k can become, and the own pattern of each other class. `columns` are the keys;
    `weights` what a suppressed value of each column of `codes` costs.

    Attributes
    ----------
    class_, pattern : ndarray
        The class of each pair, and the number of its pattern.
    weight : ndarray
        What a record of the class loses by it.
    codes : ndarray
        The different patterns.
    """

    def __init__(self, codes: np.ndarray, records: np.ndarray, k: int, columns: Sequence[int], weights: np.ndarray):
        rows, patterns = [], []
        for keys in sets_of(columns):
            known = np.flatnonzero((codes[:, keys] >= 0).all(axis=1))
            without = codes[known]
            without[:, keys] = -1
            rows.append(known)
            patterns.append(without)
        class_, every = np.concatenate(rows), np.concatenate(patterns)
        number, some = distinct_rows(every)
        enough = np.bincount(number, records[class_]) >= k
        wanted = np.bincount(number, (records < k)[class_]) > 0
        used = enough[number] & (wanted[number] | (every == codes[class_]).all(axis=1))
        chosen, self.pattern = np.unique(number[used], return_inverse=True)
        self.class_, self.codes = class_[used], every[some[chosen]]
        self.weight = ((codes[self.class_] >= 0) & (every[used] < 0)) @ weights


def sets_of(columns: Sequence[int]) -> Iterator[list[int]]:
    """All sets of columns, smaller ones first."""
    for size in range(len(columns) + 1):
        yield from map(list, combinations(columns, size))


def relaxed(pairs: Pairs, records: np.ndarray, k: int, opened: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """The records of each pair, not whole, at the least weight; and how far each pattern is used (1 where `opened`).

    None where there are none.
    """
    from scipy.optimize import linprog  # takes longer to load than what most files need

    equal, at_most, upper = _program(pairs, records, k)
    lower = np.append(np.zeros(len(pairs.class_)), opened)
    cost = np.append(pairs.weight, np.zeros(len(pairs.codes)))
    bounds = np.column_stack([lower, upper])
    found = linprog(cost, A_ub=at_most, b_ub=np.zeros(at_most.shape[0]), A_eq=equal, b_eq=records, bounds=bounds)
    return None if found.x is None else (found.x[: len(pairs.class_)], found.x[len(pairs.class_) :])


def _program(pairs, records, k):
    """Left sides of the program: records of each class are released; a pattern has k; only a used one has any."""
    from scipy import sparse

    n, m = len(pairs.class_), len(pairs.codes)
    pair, most = np.arange(n), records[pairs.class_].astype(float)
    equal = sparse.csr_array((np.ones(n), (pairs.class_, pair)), shape=(len(records), n + m))
    enough = sparse.hstack([sparse.csr_array((-np.ones(n), (pairs.pattern, pair)), shape=(m, n)), k * sparse.eye(m)])
    used = sparse.hstack([sparse.eye(n), sparse.csr_array((-most, (pair, pairs.pattern)), shape=(n, m))])
    return equal, sparse.vstack([enough, used]).tocsr(), np.append(most, np.ones(m))


def _whole(pairs: Pairs, records: np.ndarray, k: int) -> float:
    """A bound on the least weight in whole numbers, the least itself if it is found soon."""
    from scipy.optimize import Bounds, LinearConstraint, milp

    equal, at_most, upper = _program(pairs, records, k)
    rules = [LinearConstraint(equal, records, records), LinearConstraint(at_most, -np.inf, 0)]
    cost = np.append(pairs.weight, np.zeros(len(pairs.codes)))
    options = {"node_limit": _NODES}
    found = milp(cost, constraints=rules, integrality=np.ones(len(cost)), bounds=Bounds(0, upper), options=options)
    return 0.0 if found.mip_dual_bound is None else float(found.mip_dual_bound)


def least_losses(codes: np.ndarray, records: np.ndarray, k: int, columns: Sequence[int]) -> np.ndarray:
    """The fewest values that a record of each class loses in a class of k: as many records must agree in the others.

    Of many keys only small sets are counted, and the bound is lower.
    """
    lost = codes[:, columns] < 0
    least, size = np.full(len(codes), len(columns), dtype=np.int64), 0
    least -= lost.sum(axis=1)
    left = _MOST_COUNTED
    for places in sets_of(range(len(columns))):
        size, left = len(places), left - len(codes)
        if left < 0:  # no set of this size or more is known to be needed
            return np.minimum(least, np.maximum(size - lost.sum(axis=1), 0))
        hidden = np.isin(np.arange(len(columns)), places)
        asked = ~lost[:, ~hidden].any(axis=1)
        cost = (hidden & ~lost).sum(axis=1)
        if not (asked & (cost < least)).any():
            continue
        known = codes.copy()
        known[:, np.asarray(columns)[hidden]] = -1
        group, _ = distinct_rows(known)
        enough = asked & (np.bincount(group, records)[group] >= k)
        least[enough] = np.minimum(least[enough], cost[enough])
    return least


@dataclass(frozen=True)
class Requirement:
    """What a local suppression had to reach.

    Attributes
    ----------
    codes : ndarray
        Classes as they came, -1 where missing; the last column is the stratum.
    records : ndarray
        The records of each class.
    combinations : sequence of Combination
        Columns of `codes`, and how many records must be alike in them.
    missing : {"category", "wildcard"}
        Whether records are alike that are equal, or compatible.
    """

    codes: np.ndarray
    records: np.ndarray
    combinations: Sequence[Combination]
    missing: str

    @cached_property
    def least_cells(self) -> int | None:
        """A bound from below on the cells that any suppression takes for it; None where none is known.

        If a missing value may be any value, each record below k has to lose a value of its own (a few blank records
        would do otherwise); for several combinations of keys none is then known.
        """
        if self.missing == "wildcard":
            if len(self.combinations) > 1:
                return None
            part = self._columns(self.combinations[0][0])
            group, some = distinct_rows(part)
            records = np.bincount(group, self.records)
            return int(records[compatible_sums(part[some], records, part[some]) < self.combinations[0][1]].sum())
        losses, least = np.zeros(len(self.codes), dtype=np.int64), 0
        for columns, k in self.combinations:
            part = self._columns(columns)
            group, some = distinct_rows(part)
            records = np.bincount(group, self.records).astype(np.int64)
            of_class = least_losses(part[some], records, k, range(len(columns)))
            losses = np.maximum(losses, of_class[group])
            least = max(least, _by_program(part[some], records, k))
        return max(least, int(losses @ self.records))

    def _columns(self, columns: Sequence[int]) -> np.ndarray:
        return self.codes[:, [*columns, self.codes.shape[1] - 1]]


def _by_program(codes: np.ndarray, records: np.ndarray, k: int) -> int:
    """A bound by linear programs; 0 where they would be too large."""
    columns = range(codes.shape[1] - 1)
    if not (records < k).any() or len(codes) << len(columns) > _MOST_PAIRS:
        return 0
    pairs = Pairs(codes, records, k, columns, np.append(np.ones(len(columns)), 0))
    if len(pairs.class_) <= _MOST_WHOLE:
        return ceil(_whole(pairs, records, k) - _ROUNDING * records.sum())
    found = relaxed(pairs, records, k, np.zeros(len(pairs.codes)))
    return 0 if found is None else ceil(float(found[0] @ pairs.weight) - _ROUNDING * records.sum())
