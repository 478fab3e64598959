"""Quantities that a release discloses by intervals around its values, and records far from the others."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from scipy.special import gammaincinv

from kanon_lab.arguments import ROUNDING, check_choice, check_positive, check_whole
from kanon_lab.columns import ORIGINAL, numbers_of, paired, refuse, standard_deviations
from kanon_lab.errors import DataError, MissingPackageError, OptionError, about, shortened
from kanon_lab.roles import check_k


@dataclass(frozen=True)
class Interval:
    """Which original values lie within an interval about their released value. Those inside are at risk.

    Attributes
    ----------
    inside : DataFrame
        Under the index of the files, one column a variable: whether the original value lies within the interval;
        missing where there is no original value.
    records : DataFrame
        Under the index of the files: ``compared`` (variables with an original value), ``inside`` (of these),
        ``at_risk`` (there is one, and all of them are inside).
    variables : DataFrame
        One row a variable: ``variable``, ``compared`` (records with an original value), ``inside`` (of these),
        ``share`` (0-1; papers report its mean), ``half_width`` (of the interval: in units of the variable by ``sd``, in
        released records by ``rank``).
    share, share_any : float
        Shares (0-1) of the records with a value that have all their values inside (at risk), and some.
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
    """Count the original values that lie in an interval around the released ones.

    Parameters
    ----------
    original, released : DataFrame
        The same records under the same index, before and after protection.
    variables : iterable of str or str, optional
        The quantities that are compared; all columns of the original by default.
    width : float
        Half the interval, above 0: in standard deviations of the original values by ``sd``; as a share of the released
        records, at most 1, by ``rank`` (rounded down to whole records).
    by : str
        ``sd``: an interval of equal length around every released value (Mateo-Sanz, Sebé and Domingo-Ferrer 2004).
        ``rank``: so many places before and after the released value in order (Domingo-Ferrer and Torra 2001).

    Notes
    -----
    Both ends belong to the interval. A suppressed value is not inside. By ``sd`` a variable whose original values are
    all equal has an interval of no length.

    The shares are 0 when all values are outside. INE Chile (2023), section 7.6.2, says both that the risk grows with
    the values inside and that 1 means that all are outside. sdcMicro's ``dRisk`` takes the standard deviation of the
    released values and counts a record with one variable outside as inside.

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
        columns, steps = zip(*(_within_ranks(x, y, width) for x, y in zip(both.original.T, both.released.T)))
        inside, half = np.column_stack(columns), np.array(steps)
    cells = pd.DataFrame(inside, index=both.index, columns=both.variables).astype("boolean").where(known)
    records = pd.DataFrame({"compared": known.sum(axis=1), "inside": inside.sum(axis=1)}, index=both.index)
    records["at_risk"] = (records["compared"] > 0) & (records["inside"] == records["compared"])
    sums = {"variable": both.variables, "compared": known.sum(axis=0), "inside": inside.sum(axis=0)}
    by_variable = pd.DataFrame(sums).assign(share=sums["inside"] / sums["compared"], half_width=half)
    some = max(int((records["compared"] > 0).sum()), 1)
    shares = float(records["at_risk"].sum() / some), float((records["inside"] > 0).sum() / some)
    return Interval(width, by, cells, records, by_variable, *shares)


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


# A direction with less variance than this, where others have about 1, has none.
_FLAT_DIRECTION = 1e-10
# Records from which location and spread are estimated, at most.
_MOST_FITTED = 10_000


@dataclass(frozen=True)
class Robust:
    """Which records stay too close to their original values; outliers must move further than others.

    Attributes
    ----------
    variables : tuple of str
        Those that vary in the original.
    records : DataFrame
        Under the index of the files: ``distance`` (as of `outliers`), ``rmdid1`` (some released value lies in the
        interval around its original), ``rmdid2`` (the same, and too few other released records are near).
    rmdid1, rmdid2 : float
        Shares of records at risk, 0-1, among those with a distance.
    """

    variables: tuple[str, ...]
    width: float
    near: float
    neighbours: int
    seed: int
    records: pd.DataFrame = field(repr=False)
    rmdid1: float
    rmdid2: float


def robust_disclosure(
    original: pd.DataFrame,
    released: pd.DataFrame,
    *,
    variables: Iterable[str] | str | None = None,
    width: float = 0.01,
    near: float = 0.05,
    neighbours: int = 1,
    seed: int = 0,
) -> Robust:
    """Count the records whose released values lie in an interval that grows with their distance from the bulk.

    Parameters
    ----------
    original, released, variables : DataFrame or iterable of str or str, optional
        As in `interval_disclosure`.
    width : float
        Half the interval of a record at robust distance 1, in standard deviations of the original values, above 0. It
        grows with the square of the distance.
    near : float
        Released records this close, in the same unit, hide each other, above 0.
    neighbours : int
        How many others have to be that close, 1 or more.
    seed : int
        Of the estimate of location and spread, which draws subsets of the records.

    Notes
    -----
    Location and covariance are minimum covariance determinant estimates, from at most 10,000 records drawn at random. A
    record is at risk under RMDID1 when at least one of its released values lies within `width` * distance^2 standard
    deviations of the original; under RMDID2 when also fewer than `neighbours` other released records are within
    Euclidean distance `near` (Templ and Meindl 2008). A released record with a missing value has no neighbours.
    sdcMicro's ``dRiskRMD`` takes a twentieth of the distance where its documentation has the square, and standardises
    each of the two files by itself.

    Examples
    --------
    >>> before = pd.DataFrame({"income": [*np.linspace(900, 1100, 40), 9000.0]})
    >>> risk = kanon_lab.measures.robust_disclosure(before, before + 30)
    >>> risk.records["rmdid1"].to_numpy().nonzero()[0].tolist()
    [0, 39, 40]
    """
    width, near = check_positive(width, "width"), check_positive(near, "near")
    neighbours = check_k(neighbours, "neighbours")
    both = paired(original, released, variables)
    varies = both.sd > 0
    names = tuple(name for name, has in zip(both.variables, varies) if has)
    with about(ORIGINAL):
        distance = _distances(both.original[:, varies], names, seed)
    x, y = both.original[:, varies] / both.sd[varies], both.released[:, varies] / both.sd[varies]
    first = (np.abs(x - y) <= width * distance[:, None] ** 2).any(axis=1)
    second = first & ~_hidden_among_others(y, near, neighbours)
    records = pd.DataFrame({"distance": distance, "rmdid1": first, "rmdid2": second}, index=both.index)
    measured = int((~np.isnan(distance)).sum())
    shares = float(first.sum() / measured), float(second.sum() / measured)
    return Robust(names, width, near, neighbours, seed, records, *shares)


@dataclass(frozen=True)
class Outliers:
    """Records far from the bulk of a file.

    Attributes
    ----------
    variables : tuple of str
        Those that vary.
    distances : Series
        Robust Mahalanobis distance of each record; NaN where a value is missing.
    threshold : float
        The distance above which a record is an outlier.
    which : ndarray
        Whether each record is an outlier, shape (n,).
    records, share : int or float
        Number of outliers, and the same among the records with a distance, 0-1.
    """

    variables: tuple[str, ...]
    distances: pd.Series = field(repr=False)
    threshold: float
    which: np.ndarray = field(repr=False)
    records: int
    share: float
    seed: int


def outliers(
    frame: pd.DataFrame,
    *,
    variables: Iterable[str] | str | None = None,
    quantile: float = 0.975,
    seed: int = 0,
) -> Outliers:
    """Find the records that are far from the bulk of a file in several quantities together.

    All columns are taken unless `variables` are named; location and spread are estimated as in `robust_disclosure`. The
    threshold is the root of a quantile (0-1) of the chi-squared distribution with as many degrees of freedom as
    variables: of normal data, that share are no outliers. Take the logarithm of skewed quantities, such as incomes.

    Examples
    --------
    >>> kanon_lab.measures.outliers(pd.DataFrame({"rooms": [3, 4, 5, 4, 3, 5, 4, 40]})).which.tolist()
    [False, False, False, False, False, False, False, True]
    """
    quantile = check_positive(quantile, "quantile", 1)
    names, values = numbers_of(frame, variables)
    varies = standard_deviations(values) > 0
    names = tuple(name for name, has in zip(names, varies) if has)
    distance = _distances(values[:, varies], names, seed)
    threshold = float(np.sqrt(2 * gammaincinv(len(names) / 2, quantile)))
    which = distance > threshold
    share = float(which.sum() / (~np.isnan(distance)).sum())
    distances = pd.Series(distance, index=frame.index, name="distance")
    return Outliers(names, distances, threshold, which, int(which.sum()), share, seed)


def _distances(values: np.ndarray, names: tuple[str, ...], seed: int) -> np.ndarray:
    """Robust Mahalanobis distance of each row; NaN where a value is missing."""
    try:
        from sklearn.covariance import MinCovDet
    except ImportError:
        raise MissingPackageError(
            "robust distances need the package scikit-learn: pip install 'kanon-lab[models]'"
        ) from None
    if not names:
        raise DataError("every value of each variable is the same; nobody is an outlier")
    seed = check_whole(seed, "seed", 0, 2**32 - 1)
    has = ~np.isnan(values).any(axis=1)
    least = 2 * (len(names) + 1)
    if has.sum() < least:
        raise DataError(
            f"robust distances need {least} records that have all variables, and there are {has.sum()}; "
            "leave out variables that are often missing"
        )
    apart = values[has] - np.median(values[has], axis=0)
    scale = np.median(np.abs(apart), axis=0)
    if not scale.all():
        name = shortened(str(names[int((scale == 0).argmax())]))
        raise DataError(
            f"column {name}: half of the records or more have one value, so that robust distances are not "
            "defined; leave it out, or choose the records that have another value"
        )
    some = apart / scale
    drawn = np.random.default_rng(seed).permutation(len(some))[:_MOST_FITTED]
    flat, estimate = True, MinCovDet(random_state=seed)
    # Where there is no spread, scikit-learn raises or warns; the message below says why.
    with warnings.catch_warnings(), contextlib.suppress(ValueError):
        warnings.simplefilter("ignore")
        estimate.fit(some[np.sort(drawn)])
        flat = not np.linalg.eigvalsh(estimate.raw_covariance_)[0] > _FLAT_DIRECTION
    if flat:
        raise DataError(
            f"in half of the records or more, some of the columns {shortened(', '.join(map(str, names)))} "
            "follow from each other; leave out one that does"
        )
    distance = np.full(len(values), np.nan)
    distance[has] = np.sqrt(estimate.mahalanobis(some))
    return distance


def _hidden_among_others(released: np.ndarray, near: float, neighbours: int) -> np.ndarray:
    """Whether enough other records are near; no record that misses a value is near another."""
    from scipy.spatial import cKDTree

    has = ~np.isnan(released).any(axis=1)
    hidden = np.zeros(len(released), dtype=bool)
    if has.any():
        # Equal points make a tree deep: it has each of them once. The nearest ones, itself included, are enough.
        points, which, times = np.unique(released[has], axis=0, return_inverse=True, return_counts=True)
        distance, at = cKDTree(points, balanced_tree=False).query(points, k=list(range(1, neighbours + 2)))
        within = np.where(distance <= near, np.append(times, 0)[at], 0).sum(axis=1)
        hidden[has] = (within > neighbours)[which.ravel()]
    return hidden


@dataclass(frozen=True)
class UpperTail:
    """The records strictly above a quantile.

    The `threshold` is a value of some record: do not publish it. `records` are above it, `share` (0-1) of those with a
    value; the `missing` have none. `which` is an ndarray of bool, shape (n,).
    """

    quantile: float
    threshold: float = field(repr=False)
    records: int
    share: float
    missing: int
    which: np.ndarray = field(repr=False)


def upper_tail(values: pd.Series, *, quantile: float = 0.9, weight: pd.Series | None = None) -> UpperTail:
    """Find the records whose value is above a quantile (INE Chile 2023, section 7.6.3).

    The quantile (above 0 and at most 1) is the smallest value that at least this share of the records do not exceed, or
    of the population, with sampling weights (above 0, under the index of the values). R's default interpolates.

    Examples
    --------
    >>> kanon_lab.measures.upper_tail(pd.Series([5, 9, 2, 7]), quantile=0.75).which.tolist()
    [False, True, False, False]
    """
    quantile = check_positive(quantile, "quantile", 1)
    _, column = numbers_of(values.to_frame(), None)
    numbers = column[:, 0]
    weights = np.ones(len(numbers))
    if weight is not None:
        if not weight.index.equals(values.index):
            raise OptionError("the weights must have the index of the values: one weight per record")
        weights = numbers_of(weight.to_frame(), None)[1][:, 0]
        fault = "a weight that is not a number above 0; correct it or drop the record"
        refuse(~(weights > 0), values.index, weight.name, fault)
    known = ~np.isnan(numbers)
    order = np.argsort(numbers[known], kind="stable")
    reached = np.cumsum(weights[known][order])
    # Adding up may fall short of a share that is reached in full.
    at = int(np.searchsorted(reached, quantile * reached[-1] * (1 - 1e-12)))
    threshold = float(numbers[known][order][at])
    which = numbers > threshold
    number = int(which.sum())
    return UpperTail(quantile, threshold, number, float(number / known.sum()), int((~known).sum()), which)
