"""What every perturbation shares: result, columns, strata, random numbers and ranks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from kanon_lab.arguments import check_choice, check_frame
from kanon_lab.columns import coded, distinct_rows, names_of, numbers_of, one_column, quantity, refuse
from kanon_lab.errors import DataError, OptionError, shortened
from kanon_lab.measures import Outliers, outliers

#: How strictly something is kept.
EXACTLY, EXPECTED, NEARLY = "exactly", "in expectation", "nearly"


@dataclass(frozen=True)
class Keep:
    """Something that a perturbation leaves as it was.

    Attributes
    ----------
    what : str
        Such as ``means`` or ``marginals``.
    how : {"exactly", "in expectation", "nearly"}
    of : str
        What it is said of, in words.
    """

    what: str
    how: str
    of: str


@dataclass(frozen=True)
class Perturbed:
    """The result of a perturbation.

    Attributes
    ----------
    frame : DataFrame
        The same records and columns; only the variables perturbed have other values.
    method : str
    variables, strata : tuple of str
    seed : int or None
        None where nothing is random.
    cells : DataFrame
        One row a variable: ``variable``, ``cells`` (that have another value), ``share`` (0-1 of all records).
    keeps : tuple of Keep
        What the method promises.
    details : mapping
        What only this method has; see its function.
    """

    frame: pd.DataFrame = field(repr=False)
    method: str
    variables: tuple[str, ...]
    strata: tuple[str, ...]
    seed: int | None
    cells: pd.DataFrame
    keeps: tuple[Keep, ...]
    details: Mapping[str, Any] = field(repr=False)


#: What becomes of records without a value, and how it is told to a reader.
MISSING = {
    "error": "no value may be missing",
    "leave": "a record without any of the values stays as it is",
}


def variables_of(names: Iterable[str] | str) -> tuple[str, ...]:
    """The variables to perturb, at least one."""
    found = names_of(names, "variables")
    if not found:
        raise OptionError("variables: name at least one variable to perturb")
    return found


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


def generator(seed: int, step: str, position: int) -> np.random.Generator:
    """Random numbers for one variable of one step.

    With one seed two kinds of step draw different numbers: noise that went with the order drawn by a shuffle before it
    would not be noise.
    """
    return np.random.default_rng([seed, position, *step.encode()])


def normal_draws(seed: int, step: str, shape: tuple[int, int]) -> np.ndarray:
    """Independent standard normal numbers, shape (records, variables)."""
    records, variables = shape
    return np.column_stack([generator(seed, step, j).standard_normal(records) for j in range(variables)])


_UNORDERED = {"string", "boolean"}
_DATES = {"date", "datetime", "datetime64", "timedelta", "timedelta64", "period", "time"}


def positions(column: pd.Series) -> np.ndarray | None:
    """Position of each row's value among the distinct values, ascending, -1 where missing.

    None where values have no order: text, truth values, and categories that are not ordered.
    """
    if isinstance(column.dtype, pd.CategoricalDtype):
        return column.cat.codes.to_numpy() if column.cat.ordered else None
    kind = pd.api.types.infer_dtype(column, skipna=True)
    if kind in _UNORDERED:
        return None
    if kind in _DATES:
        return coded(column).codes
    found = quantity(column)
    position = np.full(len(found.numbers) + 1, -1)
    position[:-1] = np.unique(found.numbers, return_inverse=True)[1]
    return position[found.codes]


def refuse_constant(name: str, values: np.ndarray, groups: Sequence[np.ndarray]) -> None:
    """Raise a `DataError` where a column has no two different values in a stratum: it would stay as it is."""
    flat = sum(values[group].min() == values[group].max() for group in groups)
    if flat:
        place = f" in {flat} of {len(groups)} strata; join strata, or" if len(groups) > 1 else ";"
        raise DataError(f"column {shortened(name)} has the same value in every record{place} leave it out")


def mean_ranks(values: np.ndarray) -> np.ndarray:
    """Ranks from 1 in each column, equal values sharing the mean of theirs; shape as given."""
    return pd.DataFrame(values).rank().to_numpy()
