"""Shares of the values of a sensitive variable in each class, beside their shares in the whole file."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kanon_lab.classes import ValueCounts


@dataclass(frozen=True)
class Shares:
    """Counts of values with what several measures need of them, made once.

    Only classes in which some value is known have a row.

    Attributes
    ----------
    counts : ValueCounts
    start : ndarray of int, shape (rows,)
        Where the counts of each row's class begin.
    row : ndarray of int, shape (counts,)
        The row of each count.
    """

    counts: ValueCounts
    start: np.ndarray
    row: np.ndarray

    @cached_property
    def known(self) -> np.ndarray:
        """Records of each row's class whose value is known."""
        return self.sums(self.counts.count)

    @cached_property
    def p(self) -> np.ndarray:
        """Share of each count's value in its class, above 0 and at most 1."""
        return self.counts.count / self.known[self.row]

    @cached_property
    def q(self) -> np.ndarray:
        """Share of each count's value in the file, above 0 and at most 1."""
        overall = self.counts.overall
        return (overall / max(overall.sum(), 1))[self.counts.value]

    def sums(self, numbers: np.ndarray) -> np.ndarray:
        """Sum over each row of one number a count."""
        return np.add.reduceat(numbers, self.start) if len(self.start) else np.zeros(0, dtype=numbers.dtype)

    def largest(self, numbers: np.ndarray) -> np.ndarray:
        """Largest in each row of one number a count."""
        return np.maximum.reduceat(numbers, self.start) if len(self.start) else np.zeros(0, dtype=numbers.dtype)

    def by_class(self, measured: np.ndarray) -> np.ndarray:
        """One number for every class of the file: missing where no value is known."""
        full = np.full(self.counts.n_classes, np.nan)
        full[self.counts.class_[self.start]] = measured
        return full


def as_shares(counts: ValueCounts | Shares) -> Shares:
    """Shares as they are; those of counts."""
    if isinstance(counts, Shares):
        return counts
    first = np.ones(len(counts.class_), dtype=bool)
    first[1:] = counts.class_[1:] != counts.class_[:-1]
    return Shares(counts, np.flatnonzero(first), np.cumsum(first) - 1)
