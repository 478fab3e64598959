"""Tables in files: checks of signatures and sizes, sheets of workbooks, and counts with named columns."""

import io
import re
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from kanon_lab import files
from kanon_lab.data import labels
from kanon_lab.data.delimited import NO_NAMES, DelimitedReader, Dialect
from kanon_lab.data.labels import COLUMNS, check_year, first_row
from kanon_lab.errors import DataError, OptionError, UnfitOptionError, shortened

if TYPE_CHECKING:
    from pyarrow.parquet import FileMetaData

# What messages say of a damaged file.
NO_WORKBOOK = "is not an xlsx workbook, or is damaged; save it again as xlsx"
NO_PARQUET = "is not a Parquet file, or is cut short; write it again"
_NO_XLS = "is not an xls workbook, or is damaged or encrypted; save it as xlsx"

# Elements of XML that a row can need, and the fewest bytes of so many.
_TAGS = 8 * 2**14
_SHORTEST = 4 * _TAGS
# The second is slow, and few programs write names with a prefix.
_ROW, _PREFIXED_ROW = re.compile(rb"<row[\s/>]"), re.compile(rb"<\w+:row[\s/>]")
_MERGED = re.compile(rb"""<(?:\w+:)?mergeCell\s[^>]*?ref\s*=\s*["']([A-Z]{1,3}\d{1,7}):([A-Z]{1,3}\d{1,7})["']""")
# What a sheet has in its XML where it may have such cells: most sheets have none of it.
_SIGNS = re.compile(rb"""<(?:\w+:)?(?:f|mergeCell)[\s/>]|\st\s*=\s*["']e["']""")


def check_workbook(content: bytes) -> None:
    """Refuse a workbook that would take more memory than it may, a row more than its cells, before it is unpacked."""
    from openpyxl.utils.cell import coordinate_to_tuple

    with zipfile.ZipFile(io.BytesIO(content)) as book:
        files.check_size(sum(part.file_size for part in book.infolist()))
        for name in book.namelist():
            part = book.read(name)
            starts = [row.start() for row in (_ROW if b"<row" in part else _PREFIXED_ROW).finditer(part)]
            rows = pairwise([*starts, part.rfind(b"sheetData")])
            if any(b - a > _SHORTEST and part.count(b"<", a, b) > _TAGS for a, b in rows):
                raise DataError(NO_WORKBOOK)
            merged = _MERGED.findall(part) if b"mergeCell" in part else []
            blocks = [map(coordinate_to_tuple, map(bytes.decode, ends)) for ends in merged]
            cells = sum((bottom - top + 1) * (right - left + 1) for (top, left), (bottom, right) in blocks)
            files.check_table(cells, 1)


def check_cells(content: bytes, columns: Mapping[int, str], place: int = 0) -> None:
    """Refuse merged cells, errors and formulas without a value in these columns, by number from 1 on, of a sheet."""
    with files.damaged(NO_WORKBOOK):  # any part of the archive may be, even if its values could be read
        with zipfile.ZipFile(io.BytesIO(content)) as book:
            sheets = (book.read(name) for name in book.namelist() if name.startswith("xl/worksheets/"))
            if not any(map(_SIGNS.search, sheets)):
                return
        first = min((fault for fault in _faults(content, place) if fault[1] in columns), default=None)
    if first:
        row, column, fault = first
        raise DataError(f"row {row}: column {shortened(columns[column]) or column} has {fault}")


def _faults(content: bytes, place: int) -> Iterator[tuple[int, int, str]]:
    """Row, column and fault of each such cell below the header."""
    import openpyxl

    formulas, values = (
        openpyxl.load_workbook(io.BytesIO(content), data_only=only).worksheets[place] for only in (False, True)
    )
    for block in formulas.merged_cells.ranges:
        for column in range(block.min_col, block.max_col + 1):
            yield block.min_row, column, "merged cells; split them, and fill in each"
    for (row, column), cell in formulas._cells.items():  # those there are; others would be made
        value = values._cells[row, column]
        if row > 1 and value.data_type == "e":
            yield row, column, "an error value; correct the cell, or empty it if the value is missing"
        # a formula may give an empty text, which is a value
        elif row > 1 and cell.data_type == "f" and value.value is None and value.data_type != "str":
            yield row, column, "a formula without a computed value; open and save the file in a spreadsheet program"


