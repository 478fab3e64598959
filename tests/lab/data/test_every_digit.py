"""No digit is lost: decimals, long whole numbers, nanoseconds, formats of dates and codes that mean missing."""

import datetime
import json
import tempfile
from decimal import Decimal
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyreadstat
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from kanon_lab import KeySpec
from kanon_lab.cli import run
from kanon_lab.data import read_file, read_microdata, write_microdata
from kanon_lab.data.values import MissingCodes, settled
from kanon_lab.engines import count_records, load_counts, save_counts
from kanon_lab.errors import DataError

TYPES = {
    "cents": pa.decimal128(20, 2),
    "tiny": pa.decimal128(38, 18),
    "long": pa.decimal128(38, 0),
    "longest": pa.decimal256(70, 5),
    "whole": pa.int64(),
    "unsigned": pa.uint64(),
    "time": pa.timestamp("ns"),
    "in a zone": pa.timestamp("ns", "Europe/Madrid"),
    "duration": pa.duration("ns"),
}
# Near which values are drawn, so that they differ in their last digit.
NEAR = {
    "cents": [0, 10**17 - 3],
    "tiny": [0, 10**37],
    "long": [0, 2**53, 2**63 - 2, 2**64 - 2, 10**37],
    "longest": [0, 10**60],
    "whole": [0, 2**53, 2**63 - 4, -(2**63)],
    "unsigned": [0, 2**53, 2**63 - 2, 2**64 - 4],
    "time": [0, 1_600_000_000_123_456_789],
    "in a zone": [0, 1_600_000_000_123_456_789],
    "duration": [0, 86_400_000_000_001],
}


@st.composite
def columns(draw):
    """The type of a column, and its values as Arrow has them."""
    kind = draw(st.sampled_from(sorted(TYPES)))
    near = st.sampled_from(draw(st.lists(st.sampled_from(NEAR[kind]), min_size=1, max_size=3)))
    number = st.builds(int.__add__, near, st.integers(0, 3))
    numbers = draw(st.lists(st.one_of(st.none(), number, number, number), min_size=2, max_size=12))
    if not pa.types.is_decimal(TYPES[kind]):
        return kind, pa.array(numbers, TYPES[kind])
    scale = TYPES[kind].scale
    values = [None if number is None else Decimal((0, tuple(map(int, str(number))), -scale)) for number in numbers]
    return kind, pa.array(values, TYPES[kind])


def exact(cells):
    """Cells as numbers or times that are equal where every digit is."""
    if pa.types.is_temporal(cells.type):
        return cells.cast(pa.int64()).to_pylist()
    return [Decimal(repr(value)) if isinstance(value, float) else value for value in cells.to_pylist()]


def protected(source, out, engine="memory"):
    """The exit code of a protection without steps."""
    recipe = Path(out).with_name("recipe.yml")
    recipe.write_text("key_variables: [key]\nmissing: category\n", encoding="utf-8")
    options = ["--recipe", str(recipe), "--out", str(out), "--overwrite", "--engine", engine]
    return run(["protect", str(source), *options])


