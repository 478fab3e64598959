"""A column of numbers as its distinct numbers, and back; what is no number is refused, never lost."""

from __future__ import annotations

import datetime
import math
import numbers
from dataclasses import dataclass
from decimal import Decimal

import numpy as np
import pandas as pd

from kanon_lab.errors import OptionError, shortened
from kanon_lab.recode.columns import distinct, plain, refuse

# Whole numbers beyond this are refused, so that 64 bits hold what they are rounded to.
_LARGEST_WHOLE = 2**62


@dataclass(frozen=True)
class Quantity:
    """A column of numbers."""

    column: pd.Series  # As it is
    codes: np.ndarray  # (n,) Position of each row's value among `values`, or -1 where it is missing
    values: np.ndarray  # The distinct values: int64, float64, or objects such as decimals
    numbers: np.ndarray  # `values` as floating-point numbers, all finite
    nullable: bool  # Whether the column's type has a missing value of its own

    def rows(self, which: np.ndarray) -> np.ndarray:
        """Whether each row holds one of the distinct values that `which` marks."""
        return np.isin(self.codes, np.flatnonzero(which))

    def refuse(self, which: np.ndarray, fault: str) -> None:
        """Raise a `DataError` that names the first row with a value that `which` marks, if there is one."""
        if which.any():
            refuse(self.rows(which), self.column.index, self.column.name, fault)

    def rewritten(self, values: np.ndarray) -> pd.Series:
        """The column with other `values` in place of its own: int64, float64 or objects; nullable where it was."""
        if values.dtype == object:
            cells = pd.Series(values, dtype=object).array.take(self.codes, allow_fill=True)
        else:
            cells = pd.array(values, dtype="Int64" if values.dtype.kind == "i" else "Float64")
            cells = cells.take(self.codes, allow_fill=True)
            if not self.nullable:
                # Of whole numbers none is missing then.
                cells = cells.to_numpy(values.dtype, **({"na_value": math.nan} if cells.isna().any() else {}))
        return pd.Series(cells, index=self.column.index, name=self.column.name)


def quantity(series: pd.Series) -> Quantity:
    """The numbers of a column."""
    column = plain(series)
    if column.dtype == object:
        # To a hash table 1 and True are one value.
        truth = np.array([isinstance(value, (bool, np.bool_)) for value in column], dtype=bool)
        refuse(truth, series.index, series.name, _why_no_number(True))
    codes, values = distinct(column)
    found = floats_of(values)
    kind = getattr(values.dtype, "kind", "O")
    bad = ~np.isfinite(found)
    if kind in "iu":
        bad |= np.abs(found) > _LARGEST_WHOLE
    if bad.any():
        fault = _why_no_number(values[int(bad.argmax())])
        refuse(np.isin(codes, np.flatnonzero(bad)), series.index, series.name, fault)
    exact = found if kind == "f" else values.to_numpy(np.int64 if kind in "iu" else object)
    return Quantity(series, codes, exact, found, not isinstance(column.dtype, np.dtype))


def floats_of(values: pd.Index) -> np.ndarray:
    """Values as numbers, NaN where one is none: text and truth values are not."""
    if isinstance(values.dtype, pd.SparseDtype):
        values = pd.Index(np.asarray(values))
    kind = getattr(values.dtype, "kind", "O")
    if kind == "f" and values.dtype.itemsize < 8:
        # As they are written: 0.1 of 32 bits is none of the numbers of 64 bits next to 0.1.
        return np.array([float(str(value)) for value in values.to_numpy(dtype=np.float32)], dtype=float)
    if kind in "iuf":
        return values.to_numpy(dtype=float)
    return np.array([float_of(value) for value in values], dtype=float)


def float_of(value: object) -> float:
    """A value as a number, NaN where it is none: text and truth values are not."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (Decimal, numbers.Real)):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def as_decimal(number: object) -> Decimal:
    """A number as it is written: 0.1 is a tenth, not the binary fraction next to it."""
    return number if isinstance(number, Decimal) else Decimal(str(number))


def like(number: Decimal, value: object) -> object:
    """A decimal as a value of the kind of `value`: a decimal; a whole number, where it is one; else a float."""
    if isinstance(value, Decimal):
        return number
    whole = isinstance(value, numbers.Integral) and number == number.to_integral_value()
    return int(number) if whole else float(number)


def check_number(number: object, name: str) -> object:
    """Return an option as it is; an `OptionError` that calls it `name` unless it is a finite number with digits."""
    fraction = isinstance(number, numbers.Rational) and not isinstance(number, numbers.Integral)
    if fraction or not math.isfinite(float_of(number)):
        raise OptionError(f"{name} must be a number, not {shortened(repr(number))}")
    return number


def _why_no_number(value: object) -> str:
    """What is wrong with a value that is no number to reckon with, and what to do."""
    if isinstance(value, str):
        return "text, and numbers are needed; one cell that is no number makes text of a whole column"
    if isinstance(value, (bool, np.bool_)):
        return "a truth value, and numbers are needed; group such values"
    if isinstance(value, (datetime.date, datetime.timedelta)):
        return "a date or time, and numbers are needed; recode it as a date"
    if isinstance(value, (numbers.Real, Decimal)):
        return "a number that is infinite or beyond 4e18; mend it, or make it missing"
    return "no number; mend it"
