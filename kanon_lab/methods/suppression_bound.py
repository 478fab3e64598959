"""The fewest cells that any local suppression needs for a requirement: bounds from below.

Where a missing value is a value of its own, a suppression says how many records of each class are released under which
pattern, a combination of values some of which are suppressed. Each pattern that is used has k records or more. Taken as
a linear program (numbers of records need not be whole, patterns may be used in part) its optimum is a bound, and its
solution shows a search which patterns to use.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import ceil
from typing import Any

import numpy as np

from kanon_lab.classes.compatible import compatible_sums
from kanon_lab.columns import distinct_rows

#: Columns of keys, and how many records must be alike in these columns.
Combination = tuple[Sequence[int], int]
# The most classes times sets of keys that are counted, and that become pairs; the most pairs of a linear program (a
# second or two), and of one in whole numbers, which gives up after so many nodes. No clock: a file has one bound.
_MOST_COUNTED, _MOST_PAIRS, _MOST_RELAXED, _MOST_WHOLE, _NODES = 2**25, 2**19, 40_000, 2**9, 200
# Classes times sets of keys of a small file, for which every pattern is looked at.
_MOST_TRIED = 2**13
# Optima are right to about 1e-7 of themselves.
_ROUNDING = 1e-6


class Pairs:
    """Pairs of a class and a pattern that it becomes by losing some keys, where k records or more could be alike.

    If `pruned`, only patterns that a class below k can become, and the own pattern of each other class. `columns` are
    the keys; `weights` what a suppressed value of each column of `codes` costs.

    Attributes
    ----------
    class_, pattern : ndarray
        The class of each pair, and the number of its pattern.
    weight : ndarray
        What a record of the class loses by it.
    codes : ndarray
        The different patterns.
    needed : ndarray
        The records that each pattern needs.
    """

    def __init__(
        self,
        codes: np.ndarray,
        records: np.ndarray,
        k: int,
        columns: Sequence[int],
        weights: np.ndarray,
        pruned: bool = True,
    ):
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
        used = enough[number] & (wanted[number] | (every == codes[class_]).all(axis=1) | (not pruned))
        chosen, self.pattern = np.unique(number[used], return_inverse=True)
        self.class_, self.codes = class_[used], every[some[chosen]]
        self.weight = ((codes[self.class_] >= 0) & (every[used] < 0)) @ weights
        self.needed = np.full(len(chosen), k)

    def up_to(self, most: int, small: np.ndarray) -> Pairs:
        """Those of patterns that some class becomes by at most so much weight.

        For more, a class of the `small` ones becomes a pattern that needs no records: no optimum is above that.
        """
        least = np.full(len(self.codes), np.inf)
        np.minimum.at(least, self.pattern, self.weight)
        kept, few = (least <= most)[self.pattern], copy(self)
        chosen, pattern = np.unique(self.pattern[kept], return_inverse=True)
        few.class_, few.codes = np.append(self.class_[kept], small), self.codes[chosen]
        few.pattern = np.append(pattern, np.full(len(small), len(chosen)))
        few.weight = np.append(self.weight[kept], np.full(len(small), most + 1.0))
        few.needed = np.append(self.needed[chosen], 0)
        return few


def sets_of(columns: Sequence[int]) -> Iterator[list[int]]:
    """All sets of columns, smaller ones first."""
    for size in range(len(columns) + 1):
        yield from map(list, combinations(columns, size))


def relaxed(
    pairs: Pairs, records: np.ndarray, opened: np.ndarray | float = 0.0
) -> tuple[np.ndarray, np.ndarray] | None:
    """The records of each pair, not whole, at the least weight; and how far each pattern is used (1 where `opened`).

    None where there are none.
    """
    from scipy.optimize import linprog  # takes longer to load than what most files need

    cost, equal, at_most, upper = _program(pairs, records)
    lower = np.zeros(len(cost))
    lower[len(pairs.class_) :] = opened
    none = np.zeros(at_most.shape[0])
    solution = linprog(cost, at_most, none, equal, records, np.column_stack([lower, upper]))
    return None if solution.x is None else (solution.x[: len(pairs.class_)], solution.x[len(pairs.class_) :])


def _program(pairs: Pairs, records: np.ndarray) -> tuple[np.ndarray, Any, Any, np.ndarray]:
    """Costs, the left sides of equations and of inequalities (at most 0), and the most that each variable is.

    The variables are the records of each pair, and whether each pattern is used. All records of each class are
    released; a pattern that is used has what it needs; and only one that is used has any.
    """
    from scipy import sparse

    n, m = len(pairs.class_), len(pairs.needed)
    pair, most = np.arange(n), records[pairs.class_].astype(float)
    equal = sparse.csr_array((np.ones(n), (pairs.class_, pair)), shape=(len(records), n + m))
    filled = sparse.csr_array((-np.ones(n), (pairs.pattern, pair)), shape=(m, n))
    enough = sparse.hstack([filled, sparse.diags_array(pairs.needed.astype(float))])
    used = sparse.hstack([sparse.eye_array(n), sparse.csr_array((-most, (pair, pairs.pattern)), shape=(n, m))])
    cost, upper = np.append(pairs.weight, np.zeros(m)), np.append(most, np.ones(m))
    return cost, equal, sparse.vstack([enough, used]).tocsr(), upper


def _whole(pairs: Pairs, records: np.ndarray) -> float:
    """A bound on the least weight in whole numbers: the least itself if it is found soon."""
    from scipy.optimize import Bounds, LinearConstraint, milp

    cost, equal, at_most, upper = _program(pairs, records)
    rules = [LinearConstraint(equal, records, records), LinearConstraint(at_most, -np.inf, 0)]
    options = {"node_limit": _NODES}
    solution = milp(cost, constraints=rules, integrality=np.ones(len(cost)), bounds=Bounds(0, upper), options=options)
    return 0.0 if solution.mip_dual_bound is None else float(solution.mip_dual_bound)


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
    true_keys : bool
        Whether true keys had to meet compatible records as well.
    """

    codes: np.ndarray
    records: np.ndarray
    combinations: Sequence[Combination]
    missing: str
    true_keys: bool = False

    @property
    def no_bound(self) -> str:
        """Why no bound is claimed: ``true_keys`` or several ``combinations``; empty where one is."""
        if self.true_keys:  # a value that one record loses may serve others, which lose none
            return "true_keys"
        return "combinations" if self.missing == "wildcard" and len(self.combinations) > 1 else ""

    @cached_property
    def least_cells(self) -> int | None:
        """A bound from below on the cells that any suppression takes for it; None where none is claimed (`no_bound`).

        If a missing value may be any value, each record below k has to lose a value of its own (a few blank records
        would do otherwise).
        """
        if self.no_bound:
            return None
        if self.missing == "wildcard":
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


