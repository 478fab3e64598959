"""Microdata files: what is written is what is read, codes stay codes, and every fault is told in one line."""

import csv
import io
import re
from datetime import date
from decimal import Decimal
from functools import partial

import numpy as np
import pandas as pd
import pyarrow as pa
import pyreadstat
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from kanon_lab.data import delimited, load_microdata, read_file, read_microdata, usual_marks
from kanon_lab.data.delimited import Dialect
from kanon_lab.data.microdata import double_spellings, nearly_numbers
from kanon_lab.errors import DataError, KanonLabError, OptionError

WRITERS = {
    "csv": partial(pd.DataFrame.to_csv, index=False),
    "csv.gz": partial(pd.DataFrame.to_csv, index=False),
    "parquet": pd.DataFrame.to_parquet,
    "xlsx": partial(pd.DataFrame.to_excel, index=False),
    "sav": pyreadstat.write_sav,
    "dta": pyreadstat.write_dta,
}


@pytest.fixture
def write(tmp_path):
    def _write(text, name="survey.csv"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return _write


def fault_of(path, error=DataError, **options):
    with pytest.raises(error) as caught:
        read_microdata(path, **options)
    message = str(caught.value)
    assert "\n" not in message
    return message.removeprefix(f"{path}: ")


def lists(frame):
    """The columns as lists, missing values as None, and the index."""
    return {name: [None if pd.isna(value) else value for value in column] for name, column in frame.items()}


TEXT = st.sampled_from([None, "a", "Málaga", "01001", "x,y;z", 'say "so"', "NA", "two words", "-", "1e5x"])
WHOLE = st.one_of(st.none(), st.integers(-(10**9), 10**9))
DECIMAL = st.one_of(st.none(), st.floats(-1e6, 1e6).map(lambda number: round(number, 3) + 0.0))


@given(rows=st.lists(st.tuples(TEXT, WHOLE, DECIMAL), min_size=1, max_size=8), form=st.sampled_from(list(WRITERS)))
def test_every_format_gives_the_same(tmp_path_factory, rows, form):
    path = tmp_path_factory.mktemp("formats") / f"survey.{form}"
    # the last row settles the types; the first column keeps rows of a sheet from being empty
    rows = [(i, *row) for i, row in enumerate([*rows, ("text", 7, 0.5)])]
    names = ["id", "text", "whole", "decimal"]
    frame = pd.DataFrame(rows, columns=names)
    WRITERS[form](frame.astype({"text": "str", "decimal": float, "whole": float}), path)
    read = read_microdata(path)
    assert lists(read) == {name: [row[i] for row in rows] for i, name in enumerate(names)}
    assert isinstance(read["text"].dtype, pd.StringDtype)
    assert read["whole"].dtype == ("Int64" if None in lists(read)["whole"] else "int64")
    assert read["decimal"].dtype == float
    pd.testing.assert_index_equal(read.index, pd.RangeIndex(len(rows)), exact=True)
    first = 2 if form[:3] in ("csv", "xls") else 1
    file = read_file(path)
    assert list(file.rows) == list(file.numbered.index) == list(range(first, first + len(rows)))
    pd.testing.assert_frame_equal(file.numbered.reset_index(drop=True), read)
    chosen = read_microdata(path, columns=["decimal", "text"])
    pd.testing.assert_frame_equal(chosen, read[["decimal", "text"]])


@pytest.mark.parametrize(
    ("cells", "read"),
    [
        (["01001", "29025"], ["01001", "29025"]),
        (["29025", "37003"], [29025, 37003]),
        (["0", "10", "-7"], [0, 10, -7]),
        (["-07", "1"], ["-07", "1"]),
        (["1.10", "1.1"], ["1.10", "1.1"]),
        (["1.10", "2.50"], [1.1, 2.5]),
        (["00.5", "1.5"], ["00.5", "1.5"]),
        ([".5", "5.", "1e3"], [0.5, 5.0, 1000.0]),
        (["100.0", "2.0"], [100, 2]),
        (["1234567890123456789", "1"], ["1234567890123456789", "1"]),
        (["123456789012345678", ""], [123456789012345678, None]),
        (["0.1", "0.10000000000000000001"], [Decimal("0.1"), Decimal("0.10000000000000000001")]),
        (["0.10000000000000001", "0.30000000000000004"], [0.1, 0.1 + 0.2]),
        (["9.2345678901234567", ""], [Decimal("9.2345678901234567"), None]),
        (["+5", "6"], ["+5", "6"]),
        (["NA", "1"], ["NA", "1"]),
        (["nan", "1"], ["nan", "1"]),
        (["None", "null"], ["None", "null"]),
        (["True", "False"], ["True", "False"]),
        (["2010-01-31", ""], ["2010-01-31", None]),
        ([" 7 ", "8"], [7, 8]),
        ([" man", "man "], ["man", "man"]),
        (["  ", "x"], [None, "x"]),
        (['"3"', "4"], [3, 4]),
        (['"two\nlines"', "4"], ["two\nlines", "4"]),
        (['"a ""b"""', 'c"d'], ['a "b"', 'c"d']),
    ],
)
def test_cells_of_csv(write, cells, read):
    path = write("other,cell\n" + "".join(f"x,{cell}\n" for cell in cells))
    frame = read_microdata(path, columns=["cell"])
    found = lists(frame)["cell"]
    assert found == read
    assert [np.asarray(each).dtype.kind for each in found] == [np.asarray(each).dtype.kind for each in read]


@pytest.mark.parametrize(
    ("cells", "read"),
    [
        (["3,5", "4"], [3.5, 4.0]),
        (["1,10", "1,1"], ["1,10", "1,1"]),
        (["1.234,5", "1"], [1234.5, 1.0]),
        (["1.234,5", "1234,5"], ["1.234,5", "1234,5"]),
        (["46.815.916", "977"], [46815916, 977]),
        (["46.815.916", "01"], ["46.815.916", "01"]),
        (["1.234", "5.678"], ["1.234", "5.678"]),
        (["192.168.100.2", "10.0.0.1"], ["192.168.100.2", "10.0.0.1"]),
        (["3.5", "4"], [3.5, 4.0]),
        (["03,5", "4,5"], ["03,5", "4,5"]),
    ],
)
@pytest.mark.parametrize("delimiter", [";", "\t", "|"])
def test_the_decimal_comma(write, cells, read, delimiter):
    path = write(f"other{delimiter}cell\n" + "".join(f"x{delimiter}{cell}\n" for cell in cells))
    assert lists(read_microdata(path))["cell"] == read


def test_two_byte_order_marks_are_none(write):
    assert list(read_microdata(write(b"\xef\xbb\xbf" * 2 + b"region,sex\nN,m\n"))) == ["region", "sex"]


def test_text_and_marks_of_missing_when_asked_for(write):
    path = write("place,age,w\n29025,NA,1\n37003,.,2\nNA,33,3\n")
    assert usual_marks(read_microdata(path)) == {"place": ["NA"], "age": ["NA", "."]}
    frame = read_microdata(path, text=["place", "w"], na=["NA", "."])
    assert lists(frame) == {"place": ["29025", "37003", None], "age": [None, None, 33], "w": ["1", "2", "3"]}
    assert usual_marks(frame) == {}


@pytest.mark.parametrize("end", ["\r", "\r\n", "\n"])
def test_blank_lines_are_no_records_but_rows_of_empty_cells_are(write, end):
    text = "\ufeffa,b\n1,x\n\n,\n \n3,y\n\n".replace("\n \n", "\n")
    read = read_file(write(text.replace("\n", end)))
    assert lists(read.frame) == {"a": [1, None, 3], "b": ["x", None, "y"]}
    assert (list(read.rows), list(read.frame.index)) == ([2, 4, 5], [0, 1, 2])
    one = read_file(write('a\n1\n""\n\n3'))
    assert lists(one.frame) == {"a": [1, None, 3]}
    assert list(one.rows) == [2, 3, 5]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "is empty"),
        ("\n\n", "row 1: no column names"),
        ("a,b\n", "has no records"),
        ("a\n", "has no records"),
        (",\n1,2\n", "has no column names"),
        ("a,b,a\n1,2,3\n", "columns 1 and 3 have the same name"),
        ("a,b\n1,2\n3\n", "row 3: fewer cells than the header"),
        ("a,b\n1,2\n\n3\n", "row 4: fewer cells than the header"),
        ("a,b\n1,2,3\n", "row 2: more cells than the header"),
        ('a,b\n1,"x\ny"\n1,2,3\n', "row 3: more cells than the header"),
        ('a,b\n1,2\n1,"x\n3,4\n', "row 3: a quotation mark is never closed"),
        ('a,b\n1,2\n"x,1\n3,4\n', "row 3: a quotation mark is never closed"),
        ('a,"b\n1,2\n', "row 1: a quotation mark is never closed"),
        ('a,b\n1,"x\n2,"y\n3,z\n4,z\n', "row 2: there is text after a closing quotation mark"),
        ('a,b\n1,"x\n2,y"z\n', "row 2: there is text after a closing quotation mark"),
        ('a,b\n1,x\n\n1,"CAN"ARY\n', "row 4: there is text after a closing quotation mark"),
        ('a,b\n1,"x\ny"\n\n"1" ,2\n', "row 3: there is text after a closing quotation mark"),
        ('\ufeff"a"x,b\n1,2\n', "row 1: there is text after a closing quotation mark"),
        ("x" * 140_000 + "\n1\n", "row 1: no column names"),
        ("a,b\n1,niño\n".encode("cp850"), "row 2: wrong encoding"),
        ("a,b\n1,2\n".encode("utf-16-le"), "row 1: wrong encoding"),
        ("a,b\n1,2\n1,\0\n", "row 3: wrong encoding"),
    ],
)
def test_faults_of_csv(write, text, fault):
    assert fault in fault_of(write(text))


