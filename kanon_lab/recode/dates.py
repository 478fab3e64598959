"""Dates recoded to month, quarter, year, decade, or age in completed years."""

from __future__ import annotations

import datetime
import re

import numpy as np
import pandas as pd

from kanon_lab.arguments import check_choice
from kanon_lab.errors import OptionError, shortened
from kanon_lab.recode.columns import distinct, refuse, spread

ISO = "%Y-%m-%d"
_SOME_TIME = datetime.datetime(2001, 2, 3, 4, 5, 6, tzinfo=datetime.UTC)
_ISO_TEXT = re.compile(r"\d{4}-\d{2}-\d{2}")

#: What a date may be recoded to, from fine to coarse; each unit lies within one of the next.
UNITS = ("month", "quarter", "year", "decade")


def recode_dates(
    series: pd.Series, *, to: str, reference: str | datetime.date | None = None, date_format: str = ISO
) -> pd.Series:
    """Dates as month, quarter, year, decade or age.

    Parameters
    ----------
    series : Series
        Dates, or text that holds dates. Missing ones stay missing.
    to : {"month", "quarter", "year", "decade", "age"}
        ``2001-05``, ``2001-Q2``, ``2001``, ``2000-2009``, or the age in completed years at `reference`.
    reference : date or ISO text
        Day at which age is taken, and for nothing else. Who was born on 29 February grows older on 1 March of years
        without that day.
    date_format : str
        How text holds a date (`datetime.strptime`).

    Returns
    -------
    Series of text, or for age of whole numbers (``Int64``)

    Examples
    --------
    >>> import kanon_lab
    >>> births = pd.Series(['2000-02-29', None])
    >>> kanon_lab.recode.recode_dates(births, to='quarter').tolist()
    ['2000-Q1', nan]
    >>> kanon_lab.recode.recode_dates(births, to='age', reference='2011-02-28').tolist()
    [10, <NA>]
    """
    check_choice(to, "to", (*UNITS, "age"))
    check_date_format(date_format)
    if (to == "age") != (reference is not None):
        raise OptionError("an age needs a reference date, such as 2011-11-01; other recodings of dates take none")
    codes, values = distinct(series)
    dates = as_dates(values, date_format)
    refuse(np.isin(codes, np.flatnonzero(dates.isna())), series.index, series.name, not_a_date(date_format))
    if to != "age":
        return spread(date_labels(dates, to), codes, series)
    day = as_dates(pd.Index([reference], dtype=object), ISO)[0]
    if pd.isna(day):
        raise OptionError(f"the reference {str(reference)!r} is no date; write it as 2011-11-01")
    day = day.normalize()
    late = "the date is after the reference date; mend one of them"
    refuse(np.isin(codes, np.flatnonzero(dates >= day + pd.Timedelta(days=1))), series.index, series.name, late)
    before_birthday = (dates.month > day.month) | ((dates.month == day.month) & (dates.day > day.day))
    ages = np.asarray(day.year - dates.year - before_birthday, dtype=np.int64)
    ages = pd.array(ages, dtype="Int64").take(codes, allow_fill=True)
    return pd.Series(ages, index=series.index, name=series.name)


def check_date_format(date_format: object) -> str:
    """Return how text holds a date as it is; an `OptionError` unless dates can be read that way."""
    if not isinstance(date_format, str):
        raise OptionError(f"date_format must be text, such as {ISO}, not {shortened(repr(date_format))}")
    try:
        datetime.datetime.strptime(_SOME_TIME.strftime(date_format), date_format)
    except (ValueError, IndexError, re.error):  # the last where a part of the date is there twice
        raise OptionError(
            f"date_format {shortened(repr(date_format))} is none that dates can be read by; write it like {ISO}"
        ) from None
    return date_format


def not_a_date(date_format: str) -> str:
    """What is wrong with a value that `as_dates` does not read."""
    return f"no date as {date_format} has it; mend it, or say with date_format how dates are written"


def as_dates(values: pd.Index, date_format: str) -> pd.DatetimeIndex:
    """Values as dates; NaT where one is none."""
    if isinstance(values.dtype, np.dtype) and values.dtype.kind == "M":
        return pd.DatetimeIndex(values)
    if isinstance(values.dtype, pd.DatetimeTZDtype):
        return pd.DatetimeIndex(values).tz_localize(None)
    texts = [_as_iso(value, date_format) for value in values]
    return pd.DatetimeIndex(pd.to_datetime(pd.Series(texts, dtype=object), format=ISO, errors="coerce"))


def _as_iso(value: object, date_format: str) -> str | None:
    if isinstance(value, datetime.date):
        return value.strftime("%Y-%m-%d")
    if not isinstance(value, str):
        return None
    if date_format == ISO:
        return value if _ISO_TEXT.fullmatch(value) else None
    try:
        return datetime.datetime.strptime(value, date_format).strftime("%Y-%m-%d")
    except ValueError:
        return None


def date_labels(dates: pd.DatetimeIndex, unit: str) -> list[str | None]:
    """Dates as labels of one of `UNITS`; None for NaT."""
    known = dates.notna()
    year, month = (np.where(known, part, 0).astype(int) for part in (dates.year, dates.month))
    labels = {
        "month": lambda y, m: f"{y:04}-{m:02}",
        "quarter": lambda y, m: f"{y:04}-Q{(m + 2) // 3}",
        "year": lambda y, m: f"{y:04}",
        "decade": lambda y, m: f"{y // 10 * 10:04}-{y // 10 * 10 + 9:04}",
    }[unit]
    return [labels(y, m) if is_known else None for y, m, is_known in zip(year, month, known)]
