"""How much detail a sample may carry: categories that are rare in an area, and areas that are too small."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd

from kanon_lab.errors import OptionError
from kanon_lab.keys import check_k
from kanon_lab.recode.columns import distinct, names_of, one_column
from kanon_lab.risk.arguments import as_numbers, as_share
from kanon_lab.subsample.curve import log_uniqueness
from kanon_lab.subsample.sizes import as_fraction, size_counts


def frequency_control(
    frame: pd.DataFrame,
    area: str,
    variables: Iterable[str] | str,
    *,
    least: int,
    fraction: float | None = None,
    where: str = "the data",
) -> pd.DataFrame:
    """Cross the categories of each variable with the area of residence, and count the areas where one is rare.

    Parameters
    ----------
    frame : DataFrame
        One record a row. Not changed.
    area : str
        The column with the area.
    variables : sequence of str, or str
        Columns to be crossed with it, one at a time.
    least : int
        The security threshold (*llindar de seguretat*): records that a category must have in an area, 1 or more.
    fraction : float, optional
        Sampling fraction of the records, above 0 and below 1: adds how many persons the rarest stand for.
    where : str
        What to call the data in messages.

    Returns
    -------
    DataFrame
        One row a variable and category that occurs, in the order of the variables, rarest first: ``variable``,
        ``category``, ``records``, ``areas`` (those where it occurs), ``areas_below`` (those where it occurs in fewer
        than `least` records), ``least_records`` (in the area where it is rarest, but occurs), ``least_area``; and with
        a fraction ``least_persons`` (`least_records` over it). An area where nobody has the category
        exposes nobody, and is not counted; so is a record without an area or without a value.

    Raises
    ------
    DataError
        A column is absent, stands twice, or holds lists.
    OptionError
        No variable, the area among them, a `least` below 1 or a fraction that is none.

    References
    ----------
    Garín i Ramírez (1996), sections 2.4, 2.5.2 and 4.3, which do not say what the threshold was.
    """
    least = check_k(least, "least")
    names = names_of(variables, "variables")
    if not names or area in names:
        raise OptionError("variables must name at least one column, and not that of the area")
    area_codes, areas = distinct(one_column(frame, area, where), where)
    tables = [_crossed(one_column(frame, name, where), area_codes, areas, least, where) for name in names]
    found = pd.concat(tables, ignore_index=True)
    if fraction is not None:
        found["least_persons"] = found["least_records"] / as_fraction(fraction)
    return found


def _crossed(column: pd.Series, area_codes: np.ndarray, areas: pd.Index, least: int, where: str) -> pd.DataFrame:
    codes, categories = distinct(column, where)
    known = (codes >= 0) & (area_codes >= 0)
    cells = np.bincount(codes[known] * len(areas) + area_codes[known], minlength=len(categories) * len(areas))
    counts = cells.reshape(len(categories), len(areas))
    counts, categories = counts[counts.any(axis=1)], categories[counts.any(axis=1)]
    present = np.where(counts > 0, counts, counts.sum() + 1)
    rarest = present.argmin(axis=1) if len(areas) else np.empty(0, dtype=int)
    found = pd.DataFrame(
        {
            "variable": column.name,
            "category": categories.astype(object),
            "records": counts.sum(axis=1),
            "areas": (counts > 0).sum(axis=1),
            "areas_below": ((counts > 0) & (counts < least)).sum(axis=1),
            "least_records": present[np.arange(len(present)), rarest],
            "least_area": areas.take(rarest).astype(object),
        }
    )
    return found.sort_values(["least_records", "records"], kind="stable")


def area_threshold(sizes: np.ndarray, *, populations: np.ndarray, fraction: float, p_a: float = 1.0) -> pd.DataFrame:
    """The risk in an area of M persons, by M, where the area has the mix of the whole country.

    Such an area is like a random sample of the country, of the fraction M / N. So its uniques lie on the country's own
    curve G(s): those of the area at s = M / N, those of its sample at f M / N, those of the subsample at f f M / N.

    Parameters
    ----------
    sizes : array of int, shape (classes,)
        Class sizes of the country under the key without its geography. 0 is no class.
    populations : array of float
        Persons of the area, above 0 and up to those of the country.
    fraction : float
        Sampling fraction f, above 0 and below 1.
    p_a : float
        Chance that both sources describe a person alike, 0-1.

    Returns
    -------
    DataFrame
        One row an area: ``population``; ``records``, those expected in the sample; ``sample_uniques``, the share of
        them that is unique in the area's sample; ``p_c``, ``p_d`` and ``p_identification``, the study's estimates in
        expectation; and ``true_p_c``, the share of the area's persons who are unique in it, ``true_p_d``, the expected
        share of sample uniques that are, and ``true_p_identification``. All but the first two are 0-1.

    Raises
    ------
    OptionError
        Sizes, a fraction or a `p_a` that are none, or a population that is not above 0 and up to the country's.

    Notes
    -----
    Real areas differ from each other, and that makes more uniques: this is the risk that smallness alone brings.

    References
    ----------
    Garín i Ramírez (1996), section 4.3, has a minimum population of about 40,000 and gives no formula. Greenberg and
    Voshell Zayatz (1990) is its source.
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
