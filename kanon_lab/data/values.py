"""Names and values of columns as every format has them, codes that mean missing, and files of SPSS, Stata and SAS."""

import io
import numbers
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from decimal import Context, Decimal
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from kanon_lab import files
from kanon_lab.columns import as_decimal, as_text, composed, holds_decimals, holds_numbers
from kanon_lab.errors import DataError, OptionError, meant, shortened
from kanon_lab.terms import Note

Code = str | int | float
# Names that a message lists, at most.
_MOST = 8
# Floating-point numbers below this are exact to the unit.
_EXACT = 2**53
#: Signs that do not count at the start and end of a value: all that Python takes for space, and three of no width.
BLANKS = "".join(chr(code) for code in range(0x3001) if chr(code).isspace()) + "\u200b\u2060\ufeff"
# Only with signs from here on can a text have letters that are not composed.
_DECOMPOSED = r"[^\x00-\x{2ff}]"
#: Texts that can be read as a number without losing a digit: no leading zero, no plus.
WHOLE = r"^(0|-?[1-9]\d{0,17})$"
DECIMAL = r"^-?((0|[1-9]\d{0,14})(\.\d*)?|\.\d+)([eE][+-]?\d+)?$"
# A floating-point number gives back so many digits of a decimal; and more digits than any decimal has.
_FLOAT_DIGITS, _ALL_DIGITS = 15, Context(prec=400)


def listed(names: Iterable[str] | str) -> list[str]:
    """Names as a list; a single name becomes a list of one."""
    return [names] if isinstance(names, str) else list(names)


def chosen(names: list[str], wanted: list[str] | None, *, in_row_1: bool) -> list[str]:
    """The columns to read, spelled as in the file; errors quote only names that cannot be data of row 1."""
    place = "put them in the first row" if in_row_1 else "write it again with names"
    names, own = list(map(composed, names)), names
    named = [name for name in names if name]
    if not named:
        raise DataError(f"has no column names; {place}")
    if absent := [name for name in wanted or [] if name not in names]:
        sure = not in_row_1 or len(absent) <= len(wanted or []) / 2
        raise wanting(absent[0], named, sure=sure)
    first = dict(reversed([(name, i) for i, name in enumerate(names, start=1)]))
    if twice := [(first[name], i) for i, name in enumerate(names, start=1) if name and first[name] != i]:
        raise DataError(f"columns {twice[0][0]} and {twice[0][1]} have the same name; give each its own")
    written = dict(zip(names, own, strict=True))
    return [written[name] for name in (named if wanted is None else wanted)]


def unnamed(names: Iterable[str]) -> Iterator[Note]:
    """A note on columns without a name, by their number."""
    if places := tuple(str(place) for place, name in enumerate(names, start=1) if not name):
        yield Note("columns_unnamed", columns=places)


def wanting(absent: str, names: list[str], *, sure: bool) -> DataError:
    """The error for an absent column; it quotes the nearest name if it is `sure` that row 1 holds names."""
    remedy = "check that the first row has the names of the columns"
    alike = [name for name in names if name.casefold() == absent.casefold()]
    if sure or alike:
        offered = alike or names
        more = f" and {len(offered) - _MOST} more" if len(offered) > _MOST else ""
        remedy = meant(absent, offered, f"it has {', '.join(map(shortened, offered[:_MOST]))}{more}")
    return DataError(f"no column {shortened(absent)}; {remedy}")