CELL = st.text(alphabet='a",;\n', max_size=4)


@settings(max_examples=80)
@given(lines=st.lists(st.tuples(CELL, CELL), min_size=1, max_size=4))
def test_quotation_marks_are_read_as_the_strict_parser_of_python_reads_them(tmp_path_factory, lines):
    path = tmp_path_factory.mktemp("quotes") / "survey.csv"
    text = "a,b\n" + "".join(f"{one},{other}\n" for one, other in lines)
    path.write_text(text)
    try:
        rows = [row for row in csv.reader(io.StringIO(text), strict=True) if row][1:]
    except csv.Error:
        rows = None
    if rows is None or any(len(row) != 2 for row in rows):
        fault_of(path)
    else:
        frame = read_microdata(path, text=["a", "b"])
        assert frame.fillna("").to_numpy().tolist() == [[cell.strip() for cell in row] for row in rows]


@settings(max_examples=100)
@given(
    text=st.text(alphabet='aé",;\n\r ', max_size=40),
    size=st.integers(1, 12),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
)
def test_csv_is_the_same_in_however_small_parts_it_is_read(text, size, encoding):
    def told(block):
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(delimited, "_BLOCK", block)
            try:
                reader = delimited.DelimitedReader(io.BytesIO(f"a,b\n{text}".encode(encoding)), Dialect(separator=","))
                parts = [(table.to_pylist(), list(rows)) for table, rows in reader.tables([1, 0])]
            except DataError as error:
                return str(error)
        return sum((cells for cells, _ in parts), []), sum((rows for _, rows in parts), []), reader.dialect

    first_line = 2 * len("\ufeffa,b\n")
    whole, parts = told(2**20), told(first_line + size)
    if '"' in text or "\r" in text:  # cells may hold lines: then records are counted, from there on
        whole, parts = (
            re.sub(r"row \d+", "row", each) if isinstance(each, str) else each[::2] for each in (whole, parts)
        )
    assert parts == whole


