"""Uniques of a population estimated from a sample of it: the study's way, and those of others, side by side."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from kanon_lab.arguments import ROUNDING
from kanon_lab.classes import class_table
from kanon_lab.errors import OptionError, described, shortened
from kanon_lab.roles import KeySpec, as_spec, refuse_person
from kanon_lab.sample.curve import MOST_RECORDS, SizeCounts, as_fraction, log_uniqueness, size_counts
from kanon_lab.sample.subsamples import clustering

# Pitman's alpha below the first counts as 0, where the likelihood loses its digits; one above the second as 1.
_LEAST_ALPHA, _MOST_ALPHA = 1e-4, 1 - 1e-6
# Within these bounds lies the logarithm of any parameter that a sample of up to 2^53 records can tell.
_LOG_BOUNDS = (-60.0, 90.0)


class NoEstimateError(Exception):
    """A model has no estimate for these class sizes; its text says why."""


@dataclass(frozen=True)
class Estimate:
    """p(c) and p(d), 0-1, and what a reader should know of the fit."""

    p_c: float
    p_d: float
    note: str = ""


def subsample(counts: SizeCounts, fraction: float) -> Estimate:
    """The study's estimator, its counts replaced by their means over all subsamples (Garín i Ramírez 1996)."""
    return _by_singles(counts, lambda alone: alone * np.exp(-log_uniqueness(counts, np.array([fraction]))[0]))


def tangent(counts: SizeCounts, fraction: float) -> Estimate:
    """The curve G on log-log axes goes on as steeply as it ends: with a slope estimated as -2 s_2 / s_1."""
    estimate = _by_singles(counts, lambda alone: fraction ** (2 * counts.of_size(2) / alone))
    few = "no class has two records, so the data say little about how the curve continues"
    return estimate if estimate.note or counts.of_size(2) else replace(estimate, note=few)


def zayatz(counts: SizeCounts, fraction: float) -> Estimate:
    """The population is taken to have the sample's shares of classes by size (Zayatz 1991).

    By Bayes' rule p(d) = s_1 h(1) / sum_k s_k h(k), with s_k sample classes of k records and the hypergeometric chance
    h(k) that a sample of n of N persons holds one of k.
    """
    from scipy.special import betaln

    n = counts.records
    persons = round(n / fraction)
    # A class of more persons than the sample leaves out, and one, always has two in it.
    some = (counts.size > 1) & (counts.size <= persons - n + 1)
    k = counts.size[some]
    # h(k) / h(1) = k (N-n)! (N-k)! / ((N-n-k+1)! (N-1)!), by betas that keep their digits where N is large.
    ratio = k * np.exp(betaln(persons - k + 1, k - 1) - betaln(persons - n - k + 2, k - 1))
    return _by_singles(counts, lambda alone: alone / (alone + counts.classes[some] @ ratio))


def _by_singles(counts: SizeCounts, p_d: Callable[[float], float]) -> Estimate:
    """p(c) is p(d) times the share of records that are unique in the sample."""
    alone = counts.of_size(1)
    if not alone:
        return Estimate(0.0, 0.0, "no record is unique in the sample")
    chance = float(p_d(alone))
    all_alone = "every record is unique in the sample, so the data do not say how the curve continues"
    return Estimate(alone / counts.records * chance, chance, all_alone if alone == counts.records else "")


def poisson_gamma(counts: SizeCounts, fraction: float, *, cells: int | None, likelihood: bool) -> Estimate:
    """Cells have gamma-distributed chances, and Poisson numbers of persons (Bethlehem, Keller & Pannekoek 1990).

    With K cells, shape alpha and scale beta = 1 / (K alpha), persons and records of a cell are negative binomial
    numbers. Of N persons N (1 + N beta)^-(1 + alpha) are unique. Their moment estimate of beta is (s^2 / m - 1) / n,
    with the mean m and the variance s^2 of the records a cell. Without `cells` their number is taken to have no limit:
    alpha goes to 0, and the sizes seen follow Fisher's logarithmic series.
    """
    n, persons = counts.records, counts.records / fraction
    if likelihood:
        alpha, beta = _likeliest_gamma(counts, cells)
    else:
        square = float(counts.size**2 @ counts.classes)
        spread = square / n if cells is None else (square - n * n / cells) / max(cells - 1, 1) / (n / cells)
        if spread <= 1:
            raise NoEstimateError("cells differ no more than chance makes equal ones differ, so no gamma law fits")
        beta = (spread - 1) / n
        alpha = 0.0 if cells is None else 1 / (cells * beta)
    alone = -(1 + alpha) * np.log1p(persons * beta)
    note = "the number of cells has no limit" if cells is None else ""
    return Estimate(np.exp(alone), np.exp(alone + (1 + alpha) * np.log1p(n * beta)), note)