TABLE_FORMATS = ("csv", "tsv", "parquet", "xlsx", "xls", "zip")
_NAMED = (*COLUMNS, "year")
# INE's municipal totals: what the columns of its spreadsheets are called, below a row with their title.
_MUNICIPAL = {"cpro", "cmun", "mujeres"}
_TITLE_ROWS = 5
# Column names that a message lists at most.
_MOST_NAMES = 8


def read_table(
    path: str | Path, year: int | None, columns: Mapping[str, str] | None, sheet: str | int | None = None
) -> pd.DataFrame:
    """The columns of counts that the file has, of one year, with unchanged values, indexed by row number."""
    form, content = files.file_format(path), files.read_bytes(path)
    if form == "zip":
        content, form = files.unzipped(content, ("csv", "tsv"))
    if sheet is not None and form != "xlsx":
        raise UnfitOptionError("has no sheets to choose from; leave out the sheet (--sheet)")
    if form in ("csv", "tsv"):
        cells = _read_csv(content, Dialect(separator="\t" if form == "tsv" else None))
    elif form == "parquet":
        cells = _read_parquet(content)
    else:
        files.check_signature(content, form)
        cells = _read_sheet(content, form, 0 if sheet is None else find_sheet(content, sheet))
    frame = _named(cells, columns or {})
    if len(frame) == 0:
        raise DataError("has no rows; make or download it again")
    return _of_year(frame, year)


def parse_columns(text: str | None) -> dict[str, str]:
    """The mapping that `read_counts` takes as `columns`, from the text of an option; {} of none.

    Examples
    --------
    >>> kanon_lab.data.parse_columns("place=cod_mun,persons=total")
    {'place': 'cod_mun', 'persons': 'total'}
    """
    columns: dict[str, str] = {}
    for part in text.split(",") if text else []:
        name, equals, column = (piece.strip() for piece in part.partition("="))
        if not (name and equals and column) or name in columns:
            raise OptionError(f"columns {part!r}: write NAME=COLUMN once for each name, such as place=cod_mun,sex=sexo")
        columns[name] = column
    return columns


def _read_csv(content: bytes, dialect: Dialect) -> pd.DataFrame:
    reader = DelimitedReader(io.BytesIO(content), dialect)
    files.check_table(max(content.count(b"\n"), content.count(b"\r")), len(reader.names))
    parts = [
        pd.DataFrame(dict(enumerate(table.columns))).set_axis(rows, axis=0)
        for table, rows in reader.tables(range(len(reader.names)))
    ]
    frame = pd.concat(parts).set_axis(reader.names, axis=1)
    return frame[(frame != "").any(axis=1)]


def _read_parquet(content: bytes) -> pd.DataFrame:
    import pyarrow as pa
    from pyarrow import parquet

    with files.damaged(NO_PARQUET):
        metadata = parquet.read_metadata(pa.BufferReader(content))
        check_parquet(content, metadata, metadata.schema.to_arrow_schema().names)
        # Of a damaged file threads may still read when Python ends, which a file of Python's would not survive.
        table = parquet.read_table(pa.BufferReader(content))
        table.validate(full=True)  # texts too
        frame = table.to_pandas()
    return frame.rename(columns=str).set_axis(pd.RangeIndex(1, len(frame) + 1, name="row"), axis=0)


