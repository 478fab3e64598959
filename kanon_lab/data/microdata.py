"""Reading microdata files: their records, facts about the file, and cells that may mean something else."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from kanon_lab import files
from kanon_lab.columns import USUAL_MARKS, as_text, no_numbers
from kanon_lab.data.delimited import Dialect, read_delimited
from kanon_lab.data.sets import DATA_SETS, data_path
from kanon_lab.data.values import (
    BLANKS,
    STATISTICAL_FORMATS,
    Changes,
    Code,
    Labels,
    Missing,
    MissingCodes,
    UserMissing,
    chosen,
    composed,
    in_words,
    listed,
    read_statistical,
    settled,
    spelt,
    unnamed,
    wanting,
)
from kanon_lab.errors import DataError, OptionError, UnfitOptionError, about, shortened
from kanon_lab.terms import Note, key_of

# Extensions of the files that are read and written; .gz may follow.
FORMATS = ("csv", "parquet", "xlsx", "sav", "dta")
# Extensions of the files that are read.
READ_FORMATS = (*FORMATS, "sas7bdat")

# Read too: cells between tabs, and an archive with one file of cells.
_CELLS, _PACKED = ("csv", "tsv"), "zip"
_READ = (*READ_FORMATS, *_CELLS, _PACKED)
# Files whose columns stand in fixed places, as nothing in them says.
_FIXED = ("txt", "dat", "fwf", "asc", "prn")

_CATALOGUE = "labels of codes of {}: in a SAS catalogue (.sas7bcat), which is not read"
# Data sets of persons are of this kind; all digits though they are, their postcodes are text.
_KIND, _CODES = "synthetic", ("postcode",)
# Names of columns in a file -> those to read.
_Choose = Callable[[Iterable[str]], list[str]]
_NULLABLE = [pd.api.types.pandas_dtype(f"{sign}Int{bits}") for sign in ("", "U") for bits in (8, 16, 32, 64)]


@dataclass(frozen=True)
class MicrodataFile:
    """The records of a file, and facts about it.

    Attributes
    ----------
    frame : pandas.DataFrame
        As `read_microdata` gives it.
    labels : dict
        For each variable of SPSS or Stata with labels, the label of each code. They are not applied.
    missing : dict
        For each variable with such codes, those that mean missing: by the file (codes and ranges of SPSS, such as
        ``"90 to 99"``; letters of Stata and SAS, such as ``"a"`` for ``.a``, that occur), then by `missing_codes`.
    found : dict
        name (of the data set, or of the file without its folder), format, encoding, separator and decimal (each may be
        None), records, columns (all that have a name), bytes and sha256 of the file as it stands on the disk.
    notes : tuple
        What is unusual in the file, and what was done to it. Codes that a file or configuration declares may be quoted.
    variable_labels : dict
        For each variable of SPSS, Stata or SAS that has one, its own label.
    rows : Index or None
        For each record the number of its row in the file: the header of a csv file or sheet is row 1, so that its first
        record is in row 2 or later; records of the other formats count from 1.
    formats : dict
        For each variable of SPSS or Stata the format that it is shown in, such as ``"DATE11"`` or ``"%tm"``.
    user_missing : dict
        For each variable of SPSS the codes and ranges that mean missing and were kept (`keep_missing_codes`), as
        `kanon_lab.data.write_microdata` takes them; of Stata and SAS the letters.
    """

    frame: pd.DataFrame = field(repr=False)
    labels: Labels = field(repr=False)
    missing: Missing = field(repr=False)
    found: dict[str, str | int | None]
    notes: tuple[str, ...]
    variable_labels: dict[str, str] = field(default_factory=dict)
    rows: pd.Index | None = None
    formats: dict[str, str] = field(default_factory=dict, repr=False)
    user_missing: UserMissing = field(default_factory=dict, repr=False)

    @property
    def numbered(self) -> pd.DataFrame:
        """The frame under the row numbers of the file, so that messages about it name rows that a person finds."""
        return self.frame if self.rows is None else self.frame.set_axis(self.rows, axis=0)


def read_file(
    path_or_name: str | Path,
    *,
    columns: Iterable[str] | str | None = None,
    text: Iterable[str] | str = (),
    na: Iterable[str] | str = (),
    missing_codes: Mapping[str, Iterable[Code]] | None = None,
    encoding: str | None = None,
    separator: str | None = None,
    decimal: str | None = None,
    thousands: str | None = None,
    sheet: str | int | None = None,
    keep_missing_codes: bool = False,
    max_bytes: int | None = None,
) -> MicrodataFile:
    """Read a data set of the catalogue or a microdata file.

    Parameters
    ----------
    path_or_name : str or Path
        A name of `catalogue`, such as ``"health-survey"``, or the path of a file that `read_microdata` reads.
    columns, text, na, missing_codes, max_bytes
        As in `read_microdata`.
    encoding : str, optional
        Of a csv, SPSS, Stata or SAS file, as Python names it. Default: found; a csv file without a byte-order mark is
        in UTF-8 or else Windows-1252 (``cp1252``, which has latin-1's letters).
    separator : str, optional
        The sign between cells of a csv file. Default: the one of ``, ; tab |`` that its first rows have.
    decimal : {",", "."}, optional
        The sign before decimals in a csv file. Default: the point, and where cells are not separated by commas, column
        by column, the comma or the point.
    thousands : {".", ",", "'", " "}, optional
        The sign between thousands in a csv file. Default: the point where that is sure, as in 46.815.916 or 1.034,75.
    sheet : str or int, optional
        Of an xlsx workbook, by its name or its number from 1 on. Default: the first.
    keep_missing_codes : bool
        Whether codes of SPSS that mean missing, such as 9 for no answer, and letters of Stata and SAS, as texts such
        as ``".a"``, are kept as values of their own. By default they are missing values, and a release has empty cells
        in their place.

    Examples
    --------
    >>> kanon_lab.data.read_file("health-survey").found["records"]
    1521
    """
    dialect = Dialect(encoding, separator, decimal, thousands)
    with files.limited(max_bytes):
        path, name, codes = located(path_or_name)
        if not codes and files.file_format(path) not in _READ and files.status(path) is None:
            raise OptionError(f"{path}: neither a data set ({_offered()}) nor a file; check the name or path")
        with about(str(path)):
            return _read(
                path, name, dialect, columns, [*codes, *listed(text)], na, missing_codes, sheet, keep_missing_codes
            )


def located(path_or_name: str | Path) -> tuple[str | Path, str, tuple[str, ...]]:
    """The path of a data set or file, its name, and the columns that stay text though they look like numbers."""
    name = str(path_or_name)
    if name not in DATA_SETS:
        return path_or_name, Path(path_or_name).name, ()
    if DATA_SETS[name].kind != _KIND:
        raise OptionError(f"{name}: holds no records of persons; choose from {_offered()}")
    return data_path(name), name, _CODES


def _offered() -> str:
    """The data sets of persons."""
    return ", ".join(name for name, data_set in DATA_SETS.items() if data_set.kind == _KIND)


def _read(
    path: str | Path,
    name: str,
    dialect: Dialect,
    columns: Iterable[str] | str | None,
    text: Iterable[str] | str,
    na: Iterable[str] | str,
    missing_codes: Mapping[str, Iterable[Code]] | None,
    sheet: str | int | None = None,
    keep_codes: bool = False,
) -> MicrodataFile:
    form = files.file_format(path)
    if form not in _READ:
        files.check_file(path)
        if form in _FIXED:
            raise DataError(_fixed_width(Path(path)))
        endings = ", ".join(f".{ending}" for ending in READ_FORMATS)
        raise DataError(f"its name must end in one of {endings} (.gz may follow); convert or rename the file")
    wanted = None if columns is None else list(dict.fromkeys(map(composed, listed(columns))))
    if wanted == []:
        raise OptionError("columns is empty; name some, or leave it out for all")
    text, na, codes = list(map(composed, listed(text))), listed(na), MissingCodes(missing_codes)
    content = files.read_bytes(path)
    if form == _PACKED:
        content, form = files.unzipped(content, _CELLS)
    if form == "tsv":
        form, dialect = "csv", replace(dialect, separator=dialect.separator or "\t")
    if sheet is not None and form != "xlsx":
        raise UnfitOptionError("has no sheets; leave out the sheet (--sheet)")
    in_row_1 = form in ("csv", "xlsx")
    named: list[str] = []
    nameless: list[Note] = []

    def choose(names: Iterable[str]) -> list[str]:
        names = list(names)
        nameless.extend(unnamed(names) if wanted is None else ())
        named.extend(composed(name) for name in names if name)
        return chosen(names, wanted, in_row_1=in_row_1)

    files.check_signature(content, form)
    changes = Changes()
    labels, named_labels, missing, notes, how = {}, {}, {}, [], Dialect().facts
    formats: dict[str, str] = {}
    user_missing: UserMissing = {}
    lost_codes: dict[str, int] = {}
    if form == "csv":
        frame, seen = read_delimited(content, choose, dialect, text, na, codes, changes)
        how, notes = seen.facts, [seen.note] if seen.note else []
    elif form in STATISTICAL_FORMATS:
        read = read_statistical(content, form, choose, dialect.encoding, keep_codes=keep_codes)
        formats, user_missing, lost_codes = read.formats, read.user_missing, read.lost_codes
        frame, labels, named_labels = _numbered(read.frame), read.labels, read.variable_labels
        missing, how["encoding"] = read.missing, read.encoding
        notes = [_CATALOGUE.format(", ".join(map(shortened, read.formatted)))] if read.formatted else []
    else:
        frame = _parquet(content, choose) if form == "parquet" else _xlsx(content, choose, sheet)
    if len(frame) == 0:
        other = "" if form != "xlsx" else _other_sheets(content, sheet)
        raise DataError(f"has no records; export or download it again{other}")
    frame = frame.set_axis(list(map(composed, frame.columns)), axis=1)
    to_change = None if form == "csv" else changes  # in which texts are settled already
    frame = pd.DataFrame({name: settled(column, name in text, na, codes, to_change) for name, column in frame.items()})
    if absent := [variable for variable in codes.codes if variable not in named]:
        # The first row surely holds names if none of them is a number, though some column below is numbers.
        below = any(pd.api.types.is_numeric_dtype(column) and column.notna().any() for _, column in frame.items())
        no_number = pd.to_numeric(pd.Series(frame.columns, dtype="str"), errors="coerce").isna().all()
        raise wanting(absent[0], named, sure=not in_row_1 or wanted is not None or bool(below and no_number))
    for name, declared in missing.items():
        of_codes = {"codes": spelt(declared), "variable": shortened(name)}
        if cells := lost_codes.get(name):
            notes.append(Note("codes_in_file_lost", **of_codes, cells=cells))
        else:
            notes.append(Note("codes_in_file", **of_codes))
    notes += [
        Note("codes_kept", codes=spelt(list(map(in_words, codes))), variable=shortened(name))
        for name, codes in user_missing.items()
    ]
    in_order = [name for name in named if name in frame]
    notes += [*nameless, *codes.notes(in_order), *changes.notes(in_order)]
    size = {"records": len(frame), "columns": len(named)}
    facts = {"name": name, "format": form, **how, **size, **files.identity(path)}
    rows, frame = frame.index, frame.reset_index(drop=True)
    missing = codes.added_to(missing, frame.columns)
    return MicrodataFile(frame, labels, missing, facts, tuple(notes), named_labels, rows, formats, user_missing)


def _parquet(content: bytes, choose: _Choose) -> pd.DataFrame:
    from pyarrow import parquet

    from kanon_lab.data.tables import NO_PARQUET, check_parquet

    with files.damaged(NO_PARQUET):
        file = parquet.ParquetFile(pa.BufferReader(content))
        names = file.schema_arrow.names
    chosen = choose(names)
    check_parquet(content, file.metadata, chosen)
    if nested := [name for name in chosen if pa.types.is_nested(file.schema_arrow.field(name).type)]:
        raise DataError(f"column {shortened(nested[0])} holds lists or the like; keep one value per cell")
    with files.damaged(NO_PARQUET):
        table = file.read(columns=chosen)
        table.validate(full=True)  # texts too
    return _numbered(pd.DataFrame({name: as_column(table.column(name), name) for name in chosen}))


def as_column(cells: pa.ChunkedArray, name: str) -> pd.Series:
    """Values of a Parquet file in the types of a frame."""
    # Whole numbers with missing ones among them would become floating-point numbers, which are not exact.
    whole = {pa.type_for_alias(dtype.name.lower()): dtype for dtype in _NULLABLE}
    fault = f"column {shortened(name)} is of a type that cannot be read; write it as text or numbers"
    if pa.types.is_decimal(cells.type):  # whole numbers, which is quick, unless a digit would be lost
        with suppress(pa.ArrowInvalid):
            cells = cells.cast(pa.int64())
    with files.damaged(fault):  # such as a time in a zone that is unknown here
        return pa.table({name: cells}).to_pandas(types_mapper=whole.get, ignore_metadata=True)[name]


def _xlsx(content: bytes, choose: _Choose, sheet: str | int | None) -> pd.DataFrame:
    from kanon_lab.data.tables import check_cells, find_sheet, read_sheet

    place = 0 if sheet is None else find_sheet(content, sheet)
    frame = read_sheet(content, place=place)
    frame.columns = [name.strip(BLANKS) for name in frame.columns]
    frame = frame.loc[:, (frame.columns != "") | frame.notna().any().to_numpy()]
    try:
        chosen = choose(frame.columns)
    except DataError as error:
        raise DataError(f"{error}{_other_sheets(content, sheet)}") from None
    check_cells(content, {list(frame.columns).index(name) + 1: name for name in chosen}, place)
    empty = frame.isna().all(axis=1).to_numpy()
    records = len(frame) - int(empty[::-1].argmin()) if not empty.all() else 0
    if empty[:records].any():
        check_cells(content, dict(enumerate(frame.columns, start=1)), place)
        row = frame.index[int(empty.argmax())]
        raise DataError(f"row {row} is empty; delete it, or fill in a cell if it is a record")
    return frame[chosen].iloc[:records]


def _other_sheets(content: bytes, sheet: str | int | None) -> str:
    """What a message adds where a workbook has other sheets than the first, which alone was read."""
    from kanon_lab.data.tables import sheet_names

    count = 0 if sheet is not None else len(sheet_names(content))
    return f" (of {count} sheets only the first is read; --sheet names another)" if count > 1 else ""


def _fixed_width(path: Path) -> str:
    """What to do with a file whose cells may stand in fixed places."""
    name, out = path.name, path.with_suffix(".csv").name
    line = f"pandas.read_fwf({name!r}, widths=[...], names=[...], dtype=str).to_csv({out!r}, index=False)"
    return f"columns of fixed width are not read, as only their description says where they are; convert it: {line}"


def _numbered(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.set_axis(pd.RangeIndex(1, len(frame) + 1, name="row"), axis=0)


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

    *Texts*. In every format, blanks around a text do not count (no-break ones neither), and letters are composed, also
    in categories. Numbers kept as text among numbers, as a sheet may have them, are numbers where no digit is lost by
    it: 007 and +5 stay text. `read_file` notes how many cells that changed.

    *Missing* is an empty cell or text, or one of blanks only, in every format, a system-missing or user-defined missing
    value of SPSS, Stata and SAS, and what `na` and `missing_codes` list. NA and the like are values otherwise: it may
    be the code of a country.

    *Numbers.* A csv column is numbers when that loses nothing: no cell has a leading zero, a plus or more than 18
    digits, and no two texts are one number (1.1 and 1.10). Where cells are not
    separated by commas, the decimal comma is understood, and a column whose every cell has points before three digits
    (1.234) stays text, since these may stand between thousands. In every format, numbers that are all whole are
    integers (``Int64`` when some are missing). No digit is lost: decimals and whole numbers that neither 64 bits nor a
    floating-point number can hold are objects of `decimal.Decimal`.

    *Labels* of SPSS and Stata codes, which `read_file` gives, are not applied: two codes may bear one label, and would
    become one value.
    """
    with files.limited(max_bytes), about(str(path)):
        return _read(path, Path(path).name, Dialect(), columns, text, na, missing_codes).frame


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
    >>> kanon_lab.load_microdata("health-survey", columns=["sex", "age"]).head(2)
       sex  age
    0  man   50
    1  man   64
    """
    return read_file(name_or_path, columns=columns, na=na, missing_codes=missing_codes, max_bytes=max_bytes).frame


def usual_marks(frame: Mapping[str, pd.Series]) -> dict[str, list[str]]:
    """For each text column that holds some of the usual marks of missing values, those; they were read as values.

    Examples
    --------
    >>> kanon_lab.data.usual_marks(pd.DataFrame({"sex": ["f", "NA"], "age": [30, 41]}))
    {'sex': ['NA']}
    """
    texts = {name: column for name, column in frame.items() if not pd.api.types.is_numeric_dtype(column)}
    marks = {name: [mark for mark in USUAL_MARKS if (column == mark).any()] for name, column in texts.items()}
    return {name: of_column for name, of_column in marks.items() if of_column}


def nearly_numbers(columns: Mapping[str, pd.Series], records: Mapping[str, np.ndarray] | None = None) -> dict[str, int]:
    """For each text column in which at least 90% of cells, but not all, are numbers: how many are no numbers.

    The columns are those of a frame, or hold each of their values once; then `records` says how often, by column.
    """
    others_by_name = {}
    for name, column in _of_text(columns).items():
        times = np.ones(len(column), dtype=np.int64) if records is None else records[name]
        known = column.notna().to_numpy()
        others = int(times[no_numbers(column)].sum())
        if 0 < others <= times[known].sum() / 10:
            others_by_name[name] = others
    return others_by_name


def reading_notes(file: Any) -> Iterator[str]:
    """What was found in a file, and columns whose cells may mean something else than they were taken for.

    The file is a `MicrodataFile`, or a `CountedFile`, which has each value once, with the number of its records.
    """
    columns: Any = getattr(file, "values", None)
    records = getattr(file, "times", None)
    columns = file.frame if columns is None else columns
    yield from file.notes
    for name, marks in usual_marks(columns).items():
        yield Note("marks_as_values", variable=shortened(name), marks=tuple(marks))
    for name in double_spellings(columns):
        yield Note("spelled_twice", variable=shortened(name))
    for name, count in nearly_numbers(columns, records).items():
        yield Note("nearly_numbers", variable=shortened(name), count=count)


def without_codes(notes: Iterable[str]) -> Iterator[str]:
    """Notes on reading that quote no code of the data."""
    for note in notes:
        key = key_of(note)
        if isinstance(note, Note) and key.startswith("codes_"):
            yield Note(f"some_{key}", **{name: part for name, part in note.parts.items() if name != "codes"})
        else:
            yield note


def double_spellings(frame: Mapping[str, pd.Series]) -> list[str]:
    """Columns of text that spell some number in two ways, such as 1 and 1.0; they are two values."""
    spelled_twice = []
    for name, column in _of_text(frame).items():
        texts = pd.Series(column.dropna().unique(), dtype="str")
        numbers = pd.to_numeric(texts[texts.str.len() < _EXACT_DIGITS], errors="coerce")
        if numbers.dropna().duplicated().any():
            spelled_twice.append(name)
    return spelled_twice


def _of_text(frame: Mapping[str, pd.Series]) -> dict[str, pd.Series]:
    """The columns of text, also those of a sheet that hold numbers among texts."""
    columns = {}
    for name, column in frame.items():
        if column.dtype == object and any(isinstance(value, str) for value in column):
            column = column.map(as_text, na_action="ignore").astype("str")
        if isinstance(column.dtype, pd.StringDtype):
            columns[name] = column
    return columns
