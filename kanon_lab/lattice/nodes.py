"""The classes of one node, and their merging when a key moves up a level."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from kanon_lab.classes import ValueCounts
from kanon_lab.classes.coding import grouped, pack


@dataclass(frozen=True)
class NodeClasses:
    """The classes of one node."""

    codes: np.ndarray  # (keys, classes) The code of each key at its level
    records: np.ndarray  # (classes,) Records that have exactly these codes
    values: tuple[ValueCounts, ...] = ()  # For each sensitive variable how often its values occur among those records

    def rolled_up(self, j: int, mapping: np.ndarray, sizes: Sequence[int], *, rising: bool) -> NodeClasses:
        """The classes after key `j` has got new codes."""
        codes = self.codes.copy()
        codes[j] = mapping[codes[j]]
        if rising and j == len(codes) - 1:
            # Sorted classes stay sorted, so those that merge are neighbours.
            starts = (codes[:, 1:] != codes[:, :-1]).any(axis=0)
            first = np.concatenate([[0], np.flatnonzero(starts) + 1])
            group = np.concatenate([[0], np.cumsum(starts)]) if self.values else None
            records = np.add.reduceat(self.records, first)
            return NodeClasses(codes[:, first], records, tuple(_merged(v, group, len(first)) for v in self.values))
        return replace(self, codes=codes).merged(sizes)[0]

    def merged(self, sizes: Sequence[int]) -> tuple[NodeClasses, np.ndarray]:
        """Sorted classes with equal codes made one, and the new class of each old one."""
        group, distinct = grouped(*pack(list(self.codes), sizes))
        first = np.empty(len(distinct), dtype=np.intp)
        first[group] = np.arange(len(group))
        records = np.bincount(group, weights=self.records).astype(np.int64)
        values = tuple(_merged(each, group, len(first)) for each in self.values)
        return NodeClasses(self.codes[:, first], records, values), group


def _merged(counts: ValueCounts, group: np.ndarray, groups: int) -> ValueCounts:
    """The counts after class i has become a part of class ``group[i]``."""
    m = len(counts.values)
    number, distinct = grouped(group[counts.class_].astype(np.int64) * m + counts.value, groups * m)
    class_, value = np.divmod(distinct, m)
    count = np.bincount(number, weights=counts.count, minlength=len(distinct)).astype(np.int64)
    return replace(counts, class_=class_, value=value, count=count, n_classes=groups)
