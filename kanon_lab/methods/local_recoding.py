"""Mondrian: local recoding by cutting the records into parts along one key after another."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from kanon_lab.arguments import check_positive
from kanon_lab.classes import class_table
from kanon_lab.columns import as_text, floats_of, from_labels, refuse
from kanon_lab.errors import DataError, OptionError, shortened
from kanon_lab.methods.hierarchy import Hierarchy
from kanon_lab.methods.lattice import KeyLevels, check_k_of_file, level_labels
from kanon_lab.roles import KeySpec, check_k

#: Width of a part in which some values are missing and others are known: such parts are cut first.
_MIXED = 2.0


@dataclass(frozen=True)
class Ordered:
    """Values in an order."""

    codes: np.ndarray  # (records,) Rank of each record's value; missing values share the last rank
    places: np.ndarray  # (ranks,) The number of each rank, or the rank itself where the user gave the order
    values: Sequence[Hashable]  # The value of each rank
    numeric: bool
    grid: float | None = None  # Labels end at multiples of it

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
        if not strict:
            side = np.ones(len(part), dtype=bool)
            side[np.argsort(part, kind="stable")[: len(part) // 2]] = False
            return side if len(part) >= 2 * k else None
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
        whole = self.numeric and (self.places % 1 == 0).all()
        if self.grid is not None:
            return _on_grid(self.places[[low, high]], self.grid, whole)
        first, last = as_text(self.values[low]), as_text(self.values[high])
        if low == high:
            return first
        if self.numeric and not whole:
            return f"[{first}, {last}]"
        return f"{first}-{last}" if self.numeric and self.places[low] >= 0 else f"{first} to {last}"


def _on_grid(ends: np.ndarray, grid: float, whole: bool) -> str:
    """The cells of the grid that a part reaches: ``40-49``, ``-10 to 9``, or ``[1.5, 2.5)`` of fractions."""
    # 0.3 is 3 tenths, although it is less than 3 times 0.1.
    cells = np.floor(ends / grid + 1e-9) + (0, 1)
    first, end = np.round(cells * grid, 12).tolist()
    if not (whole and grid % 1 == 0):
        return f"[{as_text(first)}, {as_text(end)})"
    first, last = int(first), int(end) - 1
    return str(first) if first == last else f"{first}-{last}" if first >= 0 else f"{first} to {last}"


@dataclass(frozen=True)
class Tree:
    """Values under a hierarchy that nests."""

    codes: np.ndarray  # (records,) Number of each record's value; that of a missing one comes after all others
    levels: np.ndarray  # (height + 1, values) The code of each value at each level
    labels: Sequence[Sequence[Hashable]]  # The label of each value at each level

    def width(self, part: np.ndarray) -> float:
        """Distinct values of a part less one, divided by those of the file less one."""
        present = np.flatnonzero(np.bincount(part))
        if present[-1] == self.levels.shape[1]:
            return 0.0 if len(present) == 1 else _MIXED
        return (len(present) - 1) / max(self.levels.shape[1] - 1, 1)

    def cut(self, part: np.ndarray, k: int, strict: bool) -> np.ndarray | None:
        """The child of the common ancestor that each record falls under; None where one would have fewer than k."""
        known = part < self.levels.shape[1]
        if not known.all():
            return ~known if k <= known.sum() <= len(part) - k else None
        children = self.levels[self._common_level(np.flatnonzero(np.bincount(part))) - 1][part]
        return children if np.bincount(children)[np.unique(children)].min() >= k else None

    def label(self, part: np.ndarray) -> str | None:
        """The label that all values of a part share, or ``{a, b}`` of those they have at the top; None if missing."""
        present = np.flatnonzero(np.bincount(part))
        if present[-1] == self.levels.shape[1]:
            return None
        level = self._common_level(present)
        if level < len(self.levels):
            return as_text(self.labels[level][int(present[0])])
        return "{" + ", ".join(sorted({as_text(self.labels[-1][value]) for value in present.tolist()})) + "}"

    def _common_level(self, present: np.ndarray) -> int:
        """The lowest level at which the values are equal; one more than the top where there is none."""
        at_levels = self.levels[:, present]
        same = (at_levels == at_levels[:, :1]).all(axis=1)
        return int(same.argmax()) if same.any() else len(self.levels)


def _dimension(
    column: pd.Series,
    codes: np.ndarray,
    values: pd.Index,
    hierarchy: Hierarchy | None,
    order: Iterable | None,
    grid: float | None,
) -> Ordered | Tree:
    """The values of a key in their order, or under their hierarchy."""
    name = shortened(str(column.name))
    if not len(values):
        raise DataError(f"column {name} has no value; leave the variable out")
    codes = np.where(codes < 0, len(values), codes)
    if hierarchy is not None and order is not None:
        raise OptionError(f"{name} has a hierarchy and an order; give one of them")
    if grid is not None and (hierarchy is not None or order is not None):
        raise OptionError(f"grids: {name} has a hierarchy or an order; a grid is for numbers")
    if hierarchy is not None:
        labels = level_labels(column, values, hierarchy)
        levels = KeyLevels.of(labels, [False] * len(labels))
        if not levels.nested:
            raise OptionError(f"the levels of the hierarchy of {name} do not nest; no tree to cut")
        return Tree(codes, levels.codes[:, :-1], labels)
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
    return Ordered(codes, numbers, list(values), True, grid)


@dataclass(frozen=True)
class MondrianResult:
    """A file protected by `mondrian`.

    Attributes
    ----------
    frame : DataFrame
        The same records and columns under the same index; the keys are text.
    classes : DataFrame
        One row a class: a column for each key, and ``records``. A missing label counts as a value.
    k_achieved : int
        Records of the smallest class.
    discernibility : int
        Sum of the squares of the class sizes.
    average_class_size : float
        Records divided by classes and by k_required (LeFevre et al. 2006, C_AVG).
    """

    # Records do not belong on a screen.
    frame: pd.DataFrame = field(repr=False)
    classes: pd.DataFrame = field(repr=False)
    k_achieved: int
    discernibility: int
    average_class_size: float


def mondrian(
    frame: pd.DataFrame,
    *,
    k_required: int,
    keys: Iterable[str] | str,
    strict: bool = True,
    hierarchies: Mapping[str, Hierarchy] | None = None,
    orders: Mapping[str, Sequence[Hashable]] | None = None,
    grids: Mapping[str, float] | None = None,
) -> MondrianResult:
    """Recode locally: cut the records into parts of at least k, then give each part one label a key.

    Parameters
    ----------
    k_required : int
        The fewest records of a class.
    keys : names
        The key variables, at least one.
    strict : bool
        Whether records with the same value of a key always stay together when that key is cut, so that parts do not
        overlap. If not (relaxed), records are sorted by the key, then by all keys, then by their place in the file,
        and cut in halves: the order of rows then decides which of several equal records goes where.
    hierarchies : mapping of str to Hierarchy, optional
        Of keys to be cut by the children of the lowest label that a part shares. Their levels must nest.
    orders : mapping of str to sequence, optional
        All values, in order, of keys that are neither numbers nor have a hierarchy.
    grids : mapping of str to number, optional
        Of keys that are numbers a width, above 0: their labels then end at multiples of it instead of at the smallest
        and largest value of the part, which somebody has (see `kanon_book.attacks.ends_attack`).

    Returns
    -------
    MondrianResult
        Labels: ``40-49`` from the smallest to the largest number of the part (``[1.5, 2.25]`` where the key has
        fractions, ``-5 to 3`` below 0), ``a to c`` for ordered values, for hierarchies the lowest label that the part
        shares or ``{a, b}`` where it shares none. A single value stays as it is. Where one record of a part lacks a
        key, the label of the whole part is missing. With a grid: ``40-49``, ``[1.5, 2.5)`` or ``-10 to 9``, also of a
        single value.

    Notes
    -----
    A part is cut along the key in which it is widest, relative to that key in the whole file (numbers: the range; other
    values: their number less one; the first of equals). If that leaves too few on a side, the next widest is tried.
    Numbers and ordered values are cut at the median: strictly, above or below the median value, whichever is nearer
    to halves. A key that is missing in some records of a part is first cut between missing and known.

    References
    ----------
    LeFevre, DeWitt and Ramakrishnan (2006), sections 3 and 4.

    Examples
    --------
    >>> frame = pd.DataFrame({'age': [21, 25, 48, 60], 'sex': list('ffmm')})
    >>> kanon_lab.methods.mondrian(frame, k_required=2, keys=['age', 'sex'], orders={'sex': 'fm'}).classes
         age sex  records
    0  21-25   f        2
    1  48-60   m        2
    """
    check_k(k_required, "k_required")
    spec = KeySpec(keys, missing="category")
    table = class_table(frame, spec)
    check_k_of_file(k_required, table.n)
    hierarchies, orders, grids = dict(hierarchies or {}), dict(orders or {}), dict(grids or {})
    if strange := [name for name in (*hierarchies, *orders, *grids) if name not in spec.key_variables]:
        fault = "has a hierarchy, an order or a grid and is not a key; make it one"
        raise OptionError(f"{shortened(str(strange[0]))} {fault}")
    grids = {name: check_positive(width, f"grids: {shortened(str(name))}") for name, width in grids.items()}
    dimensions = []
    for name, codes, values in zip(spec.key_variables, table.codes.T, table.labels):
        codes = codes[table.class_of_record]
        dimensions.append(
            _dimension(frame[name], codes, values, hierarchies.get(name), orders.get(name), grids.get(name))
        )
    # Classes are sorted by their keys: relaxed cuts see records in that order.
    parts, uncut = [], [np.argsort(table.class_of_record, kind="stable")]
    while uncut:
        part = uncut.pop()
        sides = _sides(part, dimensions, k_required, strict) if len(part) >= 2 * k_required else None
        if sides is None:
            parts.append(part)
        else:
            uncut += [part[sides == side] for side in np.unique(sides)]
    part_of_record = np.empty(len(frame), dtype=np.intp)
    for number, part in enumerate(parts):
        part_of_record[part] = number
    protected = frame.copy()
    for name, dimension in zip(spec.key_variables, dimensions):
        labels = [dimension.label(dimension.codes[part]) for part in parts]
        known = [label for label in dict.fromkeys(labels) if label is not None]
        place: dict[str | None, int] = {label: i for i, label in enumerate(known)} | {None: -1}
        codes = np.array([place[label] for label in labels])[part_of_record]
        protected[name] = from_labels(known, codes, frame[name])
    table = class_table(protected, spec)
    classes, squares = table.classes[[*spec.key_variables, "records"]], int((table.records**2).sum())
    return MondrianResult(protected, classes, table.k_achieved, squares, table.n / table.n_classes / k_required)


def _sides(part: np.ndarray, dimensions: Sequence[Ordered | Tree], k: int, strict: bool) -> np.ndarray | None:
    """The side of each record of a part, cut along the widest key that allows it; None where no key does."""
    codes = [dimension.codes[part] for dimension in dimensions]
    widths = np.array([dimension.width(column) for dimension, column in zip(dimensions, codes)])
    for j in np.argsort(-widths, kind="stable"):
        if widths[j] > 0 and (sides := dimensions[j].cut(codes[j], k, strict)) is not None:
            return sides
    return None
