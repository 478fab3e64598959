"""A key as a dimension to cut along: values in an order, or values under a hierarchy."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from kanon_lab.errors import OptionError, shortened
from kanon_lab.lattice.space import KeyLevels, level_labels
from kanon_lab.recode import Hierarchy
from kanon_lab.recode.columns import as_text, refuse
from kanon_lab.recode.quantities import floats_of

#: Width of a part in which some values are missing and others are known: such parts are cut first.
_MIXED = 2.0


@dataclass(frozen=True)
class Ordered:
    """Values in an order."""

    codes: np.ndarray  # (records,) Rank of each record's value; missing ones have the last rank, one for all
    places: np.ndarray  # (ranks,) Where each rank lies: the numbers themselves, or the ranks of an order that was given
    values: Sequence[Hashable]  # The value of each rank
    numeric: bool

    def width(self, part: np.ndarray) -> float:
        """Extent of the codes of a part: 0 where all are equal, 1 where they reach as far as the whole file's."""
        low, high = int(part.min()), int(part.max())
        if high == len(self.values):
            return 0.0 if low == high else _MIXED
        extent = self.places[-1] - self.places[0]
        return float((self.places[high] - self.places[low]) / extent) if extent > 0 else 0.0

    def cut(self, part: np.ndarray, k: int, strict: bool) -> np.ndarray | None:
        """The side (0, 1) of each record of a part; None where no cut leaves k records on either side."""
        known = part < len(self.values)
        if not known.all() and k <= known.sum() <= len(part) - k:
            return ~known
        if strict:
            return self._strict(part, k)
        side = np.ones(len(part), dtype=bool)
        side[np.argsort(part, kind="stable")[: len(part) // 2]] = False
        return side if len(part) >= 2 * k else None

    @staticmethod
    def _strict(part: np.ndarray, k: int) -> np.ndarray | None:
        ordered = np.sort(part)
        median = ordered[(len(ordered) - 1) // 2]
        # Above the median value or below it, whichever is nearer to half and half.
        ends = [int(np.searchsorted(ordered, median, side=side)) for side in ("right", "left")]
        allowed = [end for end in ends if k <= end <= len(ordered) - k]
        if not allowed:
            return None
        return part >= ordered[min(allowed, key=lambda end: abs(2 * end - len(ordered)))]

    def label(self, part: np.ndarray) -> str | None:
        """What a part is called: ``40-49``, ``-5 to 3``, ``[1.5, 2.25]``, ``a to c``; None where a value is missing."""
        low, high = int(part.min()), int(part.max())
        if high == len(self.values):
            return None
        first, last = as_text(self.values[low]), as_text(self.values[high])
        if low == high:
            return first
        if self.numeric and not (self.places % 1 == 0).all():
            return f"[{first}, {last}]"
        return f"{first}-{last}" if self.numeric and self.places[low] >= 0 else f"{first} to {last}"


@dataclass(frozen=True)
class Tree:
    """Values under a hierarchy that nests."""

    codes: np.ndarray  # (records,) Number of each record's value; that of a missing one comes after all others
    levels: np.ndarray  # (height + 1, values) The code of each value at each level
    labels: Sequence[Sequence[Hashable]]  # The label of each value at each level

    def width(self, part: np.ndarray) -> float:
        """Distinct values of a part but one, by those of the file but one."""
        present = self._present(part)
        if present[-1] == self.levels.shape[1]:
            return 0.0 if len(present) == 1 else _MIXED
        return (len(present) - 1) / max(self.levels.shape[1] - 1, 1)

    def cut(self, part: np.ndarray, k: int, strict: bool) -> np.ndarray | None:
        """The child of the common ancestor that each record falls under; None where one would have fewer than k."""
        known = part < self.levels.shape[1]
        if not known.all():
            return ~known if k <= known.sum() <= len(part) - k else None
        children = self.levels[self._common(self._present(part)) - 1][part]
        return children if np.bincount(children)[np.unique(children)].min() >= k else None

    def label(self, part: np.ndarray) -> str | None:
        """The label that all values of a part share, or ``{a, b}`` of those they have at the top; None if missing."""
        present = self._present(part)
        if present[-1] == self.levels.shape[1]:
            return None
        level = self._common(present)
        if level < len(self.levels):
            return as_text(self.labels[level][present[0]])
        return "{" + ", ".join(sorted({as_text(self.labels[-1][value]) for value in present})) + "}"

    def _present(self, part: np.ndarray) -> np.ndarray:
        return np.flatnonzero(np.bincount(part))

    def _common(self, present: np.ndarray) -> int:
        """The lowest level at which the values are one; one more than the top where there is none."""
        at_levels = self.levels[:, present]
        same = (at_levels == at_levels[:, :1]).all(axis=1)
        return int(same.argmax()) if same.any() else len(self.levels)


Dimension = Ordered | Tree


def dimension(
    column: pd.Series,
    codes: np.ndarray,
    values: pd.Index,
    *,
    hierarchy: Hierarchy | None,
    order: Sequence[Hashable] | None,
) -> Dimension:
    """The dimension of a key."""
    name = shortened(str(column.name))
    codes = np.where(codes < 0, len(values), codes)
    if hierarchy is not None and order is not None:
        raise OptionError(f"{name} has a hierarchy and an order; give one of them")
    if hierarchy is not None:
        return _tree(column, codes, values, hierarchy)
    if order is not None:
        order = list(order)
        if len(set(order)) != len(order):
            raise OptionError(f"the order of {name} names a value twice")
        absent = np.append([value not in order for value in values], False)
        refuse(absent[codes], column.index, name, "a value that its order does not name; add it to the order")
        ranks = np.append([order.index(value) for value in values], len(order)).astype(np.intp)
        return Ordered(ranks[codes], np.arange(len(order), dtype=float), order, False)
    numbers = floats_of(values)
    if not np.isfinite(numbers).all():
        raise OptionError(f"{name} does not hold numbers alone: give it a hierarchy, or the order of its values")
    return Ordered(codes, numbers, list(values), True)


def _tree(column: pd.Series, codes: np.ndarray, values: pd.Index, hierarchy: Hierarchy) -> Tree:
    labels = level_labels(column, values, hierarchy)
    levels = KeyLevels.of(labels, [False] * len(labels))
    if not levels.nested:
        raise OptionError(f"the levels of the hierarchy of {shortened(str(column.name))} do not nest; no tree to cut")
    return Tree(codes, levels.codes[:, :-1], labels)
