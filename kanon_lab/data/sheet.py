"""Sheets of xlsx workbooks: how far they reach, and cells that look empty to a reader of values, but are not."""

import io
import re
import zipfile
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING

from kanon_lab import files
from kanon_lab.errors import DataError, shortened

if TYPE_CHECKING:
    from openpyxl.worksheet._read_only import ReadOnlyWorksheet

NO_WORKBOOK = "is not an xlsx workbook, or is damaged; save it again as xlsx"
"""What messages say of a damaged file."""

_ROWS, _COLUMNS = 2**20, 2**14
# Elements of XML that a row can need, and the fewest bytes of so many.
_TAGS = 8 * _COLUMNS
_SHORTEST = 4 * _TAGS
# The second is slow, and few programs write names with a prefix.
_ROW, _PREFIXED_ROW = re.compile(rb"<row[\s/>]"), re.compile(rb"<\w+:row[\s/>]")
_MERGED = re.compile(rb"""<(?:\w+:)?mergeCell\s[^>]*?ref\s*=\s*["']([A-Z]{1,3}\d{1,7}):([A-Z]{1,3}\d{1,7})["']""")
# What a sheet has in its XML where it may have such cells: most sheets have none of it.
_SIGNS = re.compile(rb"""<(?:\w+:)?(?:f|mergeCell)[\s/>]|\st\s*=\s*["']e["']""")


def check_workbook(content: bytes) -> None:
    """Raise a `DataError` where parts of a workbook would take more memory than they may, before they are unpacked.

    A row may have no more than its cells: its reader keeps it whole. Merged cells are kept one by one.
    """
    from openpyxl.utils.cell import coordinate_to_tuple

    with zipfile.ZipFile(io.BytesIO(content)) as book:
        files.check_size(sum(part.file_size for part in book.infolist()))
        for name in book.namelist():
            part = book.read(name)
            starts = [found.start() for found in (_ROW if b"<row" in part else _PREFIXED_ROW).finditer(part)]
            rows = pairwise([*starts, part.rfind(b"sheetData")])
            if any(b - a > _SHORTEST and part.count(b"<", a, b) > _TAGS for a, b in rows):
                raise DataError(NO_WORKBOOK)
            merged = _MERGED.findall(part) if b"mergeCell" in part else []
            blocks = [map(coordinate_to_tuple, map(bytes.decode, ends)) for ends in merged]
            cells = sum((bottom - top + 1) * (right - left + 1) for (top, left), (bottom, right) in blocks)
            files.check_table(cells, 1)


def bounded(sheet: "ReadOnlyWorksheet") -> None:
    """Let a sheet raise a `DataError` as soon as its rows, each as long as the longest, would be too many cells.

    What its XML says of its extent may be wrong, and its reader fills all gaps.
    """
    rows_of = sheet._cells_by_row

    def rows(*args: object, **options: object) -> Iterator[tuple]:
        widest = 0
        for number, row in enumerate(rows_of(*args, **options), start=1):
            if number > _ROWS or len(row) > _COLUMNS:
                raise DataError(NO_WORKBOOK)
            width = len(row)
            while width and row[width - 1].value is None:  # formats without a value count for nothing
                width -= 1
            widest = max(widest, width)
            if width:
                files.check_table(number, widest)
            yield row

    sheet._cells_by_row = rows


def check_cells(content: bytes, columns: Mapping[int, str]) -> None:
    """Refuse merged cells, errors and formulas without a value in these columns, by number from 1 on, of sheet 1."""
    with files.damaged(NO_WORKBOOK):  # any part of the archive may be, even if its values could be read
        with zipfile.ZipFile(io.BytesIO(content)) as book:
            sheets = (book.read(name) for name in book.namelist() if name.startswith("xl/worksheets/"))
            if not any(map(_SIGNS.search, sheets)):
                return
        found = min((fault for fault in _faults(content) if fault[1] in columns), default=None)
    if found:
        row, column, fault = found
        raise DataError(f"row {row}: column {shortened(columns[column]) or column} has {fault}")


def _faults(content: bytes) -> Iterator[tuple[int, int, str]]:
    """Row, column and fault of each such cell below the header."""
    import openpyxl

    formulas, values = (openpyxl.load_workbook(io.BytesIO(content), data_only=only).worksheets[0] for only in (0, 1))
    for block in formulas.merged_cells.ranges:
        for column in range(block.min_col, block.max_col + 1):
            yield block.min_row, column, "merged cells; split them, and fill in each"
    for (row, column), cell in formulas._cells.items():  # those there are; others would be made
        value = values._cells[row, column]
        if row > 1 and value.data_type == "e":
            yield row, column, "an error value; mend the cell, or empty it if the value is missing"
        # a formula may give an empty text, which is a value
        elif row > 1 and cell.data_type == "f" and value.value is None and value.data_type != "str":
            yield row, column, "a formula without a computed value; open and save the file in a spreadsheet program"
