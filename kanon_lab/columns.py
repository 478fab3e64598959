"""Columns of a frame: found by name, coded, read as numbers, and paired between two files."""

from __future__ import annotations

import datetime
import math
import numbers
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, TypeVar, cast

import numpy as np
import pandas as pd

from kanon_lab.errors import DataError, OptionError, TextError, about, described, shortened
from kanon_lab.roles import check_there_once, column_names

Computed = TypeVar("Computed")
#: The memory of columns that a thread uses, if it uses one: see `kanon_lab.memory`, which is loaded where it is needed.
MEMORY: ContextVar[Any] = ContextVar("memory", default=None)


def memory_in_use() -> Any:
    """The memory that this thread uses, if there is one."""
    return MEMORY.get()


def remembered(function: Callable[..., Computed], *columns: pd.Series, **options: Any) -> Computed:
    """What a function makes of the values of columns, which it does not change; names and index must not matter."""
    memory = MEMORY.get()
    return function(*columns, **options) if memory is None else memory.of_columns(function, columns, options)


def remembered_rows(name: str, compute: Callable[[], np.ndarray], *arrays: np.ndarray | None) -> np.ndarray:
    """Whether something holds for each row, which follows from the contents of some arrays, the first of all rows."""
    memory = MEMORY.get()
    return compute() if memory is None else memory.rows(name, compute, *arrays)


def distinct(series: pd.Series) -> tuple[np.ndarray, pd.Index]:
    """Number of each row's value (-1 where missing) among the distinct values, and these values."""
    return remembered(_distinct, series)


def _distinct(series: pd.Series) -> tuple[np.ndarray, pd.Index]:
    try:
        codes, values = pd.factorize(plain(series), use_na_sentinel=True)
    except TypeError:
        raise DataError(
            f"column {shortened(str(series.name))} holds lists or the like; keep one value per cell"
        ) from None
    return codes, pd.Index(values)


def plain(series: pd.Series) -> pd.Series:
    """A column without categories: of the type that its categories have."""
    if not isinstance(series.dtype, pd.CategoricalDtype):
        return series
    if len(series.cat.categories) == 0:
        return pd.Series(np.nan, index=series.index, name=series.name, dtype=object)
    values = series.cat.categories.take(series.cat.codes.clip(lower=0).to_numpy())
    return pd.Series(values, index=series.index, name=series.name).mask((series.cat.codes < 0).to_numpy())


def from_labels(labels: Sequence[str | None], codes: np.ndarray, like: pd.Series) -> pd.Series:
    """A text column from labels and the number of each row's label (-1 where missing)."""
    kind: Any = None if len(labels) else object
    column = pd.Series(list(labels), dtype=kind).array.take(codes, allow_fill=True)
    return pd.Series(column, index=like.index, name=like.name)


def one_column(frame: pd.DataFrame, name: str) -> pd.Series:
    """Column of a frame; a `DataError` where it is absent or there are two of that name."""
    check_there_once(frame, name)
    return frame[name]


def holds_numbers(column: pd.Series) -> bool:
    """Whether a column is of a type of real numbers; truth values are none."""
    types = pd.api.types
    return types.is_numeric_dtype(column) and not (types.is_bool_dtype(column) or types.is_complex_dtype(column))


def holds_decimals(column: pd.Series) -> bool:
    """Whether a column holds decimals only, as objects; so does one without any value."""
    return column.dtype == object and all(isinstance(value, Decimal) for value in column.dropna())


def with_columns(frame: pd.DataFrame, columns: Mapping[str, pd.Series | float]) -> pd.DataFrame:
    """A copy of a frame with other columns under the names of some of its own."""
    result = frame.copy()
    for name, column in columns.items():
        result[name] = column
    return result


def named_columns(frame: pd.DataFrame) -> Iterator[tuple[str, pd.Series]]:
    """Name and values of each column."""
    yield from cast(Iterable[tuple[str, pd.Series]], frame.items())


def named_rows(frame: pd.DataFrame) -> Iterator[Any]:
    """The rows as tuples that have the names of the columns; the values may be of any type."""
    return frame.itertuples()


