"""Checks of population counts, with errors that name the row and never the value."""

import numbers

import numpy as np
import pandas as pd

from kanon_lab.errors import DataError, UnfitOptionError

COLUMNS = ("place", "name", "province", "sex", "age_group", "persons")
"""Columns of a counts frame, in order."""

CELL = ["place", "sex", "age_group"]
"""Columns that together name a cell."""

# A municipality as INE codes it, or a synthetic one of the embedded population: two digits of province first.
_INE_CODE = r"\d{2}(\d{3}|S\d+)"

# Floating-point numbers below this are exact to the unit.
_EXACT = 2**53

_THOUSANDS = r"\s*\d{1,3}(\.\d{3})+\s*"

MOST_PERSONS = 10**10
"""No count can exceed this: it is more than there are people, and sums of such counts still fit 64 bits."""


def check_counts(frame: pd.DataFrame) -> pd.DataFrame:
    """A counts frame from any frame that has its columns, or an error that names rows by the index of `frame`.

    Parameters
    ----------
    frame : pandas.DataFrame
        Columns place, sex, age_group (text) and persons (whole numbers, 0 to 10^10; none missing); name (default: the
        place) and province (default: the first two digits of an INE code, else empty) may be absent; other columns are
        left out.

    Returns
    -------
    pandas.DataFrame
        Columns place, name, province, sex, age_group (str) and persons (int64), one row per cell, in the order of
        `frame`, with a RangeIndex.

    Examples
    --------
    >>> import kanon_lab, pandas as pd
    >>> cell = {"place": [29025], "sex": ["men"], "age_group": ["0-4"], "persons": [1731]}
    >>> print(kanon_lab.check_counts(pd.DataFrame(cell)).to_string(index=False))
    place  name province sex age_group  persons
    29025 29025       29 men       0-4     1731
    """
    return checked(frame).reset_index(drop=True)


def checked(frame: pd.DataFrame) -> pd.DataFrame:
    """What `check_counts` returns, with the index of `frame`: later errors can still name its rows."""
    if missing := [column for column in (*CELL, "persons") if column not in frame]:
        raise DataError(
            f"no column {', '.join(missing)}; counts need place, sex, age_group and persons (--columns says "
            "which column is which)"
        )
    result = pd.DataFrame(index=frame.index)
    for column in COLUMNS[:-1]:
        if column in frame:
            result[column] = _text(frame[column])
    for column, width in (("place", 5), ("province", 2)):
        if column in result:
            result[column] = _restore_zeros(result[column], width)
    result["name"] = result.get("name", result["place"])
    if "province" not in result:
        ine = result["place"].str.fullmatch(_INE_CODE)
        result["province"] = result["place"].str[:2].where(ine, "")
    result["persons"] = _persons(frame["persons"])
    check_unique(result)
    return result[list(COLUMNS)]


def check_unique(frame: pd.DataFrame) -> None:
    """Raise a `DataError` when two rows have the same place, sex and age group."""
    twice = frame.duplicated(CELL)
    if twice.any():
        raise DataError(
            f"row {first_row(twice)}: this place, sex and age group stand in a row before it; add the counts "
            "up or drop one"
        )


def check_year(year: int | None, years: list[int]) -> None:
    """Raise an error unless `year` is one of `years`."""
    offered = ", ".join(map(str, sorted(years)))
    if not years:
        raise UnfitOptionError(f"names no years, so {year} cannot be chosen; leave out the year (--year)")
    if year is None:
        raise UnfitOptionError(f"holds several years; choose one (--year): {offered}")
    if year not in years:
        raise UnfitOptionError(f"has no year {year}; choose one of its own (--year): {offered}")


def _text(column: pd.Series) -> pd.Series:
    """Labels as text without stray spaces; a number with nothing after the point loses the point."""
    missing = column.isna()
    whole = pd.api.types.is_float_dtype(column) and (column.dropna() % 1 == 0).all()
    if whole and (column.dropna().abs() < _EXACT).all():
        column = column.astype("Int64")
    text = column.astype(str).str.strip()
    missing |= text.str.lower().isin(["", "nan"])
    if missing.any():
        raise DataError(f"row {first_row(missing)}: no {column.name}; fill it in or drop the row")
    return text


def _restore_zeros(codes: pd.Series, width: int) -> pd.Series:
    """Codes with the leading zero that spreadsheets drop: all are digits, and some have one fewer than `width`."""
    unique = pd.unique(codes)
    if {len(code) for code in unique} == {width - 1, width} and all(code.isdecimal() for code in unique):
        return codes.str.zfill(width)
    return codes


def _persons(column: pd.Series) -> pd.Series:
    other = ~column.map(_may_be_number)
    if pd.api.types.is_integer_dtype(column) and not column.isna().any():
        counts = column
    else:
        counts = pd.to_numeric(column.astype(object).mask(other), errors="coerce").astype(float)
    faults = {
        "is missing": column.isna() | column.map(lambda value: isinstance(value, str) and not value.strip()),
        "has a sign between thousands": _thousands(column),
        "is not a number": ~np.isfinite(counts) | other,
        "is negative": counts < 0,
        "is too large to be persons": counts > MOST_PERSONS,
        "has a fraction (or a sign between thousands)": counts % 1 != 0,
    }
    for fault, rows in faults.items():
        if rows.any():
            raise DataError(
                f"row {first_row(rows)}: the count in column {column.name} {fault}; write a whole number of persons"
            )
    return counts.astype("int64")


def _may_be_number(value: object) -> bool:
    """Whether a value is a number or a text that may hold one: not a truth value, a date, a duration or bytes."""
    return isinstance(value, (str, numbers.Number)) and not isinstance(value, (bool, np.bool_, np.timedelta64))


def _thousands(column: pd.Series) -> pd.Series:
    """Rows of a text column that have a point, where all may be signs between thousands: 1.000 is not read as 1."""
    if pd.api.types.is_numeric_dtype(column):
        return pd.Series(False, index=column.index)
    text = column.where(column.map(lambda value: isinstance(value, str)), "").astype(str)
    pointed = text.str.contains(".", regex=False)
    return pointed & text[pointed].str.fullmatch(_THOUSANDS).all()


def first_row(rows: pd.Series) -> object:
    """Index label of the first true row."""
    return rows.index[int(rows.to_numpy().argmax())]
