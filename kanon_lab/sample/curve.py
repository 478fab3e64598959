r"""The curve G(s): how the share of unique records falls as more of a population is seen.

Let the classes of a population of N persons have sizes F. In a Bernoulli sample of fraction s a person is a record with
the chance s, and it is unique if none of the other F - 1 is drawn. So the expected number of unique records is s G(s),
where

.. math:: G(s) = \sum_F F (1 - s)^{F - 1}

and G(s) / N is the share of unique records among those sampled. At s = 1 it is the share of population uniques. A
subsample of fraction f of a sample of fraction f is a sample of fraction f f.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from kanon_lab.arguments import as_numbers, as_share, check_frame, is_number
from kanon_lab.columns import Coded, coded
from kanon_lab.errors import OptionError, described
from kanon_lab.roles import KeySpec, check_k, names_of

#: Sums of sizes stay exact as floats.
MOST_RECORDS = 2**53
#: The least sampling fraction: one of a thousand million persons.
LEAST_FRACTION = 1e-9


@dataclass(frozen=True)
class SizeCounts:
    """How many classes have each size."""

    size: np.ndarray  # (m,) The distinct sizes above 0, rising
    classes: np.ndarray  # (m,) How many classes have that size

    @property
    def records(self) -> float:
        """Records (persons) in all classes."""
        return float(self.size @ self.classes)

    def of_size(self, size: int) -> float:
        """How many classes have `size` records."""
        return float(self.classes[self.size == size].sum())


def size_counts(sizes: object) -> SizeCounts:
    """Count class sizes; a size of 0 is no class and left out."""
    try:
        values = np.asarray(sizes)
    except (TypeError, ValueError):
        values = np.empty(())
    values = values.astype(float) if values.dtype.kind in "iuf" else np.empty(())
    if values.ndim != 1 or not ((values >= 0) & (values == np.floor(values))).all():
        raise OptionError("sizes must be whole numbers from 0 on, one per class, in one dimension")
    if not 0 < values.sum() <= MOST_RECORDS:
        raise OptionError("sizes must hold at least one record and at most 2 ** 53 in all")
    size, classes = np.unique(values[values > 0], return_counts=True)
    return SizeCounts(size, classes.astype(float))


def as_fraction(value: object, *, whole: bool = False) -> float:
    """A sampling fraction as a float; an `OptionError` unless it is from 1e-9 to below 1, or with `whole` up to 1."""
    # Another kind of number may be rounded to 1.
    fraction = float(value) if is_number(value) and 0 <= value <= 1 else np.nan
    if not (LEAST_FRACTION <= fraction < 1 or (whole and fraction == 1)):
        limit = "up to 1" if whole else "to below 1"
        raise OptionError(f"a sampling fraction must be a number from 1e-9 {limit}, not {described(value)}")
    return fraction


def as_fractions(values: Any, *, whole: bool = False) -> np.ndarray:
    """Several sampling fractions, at least one, as an array; errors as in `as_fraction`."""
    several = np.shape(values) != () and isinstance(values, Iterable) and not isinstance(values, (str, bytes))
    fractions = [as_fraction(value, whole=whole) for value in (values if several else [values])]
    if not fractions:
        raise OptionError("fractions: give at least one sampling fraction, such as 0.04")
    return np.array(fractions)


#: The columns of `expected_study`.
STUDY = ["fraction", "n1", "u1", "n2", "u2", "u", "p_b", "p_c", "p_d", "p_identification"]
STUDY += ["tangent_p_c", "tangent_p_d", "true_p_c", "true_p_d", "true_p_identification"]


def uniqueness_curve(sizes: np.ndarray, fractions: np.ndarray) -> pd.DataFrame:
    """The share of records that are unique, by the fraction that is sampled.

    Parameters
    ----------
    sizes : array of int, shape (classes,)
        Class sizes of a population; or those of a sample, with fractions of that sample. 0 is no class.
    fractions : array of float, 1e-9 to 1
        Sampling fractions.

    Returns
    -------
    DataFrame
        One row a fraction: ``fraction``; ``uniques``, the expected number of unique records s G(s); ``share``, G(s) / N
        (0-1); and ``slope``, d log G / d log s, the curve's slope on log-log axes, 0 or below, NaN where G is 0 (at
        s = 1, if nobody is unique).

    Notes
    -----
    The slope is -2 E s2 / E s1, where s1 and s2 are the numbers of classes of one and of two records in a sample: it
    can be estimated from the sample, without knowing its fraction.

    Examples
    --------
    >>> kanon_lab.sample.uniqueness_curve([1, 1, 2, 4], [0.1, 1]).round(4)
       fraction  uniques   share   slope
    0       0.1   0.6716  0.8395 -0.1745
    1       1.0   2.0000  0.2500 -1.0000
    """
    counts, s = size_counts(sizes), as_fractions(fractions, whole=True)
    log_g = log_uniqueness(counts, s)
    return pd.DataFrame(
        {
            "fraction": s,
            "uniques": s * np.exp(log_g),
            "share": np.exp(log_g) / counts.records,
            "slope": _slope(counts, s, log_g),
        }
    )


def expected_study(sizes: np.ndarray, fractions: np.ndarray, *, p_a: float = 1.0) -> pd.DataFrame:
    """What the subsample study finds in expectation, beside the truth, in a population that is known.

    Parameters
    ----------
    sizes : array of int, shape (classes,)
        Class sizes of the population. 0 is no class.
    fractions : array of float, 1e-9 to below 1
        Sampling fractions of the sample and of the subsample within.
    p_a : float, 0-1
        Chance that both sources describe a person alike.

    Returns
    -------
    DataFrame
        One row a fraction f: ``fraction``; the expected records ``n1``, ``n2`` and unique records ``u1``, ``u2`` of
        sample and subsample, and ``u``, those of the subsample that are unique in the sample too; ``p_b``, ``p_c``,
        ``p_d``, ``p_identification`` by the study's formulas from those numbers; ``tangent_p_c``, ``tangent_p_d``, from
        the curve's slope at f; and the truth, ``true_p_c``, the share of population uniques, ``true_p_d``, the expected
        share of sample uniques that are population uniques, ``true_p_identification``, the product with these. All p
        are 0-1.

    References
    ----------
    Garín i Ramírez (1996), sections 3.1 and 3.2, formula (3).

    Examples
    --------
    >>> kanon_lab.sample.expected_study([1] * 50 + [2] * 25, [0.1])[['n1', 'u1', 'p_d', 'true_p_d']].round(4)
         n1   u1     p_d  true_p_d
    0  10.0  9.5  0.9548    0.5263
    """
    p_a = as_share(p_a, "p_a")
    counts, f = size_counts(sizes), as_fractions(fractions)
    n = counts.records
    log_once, log_twice = log_uniqueness(counts, f), log_uniqueness(counts, f * f)
    study = pd.DataFrame({"fraction": f, "n1": n * f, "u1": f * np.exp(log_once), "n2": n * f * f})
    study["u2"], study["u"] = f * f * np.exp(log_twice), f * study["u1"]
    study["p_b"], study["p_d"] = f, np.exp(log_once - log_twice)
    study["tangent_p_d"] = np.exp(-_slope(counts, f, log_once) * np.log(f))
    uniques = counts.of_size(1)
    study["true_p_c"], study["true_p_d"] = uniques / n, np.exp(np.log(uniques) - log_once) if uniques else 0.0
    share = np.exp(log_once) / n
    study["p_c"], study["tangent_p_c"] = share * study["p_d"], share * study["tangent_p_d"]
    study["p_identification"] = p_a * f * study["p_c"] * study["p_d"]
    study["true_p_identification"] = p_a * f * study["true_p_c"] * study["true_p_d"]
    return study[STUDY]


def log_uniqueness(counts: SizeCounts, s: np.ndarray) -> np.ndarray:
    """log G(s), shape of `s`; logarithms, because classes of millions leave (1 - s)^(F - 1) below any double."""
    return _log_sum(counts.size - 1, counts.size * counts.classes, s)


def _slope(counts: SizeCounts, s: np.ndarray, log_g: np.ndarray) -> np.ndarray:
    pairs = counts.size >= 2
    size = counts.size[pairs]
    log_steep = _log_sum(size - 2, size * (size - 1) * counts.classes[pairs], s)
    some = np.isfinite(log_g)  # at s = 1 there may be no uniques
    # The 0 makes 0 of -0, where no class has two.
    return np.where(some, 0.0 - s * np.exp(log_steep - np.where(some, log_g, 0)), np.nan)


def _log_sum(power: np.ndarray, weight: np.ndarray, s: np.ndarray) -> np.ndarray:
    """The logarithm of the sum of weight (1 - s)^power, for each s."""
    from scipy.special import logsumexp, xlog1py

    if not len(power):
        return np.full(len(s), -np.inf)
    return np.array([logsumexp(xlog1py(power, -fraction), b=weight) for fraction in s])


def frequency_control(
    frame: pd.DataFrame, area: str, variables: Iterable[str] | str, *, least: int, fraction: float | None = None
) -> pd.DataFrame:
    """Cross the categories of each variable with the area of residence, and count the areas where one is rare.

    Parameters
    ----------
    frame : DataFrame
    area : str
        The column with the area.
    variables : sequence of str, or str
        Columns to be crossed with it, one at a time.
    least : int, 1 or more
        The security threshold (*llindar de seguretat*): records that a category must have in an area.
    fraction : float, optional
        Sampling fraction of the records, from 1e-9 to below 1: adds how many persons the rarest stand for.

    Returns
    -------
    DataFrame
        One row a variable and category that occurs, in the order of the variables, rarest first: ``variable``,
        ``category``, ``records``, ``areas`` (those where it occurs), ``areas_below`` (those where it occurs in fewer
        than `least` records), ``least_records`` (in the area where it is rarest, but occurs), ``least_area`` (of
        several the first in the order of their values); and with a fraction ``least_persons`` (`least_records` over
        it). An area where nobody has the category, and a record without an area or a value, are not counted.

    References
    ----------
    Garín i Ramírez (1996), sections 2.4, 2.5.2 and 4.3, which do not say what the threshold was.

    Examples
    --------
    >>> frame = pd.DataFrame({'town': list('AAAB'), 'job': ['nurse', 'nurse', 'judge', 'nurse']})
    >>> kanon_lab.sample.frequency_control(frame, 'town', 'job', least=2)[['category', 'areas', 'areas_below']]
      category  areas  areas_below
    0    judge      1            1
    1    nurse      2            1
    """
    check_frame(frame)
    least = check_k(least, "least")
    names = names_of(variables, "variables")
    if not names or area in names:
        raise OptionError("variables must name at least one column, and not that of the area")
    KeySpec((area, *names)).check(frame)
    areas = coded(frame[area])
    table = pd.concat([_cross(frame[name], areas, least) for name in names], ignore_index=True)
    if fraction is not None:
        table["least_persons"] = table["least_records"] / as_fraction(fraction)
    return table


def _cross(column: pd.Series, areas: Coded, least: int) -> pd.DataFrame:
    """The categories of one column, rarest first: `frequency_control` of one variable."""
    categories = coded(column)
    known = (categories.codes >= 0) & (areas.codes >= 0)
    # Only pairs that occur are counted: two columns with many values each may have too many pairs in all.
    pairs = categories.codes[known].astype(np.int64) * len(areas.values) + areas.codes[known]
    pairs, records = np.unique(pairs, return_counts=True)
    category, area = np.divmod(pairs, max(len(areas.values), 1))
    cells = pd.DataFrame({"category": category, "area": area, "records": records, "below": records < least})
    by_category = cells.groupby("category")
    rarest = cells.loc[by_category["records"].idxmin()]
    crossed = pd.DataFrame(
        {
            "variable": column.name,
            "category": categories.values.take(rarest["category"].to_numpy()).astype(object),
            "records": by_category["records"].sum().to_numpy(),
            "areas": by_category.size().to_numpy(),
            "areas_below": by_category["below"].sum().to_numpy(),
            "least_records": rarest["records"].to_numpy(),
            "least_area": areas.values.take(rarest["area"].to_numpy()).astype(object),
        }
    )
    return crossed.sort_values(["least_records", "records"], kind="stable")


def area_threshold(sizes: np.ndarray, *, populations: np.ndarray, fraction: float, p_a: float = 1.0) -> pd.DataFrame:
    """The risk in an area of M persons, by M, where the area has the mix of the whole country.

    Parameters
    ----------
    sizes : array of int, shape (classes,)
        Class sizes of the country under the key without its geography. 0 is no class.
    populations : array of float
        Persons of the area, above 0 and up to those of the country.
    fraction : float, 1e-9 to below 1
        Sampling fraction f.
    p_a : float, 0-1
        Chance that both sources describe a person alike.

    Returns
    -------
    DataFrame
        One row an area: ``population``; ``records``, those expected in the sample; ``sample_uniques``, the share of
        them that is unique in the area's sample; ``p_c``, ``p_d`` and ``p_identification``, the study's estimates in
        expectation; and ``true_p_c``, the share of the area's persons who are unique in it, ``true_p_d``, the expected
        share of sample uniques that are, and ``true_p_identification``. All but the first two are 0-1.

    Notes
    -----
    Such an area is like a random sample of the country, of the fraction M / N: its uniques lie on the country's own
    curve G(s), at s = M / N, those of its sample at f M / N, those of the subsample at f f M / N. This is the risk that
    smallness alone brings. Real areas may have more uniques, or fewer where small classes live together in one area.

    References
    ----------
    Garín i Ramírez (1996), section 4.3, has a minimum population of about 40,000 and gives no formula. Greenberg and
    Voshell Zayatz (1990) is its source.

    Examples
    --------
    >>> risk = kanon_lab.sample.area_threshold([1] * 50 + [50] * 9, populations=[50, 500], fraction=0.1)
    >>> risk[['population', 'records', 'true_p_c', 'true_p_d']].round(4)
       population  records  true_p_c  true_p_d
    0        50.0      5.0    0.1052    0.1618
    1       500.0     50.0    0.1000    0.9510
    """
    counts = size_counts(sizes)
    whole = counts.records
    f, p_a = as_fraction(fraction), as_share(p_a, "p_a")
    persons = as_numbers(populations, "populations")
    if not len(persons) or not ((persons > 0) & (persons <= whole)).all():
        raise OptionError("populations must be one or more numbers above 0 and at most the sum of the sizes")
    share = persons / whole
    # Logarithms, as in `expected_study`: ratios stand where both shares are too small for a double.
    in_area, in_sample, in_subsample = (log_uniqueness(counts, s * share) for s in (1, f, f * f))
    p_d, true_p_d = np.exp(in_sample - in_subsample), np.exp(in_area - in_sample)
    in_area, in_sample = np.exp(in_area) / whole, np.exp(in_sample) / whole
    return pd.DataFrame(
        {
            "population": persons,
            "records": f * persons,
            "sample_uniques": in_sample,
            "p_c": in_sample * p_d,
            "p_d": p_d,
            "p_identification": p_a * f * in_sample * p_d**2,
            "true_p_c": in_area,
            "true_p_d": true_p_d,
            "true_p_identification": p_a * f * in_area * true_p_d,
        }
    )
