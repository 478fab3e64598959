"""Records whose risk is above a threshold, absolute or relative to the other records."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from kanon_lab.arguments import ROUNDING, as_risk, as_share
from kanon_lab.errors import OptionError


@dataclass(frozen=True)
class Above:
    """The records whose risk is above a threshold.

    Attributes
    ----------
    kind : {"absolute", "relative"}
        Whether the threshold was given, or found as a quantile of the risks.
    threshold : float
        The risk above which a record counts, 0-1.
    records, share : int, float
        How many are strictly above it, and the same as a share of all records, 0-1.
    which : ndarray of bool, shape (n,)
        The records above it.
    """

    kind: str
    threshold: float
    records: int
    share: float
    which: np.ndarray = field(repr=False)


def records_above(risk: np.ndarray, *, threshold: float | None = None, quantile: float | None = None) -> Above:
    """Count the records whose risk is strictly above a threshold (INE Chile 2023, section 7.7.2).

    Parameters
    ----------
    risk : array of float, shape (n,)
        Risk of each record, 0-1.
    threshold : float, optional
        An absolute threshold, 0-1.
    quantile : float, optional
        A relative one in its place, 0-1: the quantile of the risks with this share of the records below it,
        interpolated linearly between neighbours in order (0.75 is the upper quartile).

    Notes
    -----
    A risk that exceeds the threshold by less than a billionth of it is not above it: the weights of a class, added up
    in another order of the rows, give a risk that differs in its last digits, and the count must not depend on that.

    A relative threshold always finds records, however safe the file is, and fewer than 1 - `quantile` of them where
    many share the risk at the threshold, as the records of one class do.

    Examples
    --------
    >>> import kanon_lab
    >>> kanon_lab.risk.records_above([0.02, 0.3, 0.5], threshold=0.3).records
    1
    """
    risk = as_risk(risk)
    if len(risk) == 0:
        raise OptionError("there is no risk of any record, so nothing to be counted")
    if (threshold is None) == (quantile is None):
        raise OptionError("give either a threshold or a quantile")
    if threshold is None:
        kind, limit = "relative", float(np.quantile(risk, as_share(quantile, "quantile")))
    else:
        kind, limit = "absolute", as_share(threshold, "threshold")
    which = risk > limit * (1 + ROUNDING)
    return Above(kind, limit, int(which.sum()), float(which.mean()), which)
