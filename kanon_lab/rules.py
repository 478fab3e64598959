"""Rules by which values are labelled: from a list, by bands, by masked characters, by dates, or all alike."""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from kanon_lab.arguments import check_choice
from kanon_lab.columns import composed, distinct, float_of, floats_of, from_labels, refuse
from kanon_lab.errors import OptionError, described, shortened

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
    >>> births = pd.Series(['2000-02-29', None])
    >>> kanon_lab.methods.recode_dates(births, to='quarter').tolist()
    ['2000-Q1', nan]
    >>> kanon_lab.methods.recode_dates(births, to='age', reference='2011-02-28').tolist()
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
        return from_labels(date_labels(dates, to), codes, series)
    day = as_dates(pd.Index([reference], dtype=object), ISO)[0]
    if pd.isna(day):
        raise OptionError(f"the reference {str(reference)!r} is not a date; write it as 2011-11-01")
    day = day.normalize()
    late = "the date is after the reference date; correct one of them"
    refuse(np.isin(codes, np.flatnonzero(dates >= day + pd.Timedelta(days=1))), series.index, series.name, late)
    before_birthday = (dates.month > day.month) | ((dates.month == day.month) & (dates.day > day.day))
    ages = np.asarray(day.year - dates.year - before_birthday, dtype=np.int64)
    known = pd.array(ages, dtype="Int64").take(codes, allow_fill=True)
    return pd.Series(known, index=series.index, name=series.name)


def check_date_format(date_format: object) -> str:
    """Return how text holds a date as it is; an `OptionError` unless dates can be read that way."""
    if not isinstance(date_format, str):
        raise OptionError(f"date_format must be text, such as {ISO}, not {described(date_format)}")
    try:
        datetime.datetime.strptime(_SOME_TIME.strftime(date_format), date_format)
        readable = "%" in date_format
    except (ValueError, IndexError, re.error):  # the last where a part of the date is there twice
        readable = False
    if not readable:
        raise OptionError(
            f"date_format {shortened(repr(date_format))} cannot be used to read dates; write it like {ISO}"
        )
    return date_format


def not_a_date(date_format: str) -> str:
    """What is wrong with a value that `as_dates` does not read."""
    other = "%d/%m/%Y" if date_format == ISO else ISO
    return (
        f'not a date written as {date_format}; correct it, or say how dates are written, such as date_format: "{other}"'
    )


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


# Up to this every whole number is a floating-point number.
_EXACT = 2**53
#: What is wrong with a text where there should be a number in bands.
TEXT_IN_BANDS = "text, but bands are of numbers; one cell that is not a number turns a whole column into text"


class Rule:
    """One level: a label for each value that it covers."""

    @property
    def uncovered(self) -> str:
        """What is wrong with a value that it does not cover, and what to do."""
        return ""

    @property
    def anything(self) -> str | None:
        """The label, where it says nothing: that of every value, and so of a missing one too. None elsewhere."""
        return None

    def labels(self, values: pd.Index) -> list[str | None]:
        """The label of each value, None where it is not covered."""
        raise NotImplementedError


@dataclass(frozen=True)
class Listed(Rule):
    """Labels from a list of values."""

    label_of: Mapping[object, str] = field(repr=False)
    uncovered = "a value that the hierarchy does not list; add it to the list (text and numbers differ) or correct it"

    @property
    def anything(self) -> str | None:
        # Values may also share a label that does say something; asterisks never do.
        label, *others = set(self.label_of.values())
        return label if not others and not label.strip("*") else None

    def labels(self, values: pd.Index) -> list[str | None]:
        # Settings have composed letters, data may have others.
        return [self.label_of.get(value, self.label_of.get(composed(value))) for value in values]


@dataclass(frozen=True)
class Alike(Rule):
    """One label for every value."""

    label: str

    @property
    def anything(self) -> str:
        return self.label

    def labels(self, values: pd.Index) -> list[str | None]:
        return [self.label] * len(values)


@dataclass(frozen=True)
class Masked(Rule):
    """The first `keep` characters; the others behind a mask."""

    keep: int
    width: int
    mask: str
    fill_zeros: bool

    @property
    def uncovered(self) -> str:
        hint = "" if self.fill_zeros else ", or set width if numbers have lost leading zeros"
        return f"a value that does not have {self.width} characters; correct it{hint}"

    @property
    def anything(self) -> str | None:
        return None if self.keep else self.mask * self.width

    def labels(self, values: pd.Index) -> list[str | None]:
        texts, masks = map(self._text, values), self.mask * (self.width - self.keep)
        return [text[: self.keep] + masks if len(text) == self.width else None for text in texts]

    def _text(self, value: Any) -> str:
        if isinstance(value, str):
            return value
        number = float_of(value)
        if not number.is_integer() or number < 0:
            return ""
        return str(int(value)).zfill(self.width if self.fill_zeros else 0)


