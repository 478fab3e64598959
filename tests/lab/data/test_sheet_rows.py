"""Cells of a sheet are those that openpyxl, through pandas, gives; however a program writes them."""

import datetime
import io
import re
import zipfile

import openpyxl
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kanon_lab.data.sheet_rows import cells_of

TEXTS = ["007", " a b ", "é&<>\"'", "x\ny", "", "NA", "1e5", "_x000D_", "#N/A", "=A1"]
VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**17), 10**17),
    st.floats(-1e300, 1e300),
    st.sampled_from(TEXTS),
    st.datetimes(datetime.datetime(1901, 1, 1), datetime.datetime(2100, 1, 1)),
    st.sampled_from([datetime.date(1999, 5, 6), datetime.time(4, 5, 6), datetime.timedelta(hours=30)]),
)


def by_openpyxl(content):
    with pd.ExcelFile(io.BytesIO(content), engine="openpyxl") as book:
        return pd.read_excel(book, header=None, dtype=object, keep_default_na=False, na_values=[""])


def assert_same(content):
    found, expected = cells_of(content), by_openpyxl(content).to_numpy().tolist()
    assert [len(row) for row in found] == [len(row) for row in expected]
    for cell, other in zip(sum(found, []), sum(expected, []), strict=True):
        assert (pd.isna(cell) and pd.isna(other)) or (type(cell) is type(other) and cell == other)
    return found


@settings(deadline=None)
@given(rows=st.lists(st.lists(VALUES, max_size=4), max_size=5), in_one_go=st.booleans(), gap=st.booleans())
def test_every_kind_of_cell(rows, in_one_go, gap):
    book = openpyxl.Workbook(write_only=in_one_go)
    sheet = book.create_sheet() if in_one_go else book.active
    for row in rows:
        sheet.append(row)
    if gap and not in_one_go:
        sheet["C9"] = 1
        sheet["H12"].number_format = "0.0"
    buffer = io.BytesIO()
    book.save(buffer)
    assert_same(buffer.getvalue())


ROW = b'<row r="1"><c r="A1"><v>1</v></c></row>'
PATTERNS = {
    "usual": b'<row r="1" spans="1:2"><c r="A1" t="s"><v>0</v></c><c r="B1" s="0"><v>1.50</v></c></row>',
    "no coordinates": b"<row><c><v>1</v></c><c/><c><v>2</v></c></row><row><c><v>3</v></c></row>",
    "other order of attributes": b'<row r="2"><c t="s" r="B2"><v>1</v></c></row>',
    "signs by number": b'<row r="1"><c r="A1" t="inlineStr"><is><t>a &amp; &#233;</t></is></c></row>',
    "rich text": b'<row r="1"><c r="A1" t="inlineStr"><is><r><t>a</t></r><r><t>b</t></r></is></c></row>',
    "text of a formula": b'<row r="1"><c r="A1" t="str"><f>B1</f><v>x</v></c><c r="B1" t="str"><v>y</v></c></row>',
    "error": b'<row r="1"><c r="A1" t="e"><v>#N/A</v></c><c r="B1" t="b"><v>1</v></c></row>',
    "commented row": ROW + b'<!-- <row r="2"><c r="A2"><v>5</v></c></row> -->',
    "marked text": b'<row r="1"><c r="A1" t="str"><v><![CDATA[<row r="9"/>]]></v></c></row>',
    "rows out of order": b'<row r="3"><c r="A3"><v>3</v></c></row>' + ROW,
    "cells out of order": b'<row r="1"><c r="C1"><v>3</v></c><c r="B1"><v>2</v></c></row>',
    "many digits": b'<row r="1"><c r="A1"><v>123456789012345678</v></c><c r="B1"><v>1E-7</v></c></row>',
    "iso date": b'<row r="1"><c r="A1" t="d"><v>2020-01-02</v></c></row>',
    "no value": b'<row r="1"><c r="A1"><v></v></c><c r="B1" t="s"/><c r="C1"><v>1</v></c></row>',
}


SHARED = (
    b'<sst xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">'
    b"<si><t>first</t></si><si><t>second</t></si></sst>"
)

LISTED = (
    b'<Override PartName="/xl/sharedStrings.xml" '
    b'ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sharedStrings+xml"/>'
)


def a_book(xml, change=lambda part: part):
    plain, made = io.BytesIO(), io.BytesIO()
    book = openpyxl.Workbook()
    book.active.append(["first", "second"])
    book.save(plain)
    with zipfile.ZipFile(plain) as old, zipfile.ZipFile(made, "w") as new:
        for name in old.namelist():
            part = old.read(name)
            if name.startswith("xl/worksheets/"):
                part = change(re.sub(rb"<sheetData>.*</sheetData>", b"<sheetData>%b</sheetData>" % xml, part))
            new.writestr(name, part.replace(b"</Types>", LISTED + b"</Types>"))
        new.writestr("xl/sharedStrings.xml", SHARED)
    return made.getvalue()


@pytest.mark.parametrize("name", PATTERNS)
def test_however_it_is_written(name):
    assert assert_same(a_book(PATTERNS[name]))


@pytest.mark.parametrize("name", ["usual", "signs by number"])
def test_prefixes_and_other_letters(name):
    def prefixed(part):
        part = re.sub(rb"<(/?)(\w)", rb"<\1x:\2", part.partition(b"?>")[2] or part)
        return part.replace(b"xmlns=", b"xmlns:x=")

    assert assert_same(a_book(PATTERNS[name], prefixed))
    assert assert_same(a_book(PATTERNS[name], lambda part: part.decode().encode("utf-16")))


@pytest.mark.parametrize(
    "bad", [ROW + b"<row r='2'><c", b'<row r="1"><c r="A1" t="s"><v>99</v></c></row>', ROW + b"\x01"]
)
def test_what_is_damaged_stays_so(bad):
    with pytest.raises(Exception) as error:  # noqa: PT011, B017 - of whatever kind, as `files.damaged` takes it
        by_openpyxl(a_book(bad))
    with pytest.raises(type(error.value)):
        cells_of(a_book(bad))
