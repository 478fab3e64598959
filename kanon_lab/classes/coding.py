"""Values as small whole numbers, and several of them as one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from kanon_lab.recode.columns import distinct

# Keys packed into one number must fit 63 bits.
_LARGEST_PACKED = 2**63 - 1
# Whole numbers in a range up to this are counted by position; others are looked up.
_NARROW = 2**16


@dataclass(frozen=True)
class Coded:
    """A column as whole numbers; neither the order of its rows nor categories without a record leave a trace."""

    codes: np.ndarray
    values: pd.Index


def coded(column: pd.Series) -> Coded:
    """Code a column; a `DataError` where a value cannot be compared with others, such as a list."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        codes, values = column.cat.codes.to_numpy(), pd.Index(column.cat.categories)
    elif (narrow := _narrow(column)) is not None:
        codes, values = narrow
    else:
        codes, values = distinct(column)
    return _canonical(codes, values)


def _narrow(column: pd.Series) -> tuple[np.ndarray, pd.Index] | None:
    """Whole numbers of a small range, by position; None for other columns."""
    if not isinstance(column.dtype, np.dtype) or column.dtype.kind not in "iu":
        return None
    numbers = column.to_numpy()
    low, high = int(numbers.min()), int(numbers.max())
    if high - low >= _NARROW:
        return None
    if low < 0 or numbers.dtype.itemsize == 8:
        # In 8 bits the distance from -100 to 100 would not fit; 64 bits are more than the codes need.
        numbers = (numbers.astype(np.int64) - low).astype(np.int32) if low < 0 else (numbers - low).astype(np.int32)
    else:
        numbers = numbers - numbers.dtype.type(low)
    if high > _LARGEST_PACKED:  # of such numbers arange would make floats
        return numbers, pd.Index(np.arange(high - low + 1, dtype=np.uint64) + np.uint64(low))
    return numbers, pd.Index(np.arange(low, high + 1))


def _canonical(codes: np.ndarray, values: pd.Index) -> Coded:
    counts = np.bincount(codes[codes >= 0] if codes.dtype.kind == "i" and (codes < 0).any() else codes)
    used = np.flatnonzero(counts)
    order = used[_order(values[used])]
    if len(order) == len(values) and (order == np.arange(len(order))).all():
        return Coded(codes, values)
    # One more place at the end, for -1.
    position = np.full(len(values) + 1, -1, dtype=np.int32)
    position[order] = np.arange(len(order))
    return Coded(position[codes], values[order])


def _order(values: pd.Index) -> np.ndarray:
    """Positions that sort distinct values; values of kinds that do not compare stand by kind."""
    if values.dtype != object and not isinstance(values.dtype, pd.CategoricalDtype):
        try:
            return np.asarray(values.argsort())
        except NotImplementedError:  # a dictionary of Arrow
            pass
    keys = [_rank(value) for value in values]
    try:
        return np.array(sorted(range(len(keys)), key=keys.__getitem__), dtype=np.intp)
    except TypeError:  # values of one kind that have no order among themselves
        return np.array(sorted(range(len(keys)), key=lambda i: (keys[i][:2], str(values[i]))), dtype=np.intp)


def _rank(value: object) -> tuple:
    if isinstance(value, (bool, int, float, np.number, np.bool_)):
        return (0, "", value)
    return (1, "", value) if isinstance(value, str) else (2, type(value).__name__, value)


def pack(columns: Sequence[np.ndarray], radices: Sequence[int]) -> tuple[np.ndarray, int]:
    """Several columns of codes, from -1 or 0 on, as one number a row that sorts as the rows do; and a bound above."""
    packed, size = np.zeros(len(columns[0]), dtype=np.int64), 1
    for column, radix in zip(columns, radices, strict=True):
        if size > _LARGEST_PACKED // radix:
            used, packed = np.unique(packed, return_inverse=True)
            size = len(used)
        packed *= radix
        packed += column
        if column.dtype.kind == "i" and len(column) and column.min() < 0:
            packed += radix * (column < 0)
        size *= radix
    return packed, size


def grouped(packed: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
    """The number of each row's value among the distinct values of `packed`, and these, sorted."""
    if size <= max(8 * len(packed), 2**20):
        seen = np.zeros(size, dtype=bool)
        seen[packed] = True
        distinct = np.flatnonzero(seen)
        number = np.empty(size, dtype=np.int32)
        number[distinct] = np.arange(len(distinct), dtype=np.int32)
        return number[packed], distinct
    group, distinct = pd.factorize(packed)
    order = np.argsort(distinct)
    number = np.empty(len(order), dtype=np.int32)
    number[order] = np.arange(len(order), dtype=np.int32)
    return number[group], distinct[order]


def distinct_rows(codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Number the distinct rows of codes in their order, -1 last; and the position of one row for each number."""
    columns = [np.zeros(len(codes), dtype=np.int64), *codes.T]
    group, distinct = grouped(*pack(columns, [int(column.max()) + 2 for column in columns]))
    some = np.empty(len(distinct), dtype=np.intp)
    some[group] = np.arange(len(group))
    return group, some