def test_letters_that_come_late_tell_the_encoding(monkeypatch):
    monkeypatch.setattr(delimited, "_BLOCK", 10)
    rows = "1,2\n" * 10
    reader = delimited.DelimitedReader(io.BytesIO(f"a,b\n{rows}3,ñ\n".encode("cp1252")), Dialect())
    assert sum(table.num_rows for table, _ in reader.tables([1])) == 11 and reader.dialect.encoding == "cp1252"
    for late, fault in ((b"\x81\x8d", "row 12: wrong encoding: not UTF-8, nor"), (b"\0", "row 12: wrong encoding, or")):
        reader = delimited.DelimitedReader(io.BytesIO(f"a,b\n{rows}3,".encode() + late), Dialect())
        with pytest.raises(DataError, match=fault):
            list(reader.tables([1]))
    reader = delimited.DelimitedReader(io.BytesIO(f"a,b\n1,ñ\n{rows}3,".encode() + b"\xf1\n"), Dialect())
    with pytest.raises(DataError, match="row 13: wrong encoding, or damaged: UTF-8 in most places"):
        list(reader.tables([1]))


@pytest.mark.parametrize("sign", ["", '"'])
def test_a_cell_of_megabytes(write, sign):
    frame = read_microdata(write(f"a,b\n1,{sign}{'x' * 5_000_000}{sign}\n2,y\n"))
    assert frame["b"].str.len().tolist() == [5_000_000, 1]


