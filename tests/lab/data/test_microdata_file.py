"""What is found in a microdata file: how it is written, codes that mean missing, and what it is not."""

import gzip
import hashlib
import io
import zipfile
from functools import partial

import pandas as pd
import pyreadstat
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sas_files import write_sas

from kanon_lab.data import load_microdata, read_file, read_microdata
from kanon_lab.errors import DataError, KanonLabError, OptionError

WRITERS = {
    "csv": partial(pd.DataFrame.to_csv, index=False),
    "csv.gz": partial(pd.DataFrame.to_csv, index=False),
    "parquet": pd.DataFrame.to_parquet,
    "xlsx": partial(pd.DataFrame.to_excel, index=False),
    "sav": pyreadstat.write_sav,
    "dta": pyreadstat.write_dta,
    "sas7bdat": lambda frame, path: write_sas(lists(frame), path),
}


@pytest.fixture
def write(tmp_path):
    def _write(content, name="survey.csv", encoding="utf-8"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode(encoding))
        return path

    return _write


def lists(frame):
    return {name: [None if pd.isna(value) else value for value in column] for name, column in frame.items()}


def fault_of(path, error=DataError, **options):
    with pytest.raises(error) as caught:
        read_file(path, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value).removeprefix(f"{path}: ")


WORD = st.text(alphabet="abcñáéíóúÑÁüºªï ", min_size=1, max_size=8).map(str.strip).filter(bool)
ENCODINGS = {"utf-8": "utf-8", "utf-8-sig": "utf-8", "utf-16": "utf-16", "latin-1": "cp1252", "cp1252": "cp1252"}


@given(
    rows=st.lists(st.tuples(WORD, st.integers(-999, 999)), min_size=1, max_size=6),
    encoding=st.sampled_from(list(ENCODINGS)),
    separator=st.sampled_from(",;\t|"),
    comma=st.booleans(),
)
def test_csv_is_read_as_pandas_reads_it_when_told_how_it_is_written(tmp_path_factory, rows, encoding, separator, comma):
    """The oracle is told separator, decimal and encoding; we are not."""
    path = tmp_path_factory.mktemp("csv") / "survey.csv"
    decimal = "," if comma and separator != "," else "."
    frame = pd.DataFrame(rows, columns=["año, según", "w"]).assign(w=lambda frame: frame["w"] + 0.5)
    frame.to_csv(path, index=False, sep=separator, decimal=decimal, encoding=encoding)
    read = read_file(path)
    other = pd.read_csv(path, sep=separator, decimal=decimal, encoding=encoding, keep_default_na=False)
    assert lists(read.frame) == lists(other)
    assert {name: read.found[name] for name in ("encoding", "separator", "decimal")} == {
        "encoding": ENCODINGS[encoding],
        "separator": separator,
        "decimal": decimal,
    }
    told = [] if separator == "," else [f"separator {'tab' if separator == chr(9) else separator}"]
    told += [f"decimal {'comma' if decimal == ',' else 'point'}"] if told else []
    told += [f"encoding {ENCODINGS[encoding]}"] if ENCODINGS[encoding] != "utf-8" else []
    assert read.notes == ((", ".join(told),) if told else ())


def test_what_is_found_in_a_plain_file(write):
    content = b"id,name,w\n1,x,1\n2,y,2\n"
    path = write(gzip.compress(content, mtime=0), "survey.csv.gz")
    read = read_file(str(path), columns=["w", "id"])
    assert read.found == {
        "name": "survey.csv.gz",
        "format": "csv",
        "encoding": "utf-8",
        "separator": ",",
        "decimal": None,
        "records": 2,
        "columns": 3,
        "bytes": path.stat().st_size,
        "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
    }
    assert (read.notes, read.labels, read.missing) == ((), {}, {})
    survey = read_file("health-survey")
    assert survey.found["name"] == "health-survey"
    pd.testing.assert_frame_equal(survey.frame, load_microdata("health-survey"))
    assert survey.found["records"] == len(survey.frame)


@pytest.mark.parametrize("form", list(WRITERS))
def test_declared_codes_are_missing_in_every_format(tmp_path, form):
    frame = pd.DataFrame({"p3": [1.0, 88, 2, 99], "job": ["a", "NS", "88", "b"], "w": [0.5, 99, 88.5, 1]})
    path = tmp_path / f"survey.{form}"
    WRITERS[form](frame.astype({"job": "str"}), path)
    codes = {"p3": ["88", 99.0, 77], "job": "NS"}
    read = read_file(path, missing_codes=codes)
    assert lists(read.frame) == {"p3": [1, None, 2, None], "job": ["a", None, "88", "b"], "w": [0.5, 99, 88.5, 1]}
    assert read.frame["p3"].dtype == "Int64"
    assert read.missing == {"p3": ("88", 99, 77), "job": ("NS",)}
    assert read.notes == (
        "codes 88, 99 of p3: missing",
        "p3: no record has code 77, which the settings declare as missing; check the codes",
        "code NS of job: missing",
    )
    pd.testing.assert_frame_equal(read_microdata(path, missing_codes=codes), read.frame)
    pd.testing.assert_frame_equal(load_microdata(path, missing_codes=codes, columns=["job"]), read.frame[["job"]])
    assert codes == {"p3": ["88", 99.0, 77], "job": "NS"}


