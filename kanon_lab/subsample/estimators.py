"""Uniques of a population estimated from a sample of it: the study's way, and those of others, side by side."""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING

import pandas as pd

from kanon_lab.arguments import ROUNDING
from kanon_lab.classes import class_table
from kanon_lab.errors import OptionError, shortened
from kanon_lab.keys import KeySpec, as_spec
from kanon_lab.subsample.clustering import clustering
from kanon_lab.subsample.models import NoEstimateError, pitman, poisson_gamma, subsample, tangent, zayatz
from kanon_lab.subsample.sizes import MOST_RECORDS, SizeCounts, as_fraction, size_counts

if TYPE_CHECKING:
    import numpy as np

# Patterns that a missing key joins are no classes, which models of class sizes need.
_POLICY = {"wildcard": "category"}

#: The methods, and how each is told to a reader.
METHODS = {
    "subsample": "a subsample stands to the sample as the sample to the population",
    "tangent": "the curve of uniqueness goes on as steeply as it ends",
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
    >>> import kanon_lab
    >>> found = kanon_lab.subsample.population_uniques([1] * 30 + [2] * 10 + [5] * 10, fraction=0.1)
    >>> found[['method', 'p_c', 'p_d']].round(4)
                 method     p_c     p_d
    0         subsample  0.1114  0.3713
    1           tangent  0.0646  0.2154
    2            zayatz  0.1112  0.3707
    3     poisson-gamma  0.0435  0.1391
    4  poisson-gamma-ml  0.0383  0.1344
    5            pitman  0.0441  0.1526
    """
    warnings = ()
    if isinstance(sizes, pd.DataFrame):
        sizes, warnings = _sizes_of(sizes, spec)
    elif spec is not None:
        raise OptionError("key variables are for a sample of records; class sizes have theirs behind them")
    counts, fraction = size_counts(sizes), as_fraction(fraction)
    found = estimates(counts, fraction, check_methods(methods), check_cells(cells, counts))
    found["note"] = ["; ".join(filter(None, (note, *warnings))) for note in found["note"]]
    return found


def _sizes_of(frame: pd.DataFrame, spec: KeySpec | Iterable[str] | str | None) -> tuple[np.ndarray, tuple[str, ...]]:
    """The class sizes of a sample, and what it shows of its design."""
    if spec is None:
        raise OptionError("name the key variables of the sample")
    spec = as_spec(spec)
    if spec.weight is not None:
        raise OptionError(f"the weight {shortened(str(spec.weight))}: only subsample_risk takes weights; leave it out")
    table = class_table(frame, KeySpec(spec.key_variables, missing=_POLICY.get(spec.missing, spec.missing)))
    return table.records, clustering(frame, spec, table)


def estimates(counts: SizeCounts, fraction: float, methods: Iterable[str], cells: int | None) -> pd.DataFrame:
    """`population_uniques` of arguments that are checked."""
    estimators = {
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
            found = estimators[method](counts, fraction)
            p_c, p_d = _chance(found.p_c), _chance(found.p_d)
            row = (p_c, p_d, p_c * counts.records / fraction, True, found.note)
        except NoEstimateError as reason:
            row = (math.nan, math.nan, math.nan, False, str(reason))
        rows.append((method, *row))
    return pd.DataFrame(rows, columns=["method", "p_c", "p_d", "population_uniques", "converged", "note"])


def check_methods(methods: Iterable[str] | str, known: Iterable[str] = tuple(METHODS)) -> tuple[str, ...]:
    """Names of methods, each once; an `OptionError` for none or another."""
    known = tuple(known)
    try:
        found = (methods,) if isinstance(methods, str) else tuple(dict.fromkeys(methods))
    except TypeError:  # nothing to go through, or lists in it
        found = ()
    for method in found:
        if method not in known:
            raise OptionError(f"methods: {shortened(str(method))} is none of {', '.join(known)}")
    if not found:
        raise OptionError(f"methods: name at least one of {', '.join(known)}")
    return found


def check_cells(cells: object, counts: SizeCounts) -> int | None:
    """A number of cells, or None; an `OptionError` where it is no whole number, above 2 ** 53 or below the classes."""
    if cells is None:
        return None
    whole = isinstance(cells, numbers.Integral) and not isinstance(cells, bool)
    least = int(counts.classes.sum())
    if not whole or cells < least:
        raise OptionError(
            f"cells must be a whole number from the number of classes ({least:,}) on, not {shortened(repr(cells))}"
        )
    if cells > MOST_RECORDS:
        raise OptionError("cells must be at most 2 ** 53; with more leave it out, which takes them to have no limit")
    return int(cells)


def _chance(value: float) -> float:
    if not 0 <= value <= 1 + ROUNDING:
        raise NoEstimateError("the estimate is no probability")
    return min(float(value), 1.0)
