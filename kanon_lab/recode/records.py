"""Recoding whole frames: every record alike, each record to its own levels, and records taken out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from kanon_lab.errors import DataError, OptionError, about, shortened
from kanon_lab.recode.columns import as_text, one_column, plain, with_columns
from kanon_lab.recode.hierarchy import Hierarchy


def generalise(frame: pd.DataFrame, hierarchies: Mapping[str, Hierarchy], levels: Mapping[str, int]) -> pd.DataFrame:
    """Global recoding: every record to the same level of each variable.

    Parameters
    ----------
    frame : DataFrame
    hierarchies : mapping of str to Hierarchy
    levels : mapping of str to int
        By variable; a variable without a level stays as it is.

    Returns
    -------
    DataFrame
        The same records and columns; recoded ones are text.

    Examples
    --------
    >>> import kanon_lab
    >>> age = kanon_lab.recode.Hierarchy.from_intervals([[0, 5, 10], [0, 10]], closed='left', name='age')
    >>> kanon_lab.recode.generalise(pd.DataFrame({'age': [3, 7]}), {'age': age}, {'age': 1})
       age
    0  0-4
    1  5-9
    """
    recoded = {name: _of(hierarchies, name).recode(one_column(frame, name), level) for name, level in levels.items()}
    return with_columns(frame, recoded)


def generalise_records(
    frame: pd.DataFrame, hierarchies: Mapping[str, Hierarchy], levels_of_records: pd.DataFrame
) -> pd.DataFrame:
    """Local generalisation: each record to levels of its own.

    Parameters
    ----------
    frame, hierarchies
        As in `generalise`.
    levels_of_records : DataFrame of int
        The level of each record (rows, under the index of `frame`) in each variable to recode (columns).

    Returns
    -------
    DataFrame
        The same records and columns; a column in which some record is above level 0 is text.

    Examples
    --------
    >>> import kanon_lab
    >>> age = kanon_lab.recode.Hierarchy.from_intervals([[0, 5, 10], [0, 10]], closed='left', name='age')
    >>> levels = pd.DataFrame({'age': [1, 2]})
    >>> kanon_lab.recode.generalise_records(pd.DataFrame({'age': [3, 7]}), {'age': age}, levels)
       age
    0  0-4
    1  0-9
    """
    if not levels_of_records.index.equals(frame.index):
        raise OptionError("levels_of_records must have the index of the frame, in its order")
    recoded = {}
    for name in levels_of_records:
        hierarchy = _of(hierarchies, name)
        series = one_column(frame, name)
        with about("levels_of_records"):
            levels = one_column(levels_of_records, name)
        wanted = {hierarchy.check_level(level): (levels == level).to_numpy() for level in levels.unique()}
        if set(wanted) <= {0}:
            recoded[name] = plain(series)
            continue
        column = np.full(len(series), np.nan, dtype=object)
        for level, rows in wanted.items():
            labels = hierarchy.recode(series[rows], level)
            column[rows] = labels.map(as_text, na_action="ignore") if level == 0 else labels
        recoded[name] = pd.Series(column, index=frame.index, name=name)
    return with_columns(frame, recoded)


def suppress_records(frame: pd.DataFrame, rows: Sequence | np.ndarray | pd.Series | pd.Index) -> pd.DataFrame:
    """Take records out of a frame.

    Parameters
    ----------
    frame : DataFrame
    rows : array of bool, shape (n,), or sequence of index labels
        The records to take out. A Series of bool must have the index of the frame.

    Returns
    -------
    DataFrame
        The other records under their index labels; no category stays that only a removed record had.

    Examples
    --------
    >>> import kanon_lab
    >>> kanon_lab.recode.suppress_records(pd.DataFrame({'age': [3, 7, 9]}), [True, False, False])
       age
    1    7
    2    9
    """
    if isinstance(rows, pd.Series) and not rows.index.equals(frame.index):
        raise OptionError("rows must have the index of the frame, in its order")
    chosen = pd.Index(rows)
    if len(chosen) == 0:
        gone = np.zeros(len(frame), dtype=bool)
    elif pd.api.types.is_bool_dtype(chosen.dtype):
        if len(chosen) != len(frame):
            raise OptionError(f"rows has {len(chosen)} truth values, the frame {len(frame)} records")
        gone = np.asarray(chosen, dtype=bool)
    else:
        if not frame.index.is_unique:
            raise DataError("a label of the index stands twice; say the records by an array of truth values")
        if (absent := ~chosen.isin(frame.index)).any():
            raise OptionError(f"no record has the index label {shortened(str(chosen[absent][0]))}")
        gone = frame.index.isin(chosen)
    kept = frame.loc[~gone].copy()
    for i, dtype in enumerate(kept.dtypes):
        if isinstance(dtype, pd.CategoricalDtype):
            kept.isetitem(i, kept.iloc[:, i].cat.remove_unused_categories())
    return kept


def _of(hierarchies: Mapping[str, Hierarchy], name: str) -> Hierarchy:
    if name not in hierarchies:
        raise OptionError(f"{shortened(str(name))} has no hierarchy; give one, or leave out its level")
    return hierarchies[name]
