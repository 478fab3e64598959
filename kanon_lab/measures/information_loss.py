"""What a release has lost: by classes, by values of a variable, by tables of categories, and by quantities."""

from __future__ import annotations

import numbers
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from kanon_lab.classes import ClassTable
from kanon_lab.columns import (
    ORIGINAL,
    RELEASED,
    Paired,
    as_text,
    distinct,
    distinct_rows,
    grouped,
    one_column,
    pack,
    paired,
    refuse_other_records,
    remembered,
    standard_deviations,
    with_absent,
)
from kanon_lab.errors import DataError, OptionError, about, described
from kanon_lab.measures.survey_design import Design, weights_of_both
from kanon_lab.roles import check_k, column_names, names_of


def discernibility(table: ClassTable, *, suppressed: int = 0) -> int:
    """Pairs of records that the keys do not tell apart, each record with itself among them.

    Each released record counts f_k; each of the `suppressed` (removed) records counts n, the number of all records
    including removed ones. The sum runs from n (every record unique) to n^2 (all alike). Without wildcards it
    is the sum of the squares of the class sizes (Bayardo and Agrawal, Data privacy through optimal k-anonymization,
    ICDE 2005, section 3: the metric C_DM).

    Examples
    --------
    >>> table = kanon_lab.class_table(pd.DataFrame({"age": [30, 30, 41]}), "age")
    >>> kanon_lab.measures.discernibility(table), kanon_lab.measures.discernibility(table, suppressed=1)
    (5, 9)
    """
    if isinstance(suppressed, bool) or not isinstance(suppressed, numbers.Integral) or suppressed < 0:
        raise OptionError(f"suppressed must be a whole number of records, 0 or more, not {described(suppressed)}")
    return indistinct_pairs(table.records, table.f_k, int(suppressed))


def average_class_size(table: ClassTable, *, k_required: int = 1) -> float:
    """Average class size over the size that is required: 1 is the least that k-anonymity allows.

    The number of classes is the sum of 1 / f_k over the records, also with wildcards (LeFevre, DeWitt and
    Ramakrishnan, Mondrian multidimensional k-anonymity, ICDE 2006, section 2.2: C_AVG).

    Examples
    --------
    >>> table = kanon_lab.class_table(pd.DataFrame({"age": [30, 30, 41]}), "age")
    >>> kanon_lab.measures.average_class_size(table)
    1.5
    """
    return mean_size(table.records, table.f_k) / check_k(k_required, "k_required")


def indistinct_pairs(records: np.ndarray, f_k: np.ndarray, suppressed: int) -> int:
    """`discernibility` of classes as arrays of int, shape (classes,)."""
    return int((records * f_k).sum()) + suppressed * (int(records.sum()) + suppressed)


def mean_size(records: np.ndarray, f_k: np.ndarray) -> float:
    """`average_class_size` with k_required 1 of classes as arrays of int, shape (classes,), at least one."""
    return float(records.sum() / (records / f_k).sum())


def granularity(original: pd.Series, released: pd.Series) -> float:
    """How many original values a released value may mean: 0 where it is one value, 1 where it may be any.

    The two are a variable of the same records before and after protection, under the same index, of any types.

    Let S be the original values of the records with a released value, and A all original values: such a record counts
    ``(|S| - 1) / (|A| - 1)``, a record whose value was suppressed 1. The measure is the mean over the records that had
    a value, and 0 for a variable that had fewer than two values.

    Suppressing a value in some of its records can lower the loss, since S may shrink. In Iyengar, Transforming data to
    satisfy privacy constraints, KDD 2002, section 3, S are the leaves of a taxonomy below a value.

    Examples
    --------
    >>> kanon_lab.measures.granularity(pd.Series([30, 41, 52]), pd.Series(["30s", "40+", "40+"]))
    0.3333333333333333
    """
    before, after, count, lost = _joint(original, released)
    values = len(np.unique(before))
    if values < 2:
        return 0.0
    stands_for = np.where(lost, values, np.bincount(after)[after])
    return float((count * (stands_for - 1)).sum() / (count.sum() * (values - 1)))


