"""Whether the first row of a file holds the names of its columns, or a record that must not be shown."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pandas as pd

from kanon_lab.errors import DataError
from kanon_lab.report.named import is_known
from kanon_lab.report.shapes import NUMBERS, kind_of

if TYPE_CHECKING:
    from kanon_lab.data import MicrodataFile

# Formats whose names are a row like the others.
_IN_ROW_1 = ("csv", "xlsx")
_DATE = re.compile(r"\d{1,4}([-/.])\d{1,2}\1\d{1,4}(?:[T ].*)?")
_DIGITS = re.compile(r"\d+")
_NUMBER = re.compile(r"[+-]?(?:\d+(?:[.,]\d*)?|[.,]\d+)(?:[eE][+-]?\d+)?")
_MAIL = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+")
_YEARS = (1900, 2100)
# Of a text with so many digits at least, and half of it digits, others of the same pattern are alike.
_DIGITS_OF_A_CODE = 4


def check_named(file: MicrodataFile, where: str) -> None:
    """Raise a `DataError` where the first row of a csv or xlsx file holds a record rather than names.

    That is so where a name is a number with a sign or decimals, an address of mail, a date above dates, a value of the
    column below it, or a code of digits like most codes below it; and where it is all digits, and no word of
    ``guess.csv`` is among the names, or it lies between the lowest and the highest number below it. A year such as
    2019 above numbers some of which are no years is a name beside such a word.
    """
    if file.found["format"] not in _IN_ROW_1:
        return
    names = [str(name).strip() for name in file.frame.columns]
    known = any(map(is_known, names))
    worded = not all(_NUMBER.fullmatch(name) or _DATE.fullmatch(name) for name in names)
    for place, name in enumerate(names):
        if _is_cell(name, file.frame.iloc[:, place].dropna(), worded, known):
            raise DataError(f"{where}: row 1 holds no names of columns, or one is a number; put names in the first row")


def _is_cell(name: str, below: pd.Series, worded: bool, known: bool) -> bool:
    """Whether what stands where a name should is rather a cell like those below it."""
    if _DATE.fullmatch(name):
        return not worded or kind_of(below) == "dates" or bool(below.astype("str").str.fullmatch(_DATE.pattern).all())
    if _MAIL.fullmatch(name) or (kind_of(below) == "text" and _is_text_like(name, below)):
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


def _is_text_like(name: str, below: pd.Series) -> bool:
    """Whether a name is one of the texts below it, or a code of digits of their pattern."""
    texts = pd.Series(pd.unique(below.astype("str"))).str.strip()
    if (texts == name).any():
        return True
    digits = sum(map(str.isdigit, name))
    if digits < _DIGITS_OF_A_CODE or 2 * digits < len(name):
        return False
    patterns = texts.str.replace(r"[^\W\d_]", "a", regex=True).str.replace(r"\d", "9", regex=True)
    own = re.sub(r"\d", "9", re.sub(r"[^\W\d_]", "a", name))
    return bool((patterns == own).mean() >= 0.5)  # a check digit may be a letter
