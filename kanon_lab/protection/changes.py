"""What a step did to the cells of a file."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from kanon_lab.protection.truth import joint_codes, texts_of


@dataclass(frozen=True)
class Changes:
    """By column the cells with another value, or none any more; and whether a record has one, or another place."""

    changed: dict[str, int]
    suppressed: dict[str, int]
    touched: np.ndarray = field(repr=False)


def changes(before: pd.DataFrame, after: pd.DataFrame) -> Changes:
    """Compare two states of a file by index labels; a column that is gone from the second lost all its values."""
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