CODE = st.one_of(st.integers(-3, 3), st.sampled_from(["0", "1", "01", "1.5", "x"]), st.just(1.5))


@given(
    cells=st.lists(st.sampled_from(["0", "1", "01", "2", "-3", "1.5", "x", ""]), min_size=1, max_size=6),
    codes=st.lists(CODE, min_size=1, max_size=3),
)
def test_declared_codes_of_csv_against_plain_python(tmp_path_factory, cells, codes):
    """A cell is missing where it is a code letter by letter or, in a column of numbers, where it is the same number."""
    path = tmp_path_factory.mktemp("codes") / "survey.csv"
    path.write_text("id,p\n" + "".join(f"{i},{cell}\n" for i, cell in enumerate(cells)))
    texts = {str(code) for code in codes}
    left = [None if cell in texts or cell == "" else cell for cell in cells]
    known = [cell for cell in left if cell is not None]
    if not {"x", "01"} & set(known):
        numbers = {float(text) for text in texts - {"x"}}
        left = [None if cell is None or float(cell) in numbers else float(cell) for cell in left]
    assert lists(read_microdata(path, missing_codes={"p": codes}))["p"] == left


def test_a_column_of_numbers_but_for_its_codes(write):
    path = write("age,id\n33,1\nS/D,2\n34,3\n")
    assert read_microdata(path)["age"].tolist() == ["33", "S/D", "34"]
    assert lists(read_microdata(path, missing_codes={"age": ["S/D"]}))["age"] == [33, None, 34]


def test_codes_beside_large_numbers_categories_and_truths(tmp_path):
    frame = pd.DataFrame(
        {
            "large": [2**60 + 1, 2**60 + 2, 99],
            "kind": pd.Categorical(["b", "88", "b"]),
            "grade": pd.Categorical([1, 88, 1]),
            "yes": [True, False, True],
            "mixed": pd.array([1, 2, 3], dtype="uint8"),
        }
    )
    frame.to_parquet(tmp_path / "a.parquet")
    read = read_microdata(
        tmp_path / "a.parquet",
        missing_codes={"large": [99, 2**60 + 2], "kind": 88, "grade": ["88"], "yes": [1], "mixed": [3]},
    )
    assert lists(read) == {
        "large": [2**60 + 1, None, None],
        "kind": ["b", None, "b"],
        "grade": [1, None, 1],
        "yes": [True, False, True],
        "mixed": [1, 2, None],
    }


def test_codes_of_unknown_variables_and_codes_that_are_none(write):
    path = write("P3,region,w\n1,2,3\n")
    assert fault_of(path, missing_codes={"P33": [1]}) == "no column P33; did you mean P3?"
    assert fault_of(path, columns=["w"], missing_codes={"Region": [1]}) == "no column Region; did you mean region?"
    headless = write("Essex,CANARY,7\nx,y,1\n", "headless.csv")
    assert "check that the first row has the names of the columns" in fault_of(headless, missing_codes={"Esex": [1]})
    for codes in ([True], [None], [[1]], {"a": 1}, [""], [float("nan")], None, 3j):
        fault = fault_of(path, OptionError, missing_codes={"w": codes})
        assert fault == "missing_codes of w: write numbers, or texts in quotation marks"
    assert "write variables with their codes" in fault_of(path, OptionError, missing_codes=["w"])


@pytest.mark.parametrize(
    ("content", "options", "fault"),
    [
        ("a;b\n1;2\n", {"separator": ","}, "wrong separator: row 1 has no ',' but ';'"),
        ("a\tb\n1\t2\n", {"separator": "|"}, "wrong separator: row 1 has no '|' but 'tab'"),
        ("a b c\n1 2 3\n4 5 6\n", {}, "only one column, and 'space' in every row"),
        ("a:b\n1:2\n", {}, "only one column, and ':' in every row"),
        ("ñ,b\n1,2\n".encode("cp850"), {}, "row 1: wrong encoding: not UTF-8, nor Windows-1252"),
        (b"a,b\n1,\x81\n", {}, "row 2: wrong encoding: not UTF-8, nor Windows-1252"),
        ("a,b\nñ,á\né,ó\n".encode() + b"\xf1,1\n", {}, "row 4: wrong encoding, or damaged: UTF-8 in most places"),
        ("a,b\n1,ñ\n".encode("cp1252"), {"encoding": "utf-8"}, "row 2: wrong encoding: not utf-8"),
        (b"\xff\xfea\0,\0b", {}, "row 1: wrong encoding: not utf-16"),
        (b"PK\x03\x04SECRET", {}, "is not .csv but a zip archive or a workbook"),
        (b"PAR1SECRET", {}, "is not .csv but a Parquet file"),
        (gzip.compress(b"a\n1\n", mtime=0), {}, "is not .csv but a gzip file"),
        (b"$FL2SECRET", {}, "is not .csv but a SPSS file"),
    ],
)
def test_files_written_otherwise_than_is_thought(write, content, options, fault):
    said = fault_of(write(content), **options)
    assert said.startswith(fault)
    assert "SECRET" not in said