def _likeliest_gamma(counts: SizeCounts, cells: int | None) -> tuple[float, float]:
    """alpha and beta of the largest likelihood."""
    from scipy.optimize import brentq

    n, classes = counts.records, float(counts.classes.sum())
    if cells is None:
        if classes == n:
            raise NoEstimateError("no two records share a class, so the data do not say how fast classes grow")
        # The series' mean size is x / log(1 + x) for x = n beta.
        log_x = brentq(lambda z: np.logaddexp(0, z) / np.exp(z) - classes / n, *_LOG_BOUNDS, xtol=1e-13)
        return 0.0, np.exp(log_x) / n

    mean = n / cells

    def slope(log_alpha: float) -> float:
        alpha = np.exp(log_alpha)
        return counts.classes @ _digamma_rise(alpha, counts.size) - cells * np.log1p(mean / alpha)

    # Digits are lost where alpha is so large that the cells are equal to all appearances.
    low, high = -30.0 - np.log(cells), np.log(mean) + 14
    if float(counts.size**2 @ counts.classes) <= n * (1 + mean) or slope(high) >= 0:
        raise NoEstimateError("cells differ no more than chance makes equal ones differ, so no gamma law fits")
    alpha = float(np.exp(brentq(slope, low, high, xtol=1e-13)))
    return alpha, 1 / (cells * alpha)


def pitman(counts: SizeCounts, fraction: float) -> Estimate:
    """The Ewens-Pitman sampling formula, fitted by maximum likelihood (Hoshino 2001).

    A person joins a class of k others with a chance proportional to k - alpha, and opens a class of its own with one
    proportional to theta + u alpha, after u classes. Hence N persons have N B(N + theta - m, m) / B(theta + alpha, m)
    uniques in expectation, with m = 1 - alpha and the beta function B. The form for large N, which ARX takes, is
    Gamma(theta + 1) / Gamma(theta + alpha) N^alpha; it can exceed N, the exact one cannot.
    """
    from scipy.special import betaln

    alpha, theta = pitman_parameters(counts)
    n, persons, m = counts.records, counts.records / fraction, 1 - alpha
    last = betaln(theta + persons - m, m)
    p_c, p_d = np.exp(last - betaln(theta + alpha, m)), np.exp(last - betaln(theta + n - m, m))
    edge = ", the edge of its range" if alpha == 0 else ""
    return Estimate(p_c, p_d, f"alpha {alpha:.4g}{edge}, theta {theta:.4g}")


def pitman_parameters(counts: SizeCounts) -> tuple[float, float]:
    """alpha (from 0 to below 1) and theta (above -alpha) of the largest Ewens-Pitman likelihood."""
    from scipy.optimize import brentq

    classes, n = float(counts.classes.sum()), counts.records
    if classes == n:
        raise NoEstimateError("no two records share a class, so the data do not say how fast classes grow")
    if classes == 1:
        raise NoEstimateError("all records are in one class")

    def slope(alpha: float) -> float:
        """Slope of the logarithm of the likelihood in alpha, theta being the likeliest for it."""
        weight = _pitman_weight(classes, n, alpha)
        opened = _digamma_rise(weight / alpha, classes - 1)
        grown = counts.classes @ _digamma_rise(1 - alpha, counts.size - 1)
        return float((classes - 1) / alpha - (weight - alpha) / alpha**2 * opened - grown)

    if slope(_LEAST_ALPHA) <= 0:
        return 0.0, _pitman_weight(classes, n, 0.0)
    if slope(_MOST_ALPHA) >= 0:
        raise NoEstimateError("the likelihood has no maximum below alpha = 1")
    alpha = float(brentq(slope, _LEAST_ALPHA, _MOST_ALPHA, xtol=1e-14))
    return alpha, _pitman_weight(classes, n, alpha) - alpha


