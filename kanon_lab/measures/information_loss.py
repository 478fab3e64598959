"""What a release has lost: by classes, by values of a variable, and by tables of categories."""

from __future__ import annotations

import numbers
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd

from kanon_lab.classes import ClassTable
from kanon_lab.columns import ORIGINAL, RELEASED, as_text, distinct, distinct_rows, grouped, names_of, one_column, pack
from kanon_lab.errors import DataError, OptionError, about, shortened
from kanon_lab.measures.survey_design import Design, weights_of_both
from kanon_lab.roles import check_k


def discernibility(table: ClassTable, *, suppressed: int = 0) -> int:
    """Pairs of records that the keys do not tell apart, each record with itself among them.

    Parameters
    ----------
    table : ClassTable
        Of the records that are released.
    suppressed : int
        Records of the file that were removed whole, 0 or more. Each may be any record of the file.

    Returns
    -------
    int
        Sum over the released records of f_k, plus `suppressed` times all records, removed ones among them. From their
        number, where every record is unique, to its square, where all are alike (Bayardo and Agrawal, Data privacy
        through optimal k-anonymization, ICDE 2005, section 3: the metric C_DM). Without wildcards the sum over records
        of f_k is the sum of the squares of the class sizes; with them a record is told from none of those compatible
        with it.

    Examples
    --------
    >>> table = kanon_lab.class_table(pd.DataFrame({"age": [30, 30, 41]}), "age")
    >>> kanon_lab.measures.discernibility(table), kanon_lab.measures.discernibility(table, suppressed=1)
    (5, 9)
    """
    if isinstance(suppressed, bool) or not isinstance(suppressed, numbers.Integral) or suppressed < 0:
        raise OptionError(f"suppressed must be a whole number of records, 0 or more, not {shortened(repr(suppressed))}")
    return indistinct_pairs(table.records, table.f_k, int(suppressed))


def average_class_size(table: ClassTable, *, k_required: int = 1) -> float:
    """Records by class, over the size that is required: 1 is the least that k-anonymity allows.

    Parameters
    ----------
    k_required : int
        1 or more; with 1, the plain average.

    Returns
    -------
    float
        Above 0. The classes are counted as the sum over records of 1 / f_k, which without wildcards is their number
        (LeFevre, DeWitt and Ramakrishnan, Mondrian multidimensional k-anonymity, ICDE 2006, section 2.2: C_AVG).

    Examples
    --------
    >>> table = kanon_lab.class_table(pd.DataFrame({"age": [30, 30, 41]}), "age")
    >>> kanon_lab.measures.average_class_size(table)
    1.5
    """
    return mean_size(table.records, table.f_k) / check_k(k_required, "k_required")


def indistinct_pairs(records: np.ndarray, f_k: np.ndarray, suppressed: int) -> int:
    """`discernibility` of classes given as arrays of int, shape (classes,)."""
    return int((records * f_k).sum()) + suppressed * (int(records.sum()) + suppressed)


def mean_size(records: np.ndarray, f_k: np.ndarray) -> float:
    """`average_class_size` with k_required 1 of classes given as arrays of int, shape (classes,), at least one."""
    return float(records.sum() / (records / f_k).sum())


@dataclass(frozen=True)
class _Joint:
    """How often an original value (by number) was released as another, or lost, over the records that had one."""

    before: np.ndarray
    after: np.ndarray
    count: np.ndarray
    lost: np.ndarray


def granularity(original: pd.Series, released: pd.Series) -> float:
    """How many values a released one may stand for, as a share of all.

    Parameters
    ----------
    original, released : Series
        A variable of the same records before and after protection, under the same index, of any types. Neither changes.

    Returns
    -------
    float
        0 where every released value stands for one original value, 1 where each may be any.

    Notes
    -----
    A released value stands for the set S of original values that the records with it had, so that no hierarchy is
    needed; with all original values in the set A, such a record counts (|S| - 1) / (|A| - 1). A record whose value was
    suppressed counts 1. Records that had no value lost none and are left out of the mean. A variable that always had
    one value, or none, tells nothing that could be lost: 0.

    Merging released values, or suppressing one wherever it stands, never makes the loss less. Suppressing some of the
    records that share a value can: what the others stand for may shrink. In Iyengar, Transforming data to satisfy
    privacy constraints, KDD 2002, section 3, S are the leaves of a taxonomy below a value.

    Examples
    --------
    >>> kanon_lab.measures.granularity(pd.Series([30, 41, 52]), pd.Series(["30s", "40+", "40+"]))
    0.3333333333333333
    """
    joint = _joint(original, released)
    values = len(np.unique(joint.before))
    if values < 2:
        return 0.0
    stands_for = np.where(joint.lost, values, np.bincount(joint.after)[joint.after])
    return float((joint.count * (stands_for - 1)).sum() / (joint.count.sum() * (values - 1)))


