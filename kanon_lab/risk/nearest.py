"""Record linkage by distance: is the original record nearest to a released one its own?"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from kanon_lab.arguments import ROUNDING, check_choice
from kanon_lab.classes.coding import distinct_rows
from kanon_lab.risk.paired import paired

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
    >>> import kanon_lab
    >>> before, after = pd.DataFrame({"income": [10, 20, 90]}), pd.DataFrame({"income": [11, 11, 80]})
    >>> kanon_lab.risk.record_linkage(before, after).records["linked"].tolist()
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
