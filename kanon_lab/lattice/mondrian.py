"""Mondrian: local recoding by cutting the records in parts along one key after another."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from kanon_lab.classes import class_table
from kanon_lab.errors import DataError, OptionError, shortened
from kanon_lab.keys import KeySpec, check_k
from kanon_lab.lattice.dimensions import Dimension, dimension
from kanon_lab.lattice.requirement import check_k_of_file
from kanon_lab.recode import Hierarchy
from kanon_lab.recode.columns import spread


@dataclass(frozen=True)
class MondrianResult:
    """A file protected by `mondrian`.

    Attributes
    ----------
    frame : DataFrame
        The same records and columns under the same index; the keys are text.
    classes : DataFrame
        One row a class: a column for each key, and ``records``. A missing label is one of its own.
    k_achieved : int
        Records of the smallest class.
    discernibility : int
        Sum of the squares of the class sizes.
    average_class_size : float
        Records by classes by k_required (LeFevre et al. 2006, C_AVG).
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
) -> MondrianResult:
    """Recode locally: cut the records in parts as long as each keeps k, then give each part one label a key.

    Parameters
    ----------
    frame : DataFrame
    k_required : int
        Records that every class has at least.
    keys : names
        The key variables, at least one.
    strict : bool
        Records with one value of a key are never cut apart along that key, so that parts do not overlap. Otherwise
        (relaxed) records are put in order of the key, those of one value in order of all keys and then as they stand
        in the file, and cut in halves: which of several with the same keys goes where depends on the order of rows.
    hierarchies : mapping of str to Hierarchy, optional
        Of keys to be cut by the children of the lowest label that a part shares. Their levels must nest.
    orders : mapping of str to sequence, optional
        All values, in order, of keys that are neither numbers nor have a hierarchy.

    Returns
    -------
    MondrianResult
        Labels: ``40-49`` from the smallest to the largest number of the part (``[1.5, 2.25]`` where the key has
        fractions, ``-5 to 3`` below 0), ``a to c`` for ordered values, for hierarchies the lowest label that the part
        shares or ``{a, b}`` where it shares none. A single value stays as it is. Where some record of a part lacks a
        key, the label is missing for all of it.

    Notes
    -----
    A part is cut along the key in which it is widest by the measure of that key in the whole file (numbers: the range;
    other values: their number less one), the first of equals; if that leaves too few on a side, along the next widest.
    Numbers and ordered values are cut at the median: strictly, above or below the median value, whichever is nearer
    to halves. A key that is missing in a part of the records is first cut between missing and known.

    References
    ----------
    LeFevre, DeWitt and Ramakrishnan (2006), sections 3 and 4.

    Examples
    --------
    >>> import kanon_lab
    >>> frame = pd.DataFrame({'age': [21, 25, 48, 60], 'sex': list('ffmm')})
    >>> kanon_lab.lattice.mondrian(frame, k_required=2, keys=['age', 'sex'], orders={'sex': 'fm'}).classes
         age sex  records
    0  21-25   f        2
    1  48-60   m        2
    """
    check_k(k_required, "k_required")
    spec = KeySpec(keys, missing="category")
    table = class_table(frame, spec)
    check_k_of_file(k_required, table.n)
    hierarchies, orders = dict(hierarchies or {}), dict(orders or {})
    if strange := [name for name in (*hierarchies, *orders) if name not in spec.key_variables]:
        raise OptionError(f"{shortened(str(strange[0]))} has a hierarchy or an order and is not a key; make it one")
    dimensions = []
    for name, codes, values in zip(spec.key_variables, table.codes.T, table.labels):
        if not len(values):
            raise DataError(f"column {shortened(str(name))} has no value; leave the variable out")
        by = {"hierarchy": hierarchies.get(name), "order": orders.get(name)}
        dimensions.append(dimension(frame[name], codes[table.class_of_record], values, **by))
    # Classes are sorted by their keys: relaxed cuts see records in that order.
    parts = _parts(np.argsort(table.class_of_record, kind="stable"), dimensions, k_required, strict)
    return _protected(frame, spec, dimensions, parts, k_required)


def _parts(records: np.ndarray, dimensions: Sequence[Dimension], k: int, strict: bool) -> list[np.ndarray]:
    """Parts of the records that cannot be cut any further."""
    parts, waiting = [], [records]
    while waiting:
        part = waiting.pop()
        sides = _sides(part, dimensions, k, strict) if len(part) >= 2 * k else None
        if sides is None:
            parts.append(part)
        else:
            waiting += [part[sides == side] for side in np.unique(sides)]
    return parts


def _sides(part: np.ndarray, dimensions: Sequence[Dimension], k: int, strict: bool) -> np.ndarray | None:
    codes = [each.codes[part] for each in dimensions]
    widths = np.array([each.width(column) for each, column in zip(dimensions, codes)])
    for j in np.argsort(-widths, kind="stable"):
        if widths[j] > 0 and (sides := dimensions[j].cut(codes[j], k, strict)) is not None:
            return sides
    return None


def _protected(
    frame: pd.DataFrame, spec: KeySpec, dimensions: Sequence[Dimension], parts: list[np.ndarray], k_required: int
) -> MondrianResult:
    part_of_record = np.empty(len(frame), dtype=np.intp)
    for number, part in enumerate(parts):
        part_of_record[part] = number
    protected = frame.copy()
    for name, each in zip(spec.key_variables, dimensions):
        labels = [each.label(each.codes[part]) for part in parts]
        known = [label for label in dict.fromkeys(labels) if label is not None]
        number = {label: i for i, label in enumerate(known)} | {None: -1}
        codes = np.array([number[label] for label in labels])[part_of_record]
        protected[name] = spread(known, codes, frame[name])
    table = class_table(protected, spec)
    classes, squares = table.classes[[*spec.key_variables, "records"]], int((table.records**2).sum())
    return MondrianResult(protected, classes, table.k_achieved, squares, table.n / table.n_classes / k_required)