def non_uniform_entropy(original: pd.Series, released: pd.Series) -> float:
    """Share of the information of a variable that is lost.

    Parameters
    ----------
    original, released : Series
        As in `granularity`.

    Returns
    -------
    float
        0 where the original value follows from the released one, 1 where nothing is left of it.

    Notes
    -----
    Of the n records that had a value, n_o had the value o, n_r were released with r, and n_or both. A record loses
    log2(n_r / n_or) bits, or log2(n / n_o) where its value was suppressed; without any release it would lose log2(n /
    n_o). The measure is the sum of the first over the sum of the second. Without suppression that is the entropy of the
    original value given the released one, over the entropy of the original value, whether values were made coarser or
    exchanged at random, as by PRAM. Exchange that can be undone (all women for men and all men for women) therefore
    loses nothing.

    Rare values count for more than in `granularity`: that a record had one tells more. Missing values, variables with
    one value, and what never makes the loss less are as there (de Waal and Willenborg, Information loss through global
    recoding and local suppression, Netherlands Official Statistics 14, 1999; Gionis and Tassa, k-anonymization with
    minimal loss of information, IEEE TKDE 21, 2009).

    Examples
    --------
    >>> kanon_lab.measures.non_uniform_entropy(pd.Series([30, 34, 41, 45]), pd.Series(["30s", "30s", "40s", "40s"]))
    0.5
    """
    joint = _joint(original, released)
    n, of_value = joint.count.sum(), np.bincount(joint.before, joint.count)
    most = (of_value * _bits(n, of_value)).sum()
    if not most:
        return 0.0
    known = np.bincount(joint.after, joint.count)[joint.after]
    bits = np.where(joint.lost, _bits(n, of_value)[joint.before], _bits(known, joint.count))
    return min(float((joint.count * bits).sum() / most), 1.0)


def _bits(whole: np.ndarray | int, part: np.ndarray) -> np.ndarray:
    return np.log2(whole / part)