def check_parquet(content: bytes, metadata: "FileMetaData", names: Sequence[str]) -> None:
    """Refuse columns of a Parquet file that take more memory than they may: a few bytes may stand for many cells."""
    files.check_table(metadata.num_rows, len(names))
    parts = [
        metadata.row_group(i).column(j) for i in range(metadata.num_row_groups) for j in range(metadata.num_columns)
    ]
    parts = [part for part in parts if any(f"{part.path_in_schema}.".startswith(f"{name}.") for name in names)]
    files.check_size(sum(part.total_uncompressed_size for part in parts))
    texts = [part for part in parts if part.physical_type == "BYTE_ARRAY" and part.has_dictionary_page]
    if texts and not files.fits(sum(part.num_values * part.total_uncompressed_size for part in texts)):
        files.check_size(_length(content, list({part.path_in_schema for part in texts})))


def _length(content: bytes, names: list[str]) -> int:
    """Bytes of the texts of columns of a Parquet file, by the lengths of those that differ."""
    import pyarrow as pa
    import pyarrow.compute as pc
    from pyarrow import parquet

    length = 0
    file = parquet.ParquetFile(pa.BufferReader(content), read_dictionary=names)
    for name in names:
        for chunk in (chunk for part in file.read(columns=[name]).columns for chunk in part.chunks):
            if pa.types.is_dictionary(chunk.type):
                length += pc.sum(pc.binary_length(chunk.dictionary).take(chunk.indices)).as_py() or 0
    return length


def sheet_names(content: bytes) -> list[str]:
    """Names of the sheets of a workbook that hold cells, in their order."""
    import openpyxl

    with files.damaged(NO_WORKBOOK):
        check_workbook(content)
        book = openpyxl.load_workbook(io.BytesIO(content), read_only=True, keep_links=False)
        names = [sheet.title for sheet in book.worksheets]
        book.close()
    return names


def find_sheet(content: bytes, sheet: str | int) -> int:
    """The place of a sheet, by its name or else its number from 1 on; an `OptionError` where there is none."""
    names = sheet_names(content)
    if str(sheet) in names:
        return names.index(str(sheet))
    number = int(sheet) if str(sheet).isdecimal() and len(str(sheet)) < 9 else 0
    if not 1 <= number <= len(names):
        few = ", ".join(map(shortened, names[:_MOST_NAMES]))
        more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
        raise UnfitOptionError(f"no sheet {shortened(str(sheet))}; it has {few}{more} (--sheet, or sheet)")
    return number - 1


def read_sheet(content: bytes, form: str = "xlsx", place: int = 0) -> pd.DataFrame:
    """A sheet of a workbook, by default the first, under the names in its first row: cells as they are."""
    from kanon_lab.data.sheet_rows import cells_of

    # A zip archive of XML, or a container, and any of it may be damaged.
    with files.damaged(NO_WORKBOOK if form == "xlsx" else _NO_XLS):
        if form == "xlsx":
            check_workbook(content)
        cells = cells_of(content, place) if form == "xlsx" else _cells_of_xls(content)
        frame = pd.DataFrame(cells, dtype=object)
    if frame.empty:
        which = f"sheet {place + 1}" if place else "its first sheet"
        raise DataError(f"{which} is empty; put the data there, or name another sheet (--sheet)")
    header = ["" if pd.isna(name) else str(name) for name in frame.iloc[0]]
    return frame.iloc[1:].set_axis(header, axis=1).set_axis(pd.RangeIndex(2, len(frame) + 1, name="row"), axis=0)


def _read_sheet(content: bytes, form: str, place: int) -> pd.DataFrame:
    frame = read_sheet(content, form, place).dropna(how="all")
    first = [frame.columns, *frame.head(_TITLE_ROWS).to_numpy()]
    if any({str(cell).strip().casefold() for cell in row} >= _MUNICIPAL for row in first):
        raise DataError(
            "is INE's table of municipalities by sex, which has no ages and so serves to check totals only; "
            "use its table 33570 (kanon-lab data fetch ine-33570), or spain-2010"
        )
    return frame


