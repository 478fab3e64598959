"""Records far from the others: outliers by a distance that they do not spoil themselves, and the upper tail."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from scipy.special import gammaincinv

from kanon_lab.arguments import check_positive, check_whole
from kanon_lab.columns import ORIGINAL, numbers_of, paired, refuse, spread_of
from kanon_lab.errors import DataError, MissingPackageError, OptionError, about, shortened
from kanon_lab.roles import check_k

# A direction with less variance than this, where others have about 1, has none.
_FLAT_DIRECTION = 1e-10
# Location and spread are estimated from no more records than this: time grows faster than they get better.
_MOST_FITTED = 10_000


@dataclass(frozen=True)
class Robust:
    """Which records stay too close to their original values, where outliers have to move further than others.

    Attributes
    ----------
    variables : tuple of str
        Those that were compared: the values of the others are all equal.
    records : DataFrame
        Under the index of the files: ``distance`` (robust Mahalanobis distance of the original values; not a number
        where one is missing), ``rmdid1`` (some released value lies in the interval about its original), ``rmdid2`` (the
        same, and too few other released records are near).
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
    """Count the records whose released values lie in an interval that is the longer the more of an outlier they are.

    Parameters
    ----------
    original, released, variables
        As in `interval_disclosure`.
    width : float
        Half the interval of a record at robust distance 1, in standard deviations of the original values, above 0. It
        grows with the square of the distance.
    near : float
        Released records this close, in the same unit, are hidden among each other, above 0.
    neighbours : int
        How many others have to be that close, 1 or more.
    seed : int
        Of the estimate of location and spread, which is drawn from subsets of the records.

    Raises
    ------
    DataError
        Too few records have all values; or half of them or more have one value of a variable, or variables that follow
        from each other, so that there is no robust spread.
    MissingPackageError
        scikit-learn is not installed.

    Notes
    -----
    Location and covariance are minimum covariance determinant estimates, from at most 10,000 records drawn at random. A
    record is at risk under RMDID1 when at least one of its released values lies within `width` * distance^2 standard
    deviations of the original; and under RMDID2 unless, besides, `neighbours` other released records are within
    Euclidean distance `near` (Templ and Meindl 2008). A suppressed value is not inside; a released record without all
    values has no neighbours. sdcMicro's ``dRiskRMD`` takes a twentieth of the distance where its documentation has the
    square, and standardises each of the two files by itself.

    Examples
    --------
    >>> before = pd.DataFrame({"income": [*np.linspace(900, 1100, 40), 9000.0]})
    >>> found = kanon_lab.measures.robust_disclosure(before, before + 30)
    >>> found.records["rmdid1"].to_numpy().nonzero()[0].tolist()
    [0, 39, 40]
    """
    width, near = check_positive(width, "width"), check_positive(near, "near")
    neighbours = check_k(neighbours, "neighbours")
    both = paired(original, released, variables)
    varies = both.sd > 0
    names = tuple(name for name, one in zip(both.variables, varies) if one)
    with about(ORIGINAL):
        distance = _distances(both.original[:, varies], names, seed)
    x, y = both.original[:, varies] / both.sd[varies], both.released[:, varies] / both.sd[varies]
    inside = np.abs(x - y) <= width * distance[:, None] ** 2
    first = inside.any(axis=1)
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
        Those that vary; the values of the others are all equal.
    distances : Series of float
        Robust Mahalanobis distance of each record; not a number where a value is missing.
    threshold : float
        The distance above which a record is an outlier.
    which : ndarray of bool, shape (n,)
        The outliers.
    records, share : int, float
        Their number, and the same among the records with a distance, 0-1.
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

    Parameters
    ----------
    frame : DataFrame
        One row a record.
    variables : sequence of str, or str
        The quantities; all columns by default.
    quantile : float
        Share of the records of a normal distribution that are no outliers, between 0 and 1.
    seed : int
        Of the estimate of location and spread.

    Notes
    -----
    The threshold is the root of the quantile of a chi-squared distribution with as many degrees of freedom as there are
    variables; location and spread are estimated as in `robust_disclosure`. Skewed quantities, such as incomes, are
    better taken as logarithms first.

    Examples
    --------
    >>> kanon_lab.measures.outliers(pd.DataFrame({"rooms": [3, 4, 5, 4, 3, 5, 4, 40]})).which.tolist()
    [False, False, False, False, False, False, False, True]
    """
    quantile = check_positive(quantile, "quantile", 1)
    names, values = numbers_of(frame, variables)
    varies = spread_of(values) > 0
    names = tuple(name for name, one in zip(names, varies) if one)
    distance = _distances(values[:, varies], names, seed)
    threshold = float(np.sqrt(2 * gammaincinv(len(names) / 2, quantile)))
    which = distance > threshold
    share = float(which.sum() / (~np.isnan(distance)).sum())
    distances = pd.Series(distance, index=frame.index, name="distance")
    return Outliers(names, distances, threshold, which, int(which.sum()), share, seed)


def _distances(values: np.ndarray, names: tuple[str, ...], seed: int) -> np.ndarray:
    """Robust Mahalanobis distance of each row; not a number where a value is missing."""
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
    some = _scaled_by_medians(values[has], names)
    drawn = np.random.default_rng(seed).permutation(len(some))[:_MOST_FITTED]
    flat = True
    # What scikit-learn raises or warns of where there is no spread is said below.
    with warnings.catch_warnings(), contextlib.suppress(ValueError):
        warnings.simplefilter("ignore")
        found = MinCovDet(random_state=seed).fit(some[np.sort(drawn)])
        flat = not np.linalg.eigvalsh(found.raw_covariance_)[0] > _FLAT_DIRECTION
    if flat:
        raise DataError(
            f"in half of the records or more, some of the columns {shortened(', '.join(map(str, names)))} "
            "follow from each other; leave out one that does"
        )
    distance = np.full(len(values), np.nan)
    distance[has] = np.sqrt(found.mahalanobis(some))
    return distance


def _scaled_by_medians(values: np.ndarray, names: tuple[str, ...]) -> np.ndarray:
    """Values less their median, over the median of what is left without its sign."""
    least = 2 * (len(names) + 1)
    if len(values) < least:
        raise DataError(
            f"robust distances need {least} records that have all variables, and there are {len(values)}; "
            "leave out variables that are often missing"
        )
    apart = values - np.median(values, axis=0)
    scale = np.median(np.abs(apart), axis=0)
    if not scale.all():
        name = shortened(str(names[int((scale == 0).argmax())]))
        raise DataError(
            f"column {name}: half of the records or more have one value, so that robust distances are not "
            "defined; leave it out, or choose the records that have another value"
        )
    return apart / scale


def _hidden_among_others(released: np.ndarray, near: float, neighbours: int) -> np.ndarray:
    """Whether enough other records are near; no record that misses a value is near another."""
    from scipy.spatial import cKDTree

    has = ~np.isnan(released).any(axis=1)
    hidden = np.zeros(len(released), dtype=bool)
    if has.any():
        # Equal points make a tree deep: each stands in it once. The nearest ones, itself among them, are enough.
        points, which, times = np.unique(released[has], axis=0, return_inverse=True, return_counts=True)
        distance, at = cKDTree(points, balanced_tree=False).query(points, k=list(range(1, neighbours + 2)))
        within = np.where(distance <= near, np.append(times, 0)[at], 0).sum(axis=1)
        hidden[has] = (within > neighbours)[which.ravel()]
    return hidden


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
    >>> kanon_lab.measures.upper_tail(pd.Series([5, 9, 2, 7]), quantile=0.75).which.tolist()
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
