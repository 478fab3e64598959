"""How one level of a hierarchy labels values: from a list, by bands, by masked characters, by dates, or all alike."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import pandas as pd

from kanon_lab.errors import OptionError
from kanon_lab.recode.columns import composed
from kanon_lab.recode.dates import as_dates, date_labels, not_a_date
from kanon_lab.recode.quantities import float_of, floats_of

# Up to this every whole number is a floating-point number.
_EXACT = 2**53
#: What is wrong with a text where there should be a number in bands.
TEXT_IN_BANDS = "text, and bands are of numbers; one cell that is no number makes text of a whole column"


class Rule(Protocol):
    """One level: a label for each value that it covers."""

    @property
    def uncovered(self) -> str:
        """What is wrong with a value that it does not cover, and what to do."""

    @property
    def anything(self) -> str | None:
        """The label, where it says nothing: that of every value, and so of a missing one too. None elsewhere."""

    def labels(self, values: pd.Index) -> list[str | None]:
        """The label of each value, None where it is not covered."""


@dataclass(frozen=True)
class Listed:
    """Labels from a list of values."""

    label_of: Mapping[object, str] = field(repr=False)
    uncovered = "a value that the hierarchy does not list; add it to the list (text and numbers differ) or mend it"

    @property
    def anything(self) -> str | None:
        # Values may also share a label that does say something; asterisks never do.
        labels = set(self.label_of.values())
        label = labels.pop()
        return label if not labels and not label.strip("*") else None

    def labels(self, values: pd.Index) -> list[str | None]:
        # Settings have composed letters, data may have others.
        return [self.label_of.get(value, self.label_of.get(composed(value))) for value in values]


@dataclass(frozen=True)
class Alike:
    """One label for every value."""

    label: str
    uncovered = ""

    @property
    def anything(self) -> str:
        return self.label

    def labels(self, values: pd.Index) -> list[str | None]:
        return [self.label] * len(values)


@dataclass(frozen=True)
class Masked:
    """The first `keep` characters; the others behind a mask."""

    keep: int
    width: int
    mask: str
    fill_zeros: bool

    @property
    def uncovered(self) -> str:
        hint = "" if self.fill_zeros else ", or say width where numbers lost leading zeros"
        return f"a value that has not {self.width} characters; mend it{hint}"

    @property
    def anything(self) -> str | None:
        return None if self.keep else self.mask * self.width

    def labels(self, values: pd.Index) -> list[str | None]:
        texts = (self._text(value) for value in values)
        masks = self.mask * (self.width - self.keep)
        return [text[: self.keep] + masks if len(text) == self.width else None for text in texts]

    def _text(self, value: object) -> str:
        if isinstance(value, str):
            return value
        number = float_of(value)
        if not number.is_integer() or number < 0:
            return ""
        return str(int(value)).zfill(self.width if self.fill_zeros else 0)


@dataclass(frozen=True)
class Dated:
    """The month, quarter, year or decade of a date."""

    unit: str
    date_format: str
    anything = None

    @property
    def uncovered(self) -> str:
        return not_a_date(self.date_format)

    def labels(self, values: pd.Index) -> list[str | None]:
        return date_labels(as_dates(values, self.date_format), self.unit)


@dataclass(frozen=True)
class Bands:
    """Bands of numbers between edges that rise; the outer ones may be infinite."""

    edges: tuple[float, ...]
    closed: str  # The edge that belongs to a band
    whole: bool  # Only whole numbers are covered
    names: tuple[str, ...]  # One for each band

    @classmethod
    def of(
        cls, edges: Sequence[float | None], closed: str, whole: bool | None, names: Sequence[str] | None, what: str
    ) -> Bands:
        """Bands from edges as they are asked for: None at either end leaves that side open. Errors call them `what`."""
        edges = list(edges)
        if closed not in ("left", "right"):
            raise OptionError(f"closed must be left or right, not {closed!r}")
        if edges and edges[0] is None:
            edges[0] = -math.inf
        if edges and edges[-1] is None:
            edges[-1] = math.inf
        edges = [float_of(edge) for edge in edges]
        if len(edges) < 2 or any(not low < high for low, high in zip(edges, edges[1:])):
            raise OptionError(
                f"{what}: edges must be two numbers or more that rise; for an open side the first and the last "
                "may be null, without quotes (None in Python)"
            )
        all_whole = all(edge.is_integer() and abs(edge) <= _EXACT for edge in edges if math.isfinite(edge))
        whole = all_whole if whole is None else whole
        if whole and not all_whole:
            raise OptionError(f"{what}: edges of bands of whole numbers must be whole; or say that whole is false")
        made = [_band_name(low, high, closed, whole) for low, high in zip(edges, edges[1:])]
        if names is None:
            names = made
        names = list(names) if isinstance(names, Iterable) and not isinstance(names, str) else []
        if not all(isinstance(n, str) for n in names) or len(names) != len(made) or len(set(names)) != len(names):
            raise OptionError(f"{what}: give a list of {len(made)} labels (text), another one for each band")
        return cls(tuple(edges), closed, whole, tuple(names))

    @property
    def anything(self) -> None:
        """Never: even a band of all numbers says that there is one."""

    @property
    def uncovered(self) -> str:
        brackets = "[)" if self.closed == "left" else "(]"
        reach = f"{brackets[0]}{shown(self.edges[0])}, {shown(self.edges[-1])}{brackets[1]}"
        kind = "whole number" if self.whole else "number"
        fraction = ", or say whole=False where fractions are meant" if self.whole else ""
        return f"a value that is no {kind} in the bands' reach {reach}; widen or open them, mend the value{fraction}"

    def labels(self, values: pd.Index) -> list[str | None]:
        values = floats_of(values)
        bands = self.positions(values)
        covered = np.isfinite(values) & (bands >= 0) & (bands < len(self.names))
        if self.whole:
            covered &= np.floor(values) == values
        return [self.names[b] if is_covered else None for b, is_covered in zip(bands, covered)]

    def positions(self, values: np.ndarray) -> np.ndarray:
        """The place of each number's band in `names`; -1 below all of them, their number above."""
        return np.searchsorted(self.edges, values, side="right" if self.closed == "left" else "left") - 1


def _band_name(low: float, high: float, closed: str, whole: bool) -> str:
    if not whole:
        return _fraction_name(low, high, closed)
    # From the first to the last whole number of the band; infinite ends stay infinite.
    first, last = (low, high - 1) if closed == "left" else (low + 1, high)
    if math.isinf(first) and math.isinf(last):
        return "any"
    if math.isinf(first):
        return f"under {shown(last + 1)}"
    if math.isinf(last):
        return f"{shown(first)}+"
    if first == last:
        return shown(first)
    return f"{shown(first)}-{shown(last)}" if first >= 0 else f"{shown(first)} to {shown(last)}"


def _fraction_name(low: float, high: float, closed: str) -> str:
    if math.isinf(low) and math.isinf(high):
        return "any"
    if math.isinf(low):
        return f"< {shown(high)}" if closed == "left" else f"<= {shown(high)}"
    if math.isinf(high):
        return f">= {shown(low)}" if closed == "left" else f"> {shown(low)}"
    brackets = "[)" if closed == "left" else "(]"
    return f"{brackets[0]}{shown(low)}, {shown(high)}{brackets[1]}"


def shown(number: float) -> str:
    """A number as labels and messages show it."""
    return str(int(number)) if number.is_integer() and abs(number) <= _EXACT else f"{number:.15g}"
