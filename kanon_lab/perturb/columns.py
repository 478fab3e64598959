"""Columns of a file that are perturbed: their numbers, the strata they are perturbed in, and the file with new ones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from kanon_lab.arguments import check_choice, check_frame
from kanon_lab.classes.coding import coded, distinct_rows
from kanon_lab.errors import DataError, shortened
from kanon_lab.perturb.arguments import MISSING, variables_of
from kanon_lab.recode.columns import names_of, one_column, refuse
from kanon_lab.risk.paired import numbers_of
from kanon_lab.risk.robust import Outliers, outliers


@dataclass(frozen=True)
class Numbers:
    """The quantities of a file that are perturbed together."""

    names: tuple[str, ...]
    values: np.ndarray  # (records, variables) Of the records that have values; none is missing
    rows: np.ndarray  # (records,) Their positions in the file; all of them, unless some are left alone


def numeric_columns(frame: pd.DataFrame, variables: Iterable[str] | str, *, missing: str = "error") -> Numbers:
    """The numbers of some columns."""
    check_frame(frame)
    names = variables_of(variables)
    check_choice(missing, "missing", MISSING)
    _, values = numbers_of(frame, names)
    gaps = np.isnan(values)
    left = gaps.all(axis=1) if missing == "leave" else np.zeros(len(frame), dtype=bool)
    for name, gap in zip(names, gaps.T):
        remedy = "fill it in, or drop the record" if missing == "leave" else "fill it in, or choose missing: leave"
        fault = "a missing value; " + ("other values of the record are there: " if missing == "leave" else "") + remedy
        refuse(gap & ~left, frame.index, name, fault)
    rows = np.flatnonzero(~left)
    for name, column in zip(names, values[rows].T):
        if column.min() == column.max():
            raise DataError(f"column {shortened(name)} has the same value in every record; leave it out")
    return Numbers(names, values[rows], rows)


def strata_groups(
    frame: pd.DataFrame, strata: Iterable[str] | str, *, rows: np.ndarray | None = None
) -> list[np.ndarray]:
    """For each stratum the positions of its records among `rows` (by default all), rising; without strata one group."""
    names = names_of(strata, "strata")
    rows = np.arange(len(frame)) if rows is None else rows
    if not names:
        return [np.arange(len(rows))]
    codes = []
    for name in names:
        column = coded(one_column(frame, name)).codes[rows]
        refuse(column < 0, frame.index[rows], name, "no stratum; fill it in")
        codes.append(column)
    group, _ = distinct_rows(np.column_stack(codes))
    order = np.argsort(group, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(group[order])) + 1)


def outlying(numbers: Numbers, rows: np.ndarray | slice, seed: int) -> Outliers:
    """Robust distances of some records from their centre; scikit-learn takes seeds of 32 bits."""
    short = int(np.random.SeedSequence(seed).generate_state(1)[0])
    return outliers(pd.DataFrame(numbers.values[rows], columns=list(numbers.names)), seed=short)


def with_numbers(frame: pd.DataFrame, numbers: Numbers, values: np.ndarray) -> pd.DataFrame:
    """The file with other numbers in the place of those; columns are then of floating-point numbers."""
    result = frame.copy()
    for name, column in zip(numbers.names, values.T):
        nullable = not isinstance(frame[name].dtype, np.dtype)
        cells = np.full(len(frame), np.nan)
        cells[numbers.rows] = column
        cells = pd.array(cells, dtype="Float64") if nullable else cells
        result[name] = pd.Series(cells, index=frame.index, name=name)
    return result


def with_order(frame: pd.DataFrame, orders: dict[str, np.ndarray]) -> pd.DataFrame:
    """The file with the cells of some columns in another order: by column the old position of each; types stay."""
    result = frame.copy()
    for name, order in orders.items():
        result[name] = pd.Series(frame[name].array.take(order), index=frame.index, name=name)
    return result


def changed_cells(before: pd.DataFrame, after: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """One row a variable: ``variable``, ``cells`` that have another value, ``share`` (0-1 of all records)."""
    rows = []
    for name in names:
        one, other = before[name], after[name]
        if not (pd.api.types.is_numeric_dtype(one) and pd.api.types.is_numeric_dtype(other)):
            one, other = one.astype(object), other.astype(object)
        same = (one == other).fillna(False).to_numpy(dtype=bool) | (one.isna() & other.isna()).to_numpy()
        cells = int((~same).sum())
        rows.append((name, cells, cells / len(before)))
    return pd.DataFrame(rows, columns=["variable", "cells", "share"])
