"""Bands that turn a quantity into a sensitive variable with few values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from kanon_lab.recode import rules
from kanon_lab.recode.columns import distinct, refuse, spread


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
        _ = self._rule

    @property
    def _rule(self) -> rules.Bands:
        return rules.Bands.of(self.edges, self.closed, False, None, "bands")

    @property
    def labels(self) -> tuple[str, ...]:
        """The bands as intervals, such as ``[0, 10)`` or ``>= 10``, in rising order."""
        return self._rule.names

    def cut(self, column: pd.Series) -> pd.Series:
        """The band of each number as an ordered categorical; missing values stay missing."""
        rule, (codes, values) = self._rule, distinct(column)
        labels = rule.labels(values)
        uncovered = np.isin(codes, [i for i, label in enumerate(labels) if label is None])
        text = any(isinstance(value, str) for value in values)
        refuse(uncovered, column.index, column.name, rules.TEXT_IN_BANDS if text else rule.uncovered)
        return spread(labels, codes, column).astype(pd.CategoricalDtype(rule.names, ordered=True))