def _joint(original: pd.Series, released: pd.Series) -> _Joint:
    for column, where in ((original, ORIGINAL), (released, RELEASED)):
        if not isinstance(column, pd.Series):
            raise OptionError(f"{where}: give one column as a Series, not {type(column).__name__}")
    if not original.index.equals(released.index):
        raise DataError(
            f"{RELEASED}: its index is not that of the original file ({len(released)} and {len(original)} records); "
            "give both the same records, in the same order"
        )
    if not len(original):
        raise DataError(f"{ORIGINAL}: has no records; nothing can be measured")
    with about(ORIGINAL):
        before, values = distinct(original)
    with about(RELEASED):
        after, labels = distinct(released)
    known = before >= 0
    # A missing value has the place after the last label.
    group, pairs = grouped(*pack([before[known], after[known]], [max(len(values), 1), len(labels) + 1]))
    before, after = np.divmod(pairs, len(labels) + 1)
    return _Joint(before, after, np.bincount(group, minlength=len(pairs)), after == len(labels))


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
        Before and after protection. They need not have the same records. Neither changes.
    variables : sequence of str, or str
        Categorical variables, at least one. One that the release has no more is missing there in every record.
    weight : str, optional
        Column of weights in both files, above 0; without one every record counts 1.
    ways : int or iterable of int
        How many variables a table crosses: 1 for the variables alone, 2 for all pairs, and so on.

    Returns
    -------
    DataFrame
        One row a table: ``variables`` (tuple of str), ``cells`` (with records in either file), ``hellinger`` and
        ``total_variation`` (both 0-1; 0 where the shares of all cells are equal, 1 where no cell is in both files),
        ``cramers_v_before`` and ``cramers_v_after`` (0-1; missing unless two variables are crossed).

    Notes
    -----
    With shares p before and q after, the Hellinger distance is the root of half the sum over the cells of (sqrt(p) -
    sqrt(q))^2 (Gomatam and Karr, Distortion measures for categorical data swapping, NISS Technical Report 131, 2003),
    and the total variation half the sum of |p - q|: the share that stands in another cell. Cramér's V is the root of
    phi^2 / (min(rows, columns) - 1), where phi^2 is the sum of p_ij^2 / (p_i. p_.j), less 1; it is 0 where a variable
    has only one category, as nothing can be associated with it (Shlomo, Statistical disclosure control methods for
    census frequency tables, International Statistical Review 75, 2007).

    A missing value is a category of its own, in V too. Categories are the same where their text is (34 and "34"), so
    that those of a variable that was recoded are new ones, and its distance says no more than that.

    Examples
    --------
    >>> before, after = pd.DataFrame({"sex": list("ffmm")}), pd.DataFrame({"sex": list("fmmm")})
    >>> kanon_lab.measures.table_distances(before, after, variables="sex")["total_variation"].tolist()
    [0.25]
    """
    names, weight = variables_of(variables), Design(weight).weight
    refuse_empty(original, released)
    try:
        ways = list(ways)
    except TypeError:
        ways = [ways]
    if min((check_k(each, "ways") for each in ways), default=len(names) + 1) > len(names):
        raise OptionError(f"ways must name 1 to {len(names)}, the number of variables; there is no table of more")
    found = [both_coded(original, released, name) for name in names]
    codes, radices = np.column_stack([codes for codes, _ in found]), [len(labels) + 1 for _, labels in found]
    group, some = distinct_rows(codes)
    codes, n = codes[some], len(original)
    weights = weights_of_both(original, released, weight)
    before, after = (
        _weighted_shares(group[:n], weights[0], len(some)),
        _weighted_shares(group[n:], weights[1], len(some)),
    )
    rows = []
    for way in ways:
        for columns in combinations(range(len(names)), way):
            sizes = [radices[j] for j in columns]
            cell_of, cells = grouped(*pack([codes[:, j] for j in columns], sizes))
            p, q = (np.bincount(cell_of, weights=shares, minlength=len(cells)) for shares in (before, after))
            hellinger = np.sqrt(((np.sqrt(p) - np.sqrt(q)) ** 2).sum() / 2)
            row = tuple(names[j] for j in columns), len(cells), min(hellinger, 1.0), min(np.abs(p - q).sum() / 2, 1.0)
            v = [_cramers_v(*np.divmod(cells, sizes[1]), shares) if way == 2 else np.nan for shares in (p, q)]
            rows.append((*row, *v))
    columns = ["variables", "cells", "hellinger", "total_variation", "cramers_v_before", "cramers_v_after"]
    return pd.DataFrame(rows, columns=columns)


def variables_of(variables: Iterable[str] | str) -> tuple[str, ...]:
    """Names of variables as a tuple; an `OptionError` where there is none or one stands twice."""
    names = names_of(variables, "variables")
    if not names:
        raise OptionError("variables: name at least one variable, such as [sex, age]")
    return names


def refuse_empty(original: pd.DataFrame, released: pd.DataFrame) -> None:
    """Raise an `OptionError` where one of the files is no DataFrame, a `DataError` where it has no records."""
    for frame, where in ((original, ORIGINAL), (released, RELEASED)):
        if not isinstance(frame, pd.DataFrame):
            raise OptionError(f"{where} must be a DataFrame, not {type(frame).__name__}")
        if not len(frame):
            raise DataError(f"{where}: has no records; nothing can be measured")


def both_coded(original: pd.DataFrame, released: pd.DataFrame, name: str) -> tuple[np.ndarray, np.ndarray]:
    """The categories of a variable in two files, one below the other (-1 where missing), and their texts, sorted."""
    with about(ORIGINAL):
        before, values = distinct(one_column(original, name))
    after, more = np.full(len(released), -1), []
    if name in released.columns:
        with about(RELEASED):
            after, more = distinct(one_column(released, name))
    texts = np.array([as_text(value) for value in (*values, *more)], dtype=object)
    number, labels = pd.factorize(texts, sort=True)
    after = np.where(after < 0, -1, after + len(values))
    return np.append(number, -1)[np.concatenate([before, after])], labels


def _weighted_shares(group: np.ndarray, weights: np.ndarray, groups: int) -> np.ndarray:
    return np.bincount(group, weights=weights / weights.sum(), minlength=groups)


def _cramers_v(row: np.ndarray, column: np.ndarray, shares: np.ndarray) -> float:
    """Cramér's V of a two-way table given by the row, the column and the share of its cells."""
    of_row, of_column = np.bincount(row, shares), np.bincount(column, shares)
    most = min((of_row > 0).sum(), (of_column > 0).sum()) - 1
    if not most:
        return 0.0
    has = shares > 0
    phi2 = (shares[has] ** 2 / (of_row[row[has]] * of_column[column[has]])).sum() - 1
    return float(np.sqrt(min(max(phi2 / most, 0.0), 1.0)))
