"""Quantities of an original file and of the file released from it, record by record."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from kanon_lab.errors import DataError, OptionError, about, shortened
from kanon_lab.recode.columns import one_column
from kanon_lab.recode.quantities import quantity

ORIGINAL, RELEASED = "the original file", "the released file"
# The squares of so many numbers as a file has can be added up.
_LARGEST_SQUARED = 1e150


@dataclass(frozen=True)
class Paired:
    """The same variables of the same records, as they came and as released; not a number where missing."""

    variables: tuple[str, ...]
    index: pd.Index
    original: np.ndarray
    released: np.ndarray
    sd: np.ndarray


def paired(original: pd.DataFrame, released: pd.DataFrame, variables: Iterable[str] | str | None) -> Paired:
    """The variables of two files that have the same index; by default all columns of the original."""
    if not original.index.equals(released.index):
        raise DataError(
            f"{RELEASED}: its index is not that of the original file ({len(released)} and {len(original)} records); "
            "give both the same records, in the same order"
        )
    with about(ORIGINAL):
        names, x = numbers_of(original, variables)
    with about(RELEASED):
        _, y = numbers_of(released, names, may_lack_values=True)
    return Paired(names, original.index, x, y, spread_of(x))


def numbers_of(
    frame: pd.DataFrame, variables: Iterable[str] | str | None, *, may_lack_values: bool = False
) -> tuple[tuple[str, ...], np.ndarray]:
    """Names of variables, and their numbers, shape (n, variables), not a number where missing."""
    names = tuple(frame.columns) if variables is None else _names_of_quantities(variables)
    if not names:
        raise OptionError("variables: name at least one variable that is a quantity")
    if len(frame) == 0:
        raise DataError("has no records; nothing can be measured")
    columns = []
    for name in names:
        found = quantity(one_column(frame, name))
        if not len(found.numbers) and not may_lack_values:
            raise DataError(f"column {shortened(str(name))} has no value; leave it out")
        found.refuse(np.abs(found.numbers) > _LARGEST_SQUARED, "a number too large to be squared; use a larger unit")
        columns.append(np.append(found.numbers, np.nan)[found.codes])
    return names, np.column_stack(columns)


def _names_of_quantities(variables: Iterable[str] | str) -> tuple[str, ...]:
    if not isinstance(variables, Iterable):
        raise OptionError(f"variables must be names of columns, not {shortened(repr(variables))}")
    names = (variables,) if isinstance(variables, str) else tuple(variables)
    if twice := [name for i, name in enumerate(names) if name in names[:i]]:
        raise OptionError(f"variables: {shortened(str(twice[0]))} is named twice; name each variable once")
    return names


def spread_of(values: np.ndarray) -> np.ndarray:
    """Standard deviation (n - 1) of the known values of each column; 0 where they are all equal, or one."""
    known = [column[~np.isnan(column)] for column in values.T]
    # The mean of equal numbers may differ from them in the last digit, and their deviation from 0.
    return np.array([column.std(ddof=1) if column.min() < column.max() else 0.0 for column in known])