def test_an_open_quotation_in_a_large_file(write):
    rows = [f"{i},x{i}\n" for i in range(200_000)]
    rows[150_000] = '7,"x\n'
    assert fault_of(write("a,b\n" + "".join(rows))).startswith("row 150002: a quotation mark is never closed")


def test_an_absent_column_is_named_with_the_nearest(write):
    path = write("region,sex,age\n1,2,SECRET\n")
    assert "no column regoin; did you mean region?" in fault_of(path, columns=["regoin", "sex"])
    assert "no column q; it has region, sex, age" in fault_of(path, columns=["q", "sex"])
    # a file without a header: nothing in its first row is told
    assert "region" not in fault_of(path, columns=["q"])
    # nor where fewer than half of the names are there
    headless = write("Essex,1,7,CANARY\n", "headless.csv")
    assert "first row" in fault_of(headless, columns=["Esex", "age", "1"])
    assert not any(value in fault_of(headless, columns=["Esex", "age", "1"]) for value in ("Essex", "CANARY"))
    wide = write(",".join(f"c{i}" for i in range(50)) + "\n" + ",".join("1" * 50) + "\n")
    assert "c7 and 42 more" in fault_of(wide, columns=["c1", "q" * 5000])
    assert len(fault_of(wide, columns=["c1", "q" * 5000])) < 200


@pytest.mark.parametrize("form", list(WRITERS))
def test_faults_of_every_format(tmp_path, write, form):
    assert "no such file" in fault_of(tmp_path / f"absent.{form}")
    (tmp_path / f"folder.{form}").mkdir()
    assert "is a folder" in fault_of(tmp_path / f"folder.{form}")
    assert "is empty" in fault_of(write("", f"empty.{form}"))
    assert any(
        word in fault_of(write("\0\1", f"junk.{form}")) for word in ("damaged", "cut short", "not a", "no records")
    )
    path = tmp_path / f"survey.{form}"
    WRITERS[form](pd.DataFrame({"region": [1, 2], "sex": ["a", "b"]}), path)
    assert "no column regio; did you mean region?" in fault_of(path, columns=["regio", "sex"])
    if form not in ("csv", "csv.gz"):
        WRITERS[form](pd.DataFrame({"region": [1, 2], "sex": ["a", "b"]}).iloc[:0], path)
        assert "has no records" in fault_of(path)


