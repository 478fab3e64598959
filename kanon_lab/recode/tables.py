"""Hierarchies as csv files: one row a value, one column a level."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pandas as pd

from kanon_lab import files
from kanon_lab.errors import DataError, OptionError

_DELIMITERS = ";,\t"


def read_levels(path: str | Path, header: bool, numbers: bool) -> tuple[tuple[str, ...], dict[object, list[str]]]:
    """Names of the levels (none without a header), and each value's labels; errors quote nothing of the file."""
    try:
        text = files.read_bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise DataError("wrong encoding: not UTF-8; save the file as UTF-8") from None
    lines = _lines(text)
    if not lines:
        raise DataError("has no rows; write one for each value")
    width = len(lines[0][1])
    if width < 2:
        raise DataError("row 1 has one column; write each value and its labels, separated by commas")
    names = tuple(lines.pop(0)[1]) if header else ()
    rows: dict[object, list[str]] = {}
    for number, cells in lines:
        if len(cells) != width or not all(cells):
            fault = "an empty cell" if len(cells) == width else f"{len(cells)} cells, the first row has {width}"
            raise DataError(f"row {number}: {fault}; give the value and a label for every level")
        value = _as_number(cells[0], number) if numbers else cells[0]
        if value in rows:
            raise DataError(f"row {number}: its value has a row before it; give each value one row")
        rows[value] = cells[1:]
    if not rows:
        raise DataError("has a header and no rows; write one for each value")
    return names, rows


def write_levels(path: str | Path, table: pd.DataFrame) -> None:
    """Write a table of one column a level to a csv file."""
    if files.file_format(path) != "csv":
        raise OptionError(f"{path}: a hierarchy is written as csv; give a name that ends in .csv or .csv.gz")
    compressed = Path(path).suffix.lower() == ".gz"
    content = files.csv_gz(table) if compressed else table.to_csv(index=False, lineterminator="\n").encode()
    files.write_bytes(path, content)


def _lines(text: str) -> list[tuple[int, list[str]]]:
    """Row number and cells of every row that is not blank."""
    first = text.lstrip().partition("\n")[0]
    reader = None
    try:
        delimiter = max(_DELIMITERS, key=lambda sign: len(next(csv.reader([first], delimiter=sign), [])))
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
        return [(reader.line_num, [cell.strip() for cell in cells]) for cells in reader if any(cells)]
    except csv.Error as error:
        row = reader.line_num if reader else 1
        raise DataError(f"row {row}: not csv ({error}); mend the quotation marks") from None


def _as_number(text: str, row: int) -> float | int:
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        raise DataError(f"row {row}: its value is no number; mend it, or say numbers=False") from None