class MissingCodes:
    """Codes that mean missing, by variable, and which of them were met; a number and its text are the same code."""

    def __init__(self, declared: Mapping[str, Iterable[Code] | Code] | None):
        if declared is not None and not isinstance(declared, Mapping):
            raise OptionError("missing_codes: write variables with their codes, such as P3: [88, 99]")
        self.codes = {composed(str(name)): _codes(str(name), codes) for name, codes in (declared or {}).items()}
        self._met: dict[str, set[Code]] = {name: set() for name in self.codes}

    def without(self, column: pd.Series) -> pd.Series:
        """The column with its codes missing."""
        name = composed(column.name)
        if not self.codes.get(name):
            return column
        absent = pd.Series(False, index=column.index)
        for code in self.codes[name]:
            if (rows := _is(column, code)).any():
                self._met[name].add(code)
                absent |= rows
        if not absent.any():
            return column
        if isinstance(column.dtype, np.dtype) and column.dtype.kind in "iu":
            # Whole numbers stay exact in a type that has missing values.
            nullable: Any = f"{'U' if column.dtype.kind == 'u' else ''}Int{8 * column.dtype.itemsize}"
            column = column.astype(nullable)
        return column.mask(absent)

    def added_to(self, missing: Mapping[str, tuple[Code, ...]], names: Iterable[str]) -> dict[str, tuple[Code, ...]]:
        """The codes of each variable that was read, after those that are missing by the file."""
        both = {name: (*missing.get(name, ()), *self.codes.get(name, ())) for name in names}
        return {name: tuple(dict.fromkeys(codes)) for name, codes in both.items() if codes}

    def notes(self, names: Iterable[str]) -> Iterator[Note]:
        """What was done in the variables that were read."""
        for name in names:
            codes, met = self.codes.get(name, ()), self._met.get(name, ())
            for key, is_met in (("codes_missing", True), ("codes_in_no_record", False)):
                if of_key := [code for code in codes if (code in met) == is_met]:
                    yield Note(key, codes=spelt(of_key), variable=shortened(name))


def spelt(codes: Sequence[Code]) -> str:
    """Codes for messages, such as "codes 88, 99"."""
    listed = ", ".join(shortened(str(code)) for code in codes)
    return f"codes {listed}" if len(codes) > 1 or " " in listed else f"code {listed}"


def _codes(name: str, codes: Any) -> tuple[Code, ...]:
    codes = [codes] if isinstance(codes, str | numbers.Number) else codes
    are_listed = isinstance(codes, Iterable) and not isinstance(codes, Mapping)
    known: tuple[Any, ...] = tuple(dict.fromkeys(map(_code, codes))) if are_listed else (None,)
    if None in known or "" in known:
        raise OptionError(f"missing_codes of {shortened(name)}: write numbers, or texts in quotation marks")
    return known


def _code(value: Any) -> Code | None:
    """A code as text or number, an int where it is whole; None if the value cannot be a code."""
    if isinstance(value, str):
        return tidy(value)
    if isinstance(value, bool) or not isinstance(value, numbers.Real) or not np.isfinite(float(value)):
        return None
    number: Any = value
    return int(number) if number == int(number) else float(number)


def _is(column: pd.Series, code: Code) -> pd.Series:
    """Where a column holds a code, as a number or as a text."""
    text, number = str(code), _number(code)
    if isinstance(column.dtype, pd.CategoricalDtype):
        values = pd.Series(column.cat.categories, dtype=object, name=column.name)
        return column.isin(column.cat.categories[_is(values, code)])
    if column.dtype == object:

        def is_code(value: object) -> bool:
            if isinstance(value, str):
                return value == text
            if isinstance(value, Decimal) and number is not None:
                return value == as_decimal(number)  # as it is written: 0.1 is a tenth
            return isinstance(value, numbers.Real) and not isinstance(value, bool) and value == number

        return column.map(is_code).astype(bool)
    if isinstance(column.dtype, pd.StringDtype):
        rows = column == text
    elif number is not None and holds_numbers(column):
        rows = column == number
    else:
        return pd.Series(False, index=column.index)
    return rows.fillna(False).astype(bool)


def _number(code: Code) -> int | float | None:
    """A code as a number, exactly where it is whole; None where it is none."""
    if not isinstance(code, str):
        return code
    for kind in (int, float):
        with suppress(ValueError):
            return kind(code)
    return None


class Changes:
    """How many cells of each column were read as another value than the text in them, by key of the note on it."""

    def __init__(self) -> None:
        self._cells: dict[str, dict[str, int]] = {}

    def add(self, key: str, name: str, cells: int) -> None:
        """Count cells of a column."""
        if cells:
            columns = self._cells.setdefault(key, {})
            columns[name] = columns.get(name, 0) + cells

    def of(self, name: str) -> bool:
        """Whether a cell of the column was changed."""
        return any(name in columns for columns in self._cells.values())

    def notes(self, order: Iterable[str]) -> Iterator[Note]:
        """A note for each kind of change, with its columns in the order of these."""
        order = list(order)
        for key in ("blanks_around", "blanks_only", "letters_composed", "texts_among_numbers"):
            if columns := self._cells.get(key):
                names = tuple(shortened(name) for name in order if name in columns)
                more = ("...",) if len(names) > _MOST else ()
                yield Note(key, cells=sum(columns.values()), columns=(*names[:_MOST], *more))


