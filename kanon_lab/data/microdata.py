"""Microdata: one record a row, from csv, Parquet, xlsx, SPSS and Stata files."""

import io
import numbers
import re
import unicodedata
import zipfile
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd

from kanon_lab import files
from kanon_lab.data import sets
from kanon_lab.data.delimited import read_delimited
from kanon_lab.data.sheet import check_cells
from kanon_lab.data.table import NO_PARQUET, read_sheet
from kanon_lab.errors import DataError, OptionError, nearest, shortened

FORMATS = ("csv", "parquet", "xlsx", "sav", "dta")
"""Extensions of the files that `read_microdata` reads; .gz may follow."""

USUAL_MARKS = ("NA", "N/A", "<NA>", "NaN", "nan", "NULL", "null", ".", "*", "-", "?")
"""Texts that often mean missing; `read_microdata` takes them as values unless `na` says otherwise."""

# Data sets of persons are of this kind; all digits though they are, their postcodes are text.
_KIND, _CODES = "synthetic", ("postcode",)
_MOST_NAMES = 8
_SHEET = re.compile(r"xl/worksheets/[^/]+\.xml")
# Names of columns in a file -> those to read.
_Choose = Callable[[Iterable[str]], list[str]]
_NULLABLE = [pd.api.types.pandas_dtype(f"{sign}Int{bits}") for sign in ("", "U") for bits in (8, 16, 32, 64)]
# Floating-point numbers below this are exact to the unit.
_EXACT = 2**53
_EXACT_DIGITS = 16


def read_microdata(
    path: str | Path,
    *,
    columns: Iterable[str] | str | None = None,
    text: Iterable[str] | str = (),
    na: Iterable[str] | str = (),
) -> pd.DataFrame:
    """Read a microdata file.

    Parameters
    ----------
    path : str or Path
        ``.csv`` (UTF-8; cells between ``,`` ``;`` tabs or ``|``; names in row 1), ``.parquet``, ``.xlsx`` (first
        sheet), ``.sav`` (SPSS) or ``.dta`` (Stata), possibly with ``.gz`` after it.
    columns : iterable of str, or str, optional
        The only columns to read, in this order. Default: every column that has a name.
    text : iterable of str, or str
        Columns to keep as text though all their cells look like numbers, such as codes of places.
    na : iterable of str, or str
        Texts that mean a missing value, such as ``"NA"``.

    Returns
    -------
    pandas.DataFrame
        The index, named row, holds row numbers of the file: the header of a csv file or sheet is row 1; records of the
        other formats count from 1.

    Raises
    ------
    DataError
        The file is absent, damaged, wrongly encoded, not rectangular, without a record or a column asked for, or has a
        name twice. A column of a sheet has merged cells, an error such as #N/A, or a formula without its value.
    OptionError
        `columns` is empty.

    Notes
    -----
    *Names* of columns have composed letters (Unicode's NFC): one letter for the e and the accent of café, however the
    file has them.

    *Missing* is an empty cell or text in every format, a system-missing or user-defined missing value of SPSS and
    Stata, and what `na` lists. NA and the like are values otherwise: it may be the code of a country.

    *Numbers.* A csv column is numbers when that loses nothing: no cell has a leading zero, a plus or more than 18
    digits, and no two texts are one number (1.1 and 1.10). Blanks around a cell are dropped. Where cells are not
    separated by commas, the decimal comma is understood, and a column whose every cell has points before three digits
    (1.234) stays text, since these may stand between thousands. In every format, numbers that are all whole are
    integers (``Int64`` when some are missing).

    *Labels* of SPSS and Stata codes are not applied: two codes may bear one label, and would become one value.
    """
    where = str(path)
    form = files.file_format(path)
    if form not in FORMATS:
        files.check_file(path)
        known = ", ".join(f".{each}" for each in FORMATS)
        raise DataError(f"{where}: its name ends in none of {known} (.gz may follow); convert or rename the file")
    wanted = None if columns is None else list(dict.fromkeys(map(_composed, _listed(columns))))
    if wanted == []:
        raise OptionError("columns is empty; name some, or leave it out for all")
    text, na = list(map(_composed, _listed(text))), _listed(na)

    def choose(names: Iterable[str]) -> list[str]:
        return _chosen(list(names), wanted, where, in_row_1=form in ("csv", "xlsx"))

    content = files.read_bytes(path)
    if form == "csv":
        frame = read_delimited(content, where, choose, text, na)
    else:
        frame = {"parquet": _parquet, "xlsx": _xlsx, "sav": _statistical, "dta": _statistical}[form](
            content, where, choose, form
        )
    if len(frame) == 0:
        raise DataError(f"{where}: has no records; export or download it again")
    frame = frame.set_axis(list(map(_composed, frame.columns)), axis=1)
    return pd.DataFrame({name: _settled(column, name in text, na) for name, column in frame.items()})