def _pitman_weight(classes: float, n: float, alpha: float) -> float:
    """theta + alpha, which is above 0, of the largest likelihood for a given alpha."""
    from scipy.optimize import brentq

    def slope(log_weight: float) -> Any:
        weight = np.exp(log_weight)
        theta = weight - alpha
        opened = _digamma_rise(weight / alpha, classes - 1) / alpha if alpha else (classes - 1) / theta
        return opened - _digamma_rise(theta + 1, n - 1)

    # Even with one pair alone in n records theta is about n^2 / 2.
    return float(np.exp(brentq(slope, _LOG_BOUNDS[0], 2 * np.log(n) + 2, xtol=1e-14)))


def _digamma_rise(x: float, more: float | np.ndarray) -> float | np.ndarray:
    """digamma(x + more) - digamma(x) for x above 0, of which a plain difference loses the digits where x is large."""
    from scipy.special import digamma

    if x < 100:
        return digamma(x + more) - digamma(x)
    end = x + more
    by_parts = more / (2 * x * end) + more * (x + end) / (12 * (x * end) ** 2) - (x**-4 - end**-4) / 120
    return np.log1p(more / x) + by_parts


#: The methods, with the assumption of each in words.
METHODS = {
    "subsample": "the sample relates to the population as a subsample relates to the sample",
    "tangent": "the uniqueness curve continues as steeply as it ends",
    "zayatz": "the population has the sample's shares of classes by size",
    "poisson-gamma": "the chances of cells follow a gamma law, by its moments",
    "poisson-gamma-ml": "the chances of cells follow a gamma law, by its likelihood",
    "pitman": "classes grow by the Ewens-Pitman formula",
}


def population_uniques(
    sizes: np.ndarray | pd.DataFrame,
    spec: KeySpec | Iterable[str] | str | None = None,
    *,
    fraction: float,
    methods: Iterable[str] | str = tuple(METHODS),
    cells: int | None = None,
) -> pd.DataFrame:
    """Estimate how many persons are unique in the population, from the class sizes of a sample.

    Parameters
    ----------
    sizes : array of int, shape (classes,), or DataFrame
        Records of the sample in each class, f_k; 0 is no class. Or the sample itself, one row a record, with its spec:
        then the notes say where a column shows that records were not drawn one by one. Weights are for
        `subsample_risk`: only the study's method takes records with chances of their own.
    spec : KeySpec or sequence of str
        The key variables of a sample, a missing one being a value of its own or an error; only with a DataFrame.
    fraction : float, 1e-9 to below 1
        Sampling fraction. The population has N = n / fraction persons.
    methods : sequence of str, or str
        Some of `METHODS`.
    cells : int, optional
        Possible combinations of key values, for the two ways of the Poisson-gamma model; from the number of classes to
        2 ** 53. Without it the number has no limit.

    Returns
    -------
    DataFrame
        One row a method: ``method``; ``p_c``, the share of the population that is unique, and ``p_d``, the chance that
        a record unique in the sample is unique in the population (both 0-1); ``population_uniques``, p_c N, persons;
        ``converged``; ``note``, text. Where a method has no estimate, or one that is no probability, its numbers are
        NaN, ``converged`` is false and the note says why.

    Notes
    -----
    All methods take the records to be a simple random (or Bernoulli) sample of persons. Of a sample of clusters or of
    whole households they cannot be trusted.

    ``subsample`` is the mean of the study's counts over all Bernoulli subsamples (Garín i Ramírez 1996, section 3.2):
    p(d) = f s_1 / sum_k s_k k f (1 - f)^(k - 1) and p(c) = p(d) s_1 / n, with s_k sample classes of k records. Zayatz's
    formula is the same one with hypergeometric chances, those of a sample of fixed size. ``tangent`` is p(d) =
    f^(2 s_2 / s_1), and p(c) likewise: the curve's slope as estimated at the sample, laid on to the whole population.
    Where no record is unique in the sample these three give 0, though nothing is there to be sure of; the note says so.

    References
    ----------
    Bethlehem, Keller & Pannekoek (1990), JASA 85, 38-45; Zayatz (1991), U.S. Bureau of the Census, SRD/RR-91/08;
    Hoshino (2001), Journal of Official Statistics 17, 499-520.

    Examples
    --------
    >>> uniques = kanon_lab.sample.population_uniques([1] * 30 + [2] * 10 + [5] * 10, fraction=0.1)
    >>> uniques[['method', 'p_c', 'p_d']].round(4)
                 method     p_c     p_d
    0         subsample  0.1114  0.3713
    1           tangent  0.0646  0.2154
    2            zayatz  0.1112  0.3707
    3     poisson-gamma  0.0435  0.1391
    4  poisson-gamma-ml  0.0383  0.1344
    5            pitman  0.0441  0.1526
    """
    warnings: tuple[str, ...] = ()
    if isinstance(sizes, pd.DataFrame):
        if spec is None:
            raise OptionError("name the key variables of the sample")
        spec = as_spec(spec)
        refuse_person(spec, "an estimate of population uniques")
        if spec.weight is not None:
            weight = shortened(str(spec.weight))
            raise OptionError(f"the weight {weight}: only subsample_risk takes weights; leave it out")
        # Models of class sizes need classes: under "wildcard" a missing key is a value of its own.
        missing = "category" if spec.missing == "wildcard" else spec.missing
        table = class_table(sizes, KeySpec(spec.key_variables, missing=missing))
        warnings = clustering(sizes, table)
        sizes = table.records
    elif spec is not None:
        raise OptionError("key variables are for a sample of records; class sizes have theirs behind them")
    counts, fraction = size_counts(sizes), as_fraction(fraction)
    uniques = estimates(counts, fraction, check_methods(methods), check_cells(cells, counts))
    uniques["note"] = ["; ".join(filter(None, (note, *warnings))) for note in uniques["note"]]
    return uniques