def refuse(rows: np.ndarray, index: pd.Index, column: object, fault: str) -> None:
    """Raise a `DataError` that names the first of the `rows` that are true, if any is."""
    if rows.any():
        raise DataError(f"column {shortened(str(column))}: {rows_named(rows, index)}: {fault}")


def first_row(rows: np.ndarray, index: pd.Index) -> str:
    """The label of the first of the `rows` that are true, as messages show it."""
    return shortened(str(index[int(rows.argmax())]))


def rows_named(rows: np.ndarray, index: pd.Index) -> str:
    """``row 7 (and 2 more)``, of the `rows` that are true."""
    more = f" (and {int(rows.sum()) - 1} more)" if rows.sum() > 1 else ""
    return f"row {first_row(rows, index)}{more}"


def composed(value: Any) -> Any:
    """A text with composed letters (Unicode's NFC: é is one character); other values as they are."""
    return unicodedata.normalize("NFC", value) if isinstance(value, str) else value


def as_text(value: Any) -> str:
    """A value as text; a number with nothing after the point loses the point."""
    if isinstance(value, Decimal):
        digits = format(value, "f")
        return digits.rstrip("0").rstrip(".") if "." in digits else digits
    whole = isinstance(value, (float, np.floating)) and float(value).is_integer()
    return str(int(value)) if whole else str(value)


# Keys packed into one number must fit 63 bits.
LARGEST_PACKED = 2**63 - 1
# Whole numbers in a range up to this are coded by position alone, those that do not occur too.
_NARROW = 2**16
# Codes of one byte, up to so many, are sooner looked for one by one than counted.
_FEW = 32
# Most places of a table by position: 4 bytes each.
_LARGEST_TABLE = 2**27
# Rows that tell whether few or many values are distinct, or that are looked at at a time.
_SAMPLE = 2**16
# So few rows are sorted in less time than a larger table takes.
_FEW_ROWS = 2**15


@dataclass(frozen=True)
class Coded:
    """A column as whole numbers; neither the order of its rows nor categories without a record leave a trace."""

    codes: np.ndarray
    values: pd.Index


def coded(column: pd.Series) -> Coded:
    """Code a column; a `DataError` where a value cannot be compared with others, such as a list."""
    return Coded(*remembered(_coded, column))


def _coded(column: pd.Series) -> tuple[np.ndarray, pd.Index]:
    if isinstance(column.dtype, pd.CategoricalDtype):
        codes, values = column.array.codes, pd.Index(column.cat.categories)
    elif (whole := _whole(column)) is not None:
        codes, values = whole
    else:
        codes, values = distinct(column)
        if getattr(values.dtype, "kind", "O") == "f":
            values = values + 0.0  # of 0.0 and -0.0, which are equal, the first would stand for both
    if codes.dtype.itemsize == 1 and len(values) <= _FEW:
        used = np.flatnonzero([code in codes[:_SAMPLE] or code in codes for code in range(len(values))])
    else:
        seen = np.zeros(len(values) + 1, dtype=bool)  # the last of them for -1
        for start in range(0, len(codes), _SAMPLE):  # as positions, codes take 8 bytes each
            seen[codes[start : start + _SAMPLE]] = True
        used = np.flatnonzero(seen[:-1])
    order = used[_order(values[used])]
    if len(order) == len(values) and (order == np.arange(len(order))).all():
        return codes, values
    # One more place at the end, for -1.
    position = np.full(len(values) + 1, -1, dtype=np.int32)
    position[order] = np.arange(len(order))
    return position[codes], values[order]


def _whole(column: pd.Series) -> tuple[np.ndarray, pd.Index] | None:
    """Whole numbers, by their distance from the lowest; None for other columns."""
    if not isinstance(column.dtype, np.dtype) or column.dtype.kind not in "iu":
        return None
    numbers = column.to_numpy()
    low, high = int(numbers.min()), int(numbers.max())
    if high - low >= LARGEST_PACKED:
        return None
    # The distance from -100 to 100 would not fit 8 bits.
    wide = numbers if low >= 0 else numbers.astype(np.int64)
    distance = wide - wide.dtype.type(low)
    if high - low >= _NARROW:
        distance, places = grouped(distance.astype(np.int64, copy=False), high - low + 1)
        return distance, pd.Index((places.astype(wide.dtype) + wide.dtype.type(low)).astype(numbers.dtype))
    if distance.dtype.itemsize == 8:  # more than the codes need
        distance = distance.astype(np.int32)
    if high >= LARGEST_PACKED:  # of such numbers arange would make floats
        return distance, pd.Index(np.arange(high - low + 1, dtype=np.uint64) + np.uint64(low))
    return distance, pd.Index(np.arange(low, high + 1))


