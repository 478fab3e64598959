"""What a column of a file looks like: what its name says, in three languages, and the shape of its values."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import reduce
from math import gcd
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from kanon_lab.columns import USUAL_MARKS, holds_decimals
from kanon_lab.data.names import words_of
from kanon_lab.errors import DataError
from kanon_lab.rules import ISO, as_dates

if TYPE_CHECKING:
    from kanon_lab.data.microdata import MicrodataFile
    from kanon_lab.data.values import Code

NUMBERS = ("whole numbers", "numbers")
# Formats whose names are a row like the others.
_IN_ROW_1 = ("csv", "xlsx")
_DATE = re.compile(r"\d{1,4}([-/.])\d{1,2}\1\d{1,4}(?:[T ].*)?")
# Formats of dates, the first choice first.
_DATE_FORMATS = (ISO, "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%d.%m.%Y", "%Y/%m/%d")
_DIGITS = re.compile(r"\d+")
_NUMBER = re.compile(r"[+-]?(?:\d+(?:[.,]\d*)?|[.,]\d+)(?:[eE][+-]?\d+)?")
_MAIL = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+")
_YEARS = (1900, 2100)
# Of a text with so many digits at least, and half of it digits, others of the same pattern are alike.
_DIGITS_OF_A_CODE = 4
# Coded groups of age are up to five-year ones, and more than these are years of the young or groups.
_MOST_CODES, _SURE_CODES = 22, 12
# What questionnaires write where there is no age.
_NO_ANSWER = (77, 88, 96, 97, 98, 99, 777, 888, 997, 998, 999)
_OLDEST = 120
_STEP = 5
# Widths of bands of age, in years, the first choice first; the share of records that one of them may hold.
_WIDTHS, _LARGEST = (15, 5), 0.95
# Numbers of records are spread over not much more numbers than there are records.
_SPREAD = 1.5
# Households by shape: records a value in the mean, and at most, and of how many the values of others are the same.
_MEANS, _MOST_MEMBERS, _SAME, _BY_CHANCE = (1.2, 6.0), 20, 0.95, 0.7
_FEWEST = 10
# What values of a sex are, or their labels; and of few letters, together.
_SEX = re.compile(r"(fe)?males?|(wo)?m[ae]n|hombres?|mujer(es)?|var[oó]n(es)?|home(ns)?|dones|dona|masculino|femenino")
_SEX_LETTERS = ({"m", "f"}, {"h", "m"}, {"m", "w"}, {"h", "d"})
# What the label of a code says where there is no answer.
_NO_LABEL = re.compile(
    r"\b(no (answer|reply|response|sabe|contesta|responde|consta|sap)|(don.?t|do(es)? not) know|unknown|"
    r"missing|refus\w*|not (stated|reported|available)|n\.?[sc]\.?\s?/?\s?n\.?[rc]\.?|ns|nc|nr|"
    r"(sin|sense) (dat\w*|respuesta|resposta|informaci\w*)|descon\w*|rehús\w*|rehus\w*)\b"
)
# Values of a column that says where another is empty, at most, and records in which that is, at least.
_SAYING, _ENOUGH = 30, 20
# Words of a label that is like a name; a longer one is a question, in which any word may stand.
_LABEL_WORDS = 5
# Units of a sample have so often the same number of records; households have not.
_EQUAL = 0.9


def check_named(file: MicrodataFile, where: str) -> None:
    """Raise a `DataError` where the first row of a csv or xlsx file holds a record rather than names.

    That is so where a name is a number with a sign or decimals, an address of mail, a date above dates, a value of
    the column below it (unless another is surely a name), or a code of digits like most codes below it; and where
    it is all digits, and no word of ``guess.csv`` is among the names, or it lies between the lowest and the highest
    number below it. A year such as 2019 above numbers some of which are no years is a name beside such a word.
    """
    if file.found["format"] not in _IN_ROW_1:
        return
    names = [str(name).strip() for name in file.frame.columns]
    known = any(map(words_of, names))
    worded = not all(_NUMBER.fullmatch(name) or _DATE.fullmatch(name) for name in names)
    columns = [file.frame.iloc[:, place].dropna() for place in range(len(names))]
    sure = any(map(_is_name, names, columns))
    for name, below in zip(names, columns, strict=True):
        if _is_cell(name, below, worded, known, sure):
            raise DataError(f"{where}: row 1 holds no names of columns, or one is a number; put names in the first row")


def _is_name(name: str, below: pd.Series) -> bool:
    """Whether a text is surely the name of a column: a word above numbers, or one of ``guess.csv`` above others."""
    if below.empty or name in USUAL_MARKS:
        return False
    if kind_of(below) in NUMBERS:
        return bool(re.match(r"[^\W\d]{2}", name))
    return bool(words_of(name)) and not (below.astype("str").str.strip() == name).any()


def _is_cell(name: str, below: pd.Series, worded: bool, known: bool, sure: bool) -> bool:
    """Whether the text in place of a name looks like the cells below it."""
    if _DATE.fullmatch(name):
        return not worded or kind_of(below) == "dates" or bool(below.astype("str").str.fullmatch(_DATE.pattern).all())
    if _MAIL.fullmatch(name) or (kind_of(below) == "text" and _is_text_like(name, below, sure)):
        return True
    if not _DIGITS.fullmatch(name):
        return bool(_NUMBER.fullmatch(name))
    if not worded or not known:
        return True
    if kind_of(below) not in NUMBERS or below.empty:
        return False
    number, low, high = int(name), below.min(), below.max()
    if _YEARS[0] <= number <= _YEARS[1] and not (_YEARS[0] <= low and high <= _YEARS[1]):
        return False
    return bool(low <= number <= high)


def _is_text_like(name: str, below: pd.Series, sure: bool) -> bool:
    """Whether a name is one of the texts below it, unless it is `sure` to be none, or a code of their pattern."""
    texts = pd.Series(pd.unique(below.astype("str"))).str.strip()
    if (texts == name).any() and not (sure and not any(map(str.isdigit, name))):
        return True
    digits = sum(map(str.isdigit, name))
    if digits < _DIGITS_OF_A_CODE or 2 * digits < len(name):
        return False
    patterns = texts.str.replace(r"[^\W\d_]", "a", regex=True).str.replace(r"\d", "9", regex=True)
    own = re.sub(r"\d", "9", re.sub(r"[^\W\d_]", "a", name))
    return bool((patterns == own).mean() >= 0.5)  # a check digit may be a letter


def kind_of(column: pd.Series) -> str:
    """One of "text", "whole numbers", "numbers", "dates", "truth" and "other"."""
    types = pd.api.types
    if isinstance(column.dtype, pd.CategoricalDtype):
        column = column.cat.categories.to_series()
    if types.is_bool_dtype(column):
        return "truth"
    if types.is_integer_dtype(column):
        return "whole numbers"
    if types.is_numeric_dtype(column):
        return "numbers"
    if column.notna().any() and holds_decimals(column):
        # Whole numbers as long as these are codes.
        return "text" if all(cell == cell.to_integral_value() for cell in column.dropna()) else "numbers"
    if types.is_datetime64_any_dtype(column):
        return "dates"
    return "text" if isinstance(column.dtype, pd.StringDtype) or column.dtype == object else "other"


def are_dates(column: pd.Series) -> bool:
    """Whether all texts of a column are dates, such as 2001-12-31 or 31/12/2001."""
    texts = pd.Series(pd.unique(column.dropna().astype("str"))).str.strip()
    return bool(texts.str.fullmatch(_DATE.pattern).all())


def date_format(column: pd.Series) -> str:
    """The format by which every value of a column is a date, or "" where there is none of `_DATE_FORMATS`."""
    if kind_of(column) == "dates":
        return ISO
    if kind_of(column) != "text" or not are_dates(column):
        return ""
    values = pd.Index(pd.unique(column.dropna()))
    return next((written for written in _DATE_FORMATS if as_dates(values, written).notna().all()), "")


def digits(column: pd.Series) -> tuple[int, int]:
    """Digits that whole numbers have, at least and at most; (0, 0) where one is negative."""
    known = column.dropna()
    return (len(str(int(known.min()))), len(str(int(known.max())))) if len(known) and known.min() >= 0 else (0, 0)


def are_sexes(column: pd.Series, labels: Mapping[Code, str]) -> bool:
    """Whether the two values of a column, or their labels, are the sexes."""
    values = column.dropna().unique()
    texts = {str(labels.get(value, value)).strip().casefold() for value in values}
    return len(texts) == 2 and (texts in _SEX_LETTERS or all(map(_SEX.fullmatch, texts)))


def short_label(label: str) -> str:
    """A label that is like a name of a variable; of a question nothing."""
    return label if len(label.split()) <= _LABEL_WORDS else ""


def unanswered(frame: pd.DataFrame, labels: Mapping[str, Mapping[Code, str]]) -> dict[str, list[Code]]:
    """By variable the codes in its records whose label says that there is no answer."""
    codes = {
        name: [code for code, label in label_of.items() if _NO_LABEL.search(label.casefold())]
        for name, label_of in labels.items()
    }
    codes = {name: [code for code in of if (frame[name] == code).any()] for name, of in codes.items()}
    return {name: of for name, of in codes.items() if of}


def counts_members(column: pd.Series, home: pd.Series) -> bool:
    """Whether whole numbers are the number of records of each household, of nearly all."""
    sizes = home.map(home.value_counts())
    return bool(column.nunique() > 1 and (column == sizes).mean() >= _SAME)


def are_running(column: pd.Series) -> bool:
    """Whether whole numbers, each in one record, are so close to each other that they number the records."""
    known = column.dropna()
    return bool(known.max() - known.min() + 1 <= _SPREAD * len(known))


def ages(column: pd.Series) -> tuple[str, bool]:
    """What whole numbers called ages are, "years", "codes" (of groups) or "no_ages", and whether that is sure."""
    values = sorted(int(value) for value in column.dropna().unique())
    core = [value for value in values if value not in _NO_ANSWER and value >= 0] or values
    steps = reduce(gcd, np.diff(core).tolist(), 0)
    if core[-1] <= _SURE_CODES or (core[-1] <= _MOST_CODES and core[0] <= 1):
        return "codes", core[-1] <= _SURE_CODES and core[0] <= 1
    if steps >= _STEP and len(core) > 2:
        return "codes", True
    if values[0] < 0 or values[-1] > _OLDEST:
        return "no_ages", False
    return "years", values[-1] > _MOST_CODES


def width_of_bands(column: pd.Series) -> int:
    """Years of the bands of age to begin with: the first that leaves two bands with records to show for; else 0."""
    known = column.dropna()
    for width in _WIDTHS:
        shares = known.floordiv(width).clip(upper=75 // width).value_counts(normalize=True)
        if len(shares) > 1 and shares.max() <= _LARGEST:
            return width
    return 0


def starts_with(column: pd.Series, others: pd.DataFrame) -> str | None:
    """The column, of whole numbers too, that is the first digits of each of these whole numbers; None without one."""
    distinct = column.nunique()
    for name, other in others.items():
        if kind_of(other) != "whole numbers" or not 1 < other.nunique() < distinct:
            continue
        both = pd.concat([column, other], axis=1, keys=["code", "first"]).dropna().drop_duplicates()
        if any((both["code"] // 10**power == both["first"]).all() for power in (1, 2, 3, 4)):
            return str(name)
    return None


def dependent_columns(column: pd.Series, others: pd.DataFrame) -> list[str]:
    """Columns of two values or more, and fewer than this one, that are the same wherever this one is."""
    few = [name for name, other in others.items() if 1 < other.nunique(dropna=False) < column.nunique(dropna=False)]
    return [str(name) for name in few if depends(others[name], column)]


def depends(column: pd.Series, other: pd.Series) -> bool:
    """Whether a column is the same wherever the other one is."""
    codes, values = pd.factorize(other, use_na_sentinel=False)
    own, distinct = pd.factorize(column, use_na_sentinel=False)
    return len(np.unique(codes * len(distinct) + own)) == len(values)


def saying_empty(frame: pd.DataFrame, name: str) -> list[str]:
    """Columns of few values and no empty cell that say in which records a column is empty, as work does of a job."""
    empty = frame[name].isna()
    few = [str(other) for other, column in frame.items() if column.notna().all() and 1 < column.nunique() <= _SAYING]
    return [other for other in few if empty.sum() >= _ENOUGH and depends(empty, frame[other])]


@dataclass(frozen=True)
class Groups:
    """A column that looks like one of households, what members share, and whether groups differ in size."""

    variable: str
    same: tuple[str, ...]
    varied: bool


def households(frame: pd.DataFrame, candidates: Iterable[str]) -> Groups | None:
    """The column that groups records as households do: few records a value, which share other columns; or None.

    They share two columns more often than by chance, or one if they follow each other, and not all columns.
    """
    groups_by_name = [groups for name in candidates if (groups := _groups(frame, name)) is not None]
    return max(groups_by_name, key=lambda groups: frame[groups.variable].nunique(), default=None)


def _groups(frame: pd.DataFrame, name: str) -> Groups | None:
    column = frame[name]
    if column.isna().any() or not (_MEANS[0] <= len(column) / column.nunique() <= _MEANS[1]):
        return None
    codes = pd.factorize(column)[0]
    sizes = np.bincount(codes)
    if len(sizes) < _FEWEST or sizes.max() > _MOST_MEMBERS:
        return None
    followed = int((np.diff(codes) != 0).sum()) + 1 == len(sizes)
    mixed = np.random.default_rng(0).permutation(len(codes))
    same, differs = [], False
    for other, values in frame.drop(columns=name).items():
        own = pd.factorize(values, use_na_sentinel=False)[0]
        shared = _shared(codes, own)
        differs |= shared < _SAME
        if own.max() > 0 and shared >= _SAME and _shared(codes, own[mixed]) <= _BY_CHANCE:
            same.append(str(other))
    if not differs or len(same) + followed < 2 or not same:
        return None
    return Groups(name, tuple(same), bool(np.bincount(sizes).max() < _EQUAL * len(sizes)))


def _shared(codes: np.ndarray, own: np.ndarray) -> float:
    """Share of the groups of several records that have one value of another column."""
    order = np.argsort(codes, kind="stable")
    starts = np.flatnonzero(np.r_[True, np.diff(codes[order]) != 0])
    several = np.bincount(codes) > 1
    low, high = (extreme.reduceat(own[order], starts) for extreme in (np.minimum, np.maximum))
    return float((low == high)[several].mean())