@pytest.mark.parametrize("name", ["survey.xls", "survey", "survey.gz", "survey.sas7bcat"])
def test_other_extensions(write, name):
    assert "must end in one of .csv, .parquet, .xlsx, .sav, .dta, .sas7bdat" in fault_of(write("a\n1\n", name))


@given(data=st.data(), form=st.sampled_from(list(WRITERS)))
def test_damage_is_told_in_one_line_or_does_no_harm(tmp_path_factory, data, form):
    path = tmp_path_factory.mktemp("damage") / f"survey.{form}"
    WRITERS[form](pd.DataFrame({"region": range(40), "sex": ["man", "woman"] * 20, "w": 1.5}), path)
    content = bytearray(path.read_bytes())
    # Drawn as a fraction: compressed files differ in length with the time they hold.
    start = data.draw(st.integers(0, 9999)) * len(content) // 10_000
    content[start : start + data.draw(st.integers(0, 30))] = data.draw(st.binary(max_size=5))
    path.write_bytes(content)
    try:
        sound = len(read_microdata(path)) > 0
    except KanonLabError as error:
        sound = "\n" not in str(error)
    assert sound


def test_sheets(tmp_path):
    path = tmp_path / "survey.xlsx"
    frame = pd.DataFrame({"code": ["01", "NA", None], "mixed": [1, "1", 2.5], "whole": [1.0, 2.0, None], "none": None})
    frame.to_excel(path, index=False)
    read = read_microdata(path)
    assert lists(read) == {
        "code": ["01", "NA", None],
        "mixed": [1, 1, 2.5],
        "whole": [1, 2, None],
        "none": [None] * 3,
    }
    assert list(read_file(path).rows) == [2, 3, 4]
    pd.concat([frame.iloc[:1], pd.DataFrame([{}]), frame]).to_excel(path, index=False)
    assert "row 3 is empty; delete it" in fault_of(path)


def test_a_column_that_may_stand_on_another_sheet(tmp_path):
    path = tmp_path / "survey.xlsx"
    with pd.ExcelWriter(path) as book:
        for sheet, name in (("remarks", "remark"), ("persons", "region")):
            pd.DataFrame({name: ["x"]}).to_excel(book, sheet_name=sheet, index=False)
    assert lists(read_microdata(path)) == {"remark": ["x"]}
    fault = fault_of(path, columns=["remark", "region"])
    assert fault.endswith("no column region; it has remark (of 2 sheets only the first is read; --sheet names another)")
    pd.DataFrame({"remark": ["x"]}).to_excel(path, index=False)
    assert "sheet" not in fault_of(path, columns=["remark", "region"])


@pytest.mark.parametrize("form", WRITERS)
def test_accents_of_names_are_composed_in_every_format(tmp_path, form):
    one, two = "regi\u00f3n", "regio\u0301n"
    for stored in (one, two):
        WRITERS[form](pd.DataFrame({stored: ["01", "02"], "sex": ["w", "m"]}), tmp_path / f"survey.{form}")
        for asked in (None, [one], [two]):
            read = read_microdata(tmp_path / f"survey.{form}", columns=asked, text=two)
            assert lists(read[[one]]) == {one: ["01", "02"]}


def test_two_names_that_differ_in_nothing_to_be_seen(write):
    assert "columns 1 and 3 have the same name" in fault_of(write("regi\u00f3n,sex,regio\u0301n\n1,2,3\n"))


def test_parquet_that_is_sound_but_of_no_use(tmp_path):
    path = tmp_path / "a.parquet"
    pd.DataFrame(index=[0, 1]).to_parquet(path, index=False)
    assert "has no column names; write it again with names" in fault_of(path)
    times = pa.array([0], pa.timestamp("us", tz="Mars/Olympus"))
    parquet.write_table(pa.table({"time": times, "a": [1]}), path)
    assert "column time is of a type that cannot be read" in fault_of(path)
    assert lists(read_microdata(path, columns=["a"])) == {"a": [1]}