@dataclass(frozen=True)
class Certificate:
    """The key cells that a suppression took, beside what any needs for the same requirement."""

    cells: int
    required: Requirement

    @property
    def least(self) -> int | None:
        """A bound from below on the cells of any suppression; None where none is known."""
        return self.required.least_cells

    @property
    def above(self) -> float | None:
        """How far the cells are above the fewest possible at most, as a share; None where that is not known."""
        return self.cells / self.least - 1 if self.least else None


def _by_program(codes: np.ndarray, records: np.ndarray, k: int) -> int:
    """A bound by a linear program; 0 where it would be too large.

    Of many pairs those go in which a class loses most.
    """
    columns, small = range(codes.shape[1] - 1), np.flatnonzero(records < k)
    if not len(small) or len(columns) > 12 or len(codes) << len(columns) > _MOST_PAIRS:
        return 0
    weights = np.append(np.ones(len(columns)), 0)
    if len(codes) << len(columns) <= _MOST_TRIED:
        every = Pairs(codes, records, k, columns, weights, pruned=False)
        if len(every.class_) <= _MOST_WHOLE:
            return ceil(_whole(every, records) - _ROUNDING * records.sum())
    pairs = Pairs(codes, records, k, columns, weights)
    # What is left of a class of k or more may join what is left of another, in a pattern that is no pair. Here it stays
    # as it is, at no cost: no suppression takes fewer.
    own = pairs.pattern[(pairs.weight == 0) & (records[pairs.class_] >= k)]
    pairs.needed[own] = 0
    for most in reversed(range(len(columns) + 1)):
        some = pairs.up_to(most, small)
        if len(some.class_) <= _MOST_RELAXED and (solution := relaxed(some, records)) is not None:
            return ceil(float(solution[0] @ some.weight) - _ROUNDING * records.sum())
    return 0
