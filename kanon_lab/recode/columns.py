"""One column of a frame: its distinct values, plain values without unused categories, and rows that are refused."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pandas as pd

from kanon_lab.errors import DataError, OptionError, meant, shortened


def distinct(series: pd.Series) -> tuple[np.ndarray, pd.Index]:
    """Number of each row's value (-1 where missing) among the distinct values, and these values."""
    try:
        codes, values = pd.factorize(plain(series), use_na_sentinel=True)
    except TypeError:
        raise DataError(
            f"column {shortened(str(series.name))} holds lists or the like; keep one value a cell"
        ) from None
    return codes, pd.Index(values)


def plain(series: pd.Series) -> pd.Series:
    """A column without categories: of the type that its categories have."""
    if not isinstance(series.dtype, pd.CategoricalDtype):
        return series
    if len(series.cat.categories) == 0:
        return pd.Series(np.nan, index=series.index, name=series.name, dtype=object)
    values = series.cat.categories.take(series.cat.codes.clip(lower=0))
    return pd.Series(values, index=series.index, name=series.name).mask((series.cat.codes < 0).to_numpy())


def spread(labels: Sequence[str], codes: np.ndarray, like: pd.Series) -> pd.Series:
    """A text column from labels and the number of each row's label (-1 where missing)."""
    column = pd.Series(labels, dtype=None if len(labels) else object).array.take(codes, allow_fill=True)
    return pd.Series(column, index=like.index, name=like.name)


def one_column(frame: pd.DataFrame, name: str) -> pd.Series:
    """Column of a frame; a `DataError` where it is absent or stands twice."""
    count = list(frame.columns).count(name)
    if count != 1:
        remedy = meant(name, frame.columns, "check the name")
        fault = "stands twice; give every column its own name" if count else f"is not there; {remedy}"
        raise DataError(f"column {shortened(str(name))} {fault}")
    return frame[name]


def holds_numbers(column: pd.Series) -> bool:
    """Whether a column is of a type of real numbers; truth values are none."""
    types = pd.api.types
    return types.is_numeric_dtype(column) and not (types.is_bool_dtype(column) or types.is_complex_dtype(column))


def names_of(names: Iterable[str] | str, setting: str) -> tuple[str, ...]:
    """Names of columns as a tuple; an `OptionError` that calls them `setting` where one stands twice or none can be."""
    try:
        found = (names,) if isinstance(names, str) else tuple(names)
    except TypeError:
        found = (None,)
    if not all(isinstance(name, str) and name for name in found):
        raise OptionError(f"{setting} must be names of columns, such as [income, rent], not {shortened(repr(names))}")
    if twice := [name for i, name in enumerate(found) if name in found[:i]]:
        raise OptionError(f"{setting}: {shortened(twice[0])} is named twice; name each variable once")
    return found


def with_columns(frame: pd.DataFrame, columns: Mapping[str, pd.Series]) -> pd.DataFrame:
    """A copy of a frame with other columns under the names of some of its own."""
    result = frame.copy()
    for name, column in columns.items():
        result[name] = column
    return result


def refuse(rows: np.ndarray, index: pd.Index, column: object, fault: str) -> None:
    """Raise a `DataError` that names the first of the `rows` that are true, if any is."""
    if rows.any():
        row, column = shortened(str(index[int(rows.argmax())])), shortened(str(column))
        more = f" (and {int(rows.sum()) - 1} more)" if rows.sum() > 1 else ""
        raise DataError(f"column {column}: row {row}{more}: {fault}")


def composed(value: object) -> object:
    """A text with each accent in one letter with the letter that bears it (NFC); other values as they are."""
    return unicodedata.normalize("NFC", value) if isinstance(value, str) else value


def as_text(value: object) -> str:
    """A value as text; a number with nothing after the point loses the point."""
    whole = isinstance(value, (float, np.floating)) and float(value).is_integer()
    return str(int(value)) if whole else str(value)
