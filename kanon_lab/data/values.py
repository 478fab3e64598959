"""Names of columns, and values in the type that they have in every format, with codes that mean missing."""

import numbers
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal

import numpy as np
import pandas as pd

from kanon_lab.errors import DataError, OptionError, meant, shortened
from kanon_lab.terms import Note

_MOST = 8


def composed(name: str) -> str:
    """A name with composed letters (Unicode's NFC): one letter for the e and the accent of café."""
    return unicodedata.normalize("NFC", name)


def listed(names: Iterable[str] | str) -> list[str]:
    """Names as a list, also where one alone is given."""
    return [names] if isinstance(names, str) else list(names)


def chosen(names: list[str], wanted: list[str] | None, *, in_row_1: bool) -> list[str]:
    """The columns to read, as they stand in the file, or an error that quotes names only where they surely are names.

    A file without a header has data in row 1, where names should be.
    """
    place = "put them in the first row" if in_row_1 else "write it again with names"
    names, own = list(map(composed, names)), names
    named = [name for name in names if name]
    if not named:
        raise DataError(f"has no column names; {place}")
    if absent := [name for name in wanted or [] if name not in names]:
        sure = not in_row_1 or len(absent) <= len(wanted) / 2
        raise wanting(absent[0], named, sure=sure)
    first = dict(reversed([(name, i) for i, name in enumerate(names, start=1)]))
    if twice := [(first[name], i) for i, name in enumerate(names, start=1) if name and first[name] != i]:
        raise DataError(f"columns {twice[0][0]} and {twice[0][1]} have the same name; give each its own")
    written = dict(zip(names, own, strict=True))
    return [written[name] for name in (named if wanted is None else wanted)]


def wanting(absent: str, names: list[str], *, sure: bool) -> DataError:
    """The error for a column that is not there: with the nearest of the names, where it is sure that they are names."""
    remedy = "; check that names of columns stand in the first row"
    alike = [name for name in names if name.casefold() == absent.casefold()]
    if sure or alike:
        remedy = _remedy(absent, alike or names)
    return DataError(f"no column {shortened(absent)}{remedy}")


def _remedy(absent: str, names: list[str]) -> str:
    few = ", ".join(map(shortened, names[:_MOST]))
    more = f" and {len(names) - _MOST} more" if len(names) > _MOST else ""
    return f"; {meant(absent, names, f'it has {few}{more}')}"


# Floating-point numbers below this are exact to the unit.
_EXACT = 2**53

Code = str | int | float


class MissingCodes:
    """Codes that mean missing, by variable, and which of them were met.

    One alone need not stand in a list. A number and its text are the same code.
    """

    def __init__(self, declared: Mapping[str, Iterable[Code] | Code] | None):
        if declared is not None and not isinstance(declared, Mapping):
            raise OptionError("missing_codes: write variables with their codes, such as P3: [88, 99]")
        self.codes = {composed(str(name)): _codes(str(name), codes) for name, codes in (declared or {}).items()}
        self._met = {name: set() for name in self.codes}

    def without(self, column: pd.Series) -> pd.Series:
        """The column with its codes missing."""
        name = composed(column.name)
        if not self.codes.get(name):
            return column
        absent = pd.Series(False, index=column.index)
        for code in self.codes[name]:
            if (found := _is(column, code)).any():
                self._met[name].add(code)
                absent |= found
        return _nullable(column).mask(absent) if absent.any() else column

    def added_to(self, missing: Mapping[str, tuple[Code, ...]], names: Iterable[str]) -> dict[str, tuple[Code, ...]]:
        """The codes of each variable that was read, after those that are missing by the file."""
        both = {name: (*missing.get(name, ()), *self.codes.get(name, ())) for name in names}
        return {name: tuple(dict.fromkeys(codes)) for name, codes in both.items() if codes}

    def notes(self, names: Iterable[str]) -> list[str]:
        """What was done in the variables that were read."""
        return [note for name in names if name in self.codes for note in self._notes(name)]

    def _notes(self, name: str) -> Iterable[str]:
        met = [code for code in self.codes[name] if code in self._met[name]]
        others = [code for code in self.codes[name] if code not in met]
        for key, codes in (("codes_missing", met), ("codes_in_no_record", others)):
            if codes:
                yield Note(key, codes=spelt(codes), variable=shortened(name))