def tidy(text: str) -> str:
    """A text as every format has it: letters composed (Unicode's NFC), no blanks around them."""
    return composed(text).strip(BLANKS)


def tidied(cells: pa.ChunkedArray, name: str, changes: Changes, times: np.ndarray | None = None) -> pa.ChunkedArray:
    """The same texts as `tidy` makes them; `times` says how many cells each stands for, by default one."""

    def count(key: str, where: pa.ChunkedArray) -> None:
        weights = 1 if times is None else times
        changes.add(key, name, int((where.to_numpy(zero_copy_only=False).astype(bool) * weights).sum()))

    plain = pc.all(pc.string_is_ascii(cells), min_count=0).as_py()
    plain = plain or not pc.any(pc.match_substring_regex(cells, _DECOMPOSED), min_count=0).as_py()
    letters = cells if plain else pc.utf8_normalize(cells, "NFC")
    texts = pc.utf8_trim(letters, BLANKS)
    if not letters.equals(cells):
        count("letters_composed", pc.fill_null(pc.not_equal(letters, cells), False))
    if not texts.equals(letters):
        differ = pc.fill_null(pc.not_equal(texts, letters), False)
        empty = pc.fill_null(pc.equal(texts, ""), False)
        count("blanks_around", pc.and_not(differ, empty))
        count("blanks_only", pc.and_(differ, empty))
    return texts


def settled(
    column: pd.Series,
    stays: bool,
    na: Sequence[str],
    codes: MissingCodes,
    changes: Changes | None = None,
    times: np.ndarray | None = None,
) -> pd.Series:
    """The same values in the type that they have in every format, or as text, without codes and texts of `na`.

    This is the rule for what a value is. Outer blanks do not count, and letters are composed (`tidy`). Texts among
    numbers are numbers, where no digit is lost by it. What was changed is counted in `changes`; without it, the texts
    are as they should be already. `times` says how many cells each value stands for, by default one.
    """
    name = str(column.name)
    if column.dtype == object and set(map(type, column.dropna())) <= {str}:
        column = column.astype("str")
    if changes is not None:
        column = _with_tidy_texts(column, name, changes, times)
    column = codes.without(column)
    if isinstance(column.dtype, pd.StringDtype | pd.CategoricalDtype) or column.dtype == object:
        texts = dict.fromkeys(["", *map(tidy, na)])
        absent = np.logical_or.reduce([(column == text).to_numpy(dtype=bool, na_value=False) for text in texts])
        column = column.mask(absent) if absent.any() else column
    if column.dtype == object:
        column = _of_objects(_with_numbers(column, stays, name, changes or Changes()))
        if stays and holds_decimals(column):
            column = column.map(as_text, na_action="ignore").astype("str")
    if pd.api.types.is_bool_dtype(column) or not pd.api.types.is_numeric_dtype(column):
        return column
    column = _whole(column)
    return column.astype("str").where(column.notna()) if stays else column


def _with_tidy_texts(column: pd.Series, name: str, changes: Changes, times: np.ndarray | None) -> pd.Series:
    """The column with its texts as `tidy` makes them, also those among other values or in categories."""
    if isinstance(column.dtype, pd.StringDtype):
        cells = pa.array(column, from_pandas=True)
        cells = cells if isinstance(cells, pa.ChunkedArray) else pa.chunked_array([cells])
        texts = tidied(cells, name, changes, times)
        if texts.equals(cells):
            return column
        return pd.Series(texts.to_pandas().to_numpy(), index=column.index, name=column.name, dtype=column.dtype)
    if isinstance(column.dtype, pd.CategoricalDtype):
        categories = column.cat.categories
        count = np.bincount(column.cat.codes + 1, times, minlength=len(categories) + 1)[1:].astype(np.int64)
        values = _with_tidy_texts(pd.Series(categories, name=name), name, changes, count)
        if values.equals(pd.Series(categories, name=name)):
            return column
        place, distinct = pd.factorize(values)
        kind = pd.CategoricalDtype(distinct, ordered=column.cat.ordered)
        merged = pd.Categorical.from_codes(np.append(place, -1)[column.cat.codes], dtype=kind)
        return pd.Series(merged, index=column.index, name=column.name)
    if column.dtype == object and (rows := _are_texts(column)).any():
        texts = pd.Series(column.to_numpy()[rows], dtype="str")
        column = column.copy()
        column[rows] = _with_tidy_texts(texts, name, changes, None if times is None else times[rows]).to_numpy(object)
    return column


