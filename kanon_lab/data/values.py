"""Values of a column in the type that they have in every format, and codes among them that mean missing."""

import numbers
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal

import numpy as np
import pandas as pd

from kanon_lab.data.names import composed
from kanon_lab.errors import OptionError, shortened
from kanon_lab.notes import Note

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
