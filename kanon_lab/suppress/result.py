"""What a suppression gives back, and how suppressed cells are taken out of a frame."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from kanon_lab.keys import KeySpec


@dataclass(frozen=True)
class Suppression:
    """The result of a local suppression.

    Attributes
    ----------
    frame : DataFrame
        The same records and columns, direct identifiers among them; suppressed values are missing. Whole numbers and
        truth values of a column that lost some are of pandas' nullable types, so that the others stay what they were.
    cells : DataFrame
        One row a key variable or ghost: ``variable``, ``role`` ("key" or "ghost"), ``cells`` (suppressed now) and
        ``share`` (0-1 of all records).
    violating : int
        Records that did not meet what was asked for, before.
    records_touched : int
        Records that lost a key value.
    claims : DataFrame
        What may be claimed now; see `kanon_lab.suppress.protection_claims`.
    """

    frame: pd.DataFrame = field(repr=False)
    cells: pd.DataFrame
    violating: int
    records_touched: int
    claims: pd.DataFrame

    @property
    def total(self) -> int:
        """Key cells suppressed now; ghosts are not counted."""
        return int(self.cells.loc[self.cells["role"] == "key", "cells"].sum())


def without_cells(
    frame: pd.DataFrame, gone: Mapping[str, np.ndarray], spec: KeySpec
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """A frame without some values of its keys, and of their ghosts; and how many went of each variable.

    A ghost goes wherever its key is missing, for whatever reason: it would tell the key.
    """
    released, rows = frame.copy(), []
    for key in spec.key_variables:
        known = frame[key].notna().to_numpy()
        rows_gone = gone.get(key, np.zeros(len(frame), dtype=bool))
        for role, name in (("key", key), *(("ghost", ghost) for ghost in spec.ghost_variables.get(key, ()))):
            lost = (rows_gone if role == "key" else rows_gone | ~known) & frame[name].notna().to_numpy()
            rows.append((name, role, int(lost.sum()), float(lost.mean())))
            if lost.any():
                released[name] = _without(frame[name], lost)
    return released, pd.DataFrame(rows, columns=["variable", "role", "cells", "share"])


def _without(column: pd.Series, lost: np.ndarray) -> pd.Series:
    """A column without some values: not even under a mask, or among its categories."""
    if isinstance(column.dtype, np.dtype) and column.dtype.kind in "iub":
        column = column.convert_dtypes()
    if isinstance(column.dtype, pd.CategoricalDtype):
        return column.mask(lost).cat.remove_unused_categories()
    values = column.array.copy()
    if isinstance(values, pd.arrays.IntegerArray | pd.arrays.FloatingArray | pd.arrays.BooleanArray):
        # A nullable array keeps what stands under its mask.
        values[lost] = values.dtype.type(0)
    column = pd.Series(values, index=column.index, name=column.name)
    return column.mask(lost)