def _are_texts(column: pd.Series) -> np.ndarray:
    return np.fromiter((isinstance(value, str) for value in column), dtype=bool, count=len(column))


def _is_number(kind: type) -> bool:
    return issubclass(kind, (numbers.Real, Decimal)) and not issubclass(kind, (bool, np.bool_))


def _with_numbers(column: pd.Series, stays: bool, name: str, changes: Changes) -> pd.Series:
    """Texts among numbers as numbers: all of them by the rule for csv files, or else those that spell one exactly."""
    kinds = set(map(type, column.dropna()))
    if str not in kinds or len(kinds) == 1 or not all(map(_is_number, kinds - {str})):
        return column
    if stays:
        return column.map(as_text, na_action="ignore")
    distinct = pd.Series(column.dropna().unique(), dtype=object)
    number_of = {text: _number_in(text) for text in distinct[_are_texts(distinct)]}
    spellings = set(distinct.map(as_text))
    of_spelling = {text: number_of[text] if text in number_of else _number_in(text) for text in spellings}
    # Codes such as 1.1 and 1.10 are different values that would be one number.
    if None in number_of.values() or len(set(of_spelling.values())) < len(spellings):
        number_of = {text: value for text, value in number_of.items() if value is not None and as_text(value) == text}
    rows = column.isin(list(number_of)) & _are_texts(column)
    changes.add("texts_among_numbers", name, int(rows.sum()))
    return column.where(~rows, column.map(number_of.get))


def _number_in(text: str) -> int | float | None:
    """The number that a text can be read as without losing a digit; None where there is none."""
    if re.match(WHOLE, text):
        return int(text)
    return float(text) if re.match(DECIMAL, text) and np.isfinite(float(text)) else None


def _of_objects(column: pd.Series) -> pd.Series:
    known = column.dropna()
    kinds = set(map(type, known))
    if kinds <= {str}:
        return column.astype("str")
    if all(map(_is_number, kinds)):
        if not any(issubclass(kind, Decimal) for kind in kinds):
            are_whole = [issubclass(kind, numbers.Integral) for kind in kinds]
            if not any(are_whole) or known.abs().max() < (2**63 if all(are_whole) else _EXACT):
                return column.astype("Int64" if all(are_whole) else "float64")
        return _of_decimals(column)
    return column.infer_objects()


def _of_decimals(column: pd.Series) -> pd.Series:
    """Decimals and long whole numbers in a type of numbers that keeps every digit, or else as decimals."""
    codes, values = pd.factorize(column)
    exact = list(map(as_decimal, values))
    whole = all(value == value.to_integral_value(context=_ALL_DIGITS) for value in exact)
    kept: Any
    if whole and all(-(2**63) <= value < 2**63 for value in exact):
        kept = pd.array(list(map(int, exact)), dtype="Int64")
    elif whole and all(0 <= value < 2**64 for value in exact):
        kept = pd.array(np.array(list(map(int, exact)), dtype=np.uint64), dtype="UInt64")
    elif all(map(is_float, values)):
        kept = np.array(list(map(float, exact)))
    else:
        kept = np.array(exact, dtype=object)
    return pd.Series(pd.Series(kept).array.take(codes, allow_fill=True), index=column.index, name=column.name)


