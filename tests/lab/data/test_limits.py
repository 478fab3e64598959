"""Small files that unpack to large ones: refused in one line before they do, unless the limit is raised."""

import gzip
import io
import zipfile

import openpyxl
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

from kanon_lab.data import read_counts, read_microdata
from kanon_lab.data.microdata import read_file
from kanon_lab.errors import DataError, OptionError

LIMIT = 10_000_000


def a_sheet(xml):
    """A workbook whose only sheet has this XML."""
    plain, made = io.BytesIO(), io.BytesIO()
    book = openpyxl.Workbook()
    book.active.append(["a", "b"])
    book.active.append([1, 2])
    book.save(plain)
    with zipfile.ZipFile(plain) as old, zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            part = old.read(name)
            if name.startswith("xl/worksheets/"):
                head, _, tail = part.partition(b"<sheetData>")
                part = head + b"<sheetData>" + xml + tail.partition(b"</sheetData>")[2].join([b"</sheetData>", b""])
            new.writestr(name, part)
    return made.getvalue()


ROW_1 = b'<row r="1"><c r="A1"><v>1</v></c></row>'
FAR = b'<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>'
WIDE = b'<row r="2"><c r="XFD2"><v>1</v></c></row><row r="400"><c r="A400"><v>1</v></c></row>'
BEYOND = b'<row r="99999999999"><c r="A99999999999"><v>1</v></c></row>'
ENDLESS = b"<row>" + b"<c/>" * 600_000 + b"</row>"
SHEETS = {"far cell": FAR, "wide": WIDE, "beyond a sheet": BEYOND, "endless row": ENDLESS}


def as_parquet(values):
    buffer = io.BytesIO()
    parquet.write_table(pa.table({"a": values}), buffer)
    return buffer.getvalue()


FILES = {
    "ones.csv.gz": gzip.compress(b"a\n" + b"1\n" * 300_000, mtime=0),
    "spaces.csv.gz": gzip.compress(b"a\n" + b" " * 20_000_000, mtime=0),
    "carriage.csv.gz": gzip.compress(b"a\r" + b"1\r" * 300_000, mtime=0),
    "ones.parquet": as_parquet([1] * 300_000),
    "texts.parquet": as_parquet(["x" * 10_000] * 2_000),
    **{f"{name}.xlsx": a_sheet(ROW_1 + xml) for name, xml in SHEETS.items()},
}


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("read", [read_microdata, read_counts])
def test_what_would_take_too_much_memory_is_not_unpacked(tmp_path, read, name):
    path = tmp_path / name
    path.write_bytes(FILES[name])
    with pytest.raises(DataError) as error:
        read(path, max_bytes=LIMIT)
    line = str(error.value)
    assert line.startswith(str(path))
    assert "max_bytes" in line or "is not an xlsx workbook" in line


@pytest.mark.parametrize("form", ["sav", "dta"])
def test_records_of_spss_and_stata_count(tmp_path, form):
    import pyreadstat

    frame = pd.DataFrame({"a": [1.0] * 5_000})
    getattr(pyreadstat, f"write_{form}")(frame, tmp_path / f"a.{form}")
    assert len(read_microdata(tmp_path / f"a.{form}", max_bytes=200_000)) == 5_000
    with pytest.raises(DataError, match="more than 199,999 bytes"):
        read_microdata(tmp_path / f"a.{form}", max_bytes=199_999)


def test_only_columns_that_are_read_count(tmp_path):
    (tmp_path / "a.csv").write_text("a,b,c,d\n" + "1,2,3,4\n" * 1_000)
    with pytest.raises(DataError, match="read fewer columns"):
        read_microdata(tmp_path / "a.csv", max_bytes=100_000)
    assert len(read_microdata(tmp_path / "a.csv", columns="b", max_bytes=100_000)) == 1_000


def test_merged_cells_count_one_by_one(tmp_path):
    plain, made = io.BytesIO(a_sheet(ROW_1)), io.BytesIO()
    with zipfile.ZipFile(plain) as old, zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            merged = b'</sheetData><mergeCells count="1"><mergeCell ref="A2:XFD1048576"/></mergeCells>'
            new.writestr(name, old.read(name).replace(b"</sheetData>", merged))
    (tmp_path / "a.xlsx").write_bytes(made.getvalue())
    with pytest.raises(DataError, match="bytes of memory"):
        read_microdata(tmp_path / "a.xlsx")


def test_formats_without_values_count_for_nothing(tmp_path):
    """Ordinary workbooks have them far below and beside their table."""
    styled = (
        b'<row r="3" s="0" customFormat="1"><c r="XFD3" s="0"/></row><row r="1048576"><c r="A1048576" s="0"/></row>'
    )
    rows = b'<row r="1"><c r="A1" t="str"><v>a</v></c></row><row r="2"><c r="A2"><v>1</v></c></row>'
    (tmp_path / "a.xlsx").write_bytes(a_sheet(rows + styled))
    assert read_microdata(tmp_path / "a.xlsx", max_bytes=1_000_000)["a"].tolist() == [1]


def test_texts_that_repeat_are_read_within_the_limit(tmp_path):
    """A dictionary of long texts times the number of records says nothing yet of what they take."""
    values = ["x" * 5_000] + ["y"] * 20_000
    (tmp_path / "a.parquet").write_bytes(as_parquet(values))
    assert read_microdata(tmp_path / "a.parquet", max_bytes=LIMIT)["a"].tolist() == values


def test_the_limit_is_one_that_can_be_used(tmp_path):
    with pytest.raises(OptionError, match="max_bytes must be a whole number"):
        read_file("health-survey", max_bytes=0)
    assert len(read_file("health-survey").frame)
