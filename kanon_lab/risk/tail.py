"""The upper tail of a quantity: the few records with the largest values."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from kanon_lab.arguments import check_positive
from kanon_lab.errors import OptionError
from kanon_lab.recode.columns import refuse
from kanon_lab.risk.paired import numbers_of


@dataclass(frozen=True)
class UpperTail:
    """The records above a quantile.

    Attributes
    ----------
    threshold : float
        The value at the quantile: one of the file's own, so not to be published as it stands.
    records, share : int, float
        How many have a value strictly above it, and the same as a share of the records with a value, 0-1.
    missing : int
        Records without a value; they are not in the tail.
    which : ndarray of bool, shape (n,)
        The records above it.
    """

    quantile: float
    threshold: float = field(repr=False)
    records: int
    share: float
    missing: int
    which: np.ndarray = field(repr=False)


def upper_tail(values: pd.Series, *, quantile: float = 0.9, weight: pd.Series | None = None) -> UpperTail:
    """Find the records whose value is above a quantile (INE Chile 2023, section 7.6.3).

    The quantile is the smallest value that at least this share of the records, or of the weights, do not exceed. R's
    default interpolates between neighbours instead.

    Parameters
    ----------
    values : Series
        A quantity.
    quantile : float
        Above 0 and at most 1.
    weight : Series, optional
        Sampling weights, above 0, under the same index: then the quantile is that of the population.

    Examples
    --------
    >>> import kanon_lab
    >>> kanon_lab.risk.upper_tail(pd.Series([5, 9, 2, 7]), quantile=0.75).which.tolist()
    [False, True, False, False]
    """
    quantile = check_positive(quantile, "quantile", 1)
    _, column = numbers_of(values.to_frame(), None)
    numbers = column[:, 0]
    weights = np.ones(len(numbers)) if weight is None else _weights_above_0(weight, values.index)
    known = ~np.isnan(numbers)
    order = np.argsort(numbers[known], kind="stable")
    reached = np.cumsum(weights[known][order])
    # Adding up may fall short of a share that is reached in full.
    at = int(np.searchsorted(reached, quantile * reached[-1] * (1 - 1e-12)))
    threshold = float(numbers[known][order][at])
    which = numbers > threshold
    number = int(which.sum())
    return UpperTail(quantile, threshold, number, float(number / known.sum()), int((~known).sum()), which)


def _weights_above_0(weight: pd.Series, index: pd.Index) -> np.ndarray:
    if not weight.index.equals(index):
        raise OptionError("the weights must have the index of the values: one weight a record")
    _, column = numbers_of(weight.to_frame(), None)
    refuse(~(column[:, 0] > 0), index, weight.name, "a weight that is no number above 0; mend it or drop the record")
    return column[:, 0]