@example(("long", pa.array([Decimal(2**63), Decimal(2**63 - 2)], TYPES["long"])))
@settings(max_examples=10)
@given(columns())
def test_values_that_come_are_those_that_are_counted_saved_and_released(drawn):
    kind, cells = drawn
    values = exact(cells)
    with tempfile.TemporaryDirectory() as folder:
        source, out, saved = (Path(folder) / name for name in ("a.parquet", "out.parquet", "counts.parquet"))
        parquet.write_table(pa.table({"key": cells, "row": list(range(len(cells)))}), source)
        frame = read_microdata(source)
        write_microdata(frame, out)
        assert exact(parquet.read_table(out)["key"].combine_chunks()) == values
        write_microdata(frame, Path(folder) / "out.csv")
        assert read_microdata(Path(folder) / "out.csv")["key"].nunique() == len({*values} - {None})
        for engine in ("memory", "duckdb"):
            spec = KeySpec("key", missing="category")
            if engine == "duckdb" and kind == "longest":
                with pytest.raises(DataError, match="more than 38 digits, which engines cut"):
                    count_records(source, spec, engine=engine)
                continue
            counted = count_records(source, spec, engine=engine)
            assert sorted(counted.records) == sorted(values.count(value) for value in {*values})
            save_counts(counted, saved, overwrite=True)
            assert load_counts([saved]).records.tolist() == counted.records.tolist()
            assert load_counts([saved, saved]).records.tolist() == (2 * counted.records).tolist()


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
@pytest.mark.parametrize(
    "cells",
    [
        pa.array([Decimal(98765432109876543200 + i) for i in range(5)], pa.decimal128(20, 0)),
        pa.array([2**64 - 1, 2**64 - 2, 5, None], pa.uint64()),
        pa.array([10, 11, 12, 13], pa.timestamp("ns")),
    ],
    ids=["decimals", "unsigned", "nanoseconds"],
)
def test_command_counts_and_releases_every_digit(capsys, tmp_path, engine, cells):
    source, out, saved = (tmp_path / name for name in ("a.parquet", "out.parquet", "counts.parquet"))
    parquet.write_table(pa.table({"key": cells, "row": list(range(len(cells)))}), source)
    options = ["--keys", "key", "--missing", "category", "--json"]
    assert run(["measure", str(source), *options, "--engine", engine, "--save-classes", str(saved)]) == 0
    counted = json.loads(capsys.readouterr().out)
    assert (counted["k_achieved"], counted["classes"]) == (1, len(cells))
    assert run(["measure", "--classes", str(saved), "--missing", "category", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["classes"] == len(cells)
    assert protected(source, out, engine) == 0
    assert exact(parquet.read_table(out)["key"].combine_chunks()) == exact(cells)


@pytest.mark.parametrize("ending", ["xlsx", "sav", "dta"])
@pytest.mark.parametrize(
    "cells",
    [
        pa.array([Decimal(98765432109876543200), Decimal(98765432109876543201)]),
        pa.array([Decimal("12345678901234567.89"), Decimal("0.10")]),
        pa.array([2**64 - 1, 5], pa.uint64()),
        pa.array([0, 1], pa.timestamp("ns")),
        pa.array([0, 1_000_123_456], pa.timestamp("ns", "Europe/Madrid")),
    ],
    ids=["whole", "cents", "unsigned", "nanoseconds", "in a zone"],
)
def test_a_format_that_keeps_fewer_digits_is_refused(tmp_path, cells, ending):
    parquet.write_table(pa.table({"key": cells}), tmp_path / "a.parquet")
    frame = read_microdata(tmp_path / "a.parquet")
    with pytest.raises(DataError, match=rf"column key: row \d: a \w+ with more digits than \.{ending} keeps"):
        write_microdata(frame, tmp_path / f"out.{ending}")


def test_short_decimals_are_floating_point_numbers_and_whole_ones_whole(tmp_path):
    short = [Decimal("1.10"), Decimal("1.25"), None]
    whole = [Decimal(2**53 + 1), Decimal(2**53), Decimal(-3)]
    table = pa.table({"short": pa.array(short, pa.decimal128(20, 2)), "whole": pa.array(whole, pa.decimal128(38, 0))})
    parquet.write_table(table, tmp_path / "a.parquet")
    frame = read_microdata(tmp_path / "a.parquet")
    assert (frame["short"].dtype, frame["short"].tolist()[:2]) == ("float64", [1.1, 1.25])
    assert (frame["whole"].dtype, frame["whole"].tolist()) == ("int64", [2**53 + 1, 2**53, -3])


def test_decimals_are_weights_households_codes_that_mean_missing_and_text(tmp_path):
    ids = [Decimal(98765432109876543200 + i // 2) for i in range(4)]
    weights = [Decimal("1.23456789012345678901") + i for i in range(4)]
    parquet.write_table(pa.table({"key": [1, 1, 2, 2], "home": ids, "w": weights}), tmp_path / "a.parquet")
    spec = KeySpec("key", weight="w", household="home")
    tables = [count_records(tmp_path / "a.parquet", spec, engine=engine).table() for engine in ("memory", "duckdb")]
    assert tables[0].F_k.tolist() == tables[1].F_k.tolist() == pytest.approx([3.469135780246913, 7.469135780246914])
    codes = {"home": ["98765432109876543200"]}
    read = read_file(tmp_path / "a.parquet", missing_codes=codes, text="home")
    assert read.frame["home"].isna().tolist() == [True, True, False, False]
    assert read.frame["home"].tolist()[2:] == ["98765432109876543201"] * 2


def test_whole_numbers_of_a_workbook_keep_their_digits():
    """Such as a program has written them that is no spreadsheet; 1e20 of one is a floating-point number as ever."""
    codes = MissingCodes(None)
    ids = settled(pd.Series([98765432109876543200, None, 98765432109876543201], dtype=object), False, (), codes)
    assert ids.tolist()[::2] == [98765432109876543200, 98765432109876543201]
    assert settled(pd.Series([2**64 - 1, None, 2**64 - 2], dtype=object), False, (), codes).dtype == "UInt64"
    assert settled(pd.Series([int(1e20), None, 1.5], dtype=object), False, (), codes).dtype == "float64"
    assert settled(pd.Series([2**53 + 1, 0.5], dtype=object), False, (), codes).tolist()[0] == 2**53 + 1


def test_an_engine_writes_no_durations_without_their_unit(capsys, tmp_path):
    parquet.write_table(pa.table({"key": pa.array([1, 2], pa.duration("ns"))}), tmp_path / "a.parquet")
    assert protected(tmp_path / "a.parquet", tmp_path / "out.parquet", "duckdb") == 2
    assert "column key holds durations" in capsys.readouterr().err
    assert not (tmp_path / "out.parquet").exists()
    assert protected(tmp_path / "a.parquet", tmp_path / "out.parquet") == 0
    assert exact(parquet.read_table(tmp_path / "out.parquet")["key"].combine_chunks()) == [1, 2]


STATA = {"key": "%tm", "quarter": "%tq", "day": "%td", "moment": "%tc", "income": "%8.2f"}
SPSS = {"key": "MOYR8", "quarter": "F5.1", "day": "DATE11", "moment": "DATETIME22", "income": "COMMA10.2"}


def dated():
    """Months and quarters as numbers, and dates."""
    days = [datetime.date(2020, 1, 3), None, datetime.date(2020, 3, 1)]
    moments = pd.Series([datetime.datetime(2020, 1, 3, 4, 5), None, datetime.datetime(2020, 3, 1)])
    columns = {"key": [721.0, 722, 723], "quarter": [240.0, None, 241], "day": days, "moment": moments}
    return pd.DataFrame(columns | {"income": [1.5, 2, 3]})


def format_of(path):
    read = pyreadstat.read_dta if path.suffix == ".dta" else pyreadstat.read_sav
    return read(path)[1].original_variable_types


@pytest.mark.parametrize(("ending", "formats"), [("dta", STATA), ("sav", SPSS)])
def test_formats_stay_in_the_same_format(tmp_path, ending, formats):
    write = pyreadstat.write_dta if ending == "dta" else pyreadstat.write_sav
    write(dated(), tmp_path / f"a.{ending}", variable_format=formats)
    assert protected(tmp_path / f"a.{ending}", tmp_path / f"out.{ending}") == 0
    assert format_of(tmp_path / f"out.{ending}") == formats
    one, other = (read_microdata(tmp_path / name) for name in (f"a.{ending}", f"out.{ending}"))
    pd.testing.assert_frame_equal(one, other)


@pytest.mark.parametrize("ending", ["csv", "parquet", "xlsx", "sav"])
def test_months_that_leave_as_bare_numbers_are_named(capsys, tmp_path, ending):
    pyreadstat.write_dta(dated(), tmp_path / "a.dta", variable_format=STATA)
    assert protected(tmp_path / "a.dta", tmp_path / f"out.{ending}") == 0
    assert "cannot be read as dates without it: key (%tm), quarter (%tq);" in " ".join(capsys.readouterr().out.split())


def test_a_column_that_a_step_changes_does_not_keep_its_format(capsys, tmp_path):
    pyreadstat.write_dta(dated(), tmp_path / "a.dta", variable_format=STATA)
    recipe = "key_variables: [key]\nsteps:\n- round: {variable: key, base: 5}\n"
    (tmp_path / "recipe.yml").write_text(recipe, encoding="utf-8")
    paths = [str(tmp_path / name) for name in ("a.dta", "recipe.yml", "out.dta")]
    assert run(["protect", paths[0], "--recipe", paths[1], "--out", paths[2]]) == 0
    assert "without it: key (%tm);" in " ".join(capsys.readouterr().out.split())
    assert format_of(tmp_path / "out.dta")["quarter"] == "%tq"
    assert format_of(tmp_path / "out.dta")["key"] != "%tm"


@pytest.fixture
def answers(tmp_path):
    """Codes 8 and 9, and a text, that a file of SPSS declares as missing."""
    frame = pd.DataFrame({"key": [1.0, 8, 9, 9, None], "job": ["a", "zz", "b", "a", "a"]})
    missing = {"key": [{"lo": 9, "hi": 99}, 8], "job": ["zz"]}
    labels = {"key": {1: "primary", 8: "does not know", 9: "no answer"}}
    pyreadstat.write_sav(frame, tmp_path / "a.sav", missing_ranges=missing, variable_value_labels=labels)
    return tmp_path / "a.sav"


def test_cells_that_lose_their_code_are_counted(answers):
    read = read_file(answers)
    lost = "cells that lose their code and become missing values"
    assert f"codes 9 to 99, 8 of key: missing in the file; {lost}: 3" in read.notes
    assert f"code zz of job: missing in the file; {lost}: 1" in read.notes
    assert read.frame["key"].isna().tolist() == [False, True, True, True, True]


def test_codes_that_are_kept_are_values_and_leave_as_they_came(capsys, answers):
    read = read_file(answers, keep_missing_codes=True)
    assert read.frame["key"].tolist()[:4] == [1, 8, 9, 9]
    assert read.frame["job"].tolist() == ["a", "zz", "b", "a", "a"]
    assert read.missing == {}
    assert "codes 9 to 99, 8 of key: missing in the file, kept as values of their own" in read.notes
    recipe, out = answers.with_name("recipe.yml"), answers.with_name("out.sav")
    recipe.write_text("key_variables: [key]\nmissing: category\nkeep_missing_codes: true\n", encoding="utf-8")
    assert run(["protect", str(answers), "--recipe", str(recipe), "--out", str(out), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["violations"]["category"]["2"] == 3
    before, after = (pyreadstat.read_sav(path, user_missing=True) for path in (answers, out))
    pd.testing.assert_frame_equal(before[0], after[0])
    assert before[1].missing_ranges == after[1].missing_ranges
    assert before[1].variable_value_labels == after[1].variable_value_labels
    assert run(["protect", str(answers), "--recipe", str(recipe), "--out", str(out.with_suffix(".csv"))]) == 0
    assert "the written file does not declare them: key, job;" in " ".join(capsys.readouterr().out.split())


def test_a_code_may_be_kept_and_another_missing(answers):
    read = read_file(answers, keep_missing_codes=True, missing_codes={"key": [9]})
    assert [None if pd.isna(value) else value for value in read.frame["key"]] == [1, 8, None, None, None]


@pytest.fixture
def letters(tmp_path):
    """Letters .a and .b, and a missing value without one, in a file of Stata."""
    job = pd.Series([1, "a", 2, "b", 1, "b", None], dtype=object)
    labels = {"job": {1: "works", 2: "does not", "a": "refused"}}
    letters = {"job": ["a", "b"]}
    frame = pd.DataFrame({"job": job, "row": range(7)})
    pyreadstat.write_dta(frame, tmp_path / "a.dta", missing_user_values=letters, variable_value_labels=labels)
    return tmp_path / "a.dta"


def test_letters_of_stata_are_kept_on_request_and_leave_as_they_came(capsys, letters):
    assert read_file(letters).frame["job"].isna().sum() == 4
    read = read_file(letters, keep_missing_codes=True)
    assert read.frame["job"].where(read.frame["job"].notna(), None).tolist() == [1, ".a", 2, ".b", 1, ".b", None]
    assert read.labels["job"] == {1: "works", 2: "does not", ".a": "refused"}
    assert "codes .a, .b of job: missing in the file, kept as values of their own" in read.notes
    recipe, out = letters.with_name("recipe.yml"), letters.with_name("out.dta")
    recipe.write_text("key_variables: [job]\nmissing: category\n", encoding="utf-8")
    protect = ["protect", str(letters), "--recipe", str(recipe), "--keep-missing-codes", "--json", "--out"]
    assert run([*protect, str(out)]) == 0
    assert json.loads(capsys.readouterr().out)["violations"]["category"]["2"] == 3
    before, after = (pyreadstat.read_dta(path, user_missing=True) for path in (letters, out))
    # of a missing value without a letter this reader gives any number
    pd.testing.assert_frame_equal(before[0].head(6), after[0].head(6))
    assert before[1].missing_user_values == after[1].missing_user_values == {"job": ["a", "b"]}
    assert before[1].variable_value_labels == after[1].variable_value_labels
    assert run([*protect, str(out.with_suffix(".csv"))]) == 0
    assert "the written file does not declare them: job;" in " ".join(capsys.readouterr().out.split())
    assert run(["measure", str(out), "--keys", "job", "--missing", "category", "--keep-missing-codes", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["classes"] == 5
    assert run(["init", str(letters), "--keep-missing-codes", "--out", str(letters.with_name("r.yml"))]) == 0
    assert "\nkeep_missing_codes: true\n" in letters.with_name("r.yml").read_text(encoding="utf-8")


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_columns_without_a_name_are_noted(capsys, tmp_path, engine):
    (tmp_path / "a.csv").write_text(",age,,sex\n1,30,x,f\n2,30,y,f\n", encoding="utf-8")
    (tmp_path / "r.yml").write_text("key_variables: [age]\n", encoding="utf-8")
    paths = [str(tmp_path / name) for name in ("a.csv", "r.yml", "out.csv")]
    assert run(["protect", paths[0], "--recipe", paths[1], "--out", paths[2], "--engine", engine, "--json"]) == 0
    notes = json.loads(capsys.readouterr().out)["notes"]
    assert any(note.startswith("columns without a name are left out: 1, 3;") for note in notes)
    assert (tmp_path / "out.csv").read_text(encoding="utf-8") == "age,sex\n30,f\n30,f\n"