def _cells_of_xls(content: bytes) -> list[list[object]]:
    """The cells of the first sheet, row by row. Not by pandas, which is giving up xlrd; its remarks go to `logfile`."""
    import xlrd

    def value(cell: Any) -> object:
        """A cell as an xlsx workbook would give it: whole numbers whole, an empty or faulty one missing."""
        if cell.ctype in (xlrd.XL_CELL_EMPTY, xlrd.XL_CELL_BLANK, xlrd.XL_CELL_ERROR) or cell.value == "":
            return None
        if cell.ctype == xlrd.XL_CELL_BOOLEAN:
            return bool(cell.value)
        whole = cell.ctype == xlrd.XL_CELL_NUMBER and cell.value.is_integer()
        return int(cell.value) if whole else cell.value

    with xlrd.open_workbook(file_contents=content, logfile=io.StringIO()) as book:
        sheet = book.sheet_by_index(0)
        files.check_table(sheet.nrows, sheet.ncols)
        return [[value(cell) for cell in row] for row in sheet.get_rows()]


def _named(frame: pd.DataFrame, columns: Mapping[str, str]) -> pd.DataFrame:
    """The columns of counts under their own names; a mapped name is not also looked up as it stands."""
    if unknown := sorted(set(columns) - set(_NAMED)):
        raise OptionError(f"columns: {unknown[0]} is not a column of counts; these can be named: {', '.join(_NAMED)}")
    frame = frame.set_axis([name.strip() for name in frame.columns], axis=1)
    _check_names(frame.columns, columns)
    usual = _usual_names([name for name in frame.columns if name not in columns.values()])
    sources = {name: columns.get(name, usual.get(name)) for name in _NAMED}
    present = {name: source for name, source in sources.items() if source is not None}
    return frame[list(present.values())].set_axis(list(present), axis=1)


def _usual_names(names: list[str]) -> dict[str, str]:
    """Which column is which by its name: our own, or what such a column is usually called in English or Spanish."""
    sources = {name: name for name in _NAMED if name in names}
    for name in _NAMED:
        alike = [other for other in names if other not in _NAMED and other.casefold() in labels.COLUMN_NAMES[name]]
        if name not in sources and len(alike) > 1:
            both = " and ".join(map(shortened, alike[:2]))
            raise DataError(f"row 1: columns {both} may both be {name}; say which one is (--columns {name}=...)")
        if alike:
            sources.setdefault(name, alike[0])
    return sources


def _check_names(names: pd.Index, columns: Mapping[str, str]) -> None:
    """Refuse unusable names; they are quoted only where one is known, since without a header row 1 holds data."""
    names = names[names != ""]
    if names.empty:
        raise DataError(NO_NAMES)
    usual = any(name.casefold() in known for name in names for known in labels.COLUMN_NAMES.values())
    if not usual and set(names).isdisjoint(columns.values()):
        raise DataError(
            "row 1 does not look like a header: no column place, sex, age_group, persons; put these names "
            "there, or say which column is which (--columns)"
        )
    if names.has_duplicates:
        twice = shortened(names[names.duplicated()][0])
        raise DataError(f"row 1: column {twice} occurs twice; give every column its own name")
    if absent := [name for name in columns.values() if name not in names]:
        few = [shortened(name) for name in names[:_MOST_NAMES]]
        more = f" and {len(names) - len(few)} more" if len(names) > len(few) else ""
        raise DataError(f"no column {shortened(absent[0])}; it has {', '.join(few)}{more}")


def _of_year(frame: pd.DataFrame, year: int | None) -> pd.DataFrame:
    # as text: a missing label equals nothing, and lists cannot be looked up
    written = [str(label) for label in frame.get("year", ())]
    read = {label: labels.year(label) for label in set(written)}
    if None in read.values():
        unread = pd.Series([read[label] is None for label in written], index=frame.index)
        raise DataError(f"row {first_row(unread)}: column year holds no year; write it as 2010")
    years = sorted({value for value in read.values() if value is not None})
    if year is not None or len(years) > 1:
        check_year(year, years)
        frame = frame[[read[label] == year for label in written]]
    return frame.drop(columns="year", errors="ignore")