def non_uniform_entropy(original: pd.Series, released: pd.Series) -> float:
    """Share of the information of a variable that is lost: 0 where the original value follows from the released one.

    It is 1 where nothing is left. The two are as in `granularity`.

    Of the n records that had a value, n_o had the value o, n_r were released with r, and n_or both. A record loses
    log2(n_r / n_or) bits, or all its log2(n / n_o) bits where its value was suppressed. The measure is the sum of the
    bits lost over the sum of all bits: without suppression the entropy of the original value given the released one,
    over the entropy of the original value. An exchange that can be undone (all women for men and all men for women)
    therefore loses nothing.

    Rare values count for more than in `granularity` (de Waal and Willenborg, Information loss through global recoding
    and local suppression, Netherlands Official Statistics 14, 1999; Gionis and Tassa, k-anonymization with minimal loss
    of information, IEEE TKDE 21, 2009).

    Examples
    --------
    >>> kanon_lab.measures.non_uniform_entropy(pd.Series([30, 34, 41, 45]), pd.Series(["30s", "30s", "40s", "40s"]))
    0.5
    """
    before, after, count, lost = _joint(original, released)
    n, of_value = count.sum(), np.bincount(before, count)
    bits_of_value = np.log2(n / of_value)
    most = (of_value * bits_of_value).sum()
    if not most:
        return 0.0
    bits = np.where(lost, bits_of_value[before], np.log2(np.bincount(after, count)[after] / count))
    return min(float((count * bits).sum() / most), 1.0)


def _joint(original: pd.Series, released: pd.Series) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Numbers of an original and a released value, how often the first became the second, and whether it was lost."""
    for column, where in ((original, ORIGINAL), (released, RELEASED)):
        if not isinstance(column, pd.Series):
            raise OptionError(f"{where}: give one column as a Series, not {type(column).__name__}")
    refuse_other_records(original, released)
    if not len(original):
        raise DataError(f"{ORIGINAL}: has no records; nothing can be measured")
    return remembered(_counted_pairs, original, released)


def _counted_pairs(original: pd.Series, released: pd.Series) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    with about(ORIGINAL):
        before, values = distinct(original)
    with about(RELEASED):
        after, labels = distinct(released)
    known = before >= 0
    # A missing value has the place after the last label.
    group, pairs = grouped(*pack([before[known], after[known]], [max(len(values), 1), len(labels) + 1]))
    before, after = np.divmod(pairs, len(labels) + 1)
    return before, after, np.bincount(group, minlength=len(pairs)), after == len(labels)


def table_distances(
    original: pd.DataFrame,
    released: pd.DataFrame,
    *,
    variables: Iterable[str] | str,
    weight: str | None = None,
    ways: Iterable[int] | int = (1, 2),
) -> pd.DataFrame:
    """How far every table of some variables is from that of the original file.

    Parameters
    ----------
    original, released : DataFrame
        Before and after protection. They need not have the same records.
    variables : iterable of str or str
        Categorical variables, at least one. A variable that the release lacks is missing there in every record.
    weight : str, optional
        Column of weights in both files, above 0; without it every record counts 1.
    ways : iterable of int or int
        How many variables a table crosses: 1 for single variables, 2 for all pairs, and so on.

    Returns
    -------
    DataFrame
        One row for each table. ``variables``: tuple of str. ``cells``: number of cells with records in at least one
        file. ``hellinger``, ``total_variation``: 0 if every cell has the same share in both files, 1 if they share no
        cell. ``cramers_v_before``, ``cramers_v_after``: 0-1, missing unless the table crosses two variables.

    Notes
    -----
    With shares p before and q after, the Hellinger distance is the root of half the sum over the cells of (sqrt(p) -
    sqrt(q))^2 (Gomatam and Karr, Distortion measures for categorical data swapping, NISS Technical Report 131, 2003),
    and the total variation half the sum of ``|p - q|``. Cramér's V is the root of phi^2 / (min(rows, columns) - 1),
    where phi^2 is the sum of ``p_ij^2 / (p_i. p_.j)``, less 1, or 0 where a variable has only one category (Shlomo,
    Statistical disclosure control methods for census frequency tables, International Statistical Review 75, 2007).

    A missing value is a category. Categories are equal where their text is (34 and "34"): recoding makes new ones.

    Examples
    --------
    >>> before, after = pd.DataFrame({"sex": list("ffmm")}), pd.DataFrame({"sex": list("fmmm")})
    >>> kanon_lab.measures.table_distances(before, after, variables="sex")["total_variation"].tolist()
    [0.25]
    """
    names, weight = names_of(variables, "variables", at_least_one=", such as [sex, age]"), Design(weight).weight
    refuse_empty(original, released)
    several: list[Any] = list(ways) if np.iterable(ways) else [ways]
    if min((check_k(way, "ways") for way in several), default=len(names) + 1) > len(names):
        raise OptionError(f"ways must name 1 to {len(names)}, the number of variables; there is no table of more")
    complete = with_absent(released, original, names)
    columns, labels = zip(*(both_coded(original, complete, name) for name in names), strict=True)
    codes, radices = np.column_stack(columns), [len(texts) + 1 for texts in labels]
    group, some = distinct_rows(codes)
    codes, of_files = codes[some], np.split(group, [len(original)])
    before, after = (
        np.bincount(of_file, weights=weights / weights.sum(), minlength=len(some))
        for of_file, weights in zip(of_files, weights_of_both(original, released, weight))
    )
    rows = []
    for way in several:
        for crossed in combinations(range(len(names)), way):
            sizes = [radices[j] for j in crossed]
            cell_of, cells = grouped(*pack([codes[:, j] for j in crossed], sizes))
            p, q = (np.bincount(cell_of, weights=shares, minlength=len(cells)) for shares in (before, after))
            hellinger = np.sqrt(((np.sqrt(p) - np.sqrt(q)) ** 2).sum() / 2)
            row = tuple(names[j] for j in crossed), len(cells), min(hellinger, 1.0), min(np.abs(p - q).sum() / 2, 1.0)
            v = [_cramers_v(*np.divmod(cells, sizes[1]), shares) if way == 2 else np.nan for shares in (p, q)]
            rows.append((*row, *v))
    titles = ["variables", "cells", "hellinger", "total_variation", "cramers_v_before", "cramers_v_after"]
    return pd.DataFrame(rows, columns=titles)


def refuse_empty(original: pd.DataFrame, released: pd.DataFrame) -> None:
    """Raise an `OptionError` where one of the files is no DataFrame, a `DataError` where it has no records."""
    for frame, where in ((original, ORIGINAL), (released, RELEASED)):
        if not isinstance(frame, pd.DataFrame):
            raise OptionError(f"{where} must be a DataFrame, not {type(frame).__name__}")
        if not len(frame):
            raise DataError(f"{where}: has no records; nothing can be measured")


def both_coded(original: pd.DataFrame, released: pd.DataFrame, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Codes of a variable's categories in two files, one below the other (-1 where missing), and their sorted texts."""
    with about(ORIGINAL):
        before, values = distinct(one_column(original, name))
    with about(RELEASED):
        after, more = distinct(one_column(released, name))
    texts = np.array([as_text(value) for value in (*values, *more)], dtype=object)
    number, labels = pd.factorize(texts, sort=True)
    after = np.where(after < 0, -1, after + len(values))
    return np.append(number, -1)[np.concatenate([before, after])], labels