def test_two_spellings_of_one_number(write):
    path = write("a,b,c,d\n1,01,x,1234567890123456781\n1.0,02,1,1234567890123456782\n")
    assert double_spellings(read_microdata(path)) == ["a"]


def test_parquet_keeps_what_csv_cannot(tmp_path):
    path = tmp_path / "survey.parquet"
    frame = pd.DataFrame(
        {
            "large": pd.array([2**60 + 1, None], dtype="Int64"),
            "kind": pd.Categorical(["b", None], categories=["c", "b"]),
            "yes": [True, False],
            "date": pd.to_datetime(["2010-01-01", None]),
            "empty": ["", "x"],
        },
        index=pd.Index([7, 8], name="household"),
    )
    frame.to_parquet(path)
    read = read_microdata(path)
    assert lists(read)["large"] == [2**60 + 1, None]
    assert read["kind"].dtype == frame["kind"].dtype
    assert read["yes"].dtype == bool
    assert lists(read)["empty"] == [None, "x"]
    assert lists(read)["household"] == [7, 8]


def test_odd_values_of_parquet_and_xlsx(tmp_path):
    frame = pd.DataFrame(
        {
            "bytes": [b"x", None],
            "decimal": [Decimal("2.5"), None],
            "category": pd.Categorical(["", "x"]),
            "infinite": [np.inf, 1.0],
            "date": [date(2010, 1, 1), None],
        }
    )
    frame.to_parquet(tmp_path / "a.parquet")
    read = read_microdata(tmp_path / "a.parquet")
    assert lists(read) == {
        "bytes": [b"x", None],
        "decimal": [2.5, None],
        "category": [None, "x"],
        "infinite": [np.inf, 1.0],
        "date": [date(2010, 1, 1), None],
    }
    assert usual_marks(read) == {}
    pd.DataFrame({"large": [1e300, 2.0], "date": pd.to_datetime(["2010-01-01", None])}).to_excel(tmp_path / "a.xlsx")
    read = read_microdata(tmp_path / "a.xlsx")
    assert lists(read) == {"large": [1e300, 2.0], "date": [pd.Timestamp("2010-01-01"), None]}
    assert usual_marks(read) == {}


def test_one_name_and_none(write):
    path = write("ab,a,b\n1,2,3\n")
    assert lists(read_microdata(path, columns="ab", text="ab")) == {"ab": ["1"]}
    assert "columns is empty" in fault_of(path, OptionError, columns=[])


def test_codes_and_missing_values_of_spss_and_stata(tmp_path):
    frame = pd.DataFrame({"sex": [1.0, 2.0, 9.0, None], "job": ["a", "", "zz", "b"]})
    labels = {"sex": {1: "person", 2: "person"}}
    pyreadstat.write_sav(
        frame, tmp_path / "a.sav", variable_value_labels=labels, missing_ranges={"sex": [9], "job": ["zz"]}
    )
    assert lists(read_microdata(tmp_path / "a.sav")) == {"sex": [1, 2, None, None], "job": ["a", None, None, "b"]}
    pyreadstat.write_dta(frame, tmp_path / "a.dta", variable_value_labels=labels)
    assert lists(read_microdata(tmp_path / "a.dta")) == {"sex": [1, 2, 9, None], "job": ["a", None, "zz", "b"]}


def test_names_of_data_sets(tmp_path, write):
    survey = load_microdata("health-survey")
    assert survey["postcode"].str.fullmatch(r"\d{5}").all()
    assert survey["household"].dtype == np.int64
    assert list(load_microdata("town-register", columns=["sex", "age"]).columns) == ["sex", "age"]
    assert len(load_microdata(write("a\n1\n"))) == 1
    with pytest.raises(OptionError, match="spain-2010: holds no records of persons; choose from .*health-survey"):
        load_microdata("spain-2010")
    with pytest.raises(OptionError, match="neither a data set .*health-survey.* nor a file"):
        load_microdata("helth-survey")
    with pytest.raises(DataError, match="no such file"):
        load_microdata(tmp_path / "absent.csv")