def spelt(codes: Sequence[Code]) -> str:
    """Codes for messages, such as "codes 88, 99"."""
    listed = ", ".join(shortened(str(code)) for code in codes)
    return f"codes {listed}" if len(codes) > 1 or " " in listed else f"code {listed}"


def _codes(name: str, codes: Iterable[Code] | Code) -> tuple[Code, ...]:
    given = [codes] if isinstance(codes, str | numbers.Number) else codes
    sound = isinstance(given, Iterable) and not isinstance(given, Mapping)
    found = dict.fromkeys(map(_code, given)) if sound else {None: None}
    if None in found or "" in found:
        raise OptionError(f"missing_codes of {shortened(name)}: write numbers, or texts in quotation marks")
    return tuple(found)


def _code(value: object) -> Code | None:
    """A code as a text or a number, whole where it can be; None for what is none."""
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, bool) or not isinstance(value, numbers.Real) or not np.isfinite(value):
        return None
    return int(value) if value == int(value) else float(value)


def _is(column: pd.Series, code: Code) -> pd.Series:
    """Where a column holds a code, as a number or as a text."""
    text, number = str(code), _number(code)
    if isinstance(column.dtype, pd.CategoricalDtype):
        values = pd.Series(column.cat.categories, dtype=object, name=column.name)
        return column.isin(column.cat.categories[_is(values, code)])
    if column.dtype == object:
        return column.map(
            lambda value: value.strip() == text if isinstance(value, str) else _equal(value, number)
        ).astype(bool)
    if isinstance(column.dtype, pd.StringDtype):
        found = column == text
    elif number is not None and pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column):
        found = column == number
    else:
        return pd.Series(False, index=column.index)
    return found.fillna(False).astype(bool)


def _equal(value: object, number: float | None) -> bool:
    """Whether a value that is no text is this number."""
    return isinstance(value, numbers.Real | Decimal) and not isinstance(value, bool) and value == number


def _number(code: Code) -> int | float | None:
    """A code as a number, exactly where it is whole; None where it is none."""
    if not isinstance(code, str):
        return code
    for kind in (int, float):
        try:
            return kind(code)
        except ValueError:
            pass
    return None


def _nullable(column: pd.Series) -> pd.Series:
    """The column in a type with missing values that keeps whole numbers exact."""
    if not isinstance(column.dtype, np.dtype) or column.dtype.kind not in "iu":
        return column
    return column.astype(f"{'U' if column.dtype.kind == 'u' else ''}Int{8 * column.dtype.itemsize}")


def settled(column: pd.Series, stays: bool, na: Sequence[str], codes: MissingCodes) -> pd.Series:
    """The same values in the type that they have in every format, or as text, without codes and texts of `na`."""
    column = codes.without(column)
    if column.dtype == object:
        column = _of_objects(column)
    if isinstance(column.dtype, pd.StringDtype | pd.CategoricalDtype) or column.dtype == object:
        absent = np.logical_or.reduce([(column == text).to_numpy(dtype=bool, na_value=False) for text in ("", *na)])
        return column.mask(absent) if absent.any() else column
    if pd.api.types.is_bool_dtype(column) or not pd.api.types.is_numeric_dtype(column):
        return column
    column = _whole(column)
    return column.astype("str").where(column.notna()) if stays else column


def _of_objects(column: pd.Series) -> pd.Series:
    known = column.dropna()
    kinds = set(map(type, known))
    if kinds <= {str}:
        return column.astype("str")
    if all(issubclass(kind, (numbers.Real, Decimal)) and kind is not bool for kind in kinds):
        whole = all(issubclass(kind, numbers.Integral) for kind in kinds) and known.abs().max() < 2**63
        return column.astype("Int64" if whole else "float64")
    return column.infer_objects()


def _whole(column: pd.Series) -> pd.Series:
    """Numbers as integers where all of them are whole; without the mask of missing ones where none is."""
    if pd.api.types.is_float_dtype(column):
        known = column.dropna()
        if len(known) and (known % 1 == 0).all() and (known.abs() < _EXACT).all():
            column = column.astype("Int64")
    if isinstance(column.dtype, np.dtype) or column.isna().any() or isinstance(column.dtype, pd.CategoricalDtype):
        return column
    return column.astype(column.dtype.numpy_dtype)