def _order(values: pd.Index) -> np.ndarray:
    """Positions that sort distinct values; kinds of values that do not compare come one after the other."""
    if values.dtype != object and not isinstance(values.dtype, pd.CategoricalDtype):
        try:
            return np.asarray(values.argsort())
        except NotImplementedError:  # a dictionary of Arrow
            pass
    keys: list[tuple] = []
    for value in values:
        if isinstance(value, (bool, int, float, np.number, np.bool_)):
            keys.append((0, "", value))
        else:
            keys.append((1, "", value) if isinstance(value, str) else (2, type(value).__name__, value))
    try:
        return np.array(sorted(range(len(keys)), key=keys.__getitem__), dtype=np.intp)
    except TypeError:  # values of one kind that have no order among themselves
        return np.array(sorted(range(len(keys)), key=lambda i: (keys[i][:2], str(values[i]))), dtype=np.intp)


def pack(columns: Sequence[np.ndarray], radices: Sequence[int]) -> tuple[np.ndarray, int]:
    """Several columns of codes, from -1 or 0 on, as one number a row that sorts as the rows do; and a bound above."""
    packed, size = np.zeros(len(columns[0]), dtype=np.int32), 1
    for column, radix in zip(columns, radices, strict=True):
        if size > LARGEST_PACKED // radix:
            packed, used = grouped(packed, size)
            size = len(used)
        size *= radix
        packed = packed.astype(whole_type(size), copy=False)
        packed *= radix
        packed += column
        if column.dtype.kind == "i" and len(column) and column.min() < 0:
            packed += radix * (column < 0)
    return packed.astype(np.int64, copy=False), size


def whole_type(size: int) -> type:
    """The type of whole numbers from 0 to size - 1: with half the bytes they are added and sorted in half the time."""
    return np.int32 if size < 2**31 else np.int64


