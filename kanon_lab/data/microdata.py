"""Microdata as frames, and cells of them that may mean something else than they were taken for."""

from collections.abc import Iterable, Mapping
from pathlib import Path

import pandas as pd

from kanon_lab import files
from kanon_lab.data.delimited import Dialect
from kanon_lab.data.file import read_file, read_path
from kanon_lab.data.values import Code

USUAL_MARKS = ("NA", "N/A", "<NA>", "NaN", "nan", "NULL", "null", ".", "*", "-", "?")
"""Texts that often mean missing; `read_microdata` takes them as values unless `na` says otherwise."""

_EXACT_DIGITS = 16


def read_microdata(
    path: str | Path,
    *,
    columns: Iterable[str] | str | None = None,
    text: Iterable[str] | str = (),
    na: Iterable[str] | str = (),
    missing_codes: Mapping[str, Iterable[Code]] | None = None,
    max_bytes: int | None = None,
) -> pd.DataFrame:
    """Read a microdata file.

    Parameters
    ----------
    path : str or Path
        ``.csv`` (UTF-8, UTF-16 with a byte-order mark, or Windows-1252; cells between ``,`` ``;`` tabs or ``|``; names
        in row 1), ``.parquet``, ``.xlsx`` (first sheet), ``.sav`` (SPSS), ``.dta`` (Stata) or ``.sas7bdat`` (SAS),
        possibly with ``.gz`` after it.
    columns : iterable of str, or str, optional
        The only columns to read, in this order. Default: every column that has a name.
    text : iterable of str, or str
        Columns to keep as text though all their cells look like numbers, such as codes of places.
    na : iterable of str, or str
        Texts that mean a missing value, such as ``"NA"``.
    missing_codes : mapping of str to iterable of str, int or float, optional
        For each variable the codes that mean missing in it, such as ``{"P3": [88, 99]}``; a number and its text are
        the same code.
    max_bytes : int, optional
        The memory, in bytes, that reading may take, as estimated before it is done. Default: 4,000,000,000.

    Returns
    -------
    pandas.DataFrame
        Records in the order of the file, numbered from 0 on (a `RangeIndex`). `read_file` also gives their rows in the
        file, which its own messages name.

    Notes
    -----
    *Names* of columns have composed letters (Unicode's NFC): one letter for the e and the accent of café, however the
    file has them.

    *Missing* is an empty cell or text in every format, a system-missing or user-defined missing value of SPSS,
    Stata and SAS, and what `na` and `missing_codes` list. NA and the like are values otherwise: it may be the code of
    a country.

    *Numbers.* A csv column is numbers when that loses nothing: no cell has a leading zero, a plus or more than 18
    digits, and no two texts are one number (1.1 and 1.10). Blanks around a cell are dropped. Where cells are not
    separated by commas, the decimal comma is understood, and a column whose every cell has points before three digits
    (1.234) stays text, since these may stand between thousands. In every format, numbers that are all whole are
    integers (``Int64`` when some are missing).

    *Labels* of SPSS and Stata codes, which `read_file` gives, are not applied: two codes may bear one label, and would
    become one value.
    """
    options = {"columns": columns, "text": text, "na": na, "missing_codes": missing_codes}
    with files.limited(max_bytes):
        return read_path(path, Path(path).name, Dialect(), **options).frame


def load_microdata(
    name_or_path: str | Path,
    *,
    columns: Iterable[str] | str | None = None,
    na: Iterable[str] | str = (),
    missing_codes: Mapping[str, Iterable[Code]] | None = None,
    max_bytes: int | None = None,
) -> pd.DataFrame:
    """Microdata of a data set of the catalogue or of a file.

    Parameters
    ----------
    name_or_path : str or Path
        A name of `catalogue`, such as ``"health-survey"``, or the path of a file that `read_microdata` reads.
    columns, na, missing_codes, max_bytes
        As in `read_microdata`, whose frame it gives.

    Examples
    --------
    >>> import kanon_lab
    >>> kanon_lab.load_microdata("health-survey", columns=["sex", "age"]).head(2)
       sex  age
    0  man   50
    1  man   64
    """
    return read_file(name_or_path, columns=columns, na=na, missing_codes=missing_codes, max_bytes=max_bytes).frame


def usual_marks(frame: pd.DataFrame) -> dict[str, list[str]]:
    """For each text column that holds some of `USUAL_MARKS`, those; none of them was read as missing.

    Examples
    --------
    >>> import pandas as pd
    >>> from kanon_lab.data import usual_marks
    >>> usual_marks(pd.DataFrame({"sex": ["f", "NA"], "age": [30, 41]}))
    {'sex': ['NA']}
    """
    found = {name: _marks(column) for name, column in frame.items()}
    return {name: marks for name, marks in found.items() if marks}


def nearly_numbers(frame: pd.DataFrame) -> dict[str, int]:
    """For each text column in which nine of ten cells or more are numbers, but not all, how many are none."""
    texts = {name: column.dropna() for name, column in frame.items() if isinstance(column.dtype, pd.StringDtype)}
    others = {name: int(pd.to_numeric(column, errors="coerce").isna().sum()) for name, column in texts.items()}
    return {name: count for name, count in others.items() if 0 < count <= len(texts[name]) / 10}


def double_spellings(frame: pd.DataFrame) -> list[str]:
    """Columns of text that spell some number in two ways, such as 1 and 1.0; they are two values."""
    return [name for name, column in frame.items() if _spells_twice(column)]


def _spells_twice(column: pd.Series) -> bool:
    if not isinstance(column.dtype, pd.StringDtype):
        return False
    texts = pd.Series(column.dropna().unique(), dtype="str")
    texts = texts[texts.str.len() < _EXACT_DIGITS]
    return bool(pd.to_numeric(texts, errors="coerce").dropna().duplicated().any())


def _marks(column: pd.Series) -> list[str]:
    if pd.api.types.is_numeric_dtype(column):
        return []
    return [mark for mark in USUAL_MARKS if (column == mark).any()]
