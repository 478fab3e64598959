"""Texts that a spreadsheet would run, neutralised on request and counted."""

import json
import re

import openpyxl
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon_lab.cli import run
from kanon_lab.data import read_microdata
from kanon_lab.data.writing import neutralised, write_microdata
from kanon_lab.errors import DataError, OptionError

# In a text, the places of signs at which a formula would begin, marked by ^.
RUN = [
    *("^=1+1", "^+1+1", "^-2+3", "^@SUM(A1)", "\t^=1", "\r^=1", " ^=1", "^＝1", "^=", "^-a", "^=HYPERLINK(1)", "\n^=1"),
    *("x;^=1+1", "x\t^=1", "x|^=1", "x,^=1", "a\n^=1+1", "a\r\n ^@b", "^=1;^=2", "-5;^=1", "+1,^=2", "x; -5; ^-a"),
    *("\ufeff^=1", "\u200b^=1", "\u00a0^=1", "\x1f^=1", '"^=1+1', 'x;"^=1', 'x"\n^=1', "\u202e \u2060^+a"),
]
HARMLESS = ["a=1", "'=1", "-1.5", "+34600", "-", "1-2", "é@x", "", "-1,5", "x; -5;y", "a;b=1", "\ta", "a, b; c"]


def a_frame(texts):
    return pd.DataFrame({"sex": pd.Series(texts, dtype="str"), "x": [-float(i) for i, _ in enumerate(texts)]})


def test_only_what_would_run_gets_an_apostrophe():
    texts = [*(text.replace("^", "") for text in RUN), *HARMLESS]
    frame = a_frame(texts).set_index(pd.Index([7] * len(texts)))
    found, cells = neutralised(frame)
    assert list(found["sex"]) == [*(text.replace("^", "'") for text in RUN), *HARMLESS]
    assert list(found["x"]) == list(frame["x"])
    assert cells == {"sex": len(RUN)}
    assert list(frame["sex"]) == texts


@given(st.lists(st.none() | st.text("=+-@\t\r\n ;|,\ufeffa1.", max_size=7), min_size=1))
def test_nothing_that_is_left_would_run_and_nothing_is_lost(texts):
    for kind in ("str", object):
        found, cells = neutralised(pd.DataFrame({"a": pd.Series(texts, dtype=kind)}))
        changed = 0
        for before, after in zip(texts, found["a"].astype(object).where(found["a"].notna(), None), strict=True):
            changed += after != before
            if before is None:
                assert after is None
                continue
            assert after.replace("'", "") == before
            for sign in (None, *";|,\t\r\n"):  # as a spreadsheet of some locale parts it
                cut = [after] if sign is None else after.split(sign)
                begun = [cell.strip("\ufeff \t\r\n") for cell in cut]
                assert not [cell for cell in begun if cell[:1] in ("=", "@")]
                signed = [cell[1:] for cell in begun if cell[:1] in ("+", "-")]
                assert not [rest for rest in signed if re.split(r"[;|,\t\r\n]", rest)[0].strip("0123456789.")]
        assert cells.get("a", 0) == changed


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "xlsx"])
def test_files_of_spreadsheets_are_written_so(tmp_path, ending):
    frame = pd.DataFrame({"=sex": pd.Categorical(["=1+1", None, "a"]), "age": [-1, 2, 3]})
    assert write_microdata(frame, tmp_path / f"a.{ending}", neutralise=True) == {"=sex": 2}
    assert write_microdata(frame, tmp_path / f"b.{ending}") == {}
    again = read_microdata(tmp_path / f"a.{ending}")
    assert again.columns.tolist() == ["'=sex", "age"]
    assert again["'=sex"].dropna().tolist() == ["'=1+1", "a"]
    assert again["age"].tolist() == [-1, 2, 3]
    if ending == "xlsx":
        cells = [cell for row in openpyxl.load_workbook(tmp_path / "a.xlsx").active.iter_rows() for cell in row]
        assert {cell.data_type for cell in cells} <= {"s", "n"}


def test_two_names_that_become_one_and_other_formats_are_refused(tmp_path):
    with pytest.raises(DataError, match="occurs twice"):
        write_microdata(pd.DataFrame({"=a": [1], "'=a": [2]}), tmp_path / "a.csv", neutralise=True)
    with pytest.raises(OptionError, match=r"in \.csv or \.xlsx only"):
        write_microdata(pd.DataFrame({"a": [1]}), tmp_path / "a.parquet", neutralise=True)
    assert list(tmp_path.iterdir()) == []


def test_protect_neutralises_and_says_where(capsys, tmp_path):
    frame = pd.DataFrame({"name": [f"=PERSON{i}" for i in range(6)], "=sex": list("mfmfmf"), "note": ["=1+1", "b"] * 3})
    write_microdata(frame, tmp_path / "in.csv")
    (tmp_path / "r.yml").write_text("key_variables: ['=sex']\ndirect_identifiers: [name]\nk_required: 2\n")
    command = ["protect", str(tmp_path / "in.csv"), "--recipe", str(tmp_path / "r.yml"), "--neutralise"]
    assert run([*command, "--out", str(tmp_path / "out.csv"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["neutralised"] == {"=sex": 1, "note": 3}
    assert (tmp_path / "out.csv").read_text().splitlines()[:2] == ["'=sex,note", "m,'=1+1"]
    assert run([*command, "--out", str(tmp_path / "out.xlsx")]) == 0
    assert "would run them: =sex 1, note 3" in capsys.readouterr().out
    assert run([*command, "--out", str(tmp_path / "out.sav")]) == 2
    assert capsys.readouterr().err.count("\n") == 1