def is_float(value: Any) -> bool:
    """Whether a floating-point number keeps every digit of a number."""
    if isinstance(value, float | np.floating):
        return True
    exact = as_decimal(value)
    if not isinstance(value, Decimal):  # such as a cell of a workbook, 1e20
        return exact == Decimal(float(exact))
    return abs(exact) < _EXACT and len(exact.normalize(_ALL_DIGITS).as_tuple().digits) <= _FLOAT_DIGITS


def _whole(column: pd.Series) -> pd.Series:
    """Numbers as integers where all of them are whole; without the mask of missing ones where none is."""
    if pd.api.types.is_float_dtype(column):
        known = column.dropna()
        if len(known) and (known % 1 == 0).all() and (known.abs() < _EXACT).all():
            column = column.astype("Int64")
    if isinstance(column.dtype, np.dtype) or column.isna().any() or isinstance(column.dtype, pd.CategoricalDtype):
        return column
    nullable: Any = column.dtype
    return column.astype(nullable.numpy_dtype)


# Extensions of these files.
STATISTICAL_FORMATS = ("sav", "dta", "sas7bdat")

Labels = dict[str, dict[Code, str]]
Missing = dict[str, tuple[Code, ...]]
# By variable the codes and ranges that pyreadstat writes as missing, or letters such as ".a".
UserMissing = dict[str, list[Any]]
#: Letters of the missing values of Stata and SAS.
LETTERS = tuple("abcdefghijklmnopqrstuvwxyz")
_NO_LIMIT = 1e300
# Formats that come with SAS; those of its users are defined in a catalogue.
_OF_SAS = re.compile(
    r"\$?(|BEST|BESTD|D|E|F|Z|N|NUMX|COMMAX?|DOLLARX?|EUROX?|NEGPAREN|PERCENTN?|FRACT|ROMAN|WORDS|WORDF|SSN|PVALUE|"
    r"CHAR|VARYING|QUOTE|UPCASE|ASCII|EBCDIC|REVERJ|REVERS|BASE64X|S370F[A-Z]+|[PZ]D|[IP]?IB|RB|BINARY|HEX|OCTAL|"
    r"DATE|DATETIME|DATEAMPM|DT[A-Z]+|TIME|TIMEAMPM|TOD|HHMM|HOUR|MMSS|DAY|DOWNAME|WEEK(DAY|DATE|DATX|[UVW])?|WORDDAT[EX]|"
    r"MONNAME|MONTH|MONYY|YEAR|YYMON|QTRR?|JULIAN|JULDAY|PDJUL[GI]|(YYQR?|YYMM|MMYY|DDMMYY|MMDDYY|YYMMDD)[BCDNPSX]?|"
    r"(IS|[BE])8601[A-Z]{2})\d*(\.\d*)?"
)


class Statistical(NamedTuple):
    """What a file holds: a row a record, labels of codes and of variables, and what its user defined as missing."""

    frame: pd.DataFrame
    labels: Labels
    variable_labels: dict[str, str]
    missing: Missing  # codes and ranges of SPSS, such as "90 to 99", and letters of Stata and SAS, such as "a" for .a
    encoding: str | None
    formatted: tuple[str, ...]  # variables with a format of the user's, whose labels SAS keeps in another file
    formats: dict[str, str]  # of SPSS and Stata, such as DATE11 and %tm
    user_missing: UserMissing  # codes that are kept among the values
    lost_codes: dict[str, int]  # cells with a code that means missing, by variable that has some