def grouped(packed: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
    """For each row the position of its value among the sorted distinct values, and these; all lie in 0 to size - 1."""
    if len(packed) < 2**31 and (packed[1:] > packed[:-1]).all():  # such as counts that come sorted
        return np.arange(len(packed), dtype=np.int32), packed
    few = len(packed) < _FEW_ROWS
    if size <= (32 * len(packed) if few else min(max(4 * len(packed), 2**20), _LARGEST_TABLE)):
        seen = np.zeros(size, dtype=bool)
        seen[packed] = True
        distinct = np.flatnonzero(seen)
        del seen
        number = np.empty(size, dtype=np.int32)
        number[distinct] = np.arange(len(distinct), dtype=np.int32)
        return number.take(packed), distinct
    sample = packed[:: len(packed) // _SAMPLE + 1]
    if few or 4 * len(pd.unique(sample)) > 3 * len(sample):
        # By a sort: of many distinct values a hash table is several times as large and as slow.
        order, values = sorted_rows(packed, size)
        first = firsts(values)
        distinct = values[first]
        del values
        number = np.cumsum(first, dtype=np.int32)
        number -= 1
        group: np.ndarray = np.empty(len(packed), dtype=np.int32)
        group[order] = number
        return group, distinct
    group, distinct = pd.factorize(packed)
    order = np.argsort(distinct)
    number = np.empty(len(order), dtype=np.int32)
    number[order] = np.arange(len(order), dtype=np.int32)
    return number.take(group), distinct[order]


def tallied(packed: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
    """The distinct values of `packed`, sorted, and how many rows have each; all in 0 to size - 1."""
    if size <= len(packed):
        count = np.bincount(packed)
        distinct = np.flatnonzero(count)
        return distinct, count[distinct]
    values = np.sort(packed)
    start = np.flatnonzero(firsts(values))
    return values[start], np.diff(start, append=len(values))


def firsts(values: np.ndarray) -> np.ndarray:
    """Whether each of sorted values is the first of its kind."""
    first = np.ones(len(values), dtype=bool)
    np.not_equal(values[1:], values[:-1], out=first[1:])
    return first


def sorted_rows(packed: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Positions that sort values from 0 to size - 1, and these in order."""
    bits = len(packed).bit_length()
    if size > LARGEST_PACKED >> bits:
        order = np.argsort(packed)
        return order, packed[order]
    # Value and row in one number: sorting numbers is twice as quick as sorting the positions of rows.
    values = np.left_shift(packed, bits, dtype=np.int64)
    values |= np.arange(len(packed))
    values.sort()
    order = values & ((1 << bits) - 1)
    values >>= bits
    return order, values


def distinct_rows(codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Number the distinct rows of codes in their order, -1 last; and the position of one row for each number."""
    columns = [np.zeros(len(codes), dtype=np.int64), *codes.T]
    group, distinct = grouped(*pack(columns, [int(column.max(initial=0)) + 2 for column in columns]))
    some = np.empty(len(distinct), dtype=np.intp)
    some[group] = np.arange(len(group))
    return group, some


def stacked(columns: Sequence[np.ndarray]) -> np.ndarray:
    """Columns of codes side by side, shape (n, columns); each lies in one piece, since they are read one by one."""
    return np.array(columns, dtype=np.int64).T


def strata_codes(frame: pd.DataFrame, strata: Sequence[str], *, rows: np.ndarray | slice = slice(None)) -> np.ndarray:
    """The stratum of each record, or of some `rows`, from 0; all zero without strata."""
    codes, index = [], frame.index[rows]
    for name in strata:
        codes.append(coded(one_column(frame, name)).codes[rows])
        refuse(codes[-1] < 0, index, name, "no stratum; fill it in")
    return distinct_rows(np.column_stack(codes))[0].astype(np.int64) if codes else np.zeros(len(index), dtype=np.int64)


# Whole numbers beyond this are refused, so that 64 bits hold what they are rounded to.
_LARGEST_WHOLE = 2**62


@dataclass(frozen=True)
class Quantity:
    """A column of numbers."""

    column: pd.Series  # As it is
    codes: np.ndarray  # (n,) Position of each row's value among `values`, or -1 where it is missing
    values: np.ndarray  # The distinct values: int64, float64, or objects such as decimals
    numbers: np.ndarray  # `values` as floating-point numbers, all finite
    nullable: bool  # Whether the column's type has a missing value of its own

    def rows(self, which: np.ndarray) -> np.ndarray:
        """Whether each row holds one of the distinct values that `which` marks."""
        return np.isin(self.codes, np.flatnonzero(which))

    def refuse(self, which: np.ndarray, fault: str) -> None:
        """Raise a `DataError` that names the first row with a value that `which` marks, if there is one."""
        if which.any():
            refuse(self.rows(which), self.column.index, self.column.name, fault)

    def rewritten(self, values: np.ndarray) -> pd.Series:
        """The column with other `values` in place of its own: int64, float64 or objects; nullable where it was."""
        if values.dtype == object:
            cells: Any = pd.Series(values, dtype=object).array.take(self.codes, allow_fill=True)
        else:
            cells = pd.array(values, dtype="Int64" if values.dtype.kind == "i" else "Float64")
            cells = cells.take(self.codes, allow_fill=True)
            if not self.nullable:
                # Of whole numbers none is missing then.
                cells = cells.to_numpy(values.dtype, **({"na_value": math.nan} if cells.isna().any() else {}))
        return pd.Series(cells, index=self.column.index, name=self.column.name)


def quantity(series: pd.Series) -> Quantity:
    """The numbers of a column."""
    column = plain(series)
    if column.dtype == object:
        # To a hash table 1 and True are one value.
        truth = np.array([isinstance(value, (bool, np.bool_)) for value in column], dtype=bool)
        refuse(truth, series.index, series.name, _why_no_number(True))
    codes, values = distinct(column)
    floats = floats_of(values)
    kind = getattr(values.dtype, "kind", "O")
    bad = ~np.isfinite(floats)
    if kind in "iu":
        bad |= np.abs(floats) > _LARGEST_WHOLE
    if bad.any():
        first, rows = values[int(bad.argmax())], np.isin(codes, np.flatnonzero(bad))
        if isinstance(first, str):
            refuse_texts(rows, series)
        refuse(rows, series.index, series.name, _why_no_number(first))
    exact = floats if kind == "f" else values.to_numpy(np.int64 if kind in "iu" else object)
    return Quantity(series, codes, exact, floats, not isinstance(column.dtype, np.dtype))


def floats_of(values: pd.Index) -> np.ndarray:
    """Values as numbers, NaN where one is none: text and truth values are not."""
    if isinstance(values.dtype, pd.SparseDtype):
        values = pd.Index(np.asarray(values))
    kind = getattr(values.dtype, "kind", "O")
    if kind == "f" and getattr(values.dtype, "itemsize", 8) < 8:
        # As they are written: 0.1 of 32 bits is none of the numbers of 64 bits next to 0.1.
        return np.array([float(str(value)) for value in values.to_numpy(dtype=np.float32)], dtype=float)
    if kind in "iuf":
        return values.to_numpy(dtype=float)
    return np.array([float_of(value) for value in values], dtype=float)


def float_of(value: Any) -> float:
    """A value as a number, NaN where it is none: text and truth values are not."""
    number: Any = value
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (Decimal, numbers.Real)):
        return math.nan
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def as_decimal(number: object) -> Decimal:
    """A number as it is written: 0.1 is a tenth, not the binary fraction next to it."""
    return number if isinstance(number, Decimal) else Decimal(str(number))


def like(number: Decimal, value: object) -> object:
    """A decimal as a value of the kind of `value`: a decimal; a whole number, where it is one; else a float."""
    if isinstance(value, Decimal):
        return number
    whole = isinstance(value, numbers.Integral) and number == number.to_integral_value()
    return int(number) if whole else float(number)


def check_number(number: Any, name: str) -> Any:
    """Return an option as it is; an `OptionError` that calls it `name` unless it is a finite number with digits."""
    fraction = isinstance(number, numbers.Rational) and not isinstance(number, numbers.Integral)
    if fraction or not math.isfinite(float_of(number)):
        raise OptionError(f"{name} must be a number, not {described(number)}")
    return number


#: Texts that often mean missing.
USUAL_MARKS = ("NA", "N/A", "<NA>", "NaN", "nan", "NULL", "null", ".", "*", "-", "?")
# Numbers as people write them, with points or commas between thousands too.
_NUMBER = r"[+-]?(?:\d+(?:[.,]\d*)?|\d{1,3}(?:[.,]\d{3})+(?:[.,]\d+)?|[.,]\d+)(?:[eE][+-]?\d+)?"
# Cells without a number are what makes text of a column if no more of its cells than this share are such.
_FEW_CELLS = 0.5


def no_numbers(texts: pd.Series) -> np.ndarray:
    """Which texts are there and no numbers, whatever sign they have before decimals."""
    return texts.notna().to_numpy() & ~texts.str.fullmatch(_NUMBER).to_numpy(dtype=bool, na_value=False)


def refuse_texts(rows: np.ndarray, column: pd.Series, name: object = None, fault: str = "") -> None:
    """Raise a `TextError` where any of the `rows` of a column is true: numbers are needed, and they hold text.

    It names the first cell that is no number if few of the column are none, else the first of the rows, with the
    `fault`, by default a usual one.
    """
    if not rows.any():
        return
    few = _few_texts(column)
    if few is not None:
        rows, mark = few
        fault = "text, but numbers are needed; correct it, or use --na (in configurations na) if it means missing"
        if mark in USUAL_MARKS:
            fault = f'{mark} is not a number; if it means missing, use --na {mark} (in configurations na: ["{mark}"])'
    name = str(column.name if name is None else name)
    error = TextError(f"column {shortened(name)}: {rows_named(rows, column.index)}: {fault or _why_no_number('')}")
    error.column = name
    raise error


def _few_texts(column: pd.Series) -> tuple[np.ndarray, str] | None:
    """The rows whose text is no number, and the text of the first, where few of a column are so; else None."""
    codes, values = distinct(column)
    texts = pd.Series(["" if not isinstance(value, str) else value.strip() for value in values], dtype="str")
    others = no_numbers(texts) & np.array([isinstance(value, str) for value in values], dtype=bool)
    rows = np.append(others, False)[codes]
    if not 0 < rows.sum() <= _FEW_CELLS * (codes >= 0).sum():
        return None
    return rows, texts[codes[int(rows.argmax())]]


def _why_no_number(value: object) -> str:
    """What is wrong with a value that is no number to reckon with, and what to do."""
    if isinstance(value, str):
        return "text, but numbers are needed; one cell that is not a number turns a whole column into text"
    if isinstance(value, (bool, np.bool_)):
        return "a truth value, but numbers are needed; group such values"
    if isinstance(value, (datetime.date, datetime.timedelta)):
        return "a date or time, but numbers are needed; recode it as a date"
    if isinstance(value, (numbers.Real, Decimal)):
        return "a number that is infinite or beyond 4e18; correct it, or make it missing"
    return "not a number; correct it"


ORIGINAL, RELEASED = "the original file", "the released file"
# The squares of so many numbers as a file has can be added up.
_LARGEST_SQUARED = 1e150


@dataclass(frozen=True)
class Paired:
    """The same variables of the same records, as they came and as released; not a number where missing."""

    variables: tuple[str, ...]
    index: pd.Index
    original: np.ndarray
    released: np.ndarray
    sd: np.ndarray


def paired(original: pd.DataFrame, released: pd.DataFrame, variables: Iterable[str] | str | None) -> Paired:
    """The variables of two files that have the same index; by default all columns of the original."""
    refuse_other_records(original, released)
    with about(ORIGINAL):
        names, x = numbers_of(original, variables)
    with about(RELEASED):
        _, y = numbers_of(released, names, may_lack_values=True)
    return Paired(names, original.index, x, y, standard_deviations(x))


def with_absent(released: pd.DataFrame, original: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """The released file with those variables of the original that it lacks, without a value."""
    gone = [name for name in original.columns if name in names and name not in released.columns]
    return with_columns(released, dict.fromkeys(gone, np.nan)) if gone else released


def refuse_other_records(original: pd.DataFrame | pd.Series, released: pd.DataFrame | pd.Series) -> None:
    """Raise a `DataError` unless two files have the same index."""
    if not original.index.equals(released.index):
        raise DataError(
            f"{RELEASED}: its index is not that of the original file ({len(released)} and {len(original)} records); "
            "give both the same records, in the same order"
        )


def numbers_of(
    frame: pd.DataFrame, variables: Iterable[str] | str | None, *, may_lack_values: bool = False
) -> tuple[tuple[str, ...], np.ndarray]:
    """Names of variables, and their numbers, shape (n, variables), not a number where missing."""
    names = tuple(frame.columns) if variables is None else column_names(variables, "variables")
    if not names:
        raise OptionError("variables: name at least one variable that is a quantity")
    if len(frame) == 0:
        raise DataError("has no records; nothing can be measured")
    columns = []
    for name in names:
        column = quantity(one_column(frame, name))
        if not len(column.numbers) and not may_lack_values:
            raise DataError(f"column {shortened(str(name))} has no value; leave it out")
        column.refuse(np.abs(column.numbers) > _LARGEST_SQUARED, "a number too large to be squared; use a larger unit")
        columns.append(np.append(column.numbers, np.nan)[column.codes])
    return names, np.column_stack(columns)


def standard_deviations(values: np.ndarray) -> np.ndarray:
    """Standard deviation (n - 1) of the known values of each column; 0 where they are all equal, or one."""
    known = [column[~np.isnan(column)] for column in values.T]
    # The mean of equal numbers may differ from them in the last digit, and their deviation from 0.
    return np.array([column.std(ddof=1) if column.min() < column.max() else 0.0 for column in known])