def test_a_zipped_sheet_reads_too(tmp_path):
    import gzip

    content = io.BytesIO()
    pd.DataFrame({"a": [1, 2]}).to_excel(content, index=False)
    (tmp_path / "a.xlsx.gz").write_bytes(gzip.compress(content.getvalue(), mtime=0))
    assert lists(read_microdata(tmp_path / "a.xlsx.gz")) == {"a": [1, 2]}


@pytest.mark.parametrize(
    "text,values",
    [
        ("a;w\n1;1.234\n2;2.500\n", ["1.234", "2.500"]),
        ("a;w\n1;1.234\n2;2.5\n", [1.234, 2.5]),
        ("a;w\n1;1,234\n2;2,500\n", [1.234, 2.5]),
        ("a,w\n1,1.234\n2,2.500\n", [1.234, 2.5]),
    ],
)
def test_points_that_may_stand_between_thousands_leave_text(write, text, values):
    """1.234 in a file that could write a decimal comma: as in Spanish, it may be one thousand and more."""
    assert read_microdata(write(text))["w"].tolist() == values


def test_a_name_in_other_capitals_is_offered(write):
    assert fault_of(write("Essex,edad\n1,2\n"), columns=["EDAD"]) == "no column EDAD; did you mean edad?"
    assert "Essex" not in fault_of(write("Essex,edad\n1,2\n"), columns=["sex"])


def test_columns_that_are_nearly_numbers_are_found():
    ages = pd.Series([str(age) for age in range(30)] + ["S/D"], dtype="str")
    frame = pd.DataFrame({"age": ages, "name": pd.Series(list("ab") * 15 + ["7"], dtype="str"), "n": range(31)})
    assert nearly_numbers(frame) == {"age": 1}


@pytest.mark.parametrize("cells", [[["SECRET"], ["b", "c"]], [{"x": "SECRET"}, {"x": "b"}], [np.array([1]), None]])
def test_columns_of_lists_are_refused_by_name(tmp_path, cells):
    pd.DataFrame({"a": [1, 2], "b": cells}).to_parquet(tmp_path / "x.parquet")
    with pytest.raises(DataError, match="column b holds lists or the like") as caught:
        read_microdata(tmp_path / "x.parquet")
    assert "SECRET" not in str(caught.value)
    assert list(read_microdata(tmp_path / "x.parquet", columns="a")["a"]) == [1, 2]


@pytest.mark.parametrize(
    ("sign", "cells", "read"),
    [
        (".", ["1.234", "5"], [1234, 5]),
        (".", ["1.234", "5,5"], [1234.0, 5.5]),
        (".", ["1.23", "5"], [1.23, 5.0]),
        ("'", ["1'234.5", "5"], [1234.5, 5.0]),
        (" ", ["1 234", "1234"], [1234, 1234]),
        (",", ["1,234", "12,345.6"], [1234.0, 12345.6]),
        (".", ["1.234", "x"], ["1.234", "x"]),
    ],
)
def test_a_sign_between_thousands_is_given(write, sign, cells, read):
    path = write("other;cell\n" + "".join(f"x;{cell}\n" for cell in cells))
    file = read_file(path, thousands=sign)
    assert lists(file.frame)["cell"] == read


def test_a_sign_between_thousands_is_checked_and_noted(write):
    path = write("a;b\n1.034,75;x\n")
    assert read_file(path).notes == ("separator ;, decimal comma, sign between thousands .",)
    for options in ({"thousands": "x"}, {"thousands": ".", "decimal": "."}):
        with pytest.raises(OptionError, match="thousands"):
            read_file(path, **options)