def load_microdata(
    name_or_path: str | Path, *, columns: Iterable[str] | str | None = None, na: Iterable[str] | str = ()
) -> pd.DataFrame:
    """Microdata of a data set of the catalogue or of a file.

    Parameters
    ----------
    name_or_path : str or Path
        A name of `catalogue`, such as ``"health-survey"``, or the path of a file that `read_microdata` reads.
    columns, na
        As in `read_microdata`.

    Returns
    -------
    pandas.DataFrame
        As `read_microdata` gives it.

    Raises
    ------
    DataError
        The file is absent or faulty.
    OptionError
        There is neither such a data set nor such a file, or the data set holds no records.
    """
    data_set = sets.DATA_SETS.get(str(name_or_path))
    offered = ", ".join(name for name, other in sets.DATA_SETS.items() if other.kind == _KIND)
    if data_set is None:
        if files.file_format(name_or_path) not in FORMATS and files.status(name_or_path) is None:
            raise OptionError(f"{name_or_path}: neither a data set ({offered}) nor a file; check the name or path")
        return read_microdata(name_or_path, columns=columns, na=na)
    if data_set.kind != _KIND:
        raise OptionError(f"{data_set.name}: holds no records of persons; choose from {offered}")
    return read_microdata(sets.data_path(data_set.name), columns=columns, text=_CODES, na=na)


def usual_marks(frame: pd.DataFrame) -> dict[str, list[str]]:
    """For each text column that holds some of `USUAL_MARKS`, those; none of them was read as missing."""
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


def _listed(names: Iterable[str] | str) -> list[str]:
    return [names] if isinstance(names, str) else list(names)


def _chosen(names: list[str], wanted: list[str] | None, where: str, *, in_row_1: bool) -> list[str]:
    """The columns to read, as they stand in the file, or an error that quotes names only where they surely are names.

    A file without a header has data in row 1, where names should be.
    """
    place = "put them in the first row" if in_row_1 else "write it again with names"
    names, own = list(map(_composed, names)), names
    named = [name for name in names if name]
    if not named:
        raise DataError(f"{where}: has no column names; {place}")
    if absent := [name for name in wanted or [] if name not in names]:
        sure = not in_row_1 or len(absent) <= len(wanted) / 2
        alike = [name for name in named if name.casefold() == absent[0].casefold()]
        remedy = "; check that names of columns stand in the first row"
        if sure or alike:
            remedy = _remedy(absent[0], alike or named)
        raise DataError(f"{where}: no column {shortened(absent[0])}{remedy}")
    first = dict(reversed([(name, i) for i, name in enumerate(names, start=1)]))
    if twice := [(first[name], i) for i, name in enumerate(names, start=1) if name and first[name] != i]:
        raise DataError(f"{where}: columns {twice[0][0]} and {twice[0][1]} have the same name; give each its own")
    written = dict(zip(names, own, strict=True))
    return [written[name] for name in (named if wanted is None else wanted)]


def _composed(name: str) -> str:
    return unicodedata.normalize("NFC", name)


