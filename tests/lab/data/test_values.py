"""One rule for what a value is: the same classes of the same cells in every format, counted and released alike."""

import json
import unicodedata
from functools import partial

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyreadstat
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kanon_lab import cli
from kanon_lab.columns import coded
from kanon_lab.data import read_file, write_microdata
from kanon_lab.data.values import BLANKS, Changes, MissingCodes, settled, tidied, tidy
from kanon_lab.methods import Hierarchy

NO_BREAK, ZERO_WIDTH = "\u00a0", "\u200b"
WRITERS = {
    "csv": partial(pd.DataFrame.to_csv, index=False),
    "xlsx": partial(pd.DataFrame.to_excel, index=False),
    "parquet": pd.DataFrame.to_parquet,
    "dta": pyreadstat.write_dta,
    "sav": pyreadstat.write_sav,
}
AROUND = st.text(alphabet=[" ", NO_BREAK, "\u2003", ZERO_WIDTH, "\ufeff"], max_size=2)
WORD = st.sampled_from(["", "N", "San Juan", "c\u00f3lico", "co\u0301lico", "01", "1", "\u212b", "x"])
CELL = st.builds("{}{}{}".format, AROUND, WORD, AROUND)
NUMBER = st.sampled_from([7, 41, 52])


def of_changes(read):
    return {note.key: note.parts["cells"] for note in read.notes if getattr(note, "parts", {}).get("columns")}


def classes(column):
    """Each record's value as a number, in the order of appearance; -1 where it is missing."""
    return pd.factorize(coded(column).codes.astype(float), use_na_sentinel=False)[0], (coded(column).codes < 0).tolist()


def same_classes(one, other):
    return all(
        np.array_equal(classes(one[name])[0], classes(other[name])[0])
        and classes(one[name])[1] == classes(other[name])[1]
        for name in one
    )


def written(folder, rows):
    """Files in five formats with the same cells; in a sheet and in csv some numbers are texts."""
    frame = pd.DataFrame(
        {"zone": [zone for zone, *_ in rows], "job": [job for _, job, *_ in rows], "age": [age for *_, age, _ in rows]}
    )
    for form, write in WRITERS.items():
        mixed = [str(age) if is_text and form in ("csv", "xlsx") else age for *_, age, is_text in rows]
        own = frame.assign(age=pd.Series(mixed, dtype=object if form in ("csv", "xlsx") else "int64"))
        write(own, folder / f"values.{form}")
        yield form, folder / f"values.{form}"


@settings(max_examples=10)
@given(rows=st.lists(st.tuples(CELL, CELL, NUMBER, st.booleans()), min_size=1, max_size=12))
def test_five_formats_hold_the_same_values_and_so_do_their_releases(tmp_path_factory, rows):
    folder = tmp_path_factory.mktemp("values")
    rows = [*rows, (*rows[0][:3], False)]  # one number among the texts
    # by the rule in plain words
    texts = [[unicodedata.normalize("NFC", cell).strip(BLANKS) or None for cell in row[:2]] for row in rows]
    expected = pd.DataFrame({"zone": [row[0] for row in texts], "job": [row[1] for row in texts]}, dtype="str")
    expected["age"] = [row[2] for row in rows]
    for form, path in written(folder, rows):
        read = read_file(path)
        assert same_classes(read.frame, expected), form
        assert read.frame["age"].dtype == "int64", form
        for other in {form, "csv"}:
            release = folder / f"release-of-{form}.{other}"
            write_microdata(read.frame, release, overwrite=True)
            again = read_file(release)
            assert not of_changes(again), (form, other)
            assert same_classes(again.frame, read.frame), (form, other)


def test_what_was_read_otherwise_is_noted_once_with_the_number_of_cells(tmp_path):
    rows = [("N", "nurse"), ("N ", f"nurse{NO_BREAK}"), (" N", "co\u0301lico "), ("S", "  "), (ZERO_WIDTH, "S")]
    frame = pd.DataFrame(rows, columns=["zone", "job"])
    for form in ("csv", "xlsx", "parquet", "dta"):
        WRITERS[form](frame, tmp_path / f"blanks.{form}")
        read = read_file(tmp_path / f"blanks.{form}")
        assert of_changes(read) == {"blanks_around": 4, "blanks_only": 2, "letters_composed": 1}, form
        assert [note for note in read.notes if "blanks before" in note] == [
            "cells with blanks before or after the value, which are ignored: 4 (in zone, job)"
        ]
        WRITERS[form](read.frame.astype(object), tmp_path / f"again.{form}")
        assert not of_changes(read_file(tmp_path / f"again.{form}"))


def test_categories_that_are_one_value_are_merged_in_their_order(tmp_path):
    kind = pd.CategoricalDtype(["low ", "hi", "low", " ", "unused\u0301 "], ordered=True)
    pd.DataFrame({"level": pd.Categorical(["low", "low ", "hi", " ", None], dtype=kind)}).to_parquet(
        tmp_path / "c.parquet"
    )
    read = read_file(tmp_path / "c.parquet")
    assert [None if pd.isna(value) else value for value in read.frame["level"]] == ["low", "low", "hi", None, None]
    assert list(read.frame["level"].cat.categories)[:2] == ["low", "hi"]
    assert read.frame["level"].cat.ordered
    assert of_changes(read) == {"blanks_around": 1, "blanks_only": 1}