@dataclass(frozen=True)
class Dated(Rule):
    """The month, quarter, year or decade of a date."""

    unit: str
    date_format: str

    @property
    def uncovered(self) -> str:
        return not_a_date(self.date_format)

    def labels(self, values: pd.Index) -> list[str | None]:
        return date_labels(as_dates(values, self.date_format), self.unit)


@dataclass(frozen=True)
class Bands(Rule):
    """Bands of numbers between edges that rise; the outer ones may be infinite. Even a band of all says something."""

    edges: tuple[float, ...]
    closed: str  # The edge that belongs to a band
    whole: bool  # Only whole numbers are covered
    names: tuple[str, ...]  # One for each band

    @classmethod
    def of(
        cls, edges: Sequence[float | None], closed: str, whole: bool | None, names: Sequence[str] | None, what: str
    ) -> Bands:
        """Bands from edges as they are asked for: None at either end leaves that side open. Errors call them `what`."""
        if closed not in ("left", "right"):
            raise OptionError(f"closed must be left or right, not {described(closed)}")
        edges = list(edges)
        ends = {0: -math.inf, len(edges) - 1: math.inf}
        rising = [ends.get(i, math.nan) if edge is None else float_of(edge) for i, edge in enumerate(edges)]
        if len(rising) < 2 or any(not low < high for low, high in zip(rising, rising[1:])):
            raise OptionError(
                f"{what}: edges must be two numbers or more that rise; for an open side the first and the last "
                "may be null, without quotes (None in Python)"
            )
        all_whole = all(edge.is_integer() and abs(edge) <= _EXACT for edge in rising if math.isfinite(edge))
        whole = all_whole if whole is None else whole
        if whole and not all_whole:
            raise OptionError(f"{what}: edges of bands of whole numbers must be whole; or say that whole is false")
        usual = [_band_name(low, high, closed, whole) for low, high in zip(rising, rising[1:])]
        names = usual if names is None else names
        names = list(names) if isinstance(names, Iterable) and not isinstance(names, str) else []
        if not all(isinstance(n, str) for n in names) or len(names) != len(usual) or len(set(names)) != len(names):
            raise OptionError(f"{what}: give a list of {len(usual)} labels (text), another one for each band")
        return cls(tuple(rising), closed, whole, tuple(names))

    @property
    def uncovered(self) -> str:
        brackets = "[)" if self.closed == "left" else "(]"
        reach = f"{brackets[0]}{shown(self.edges[0])}, {shown(self.edges[-1])}{brackets[1]}"
        kind = "whole number" if self.whole else "number"
        fraction = ", or set whole: false if fractions are meant" if self.whole else ""
        return f"not a {kind} inside the bands {reach}; widen or open them, or correct the value{fraction}"

    def labels(self, values: pd.Index) -> list[str | None]:
        numbers = floats_of(values)
        bands = self.positions(numbers)
        covered = np.isfinite(numbers) & (bands >= 0) & (bands < len(self.names))
        if self.whole:
            covered &= np.floor(numbers) == numbers
        return [self.names[b] if is_covered else None for b, is_covered in zip(bands, covered)]

    def positions(self, values: np.ndarray) -> np.ndarray:
        """The place of each number's band in `names`; -1 below all of them, their number above."""
        return np.searchsorted(self.edges, values, side="right" if self.closed == "left" else "left") - 1


def _band_name(low: float, high: float, closed: str, whole: bool) -> str:
    if math.isinf(low) and math.isinf(high):
        return "any"
    if not whole:
        if math.isinf(low):
            return f"{'<' if closed == 'left' else '<='} {shown(high)}"
        if math.isinf(high):
            return f"{'>=' if closed == 'left' else '>'} {shown(low)}"
        brackets = "[)" if closed == "left" else "(]"
        return f"{brackets[0]}{shown(low)}, {shown(high)}{brackets[1]}"
    # From the first to the last whole number of the band; infinite ends stay infinite.
    first, last = (low, high - 1) if closed == "left" else (low + 1, high)
    if math.isinf(first):
        return f"under {shown(last + 1)}"
    if math.isinf(last):
        return f"{shown(first)}+"
    if first == last:
        return shown(first)
    return f"{shown(first)}-{shown(last)}" if first >= 0 else f"{shown(first)} to {shown(last)}"


def shown(number: float) -> str:
    """A number as labels and messages show it."""
    return str(int(number)) if number.is_integer() and abs(number) <= _EXACT else f"{number:.15g}"
