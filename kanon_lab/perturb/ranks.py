"""The order of values: their ranks, and columns that have none or no two different values."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from kanon_lab.classes.coding import coded
from kanon_lab.errors import DataError, shortened
from kanon_lab.recode.quantities import quantity

_UNORDERED = {"string", "boolean"}
_DATES = {"date", "datetime", "datetime64", "timedelta", "timedelta64", "period", "time"}


def positions(column: pd.Series) -> np.ndarray | None:
    """Position of each row's value among the distinct values, ascending, -1 where missing.

    None where values have no order: text, truth values, and categories that are not ordered.
    """
    if isinstance(column.dtype, pd.CategoricalDtype):
        return column.cat.codes.to_numpy() if column.cat.ordered else None
    kind = pd.api.types.infer_dtype(column, skipna=True)
    if kind in _UNORDERED:
        return None
    if kind in _DATES:
        return coded(column).codes
    found = quantity(column)
    position = np.full(len(found.numbers) + 1, -1)
    position[:-1] = np.unique(found.numbers, return_inverse=True)[1]
    return position[found.codes]


def refuse_constant(name: str, values: np.ndarray, groups: Sequence[np.ndarray]) -> None:
    """Raise a `DataError` where a column has no two different values in a stratum: it would stay as it is."""
    flat = sum(values[group].min() == values[group].max() for group in groups)
    if flat:
        place = f" in {flat} of {len(groups)} strata; join strata, or" if len(groups) > 1 else ";"
        raise DataError(f"column {shortened(name)} has the same value in every record{place} leave it out")


def mean_ranks(values: np.ndarray) -> np.ndarray:
    """Ranks from 1 in each column, equal values sharing the mean of theirs; shape as given."""
    return pd.DataFrame(values).rank().to_numpy()
