"""Cells of an xlsx sheet that look empty to a reader of values, though they are not."""

import io
import re
import zipfile
from collections.abc import Iterator, Mapping

from kanon_lab.data.table import NO_WORKBOOK
from kanon_lab.errors import DataError, shortened

# What a sheet has in its XML where it may have such cells: most sheets have none of it.
_SIGNS = re.compile(rb"""<(?:\w+:)?(?:f|mergeCell)[\s/>]|\st\s*=\s*["']e["']""")


def check_cells(content: bytes, columns: Mapping[int, str], where: str) -> None:
    """Raise a `DataError` where a cell would be taken for a missing value without being empty.

    Parameters
    ----------
    content : bytes
        An xlsx workbook, of which the first sheet counts.
    columns : mapping of int to str
        The columns that matter: their names by number from 1 on.
    where : str
        What to call the file in messages.

    Raises
    ------
    DataError
        Cells of these columns are merged, hold an error such as #N/A, or a formula without a computed value.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as book:
            sheets = (book.read(name) for name in book.namelist() if name.startswith("xl/worksheets/"))
            if not any(map(_SIGNS.search, sheets)):
                return
        found = min((fault for fault in _faults(content) if fault[1] in columns), default=None)
    except MemoryError:
        raise
    except Exception:  # any part of the archive may be damaged, even if its values could be read
        raise DataError(f"{where}: {NO_WORKBOOK}") from None
    if found:
        row, column, fault = found
        raise DataError(f"{where}: row {row}: column {shortened(columns[column]) or column} has {fault}")


def _faults(content: bytes) -> Iterator[tuple[int, int, str]]:
    """Row, column and fault of each such cell below the header."""
    import openpyxl

    formulas, values = (openpyxl.load_workbook(io.BytesIO(content), data_only=only).worksheets[0] for only in (0, 1))
    for block in formulas.merged_cells.ranges:
        for column in range(block.min_col, block.max_col + 1):
            yield block.min_row, column, "merged cells; split them, and fill in each"
    for row in formulas.iter_rows(min_row=2):
        for cell in row:
            value = values.cell(cell.row, cell.column)
            if value.data_type == "e":
                yield cell.row, cell.column, "an error value; mend the cell, or empty it if the value is missing"
            # a formula may give an empty text, which is a value
            elif cell.data_type == "f" and value.value is None and value.data_type != "str":
                yield (
                    cell.row,
                    cell.column,
                    "a formula without a computed value; open and save the file in a spreadsheet program",
                )
