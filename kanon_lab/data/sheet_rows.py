"""The first sheet of an xlsx workbook: ordinary rows by two expressions, sooner than by openpyxl; others by it.

Not by python-calamine, which reads every number as a float, so that two identifiers of 17 digits become one, and gives
an error, an empty cell and a text in CDATA as the same empty text.
"""

import io
import math
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from typing import Any

from openpyxl import load_workbook
from openpyxl.utils.cell import column_index_from_string
from openpyxl.worksheet._reader import CELL_TAG, VALUE_TAG, WorkSheetParser
from openpyxl.xml.constants import SHEET_MAIN_NS

from kanon_lab import files

_ROWS, _COLUMNS = 2**20, 2**14
_OTHER_LETTERS = re.compile(rb"""encoding=["'](?!utf-8["'])""", re.IGNORECASE)
_SPACE = f'xmlns="{SHEET_MAIN_NS}"'.encode()
_ROW = re.compile(rb"<row[\s/>]")
_BEFORE, _AFTER = re.compile(rb"<sheetData>\s*\Z"), re.compile(rb"</sheetData>.*</worksheet>\s*\Z", re.DOTALL)
# A row and a cell as nearly all programs write them.
_OPENED = re.compile(rb'<row r="(\d{1,7})"(?: [\w:]+="[^"<&]*")*>')
_CELL = re.compile(
    rb'<c r="([A-Z]{1,3})\d{1,7}"(?: s="(\d{1,6})")?(?: t="(n|s|b|str|inlineStr)")?(?:/>|>'
    rb'(?:<v>([ -%\'-;=-~]*)</v>|<is><t(?: xml:space="preserve")?>([ -%\'-;=-~\x80-\xff]*)</t></is>)?</c>)'
)
_column = lru_cache(maxsize=_COLUMNS)(column_index_from_string)


def cells_of(content: bytes, place: int = 0) -> list[list[object]]:
    """The values in the rows of a sheet, as many in each: None where a cell is empty, NaN where it is an error.

    Too many cells are refused as they come: the XML may not say how many, and all gaps are filled.
    """
    book: Any = load_workbook(io.BytesIO(content), read_only=True, data_only=True, keep_links=False)
    try:
        sheet, widest, filled = book.worksheets[place], 0, 0
        table: list[list[Any]] = []
        with sheet._get_source() as source:
            formats = {"date_formats": book._date_formats, "timedelta_formats": book._timedelta_formats}
            parser = _Parser(source, sheet._shared_strings, data_only=True, epoch=book.epoch, **formats)
            for number, cells in parser.rows():
                if number > _ROWS or (cells and cells[-1][0] > _COLUMNS):
                    raise ValueError("beyond a sheet")
                if number <= len(table):
                    continue
                row: list[Any] = [None] * cells[-1][0] if cells else []
                for column, value in cells:
                    if column <= len(row):
                        row[column - 1] = value
                while row and row[-1] is None:  # formats without a value count for nothing
                    row.pop()
                widest = max(widest, len(row))
                if row:
                    files.check_table(number, widest)
                    filled = number
                table.extend([] for _ in range(len(table), number - 1))
                table.append(row)
    finally:
        book.close()
    return [row + [None] * (widest - len(row)) for row in table[:filled]]


class _Parser(WorkSheetParser):
    """Cells as pairs of column and value."""

    source: Any
    date_formats: Any
    parse_row: Any
    parse: Any

    def rows(self) -> Iterator[tuple[int, list[tuple[int, object]]]]:
        """Number and cells of each row."""
        xml: bytes = self.source.read()
        starts, end = [row.start() for row in _ROW.finditer(xml)], xml.rfind(b"</sheetData>")
        head = xml[: starts[0]] if starts else b""
        # Where there are comments and the like, what looks like a row may be none.
        plain = starts and starts[-1] < end and b"<!" not in xml and b"<?" not in xml[starts[0] :]
        known = head.count(b"xmlns=") == head.count(_SPACE) == 1 and not _OTHER_LETTERS.search(head)
        if not (plain and known and _BEFORE.search(head) and _AFTER.match(xml, end)):
            self.source = io.BytesIO(xml)
            yield from self.parse()
            return
        dates = {str(style).encode() for style in self.date_formats}
        for start, stop in pairwise([*starts, end]):
            row = xml[start:stop]
            yield self._usual(row, dates) or self.parse_row(
                ET.fromstring(head + row + b"</sheetData></worksheet>")[-1][0]
            )
        self.source = io.BytesIO(head + xml[end:])
        yield from self.parse()  # of no rows; but what is beside them may be damaged too

    def _usual(self, row: bytes, dates: set[bytes]) -> tuple[int, list[tuple[int, object]]] | None:
        """A row without anything unusual, such as a formula or a sign written by its number; None of others."""
        opened = _OPENED.match(row)
        if not opened or _CELL.sub(b"", row[opened.end() :]).rstrip() != b"</row>":
            return None
        self.row_counter, cells = int(opened[1]), []
        for letters, style, kind, number, text in _CELL.findall(row, opened.end()):
            if kind == b"inlineStr":
                value = text.decode() or None
            elif not number:
                value = None
            elif kind == b"s":
                value = self.shared_strings[int(number)] or None
            elif kind in (b"", b"n"):
                if style in dates:
                    cell = ET.Element(CELL_TAG, r=f"{letters.decode()}1", s=style.decode())
                    ET.SubElement(cell, VALUE_TAG).text = number.decode()
                    cells.append(self.parse_cell(cell))
                    continue
                value = int(number) if number.isdigit() else _number(number.decode())
            else:
                value = bool(int(number)) if kind == b"b" else number.decode()
            cells.append((_column(letters.decode()), value))
        return self.row_counter, cells

    def parse_cell(self, element: Any) -> Any:
        """Column and value; an empty text is no value."""
        cell = super().parse_cell(element)
        value, kind = cell["value"], cell["data_type"]
        if value is not None and kind in "en":
            value = math.nan if kind == "e" else _number(value)
        return cell["column"], None if value == "" else value


def _number(value: str | float) -> int | float:
    """A number, or what a cell has of it; whole if nothing stands after its point."""
    if isinstance(value, str):
        value = float(value) if "." in value or "E" in value or "e" in value else int(value)
    whole = int(value)
    return whole if whole == value else float(value)