def _cramers_v(row: np.ndarray, column: np.ndarray, shares: np.ndarray) -> float:
    """Cramér's V of a two-way table, from the row, the column and the share of its cells."""
    of_row, of_column = np.bincount(row, shares), np.bincount(column, shares)
    most = min((of_row > 0).sum(), (of_column > 0).sum()) - 1
    if not most:
        return 0.0
    has = shares > 0
    phi2 = (shares[has] ** 2 / (of_row[row[has]] * of_column[column[has]])).sum() - 1
    return float(np.sqrt(min(max(phi2 / most, 0.0), 1.0)))


# A direction with less variance than this, where a variable has 1, has none.
_FLAT_EIGENVALUE = 1e-10


@dataclass(frozen=True)
class QuantityLoss:
    """What quantities have lost. Every loss is 0 for a file released as it is, and NaN where it is not defined.

    Attributes
    ----------
    compared, lost : int
        Cells with a value in both files, and in the original only, over all variables.
    il1s : float
        Mean over the compared cells of ``|x - x'| / (sqrt(2) sd)``, with the sd of the original where it is not 0.
    il1 : float
        Mean over the compared cells with x other than 0 of ``|x - x'| / |x|``.
    means, variances, covariances : float
        Mean over the variables, or pairs of them, of ``|m - m'| / |m|`` of these moments.
    correlations : float
        Mean over the pairs of variables of ``|r - r'|`` with their correlations, 0-2.
    eigenvalues : float
        Sum of ``|e - e'| / e`` over the eigenvalues, in descending order, of the standardised variables.
    pairs_lost : int
        Pairs of variables that had a correlation and have none in the release.
    variables : DataFrame
        One row a variable: ``variable``, ``compared``, ``lost``, ``zeros`` (compared cells with x = 0), ``il1s``,
        ``il1``; then with ``_before`` and ``_after`` each ``mean``, ``weighted_mean`` (missing without a weight),
        ``sd`` (n - 1) and ``median`` of the values that the file has.
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
        Before and after protection, under the same index.
    variables : iterable of str or str, optional
        Variables that are numbers; by default all columns of the original but the weight. A variable that the release
        lacks has lost every value.
    weight : str, optional
        Column of weights in both files, above 0, for the weighted means: the losses are of records.

    Notes
    -----
    Moments are of the values that a file has, covariances and correlations of the records that have both values. A mean
    of differences leaves out those relative to 0, and those that one of the files lacks, such as the mean of a variable
    without values or a correlation where one variable does not vary.

    The eigenvalues are of all variables that vary in the original, standardised in each file by itself. Their loss is
    NaN where one no longer varies, or some follow from the others, and large where some nearly do.

    ``il1s`` is from Yancey, Winkler and Creecy, Disclosure risk assessment in perturbative microdata protection, LNCS
    2316 (2002); ``il1`` and the moments from Domingo-Ferrer and Torra, Disclosure control methods and information loss
    for microdata, in Doyle et al. (eds), Confidentiality, Disclosure and Data Access (2001); ``eigenvalues`` are as
    ``dUtility(method = "eigen")`` of sdcMicro, which prints IL1 and IL1s as sums over cells, IL1 in per cent.

    Examples
    --------
    >>> before, after = pd.DataFrame({"income": [10, 20, 30]}), pd.DataFrame({"income": [11, 20, None]})
    >>> loss = kanon_lab.measures.quantity_loss(before, after)
    >>> loss.compared, loss.lost, loss.il1, round(loss.il1s, 4)
    (2, 1, 0.05, 0.0354)
    """
    refuse_empty(original, released)
    weight = Design(weight).weight
    if variables is None:
        variables = [name for name in original.columns if name != weight]
    variables = column_names(variables, "variables")
    both = paired(original, with_absent(released, original, variables), variables)
    known = ~np.isnan(both.released).all(axis=0)
    sd_after = np.full(len(known), np.nan)
    sd_after[known] = standard_deviations(both.released[:, known])
    sds = both.sd, sd_after
    weights = None if weight is None else weights_of_both(original, released, weight)
    rows, il1s, il1 = _cell_losses(both)
    rows = rows.assign(**_moments(both, sds, weights))
    pairs, eigenvalues = _pair_losses(both, sds)
    return QuantityLoss(
        weight,
        compared=int(rows["compared"].sum()),
        lost=int(rows["lost"].sum()),
        il1s=il1s,
        il1=il1,
        means=_variation(rows["mean_before"].to_numpy(), rows["mean_after"].to_numpy()),
        variances=_variation(both.sd**2, sd_after**2),
        covariances=_variation(pairs["covariance_before"].to_numpy(), pairs["covariance_after"].to_numpy()),
        correlations=float(pairs["correlation_difference"].mean()),
        eigenvalues=eigenvalues,
        pairs_lost=int((pairs["correlation_before"].notna() & pairs["correlation_after"].isna()).sum()),
        variables=rows,
        pairs=pairs,
    )


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
    both: Paired, sds: tuple[np.ndarray, np.ndarray], weights: tuple[np.ndarray, ...] | None
) -> dict[str, np.ndarray | float]:
    """Mean, weighted mean, standard deviation and median of each variable, in each file."""
    moments: list[dict[str, Any]] = []
    for i, values in enumerate((both.original, both.released)):
        frame, weighted = pd.DataFrame(values), np.nan
        if weights is not None:
            w = np.where(np.isnan(values), 0.0, weights[i][:, None])
            with np.errstate(invalid="ignore"):
                weighted = np.nansum(values * w, axis=0) / w.sum(axis=0)
        moments.append({"mean": frame.mean(), "weighted_mean": weighted, "sd": sds[i], "median": frame.median()})
    before, after = moments
    return {f"{name}_{when}": of[name] for name in before for when, of in (("before", before), ("after", after))}


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
        standard = standard[both.sd > 0][:, both.sd > 0]
        gap = np.isnan(standard).any()
        spectra.append(np.full(len(standard), np.nan) if gap else np.linalg.eigvalsh(standard)[::-1])
    first, second = np.triu_indices(len(both.variables), 1)
    names = np.array(both.variables, dtype=object)
    frame = pd.DataFrame({"first": names[first], "second": names[second]})
    frame["correlation_before"], frame["correlation_after"] = (matrix[first, second] for matrix in correlations)
    frame["correlation_difference"] = (frame["correlation_before"] - frame["correlation_after"]).abs()
    frame["covariance_before"], frame["covariance_after"] = (matrix[first, second] for matrix in covariances)
    before, after = spectra
    # Without the smallest of them, which covariances of different records may even make negative, there is no sum.
    defined = len(before) and before.min() > _FLAT_EIGENVALUE
    return frame, float((np.abs(before - after) / before).sum()) if defined else np.nan


def _variation(before: np.ndarray, after: np.ndarray) -> float:
    """Mean of the absolute differences relative to what was before, without what was 0."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return _mean_of_known(np.where(before != 0, np.abs(before - after) / np.abs(before), np.nan))


def _mean_of_known(values: np.ndarray) -> float:
    """Mean of the values that are not NaN; NaN where all are."""
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else np.nan
