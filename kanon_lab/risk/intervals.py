"""Interval disclosure: does the original value lie close about the released one?"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from kanon_lab.arguments import ROUNDING, check_choice, check_positive
from kanon_lab.risk.paired import paired


@dataclass(frozen=True)
class Interval:
    """Which original values lie within an interval about their released value. Those inside are at risk.

    Attributes
    ----------
    inside : DataFrame
        Under the index of the files, one column a variable: whether the original value lies within the interval.
        Missing where there is no original value, and so nothing to be disclosed.
    records : DataFrame
        Under the index of the files: ``compared`` (variables with an original value), ``inside`` (those of them within
        the interval), ``at_risk`` (there is one, and all of them are inside).
    variables : DataFrame
        One row a variable: ``variable``, ``compared`` (records with an original value), ``inside`` (those of them
        within the interval), ``share`` (0-1), ``half_width`` (of the interval: in units of the variable by ``sd``, in
        released records by ``rank``).
    share, share_any : float
        Shares of records with all their values inside (at risk), and with some, 0-1, among those with a value. The mean
        over variables that papers report is ``variables["share"].mean()``.
    """

    width: float
    by: str
    inside: pd.DataFrame = field(repr=False)
    records: pd.DataFrame = field(repr=False)
    variables: pd.DataFrame = field(repr=False)
    share: float
    share_any: float


def interval_disclosure(
    original: pd.DataFrame,
    released: pd.DataFrame,
    *,
    variables: Iterable[str] | str | None = None,
    width: float = 0.05,
    by: str = "sd",
) -> Interval:
    """Count the original values that an interval about the released ones gives away.

    Parameters
    ----------
    original, released : DataFrame
        The same records under the same index, before and after protection.
    variables : sequence of str, or str
        The quantities that are compared; all columns of the original by default.
    width : float
        Half the interval, above 0: in standard deviations of the original values by ``sd``; as a share of the released
        values, at most 1, by ``rank``.
    by : {"sd", "rank"}
        An interval of equal length about every released value (Mateo-Sanz, Sebé and Domingo-Ferrer 2004); or from the
        released value that many ranks below it to the one as many above, its equals counting as one rank, and not
        beyond the smallest and largest (Domingo-Ferrer and Torra 2001).

    Notes
    -----
    Both ends belong to the interval. A value that was suppressed has none, and so is not inside. By ``sd`` a variable
    whose original values are all equal has an interval of no length.

    The measures are shares at risk: 0 when all values are outside, which is best. INE Chile (2023), section 7.6.2, says
    in the same paragraph that the risk grows with the values inside and that a result of 1 means that all are outside.
    sdcMicro's ``dRisk`` takes the standard deviation of the released values and counts a record with one variable
    outside as inside.

    Examples
    --------
    >>> import kanon_lab
    >>> before, after = pd.DataFrame({"income": [10, 20, 90]}), pd.DataFrame({"income": [11, 20, 50]})
    >>> kanon_lab.risk.interval_disclosure(before, after, width=0.1).inside["income"].tolist()
    [True, True, False]
    """
    check_choice(by, "by", ("sd", "rank"))
    width = check_positive(width, "width", 1 if by == "rank" else np.inf)
    both = paired(original, released, variables)
    known = ~np.isnan(both.original)
    if by == "sd":
        half = width * both.sd
        inside = np.abs(both.original - both.released) <= half
    else:
        ranks = [_within_ranks(x, y, width) for x, y in zip(both.original.T, both.released.T)]
        inside, half = np.column_stack([one for one, _ in ranks]), [steps for _, steps in ranks]
    names = list(both.variables)
    compared, number = known.sum(axis=1), inside.sum(axis=1)
    at_risk = (compared > 0) & (number == compared)
    some = max(int((compared > 0).sum()), 1)
    return Interval(
        width,
        by,
        pd.DataFrame(inside, index=both.index, columns=names).astype("boolean").where(known),
        pd.DataFrame({"compared": compared, "inside": number, "at_risk": at_risk}, index=both.index),
        pd.DataFrame(
            {
                "variable": names,
                "compared": known.sum(axis=0),
                "inside": inside.sum(axis=0),
                "share": inside.sum(axis=0) / known.sum(axis=0),
                "half_width": half,
            }
        ),
        float(at_risk.sum() / some),
        float((number > 0).sum() / some),
    )


def _within_ranks(original: np.ndarray, released: np.ndarray, width: float) -> tuple[np.ndarray, int]:
    """Whether each original value lies between the released values some ranks about its own, and how many ranks."""
    has = ~np.isnan(released)
    ordered = np.sort(released[has])
    steps = int(width * len(ordered) + ROUNDING)  # a product that should be whole may be a little less
    inside = np.zeros(len(original), dtype=bool)
    if len(ordered):
        low = np.maximum(np.searchsorted(ordered, released[has], side="left") - steps, 0)
        high = np.minimum(np.searchsorted(ordered, released[has], side="right") - 1 + steps, len(ordered) - 1)
        inside[has] = (ordered[low] <= original[has]) & (original[has] <= ordered[high])
    return inside, steps