def estimates(counts: SizeCounts, fraction: float, methods: Iterable[str], cells: int | None) -> pd.DataFrame:
    """`population_uniques` of arguments that are checked."""
    estimators: dict[str, Callable[[SizeCounts, float], Any]] = {
        "subsample": subsample,
        "tangent": tangent,
        "zayatz": zayatz,
        "poisson-gamma": partial(poisson_gamma, cells=cells, likelihood=False),
        "poisson-gamma-ml": partial(poisson_gamma, cells=cells, likelihood=True),
        "pitman": pitman,
    }
    rows = []
    for method in methods:
        try:
            estimate = estimators[method](counts, fraction)
            if not all(0 <= chance <= 1 + ROUNDING for chance in (estimate.p_c, estimate.p_d)):
                raise NoEstimateError("the estimate is not a probability")
            p_c, p_d = min(float(estimate.p_c), 1.0), min(float(estimate.p_d), 1.0)
            row = (p_c, p_d, p_c * counts.records / fraction, True, estimate.note)
        except NoEstimateError as reason:
            row = (math.nan, math.nan, math.nan, False, str(reason))
        rows.append((method, *row))
    return pd.DataFrame(rows, columns=["method", "p_c", "p_d", "population_uniques", "converged", "note"])


def check_methods(methods: Iterable[str] | str, known: Iterable[str] = tuple(METHODS)) -> tuple[str, ...]:
    """Names of methods, each once; an `OptionError` for none or another."""
    known = tuple(known)
    try:
        names = (methods,) if isinstance(methods, str) else tuple(dict.fromkeys(methods))
    except TypeError:  # nothing to go through, or lists in it
        names = ()
    for name in names:
        if name not in known:
            raise OptionError(f"methods: {shortened(str(name))} is not one of {', '.join(known)}")
    if not names:
        raise OptionError(f"methods: name at least one of {', '.join(known)}")
    return names


def check_cells(cells: Any, counts: SizeCounts) -> int | None:
    """A number of cells, or None; an `OptionError` where it is no whole number, above 2 ** 53 or below the classes."""
    if cells is None:
        return None
    whole = isinstance(cells, numbers.Integral) and not isinstance(cells, bool)
    least = int(counts.classes.sum())
    if not whole or cells < least:
        raise OptionError(
            f"cells must be a whole number from the number of classes ({least:,}) on, not {described(cells)}"
        )
    if cells > MOST_RECORDS:
        raise OptionError("cells must be at most 2 ** 53; with more leave it out, which takes them to have no limit")
    return int(cells)
