"""Tables of categories before and after: how far apart their shares are, and what is left of association."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations

import numpy as np
import pandas as pd

from kanon_lab.classes.coding import distinct_rows, grouped, pack
from kanon_lab.errors import DataError, OptionError, about
from kanon_lab.keys import check_k
from kanon_lab.recode.columns import as_text, distinct, names_of, one_column
from kanon_lab.risk.paired import ORIGINAL, RELEASED
from kanon_lab.utility.design import Design, weights_of_both


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
    >>> import kanon_lab
    >>> before, after = pd.DataFrame({"sex": list("ffmm")}), pd.DataFrame({"sex": list("fmmm")})
    >>> kanon_lab.utility.table_distances(before, after, variables="sex")["total_variation"].tolist()
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