def _remedy(absent: str, names: list[str]) -> str:
    if close := nearest(absent, names):
        return f"; did you mean {shortened(close)}?"
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return f"; it has {', '.join(map(shortened, names[:_MOST_NAMES]))}{more}"


def _parquet(content: bytes, where: str, choose: _Choose, form: str) -> pd.DataFrame:
    import pyarrow as pa
    from pyarrow import parquet

    try:
        file = parquet.ParquetFile(pa.BufferReader(content))
        names = file.schema_arrow.names
    except MemoryError:
        raise
    except Exception:  # a damaged file makes the reader fail in ways that it does not list
        raise DataError(f"{where}: {NO_PARQUET}") from None
    chosen = choose(names)
    if nested := [name for name in chosen if pa.types.is_nested(file.schema_arrow.field(name).type)]:
        raise DataError(f"{where}: column {shortened(nested[0])} holds lists or the like; keep one value a cell")
    # Whole numbers with missing ones among them would become floating-point numbers, which are not exact.
    whole = {pa.type_for_alias(dtype.name.lower()): dtype for dtype in _NULLABLE}
    try:
        table = file.read(columns=chosen)
    except MemoryError:
        raise
    except Exception:
        raise DataError(f"{where}: {NO_PARQUET}") from None
    columns = {}
    for name in chosen:
        try:
            columns[name] = table.select([name]).to_pandas(types_mapper=whole.get, ignore_metadata=True)[name]
        except MemoryError:
            raise
        except Exception:  # such as a time in a zone that is unknown here
            raise DataError(
                f"{where}: column {shortened(name)} is of a type that cannot be read; write it as text or numbers"
            ) from None
    return _numbered(pd.DataFrame(columns))


def _xlsx(content: bytes, where: str, choose: _Choose, form: str) -> pd.DataFrame:
    frame = read_sheet(content, where)
    frame.columns = [name.strip() for name in frame.columns]
    try:
        chosen = choose(frame.columns)
    except DataError as error:
        raise DataError(f"{error}{_unread(content)}") from None
    check_cells(content, {frame.columns.get_loc(name) + 1: name for name in chosen}, where)
    empty = frame.isna().all(axis=1).to_numpy()
    records = len(frame) - int(empty[::-1].argmin()) if not empty.all() else 0
    if empty[:records].any():
        check_cells(content, dict(enumerate(frame.columns, start=1)), where)
        row = frame.index[int(empty.argmax())]
        raise DataError(f"{where}: row {row} is empty; delete it, or fill in a cell if it is a record")
    return frame[chosen].iloc[:records]


def _unread(content: bytes) -> str:
    """What to add to a fault of the first sheet where there are others."""
    with zipfile.ZipFile(io.BytesIO(content)) as book:
        sheets = len([name for name in book.namelist() if _SHEET.fullmatch(name)])
    return f" (of {sheets} sheets only the first is read)" if sheets > 1 else ""


def _statistical(content: bytes, where: str, choose: _Choose, form: str) -> pd.DataFrame:
    """Codes of an SPSS or Stata file: user-defined missing values are missing, labels are not applied."""
    import pyreadstat

    read = {"sav": pyreadstat.read_sav, "dta": pyreadstat.read_dta}[form]
    fault = DataError(f"{where}: is not a .{form} file, or is damaged; export it again")
    try:
        names = read(io.BytesIO(content), metadataonly=True)[1].column_names
    except MemoryError:
        raise
    except Exception:  # as above
        raise fault from None
    chosen = choose(names)
    try:
        frame = read(io.BytesIO(content), usecols=chosen, dates_as_pandas_datetime=True)[0]
    except MemoryError:
        raise
    except Exception:
        raise fault from None
    return _numbered(frame[chosen])


def _numbered(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.set_axis(pd.RangeIndex(1, len(frame) + 1, name="row"), axis=0)


def _settled(column: pd.Series, stays: bool, na: Sequence[str]) -> pd.Series:
    """The same values in the type that they have in every format."""
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
