"""Bands that turn a quantity into a sensitive variable with few values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from kanon_lab.recode import Hierarchy


@dataclass(frozen=True)
class Bands:
    """Bands of a numeric variable that make a sensitive variable with few values of it.

    Parameters
    ----------
    edges : sequence of float
        Two or more, rising. None as the first or last leaves that side open.
    closed : {"left", "right"}
        The edge that belongs to a band: bands of 0, 10, 20 are [0, 10) and [10, 20), or (0, 10] and (10, 20].

    Examples
    --------
    >>> import kanon_lab
    >>> kanon_lab.diversity.Bands([0, 10, None], closed="left").labels
    ('[0, 10)', '>= 10')
    """

    edges: Sequence[float | None]
    closed: str

    def __post_init__(self):
        object.__setattr__(self, "edges", tuple(self.edges))
        _ = self.labels

    @property
    def labels(self) -> tuple[str, ...]:
        """The bands as intervals, such as ``[0, 10)`` or ``>= 10``, in rising order."""
        return self._hierarchy.rules[0].names

    @property
    def _hierarchy(self) -> Hierarchy:
        return Hierarchy.from_intervals([self.edges], closed=self.closed, whole=False)

    def cut(self, column: pd.Series) -> pd.Series:
        """The band of each number as an ordered categorical; missing values stay missing."""
        banded = self._hierarchy.recode(column, 1)
        return banded.astype(pd.CategoricalDtype(self.labels, ordered=True))
