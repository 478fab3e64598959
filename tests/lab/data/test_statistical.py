"""SPSS, Stata and SAS files: their labels, and what their users defined as missing."""

import datetime

import pandas as pd
import pyreadstat
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sas_files import write_sas

from kanon_lab.data import read_file, read_microdata
from kanon_lab.errors import DataError


def lists(frame):
    return {name: [None if pd.isna(value) else value for value in column] for name, column in frame.items()}


LOST = "; cells that lose their code and become missing values"
SEX = {1: "man", 2: "woman", 9: "<script>alert(1)</script>"}


def test_labels_and_missing_ranges_of_spss(tmp_path):
    frame = pd.DataFrame(
        {
            "sex": [1.0, 2, 9, None],
            "income": [10.0, 90, 95.5, 7],
            "debt": [-3.0, 99, 4, -0.5],
            "job": ["a", "zz", "", "b"],
            "age": [30.0, 31, 32, 33],
        }
    )
    missing = {
        "sex": [9],
        "income": [{"lo": 90, "hi": float("inf")}],
        "debt": [{"lo": float("-inf"), "hi": -1}, 99],
        "job": ["zz"],
        "age": [{"lo": 31, "hi": 32}],
    }
    labels = {"sex": SEX, "job": {"a": "artist"}}
    pyreadstat.write_sav(frame, tmp_path / "a.sav", missing_ranges=missing, variable_value_labels=labels)
    read = read_file(tmp_path / "a.sav")
    assert lists(read.frame) == {
        "sex": [1, 2, None, None],
        "income": [10, None, None, 7],
        "debt": [None, None, 4, -0.5],
        "job": ["a", None, None, "b"],
        "age": [30, None, None, 33],
    }
    assert read.labels == labels
    assert [type(code) for code in read.labels["sex"]] == [int] * 3
    assert read.missing == {
        "sex": (9,),
        "income": ("from 90",),
        "debt": ("to -1", 99),
        "job": ("zz",),
        "age": ("31 to 32",),
    }
    assert read.notes[:3] == (
        f"code 9 of sex: missing in the file{LOST}: 1",
        f"codes from 90 of income: missing in the file{LOST}: 2",
        f"codes to -1, 99 of debt: missing in the file{LOST}: 2",
    )
    part = read_file(tmp_path / "a.sav", columns=["age"], missing_codes={"age": [33], "sex": [1]})
    assert (part.labels, part.missing) == ({}, {"age": ("31 to 32", 33)})
    assert part.notes == (f"codes 31 to 32 of age: missing in the file{LOST}: 2", "code 33 of age: missing")


def test_letters_of_stata_and_other_missing_values_beside_them(tmp_path):
    """A reader that tells the letters makes 0 of a missing whole number, and fails on a date with a letter."""
    frame = pd.DataFrame({"whole": [1, "a", None, "b"], "date": [datetime.datetime(2020, 1, 1), "c", None, None]})
    letters = {"whole": ["a", "b"], "date": ["c"]}
    labels = {"whole": {1: "one"}}
    pyreadstat.write_dta(frame, tmp_path / "a.dta", missing_user_values=letters, variable_value_labels=labels)
    read = read_file(tmp_path / "a.dta")
    assert lists(read.frame) == {
        "whole": [1, None, None, None],
        "date": [pd.Timestamp("2020-01-01"), None, None, None],
    }
    assert read.labels == labels
    assert read.missing == {"whole": ("a", "b"), "date": ("c",)}
    assert read.notes[0] == f"codes a, b of whole: missing in the file{LOST}: 2"


TEXT = st.sampled_from(["a", "Málaga", "01001", 'say "so"', "x,y"])
NUMBER = st.one_of(st.none(), st.sampled_from([".A", ".Z"]), st.floats(-1e9, 1e9).map(lambda each: round(each, 3)))


@settings(max_examples=25)
@given(rows=st.lists(st.tuples(TEXT, NUMBER), min_size=1, max_size=8))
def test_sas_is_read_as_the_reader_of_pandas_reads_it(tmp_path_factory, rows):
    path = tmp_path_factory.mktemp("sas") / "a.sas7bdat"
    texts, numbers = map(list, zip(*rows, strict=True))
    write_sas({"text": texts, "number": numbers}, path)
    read = read_file(path)
    other = pd.read_sas(path, encoding="utf-8")
    assert lists(read.frame) == lists(other)
    assert list(read.rows) == list(range(1, len(rows) + 1))
    letters = tuple(sorted({number[1] for number in numbers if isinstance(number, str)}))
    assert read.missing == ({"number": letters} if letters else {})
    assert lists(read_microdata(path, columns=["number"])) == {"number": lists(other)["number"]}


def test_catalogues_of_sas_are_said_to_be_unread(tmp_path):
    path = tmp_path / "a.sas7bdat"
    write_sas({"a": [1.0], "b": [2.0], "c": ["x"]}, path, formats={"a": "PROV", "b": "DATE9.", "c": "$CHAR40."})
    (note,) = read_file(path).notes
    assert note.startswith("labels of codes of a:") and ".sas7bcat" in note and "not read" in note
    assert read_file(path, columns=["b", "c"]).notes == ()


def test_faults_of_sas(tmp_path):
    path = tmp_path / "a.sas7bdat"
    write_sas({"region": [1.0, 2.0], "sex": ["SECRET", "b"]}, path)
    with pytest.raises(DataError, match="no column regoin; did you mean region"):
        read_microdata(path, columns=["regoin"])
    content = path.read_bytes()
    for damaged in (content[:5000], content[:200], b"junk" * 100, bytes(len(content))):
        path.write_bytes(damaged)
        with pytest.raises(DataError, match=r"is not a \.sas7bdat file, or is damaged") as caught:
            read_microdata(path)
        assert "SECRET" not in str(caught.value)
        assert "\n" not in str(caught.value)


def test_texts_in_another_encoding_than_the_file_says(tmp_path):
    pyreadstat.write_sav(pd.DataFrame({"a": ["ñandú"]}), tmp_path / "a.sav")
    with pytest.raises(DataError, match="its texts are in another encoding than it says"):
        read_file(tmp_path / "a.sav", encoding="ascii")
    assert read_file(tmp_path / "a.sav").found["encoding"].lower() == "utf-8"
