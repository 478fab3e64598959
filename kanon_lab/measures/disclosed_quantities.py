"""Quantities that a release gives away: intervals about released values, and record linkage by distance."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from kanon_lab.arguments import ROUNDING, check_choice, check_positive
from kanon_lab.columns import distinct_rows, paired


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
    >>> before, after = pd.DataFrame({"income": [10, 20, 90]}), pd.DataFrame({"income": [11, 20, 50]})
    >>> kanon_lab.measures.interval_disclosure(before, after, width=0.1).inside["income"].tolist()
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


SCALES = ("sd", "mahalanobis", "none")
# Variances so small beside the largest one are rounding.
_FLAT_AXIS = 1e-10
# Released points whose nearest original points are looked up at a time.
_RECORDS_AT_A_TIME = 4096


@dataclass(frozen=True)
class Linked:
    """Which released records are linked to the original records that they came from.

    Attributes
    ----------
    records : DataFrame
        Under the index of the files, one row a target: ``distance`` (to the nearest original record; not a number where
        the record has none to be compared with), ``nearest`` (original records at this distance), ``own`` (its own is
        among them), ``linked`` (1 over `nearest` if so, else 0: the probability of the right link when one of the
        nearest is chosen at random).
    share : float
        Mean of ``linked`` over the targets: the expected share of right links, 0-1.
    share_at_most : float
        Share of targets whose own record is among the nearest, 0-1: that of an outsider with luck in every tie.
    """

    variables: tuple[str, ...]
    scale: str
    records: pd.DataFrame = field(repr=False)
    share: float
    share_at_most: float


def record_linkage(
    original: pd.DataFrame,
    released: pd.DataFrame,
    *,
    variables: Iterable[str] | str | None = None,
    scale: str = "sd",
    targets: slice | np.ndarray | None = None,
) -> Linked:
    """Link each released record to the nearest original one, as an outsider who has the original values would.

    Parameters
    ----------
    original, released, variables
        As in `interval_disclosure`.
    scale : {"sd", "mahalanobis", "none"}
        Whether each variable is divided by the standard deviation of its original values, so that none counts for more
        because of its unit; or the distance takes account of the covariance of the original values, which finds more
        where noise follows that covariance.
    targets : slice or ndarray, optional
        Positions of the released records that are linked; by default all.

    Returns
    -------
    Linked
        Of the targets.

    Notes
    -----
    Distances are Euclidean. A released record is compared on the variables of which it has a value, with the original
    records that have a value of all of these; without any it is not linked, and counts as such. A variable whose
    original values are all equal tells nobody apart and is left out of the distance. The share measures a protection,
    not a file: unprotected, it is 1 where no two records agree (Pagliuca and Seri 1999; Domingo-Ferrer and Torra 2001;
    INE Chile 2023, section 7.6.1).

    Examples
    --------
    >>> before, after = pd.DataFrame({"income": [10, 20, 90]}), pd.DataFrame({"income": [11, 11, 80]})
    >>> kanon_lab.measures.record_linkage(before, after).records["linked"].tolist()
    [1.0, 0.0, 1.0]
    """
    check_choice(scale, "scale", SCALES)
    both = paired(original, released, variables)
    tells = both.sd > 0
    unit = 1.0 if scale == "none" else both.sd[tells]
    x, y = both.original[:, tells] / unit, both.released[:, tells] / unit
    chosen = np.arange(len(x))[slice(None) if targets is None else targets]
    y, own_x = y[chosen], x[chosen]
    distance, nearest, own = np.full(len(y), np.nan), np.zeros(len(y), dtype=np.int64), np.zeros(len(y), dtype=bool)
    # A record with nothing but variables that are all alike is as near to one as to any other.
    has = ~np.isnan(both.released[chosen]).all(axis=1)
    pattern, some = distinct_rows(np.isnan(y).astype(np.int8))
    for number, row in enumerate(some):
        known = ~np.isnan(y[row])
        rows = np.flatnonzero((pattern == number) & has)
        candidates = np.flatnonzero(~np.isnan(x[:, known]).any(axis=1))
        if len(rows) and len(candidates):
            points, asked, true = (each[:, known] for each in (x[candidates], y[rows], own_x[rows]))
            if scale == "mahalanobis":
                axes = _axes(points)
                points, asked, true = points @ axes, asked @ axes, true @ axes
            distance[rows], nearest[rows] = _nearest(points, asked)
            with np.errstate(over="ignore"):
                apart = np.sqrt(((true - asked) ** 2).sum(axis=1))
            own[rows] = (apart <= distance[rows] * (1 + ROUNDING)) & (nearest[rows] > 0)
    linked = np.where(own, 1 / np.maximum(nearest, 1), 0.0)
    records = pd.DataFrame(
        {"distance": distance, "nearest": nearest, "own": own, "linked": linked}, index=both.index[chosen]
    )
    return Linked(both.variables, scale, records, float(linked.mean()), float(own.mean()))


def _axes(points: np.ndarray) -> np.ndarray:
    """Linear forms of the variables that have variance 1 and no covariance; none for what follows from the others."""
    if len(points) < 2 or not points.shape[1]:
        return np.eye(points.shape[1])
    values, vectors = np.linalg.eigh(np.atleast_2d(np.cov(points, rowvar=False)))
    known = values > _FLAT_AXIS * values[-1]
    return vectors[:, known] / np.sqrt(values[known])


def _nearest(candidates: np.ndarray, records: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For each record the distance to the nearest candidates, and how many candidates are at it."""
    from scipy.spatial import cKDTree
    from tqdm import tqdm

    if not candidates.shape[1]:
        return np.zeros(len(records)), np.full(len(records), len(candidates))
    # Equal points make a tree deep: each stands in it once.
    points, times = np.unique(candidates, axis=0, return_counts=True)
    asked, which = np.unique(records, axis=0, return_inverse=True)
    tree = cKDTree(points, balanced_tree=False)
    distance, number = np.empty(len(asked)), np.empty(len(asked), dtype=np.int64)
    with tqdm(total=len(asked), desc="records linked", disable=None, delay=2, leave=False) as bar:
        for start in range(0, len(asked), _RECORDS_AT_A_TIME):
            block = asked[start : start + _RECORDS_AT_A_TIME]
            (near, second), at = (found.T for found in tree.query(block, k=2))
            reach = near * (1 + ROUNDING)
            # Nothing is found at a distance too large to be reckoned with.
            count = np.append(times, 0)[at[0]]
            tied = np.flatnonzero((second <= reach) & np.isfinite(reach))
            for i, found in zip(tied, tree.query_ball_point(block[tied], reach[tied])):
                count[i] = times[found].sum()
            distance[start : start + len(block)], number[start : start + len(block)] = near, count
            bar.update(len(block))
    which = which.ravel()
    return distance[which], number[which]