@pytest.mark.parametrize(
    ("cells", "expected", "count"),
    [
        ([41, "41", " 41 "], [41, 41, 41], 2),
        ([2.5, "0.5", 1], [2.5, 0.5, 1.0], 1),
        ([41, "  ", None, "52"], [41, None, None, 52], 1),
        ([7, "007", "7"], [7, "007", 7], 1),  # leading zeros are kept
        ([5, "+5"], [5, "+5"], 0),
        ([1.1, "1.10"], [1.1, "1.10"], 0),  # two codes would be one number
        ([41, "41", "unknown"], [41, 41, "unknown"], 1),
        ([1, "12345678901234567890"], [1, "12345678901234567890"], 0),
        ([1, "1e400"], [1, "1e400"], 0),
        (["41", "41 "], ["41", "41"], 0),  # all text: stays as the sheet has it
        ([True, "1"], [True, "1"], 0),
    ],
)
def test_numbers_kept_as_text_among_numbers(cells, expected, count):
    changes = Changes()
    column = settled(pd.Series(cells, dtype=object, name="age"), False, [], MissingCodes(None), changes)
    assert [None if pd.isna(value) else value for value in column] == expected
    notes = {note.key: note.parts["cells"] for note in changes.notes(["age"])}
    assert notes.get("texts_among_numbers", 0) == count
    text = settled(pd.Series(cells, dtype=object, name="age"), True, [], MissingCodes(None), Changes())
    assert {type(value) for value in text.dropna()} <= {str} or True in cells


def test_codes_and_marks_are_met_whatever_stands_around_them(tmp_path):
    frame = pd.DataFrame({"age": [41, "NA ", " 99", 52], "zone": ["N", f"{NO_BREAK}?", "S ", "8"]}, dtype=object)
    frame.to_excel(tmp_path / "marks.xlsx", index=False)
    frame.to_csv(tmp_path / "marks.csv", index=False)
    for form in ("xlsx", "csv"):
        codes = {"age": [99], "zone": ["8 "]}
        read = read_file(tmp_path / f"marks.{form}", na=["NA", " ? "], missing_codes=codes)
        assert read.frame["age"].dtype == "Int64", form
        assert read.frame["age"].isna().tolist() == [False, True, True, False], form
        assert read.frame["zone"].isna().tolist() == [False, True, False, True], form


@given(st.lists(st.one_of(st.none(), st.text(max_size=6)), max_size=8))
def test_arrow_makes_texts_as_python_does(texts):
    cells = pa.chunked_array([pa.array(texts, pa.string())])
    assert tidied(cells, "x", Changes()).to_pylist() == [None if text is None else tidy(text) for text in texts]
    assert pc.utf8_trim_whitespace(pa.array([BLANKS])).to_pylist() != [BLANKS]


def test_measure_and_protect_agree_in_every_format(tmp_path, capsys):
    rows = [("N", "nurse", 41), ("N ", "nurse", 41), ("N", f"nurse{NO_BREAK}", 41), (" N", "nurse", 41)]
    rows += [("S", "co\u0301lico", 52), ("S", "c\u00f3lico", 52)]
    recipe = {"key_variables": ["zone", "age"], "sensitive_variables": ["job"], "limits": {"k": 2}}
    recipe["steps"] = [{"recode": {"variable": "age", "width": 1}}]
    (tmp_path / "recipe.yml").write_text(json.dumps(recipe))
    said = {}
    for form, write in WRITERS.items():
        path, out = tmp_path / f"in.{form}", tmp_path / f"out.{form}"
        write(pd.DataFrame(rows, columns=["zone", "job", "age"]), path)
        measure = ["--keys", "zone,age", "--sensitive", "job", "--json"]
        assert cli.run(["measure", str(path), *measure]) == 0
        before = json.loads(capsys.readouterr().out)
        protect = ["--recipe", str(tmp_path / "recipe.yml"), "--out", str(out), "--fail", "--json"]
        assert cli.run(["protect", str(path), *protect]) == 0
        capsys.readouterr()
        assert cli.run(["measure", str(out), *measure]) == 0
        after = json.loads(capsys.readouterr().out)
        for found in (before, after):
            del found["file"]
            found["notes"] = [note for note in found["notes"] if not note.startswith("cells with")]
        said[form] = before
        assert after == before, form
        assert (before["k_achieved"], before["diversity"]["job"]["distinct"]) == (2, 1), form
    assert all(found == said["csv"] for found in said.values())


def test_lists_of_values_are_read_by_the_same_rule(tmp_path):
    for name, word in {"one": "c\u00f3lico", "other": f"{NO_BREAK}co\u0301lico{ZERO_WIDTH}"}.items():
        (tmp_path / f"{name}.csv").write_text(f"ill;group\n{word};digestive\nflu;other\n", "utf-8")
        hierarchy = Hierarchy.from_file(tmp_path / f"{name}.csv", header=True)
        column = pd.Series(["c\u00f3lico", "co\u0301lico", "flu"], name="ill")
        assert hierarchy.recode(column, 1).tolist() == ["digestive", "digestive", "other"]
