"""Quantities before and after: how far values have moved, and what has become of means, spread and correlation."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
import pandas as pd

from kanon_lab.columns import Paired, paired, spread_of, with_columns
from kanon_lab.errors import OptionError, shortened
from kanon_lab.measures.information_loss import refuse_empty
from kanon_lab.measures.survey_design import Design, weights_of_both

# A direction with less variance than this, where a variable has 1, has none.
_FLAT_EIGENVALUE = 1e-10


@dataclass(frozen=True)
class QuantityLoss:
    """What quantities have lost. Every loss is 0 for a file released as it is, and not a number where not defined.

    Attributes
    ----------
    weight : str or None
        Of the weighted means.
    compared, lost : int
        Cells with a value in both files, and cells with a value in the original only, over all variables.
    il1s : float
        Mean over the compared cells of |x - x'| / (sqrt(2) sd), with the standard deviation of the variable in the
        original. Variables without spread are left out.
    il1 : float
        Mean over the compared cells with x other than 0 of |x - x'| / |x|.
    means, variances : float
        Mean over the variables of |m - m'| / |m| with their means, and the same with their variances.
    covariances : float
        The same over the pairs of variables with their covariances.
    correlations : float
        Mean over the pairs of variables of |r - r'| with their correlations, 0-2.
    eigenvalues : float
        Sum of |e - e'| / e over the eigenvalues, in descending order, of the covariances of the standardised variables.
    pairs_lost : int
        Pairs of variables that had a correlation and have none in the release.
    variables : DataFrame
        One row a variable: ``variable``, ``compared``, ``lost``, ``zeros`` (compared cells with x = 0, left out of
        ``il1``), ``il1s``, ``il1``; then with ``_before`` and ``_after`` each ``mean``, ``weighted_mean`` (missing
        without a weight), ``sd`` (n - 1) and ``median`` of the values that the file has.
    pairs : DataFrame
        One row a pair: ``first``, ``second``, ``correlation_before``, ``correlation_after``, ``correlation_difference``
        (absolute), ``covariance_before``, ``covariance_after``.
    """

    weight: str | None
    compared: int
    lost: int
    il1s: float
    il1: float
    means: float
    variances: float
    covariances: float
    correlations: float
    eigenvalues: float
    pairs_lost: int
    variables: pd.DataFrame = field(repr=False)
    pairs: pd.DataFrame = field(repr=False)


def quantity_loss(
    original: pd.DataFrame,
    released: pd.DataFrame,
    *,
    variables: Iterable[str] | str | None = None,
    weight: str | None = None,
) -> QuantityLoss:
    """Measure what quantities have lost between two files of the same records.

    Parameters
    ----------
    original, released : DataFrame
        Before and after protection, under the same index. Neither changes.
    variables : sequence of str, or str, optional
        Variables that are numbers; by default all columns of the original but the weight. One that the release has no
        more has lost every value.
    weight : str, optional
        Column of weights in both files, above 0. It changes the weighted means and nothing else: the losses are of
        records, not of the population.

    Notes
    -----
    A moment of a file is that of the values it has; covariances and correlations are taken from the records that have
    both values. What is relative to a number is left out of the mean where that number is 0, and so is what one of the
    files does not have: the mean of a variable without values, a correlation where one variable does not vary.

    The eigenvalues are of all variables together that vary in the original, standardised in each file by itself. Where
    one of these varies no more, or some of them follow from the others, so that an eigenvalue is 0, their loss is not a
    number; where some nearly do, a small eigenvalue makes the sum large.

    ``il1s`` is from Yancey, Winkler and Creecy, Disclosure risk assessment in perturbative microdata protection, LNCS
    2316 (2002); ``il1`` and the moments from Domingo-Ferrer and Torra, Disclosure control methods and information loss
    for microdata, in Doyle et al. (eds), Confidentiality, Disclosure and Data Access (2001), where variances stand
    among the covariances; ``eigenvalues`` are as ``dUtility(method = "eigen")`` of the R package sdcMicro, which prints
    IL1 and IL1s as sums over cells, IL1 in per cent.

    Examples
    --------
    >>> before, after = pd.DataFrame({"income": [10, 20, 30]}), pd.DataFrame({"income": [11, 20, None]})
    >>> found = kanon_lab.measures.quantity_loss(before, after)
    >>> found.compared, found.lost, found.il1, round(found.il1s, 4)
    (2, 1, 0.05, 0.0354)
    """
    refuse_empty(original, released)
    weight = Design(weight).weight
    if variables is None:
        variables = [name for name in original.columns if name != weight]
    try:
        variables = (variables,) if isinstance(variables, str) else tuple(variables)
    except TypeError:
        raise OptionError(f"variables must be names of columns, not {shortened(repr(variables))}") from None
    both = paired(original, _with_gone(released, original, variables), variables)
    sds = both.sd, _spread_where_known(both.released)
    weights = None
    if weight is not None:
        weights = weights_of_both(original, released, weight)
    rows, il1s, il1 = _cell_losses(both)
    rows = rows.assign(**_moments(both, sds, weights))
    pairs, eigenvalues = _pair_losses(both, sds)
    mean, sd = ([rows[f"{name}_{when}"].to_numpy() for when in ("before", "after")] for name in ("mean", "sd"))
    covariance = pairs["covariance_before"].to_numpy(), pairs["covariance_after"].to_numpy()
    return QuantityLoss(
        weight,
        compared=int(rows["compared"].sum()),
        lost=int(rows["lost"].sum()),
        il1s=il1s,
        il1=il1,
        means=_variation(*mean),
        variances=_variation(*(each**2 for each in sd)),
        covariances=_variation(*covariance),
        correlations=float(pairs["correlation_difference"].mean()),
        eigenvalues=eigenvalues,
        pairs_lost=int((pairs["correlation_before"].notna() & pairs["correlation_after"].isna()).sum()),
        variables=rows,
        pairs=pairs,
    )


def _with_gone(released: pd.DataFrame, original: pd.DataFrame, variables: Iterable[str]) -> pd.DataFrame:
    """The released file with those variables of the original that it lacks, without a value."""
    gone = [name for name in original.columns if name in list(variables) and name not in list(released.columns)]
    return with_columns(released, dict.fromkeys(gone, np.nan)) if gone else released


def _spread_where_known(values: np.ndarray) -> np.ndarray:
    """Standard deviation (n - 1) of each column; not a number without values."""
    known = ~np.isnan(values).all(axis=0)
    sd = np.full(values.shape[1], np.nan)
    sd[known] = spread_of(values[:, known])
    return sd


def _cell_losses(both: Paired) -> tuple[pd.DataFrame, float, float]:
    """The counts and losses of the cells by variable, and the two losses over all of them."""
    x, gap = both.original, np.abs(both.original - both.released)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        scaled = np.where(both.sd > 0, gap / (np.sqrt(2) * both.sd), np.nan)
        relative = np.where(x != 0, gap / np.abs(x), np.nan)
    compared = ~np.isnan(gap)
    rows = pd.DataFrame(
        {
            "variable": both.variables,
            "compared": compared.sum(axis=0),
            "lost": (~np.isnan(x) & np.isnan(both.released)).sum(axis=0),
            "zeros": (compared & (x == 0)).sum(axis=0),
            "il1s": pd.DataFrame(scaled).mean().to_numpy(),
            "il1": pd.DataFrame(relative).mean().to_numpy(),
        }
    )
    return rows, _mean_of_known(scaled), _mean_of_known(relative)


def _moments(
    both: Paired, sds: tuple[np.ndarray, np.ndarray], weights: tuple[np.ndarray, np.ndarray] | None
) -> dict[str, np.ndarray | float]:
    """Mean, weighted mean, standard deviation and median of each variable, in each file."""
    found = []
    for i, values in enumerate((both.original, both.released)):
        frame, weighted = pd.DataFrame(values), np.nan
        if weights is not None:
            w = np.where(np.isnan(values), 0.0, weights[i][:, None])
            with np.errstate(invalid="ignore"):
                weighted = np.nansum(values * w, axis=0) / w.sum(axis=0)
        found.append({"mean": frame.mean(), "weighted_mean": weighted, "sd": sds[i], "median": frame.median()})
    return {f"{name}_{when}": moments[name] for name in found[0] for when, moments in zip(("before", "after"), found)}


def _pair_losses(both: Paired, sds: tuple[np.ndarray, np.ndarray]) -> tuple[pd.DataFrame, float]:
    """Covariances and correlations of all pairs of variables, and the difference of the eigenvalues."""
    correlations, covariances, spectra = [], [], []
    for values, sd in zip((both.original, both.released), sds):
        # Standardised first: the products of large numbers would not fit.
        unit = np.where(sd > 0, sd, np.nan)
        scaled = pd.DataFrame((values - pd.DataFrame(values).mean().to_numpy()) / unit)
        standard = scaled.cov(min_periods=2).to_numpy()
        correlations.append(scaled.corr(min_periods=2).to_numpy())
        # A variable that does not vary has covariances of 0, and no correlation.
        covariances.append(np.where((sd == 0)[:, None] | (sd == 0), 0.0, standard * np.outer(sd, sd)))
        spectra.append(_spectrum(standard[both.sd > 0][:, both.sd > 0]))
    pairs = list(combinations(range(len(both.variables)), 2))
    first, second = (np.array([pair[side] for pair in pairs], dtype=int) for side in (0, 1))
    names = np.array(both.variables, dtype=object)
    frame = pd.DataFrame(
        {
            "first": names[first],
            "second": names[second],
            "correlation_before": correlations[0][first, second],
            "correlation_after": correlations[1][first, second],
            "correlation_difference": np.abs(correlations[0] - correlations[1])[first, second],
            "covariance_before": covariances[0][first, second],
            "covariance_after": covariances[1][first, second],
        }
    )
    before, after = spectra
    # Without the smallest of them, which covariances of different records may even make negative, there is no sum.
    defined = len(before) and before.min() > _FLAT_EIGENVALUE
    return frame, float((np.abs(before - after) / before).sum()) if defined else np.nan


def _spectrum(covariances: np.ndarray) -> np.ndarray:
    """Eigenvalues in descending order; not numbers where a covariance is none."""
    if np.isnan(covariances).any():
        return np.full(len(covariances), np.nan)
    return np.linalg.eigvalsh(covariances)[::-1]


def _variation(before: np.ndarray, after: np.ndarray) -> float:
    """Mean of the absolute differences relative to what was before, without what was 0."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return _mean_of_known(np.where(before != 0, np.abs(before - after) / np.abs(before), np.nan))


def _mean_of_known(values: np.ndarray) -> float:
    """Mean of those that are numbers; not a number where none is."""
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else np.nan