@pytest.mark.parametrize(
    "option",
    [
        *({"encoding": name} for name in ("klingon", "hex", "undefined", "idna", "punycode", "utf\0", "\ud800")),
        *({"separator": ";;"}, {"separator": '"'}, {"decimal": ";"}),
    ],
)
def test_options_that_are_none(write, option):
    assert fault_of(write("a,b\n1,2\n"), OptionError, **option).startswith(f"{next(iter(option))} ")
    for ending in ("sav", "dta"):
        with pytest.raises(OptionError, match=next(iter(option))):
            read_file(f"a.{ending}", **option)


@pytest.mark.parametrize("start", ["sep=;\n", "\ufeffSEP=;\r\n", '"sep=;"\r'])
def test_a_separator_that_the_first_line_declares(write, start):
    read = read_file(write(f"{start}a;b, c, d\n1;2,5\n\n3;x\n"))
    assert lists(read.frame) == {"a": [1, 3], "b, c, d": ["2,5", "x"]}
    assert list(read.rows) == [3, 5]
    assert read.found["separator"] == ";"
    assert fault_of(write(f"{start}a;b\n1;2;3\n")).startswith("row 3: more cells")
    assert fault_of(write(start)).startswith("row 1: no column names")
    assert lists(read_file(write(f"{start}a|b;c\n1|2\n"), separator="|").frame) == {"a": [1], "b;c": [2]}


def test_how_a_file_is_written_may_be_said(write):
    path = write("a^b\nñ^1.500\n", encoding="cp850")
    read = read_file(path, encoding="cp850", separator="^", decimal=".")
    assert lists(read.frame) == {"a": ["ñ"], "b": [1.5]}
    assert read.notes == ("separator ^, decimal point, encoding cp850",)
    assert lists(read_file(path, encoding="cp850", separator="^").frame)["b"] == ["1.500"]
    quoted = write('a,b\n"1,5",2.5\n')
    assert lists(read_file(quoted, decimal=",").frame) == {"a": [1.5], "b": ["2.5"]}
    mixed = read_file(write("a;b\n1,5;2.5\n"))
    assert mixed.found["decimal"] == ",."
    assert mixed.notes == ("separator ;, decimal comma in some columns, point in others",)


def test_a_header_with_more_commas_than_separators(write):
    read = read_file(write("age;income, in pesos, a month\n31;2\n32;3\n"))
    assert list(read.frame.columns) == ["age", "income, in pesos, a month"]
    one = read_file(write("income in pesos\n1 000\n25\n"))
    assert lists(one.frame) == {"income in pesos": ["1 000", "25"]}


def test_encrypted_workbooks_and_archives(write):
    ole = bytes.fromhex("d0cf11e0a1b11ae1") + bytes(504)
    encrypted = ole + "EncryptedPackage".encode("utf-16-le")
    assert fault_of(write(encrypted, "a.xlsx")) == "is encrypted with a password; save it without one"
    assert "workbook of the old kind (.xls)" in fault_of(write(ole, "b.xlsx"))
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr("survey.csv", "a,b\nSECRET,2\n")
    locked = bytearray(content.getvalue())
    locked[locked.find(b"PK\x01\x02") + 8] |= 1
    for name in ("c.xlsx", "c.csv", "c.sav"):
        assert "is an archive protected by a password" in fault_of(write(bytes(locked), name))
    assert "is not .sav but a zip archive" in fault_of(write(content.getvalue(), "d.sav"))


@given(
    content=st.binary(max_size=60), start=st.sampled_from([b"", b"a,b\n", b"\xff\xfe", b"\xef\xbb\xbf", b"PK\x03\x04"])
)
def test_any_bytes_are_read_or_refused_in_one_line(tmp_path_factory, content, start):
    path = tmp_path_factory.mktemp("bytes") / "survey.csv"
    path.write_bytes(start + content)
    try:
        sound = len(read_file(path).frame) > 0
    except KanonLabError as error:
        sound = "\n" not in str(error)
    assert sound