def read_statistical(
    content: bytes,
    form: str,
    choose: Callable[[Iterable[str]], list[str]],
    encoding: str | None = None,
    *,
    keep_codes: bool = False,
) -> Statistical:
    """The chosen columns; labels are not applied.

    Codes that a user defined as missing are missing values, unless they are to be kept: letters of Stata and SAS as
    texts such as ".a".
    """
    import pyreadstat

    read: Callable[..., tuple] = getattr(pyreadstat, f"read_{form}")

    def parts(**options: object) -> tuple:
        try:
            return read(io.BytesIO(content), encoding=encoding, **options)
        except MemoryError:
            raise
        except Exception as error:  # a damaged file makes the reader fail in ways that it does not list
            if "unsupported character set" in str(error):
                fault = "its texts are in an encoding that is unknown here; export it again in UTF-8"
            elif "convert string" in str(error):
                fault = "its texts are in another encoding than it says; export it again in UTF-8"
            else:
                fault = f"is not a .{form} file, or is damaged; export it again"
            raise DataError(fault) from None

    head = parts(metadataonly=True, user_missing=True)[1]
    chosen = choose(head.column_names)
    # a file may say nothing of how many records it has, or something else; more than are allowed are not read
    most = files.most_rows(len(chosen))
    keep = {"user_missing": True} if keep_codes and form == "sav" else {}
    frame = parts(usecols=chosen, dates_as_pandas_datetime=True, row_limit=most + 1, **keep)[0][chosen]
    files.check_table(len(frame), len(chosen))
    user_missing: UserMissing = {}
    lost_codes: dict[str, int] = {}
    if form == "sav":
        ranges = {name: head.missing_ranges[name] for name in chosen if head.missing_ranges.get(name)}
        if keep:
            user_missing, ranges = {composed(name): codes for name, codes in ranges.items()}, {}
        missing = {composed(name): tuple(map(in_words, codes)) for name, codes in ranges.items()}
        if some := [name for name in ranges if frame[name].isna().any()]:
            with_codes = parts(usecols=some, user_missing=True, dates_as_pandas_datetime=True)[0]
            lost_codes = {name: int((with_codes[name].notna() & frame[name].isna()).sum()) for name in some}
    else:  # their letters stand among the values; the reader that tells them makes 0 of some other missing values
        some = [name for name in chosen if head.readstat_variable_types[name] != "string" and frame[name].isna().any()]
        with_letters = {"usecols": some, "user_missing": True, "disable_datetime_conversion": True}
        as_letters, about_letters = parts(**with_letters) if some else (frame, head)
        letters = about_letters.missing_user_values if some else {}
        lost_codes = {name: sum(isinstance(cell, str) for cell in as_letters[name]) for name in some}
        if keep_codes:
            for name in [name for name, cells in lost_codes.items() if cells]:
                are = as_letters[name].map(lambda cell: isinstance(cell, str)).to_numpy(dtype=bool)
                frame[name] = frame[name].astype(object).mask(are, "." + as_letters[name].astype(str))
                user_missing[composed(name)] = [f".{letter}" for letter in sorted(letters[name])]
            lost_codes, letters = {}, {}
        missing = {composed(name): tuple(sorted(letters.get(name) or ())) for name in some}
    labels = {
        composed(name): {
            f".{code}"
            if code in LETTERS and composed(name) in user_missing and form != "sav"
            else _as_code(code): label
            for code, label in head.variable_value_labels[name].items()
        }
        for name in chosen
        if name in head.variable_value_labels
    }
    named = {composed(name): label for name in chosen if (label := head.column_names_to_labels.get(name))}
    of_file = {name: head.original_variable_types.get(name) or "" for name in chosen}
    of_sas, formats_of = (of_file, {}) if form == "sas7bdat" else ({}, of_file)
    formatted = tuple(composed(name) for name, kind in of_sas.items() if not _OF_SAS.fullmatch(kind.upper()))
    missing = {name: codes for name, codes in missing.items() if codes}
    kept_formats = {composed(name): formats_of[name] for name in chosen if formats_of.get(name)}
    lost_codes = {composed(name): cells for name, cells in lost_codes.items() if cells}
    encoding = head.file_encoding
    return Statistical(frame, labels, named, missing, encoding, formatted, kept_formats, user_missing, lost_codes)


def _as_code(code: Code) -> Code:
    """A code as the frame has it: a whole number where it can be, a text as it is in cells."""
    if isinstance(code, str):
        return tidy(code)
    return int(code) if isinstance(code, float) and code.is_integer() else code


def in_words(limits: Mapping[str, Any] | str) -> Code:
    """One code, or a range of them in words."""
    if isinstance(limits, str):
        return limits
    low, high = limits["lo"], limits["hi"]
    if low == high:
        return _as_code(low)
    # the lowest and the highest number there is stand for no limit
    if low < -_NO_LIMIT:
        return f"to {_as_code(high)}"
    return f"from {_as_code(low)}" if high > _NO_LIMIT else f"{_as_code(low)} to {_as_code(high)}"
