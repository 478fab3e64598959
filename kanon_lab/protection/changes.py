"""What a step did to the cells of a file."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from kanon_lab.protection.truth import joint_codes, texts_of


@dataclass(frozen=True)
class Changes:
    """Cells that differ between two states of a file.

    Attributes
    ----------
    changed, suppressed : dict of str to int
        By column, the cells that have another value, and those that have none any more. No cell is in both.
    touched : ndarray of bool, shape (n,)
        The records, in the order of the first state, that have such a cell or stand in another place.
    """

    changed: dict[str, int]
    suppressed: dict[str, int]
    touched: np.ndarray = field(repr=False)


def changes(before: pd.DataFrame, after: pd.DataFrame) -> Changes:
    """Compare two states of a file; records are the same where their index labels are.

    Parameters
    ----------
    before, after : DataFrame
        The same index labels in any order, each once. A column that is gone from `after` lost all its values.
    """
    touched = before.index != after.index
    if touched.any():
        after = after.loc[before.index]
    changed, suppressed = {}, {}
    for name, column in before.items():
        known = column.notna().to_numpy()
        if name in after and column.dtype == after[name].dtype and column.equals(after[name]):
            other = gone = np.zeros(len(known), dtype=bool)
        elif name in after:
            now = after[name].notna().to_numpy()
            gone, other = known & ~now, now & ~same_values(column, after[name])
        else:
            gone, other = known, np.zeros(len(known), dtype=bool)
        changed[name], suppressed[name] = int(other.sum()), int(gone.sum())
        touched = touched | other | gone
    return Changes(changed, suppressed, touched)


def same_values(one: pd.Series, other: pd.Series) -> np.ndarray:
    """Whether two columns, row by row, have the same value as text (34 and "34" do) or are both missing."""
    first, second = joint_codes(texts_of(one), texts_of(other))
    return first == second
