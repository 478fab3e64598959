"""Counts by single years of age, and spreadsheets of the old kind: pooled, said, or refused in one line."""

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from px_files import px_text
from xls_files import xls_bytes

from kanon_lab.cli import run
from kanon_lab.data import labels, load_counts, read_counts
from kanon_lab.errors import DataError

COLUMNS = ["place", "sex", "age_group", "persons"]


def single_years(open_from=100, write=str, sexes=("men", "women")):
    """A row for each year of age of two places."""
    ages = [write(age) for age in range(open_from)] + [f"{open_from}+"]
    rows = [(place, sex, age) for place in ("29025", "42134") for sex in sexes for age in ages]
    persons = np.random.default_rng(7).integers(0, 50, len(rows))
    return pd.DataFrame(rows, columns=COLUMNS[:3]).assign(persons=persons)


def by_loop(frame, open_from):
    """Persons by place, sex and five-year group, added up row by row."""
    sums = {}
    for row in frame.itertuples():
        low = int(row.age_group.rstrip("+").split(" ")[0])
        start = low // 5 * 5
        group = f"{open_from // 5 * 5}+" if start >= open_from // 5 * 5 else f"{start}-{start + 4}"
        sums[row.place, row.sex, group] = sums.get((row.place, row.sex, group), 0) + row.persons
    return sums


def cells(counts):
    return {(row.place, row.sex, row.age_group): row.persons for row in counts.itertuples()}


def fault_of(path, **options):
    with pytest.raises(DataError) as caught:
        read_counts(path, **options)
    message = str(caught.value)
    assert "\n" not in message
    return message.removeprefix(f"{path}: ")


@settings(max_examples=10)
@given(
    open_from=st.integers(30, 110),
    write=st.sampled_from([str, "{} años".format, "{} years".format]),
    random=st.randoms(use_true_random=False),
)
def test_single_years_are_added_up_and_that_is_said(tmp_path_factory, open_from, write, random):
    path = tmp_path_factory.mktemp("years") / "counts.csv"
    frame = single_years(open_from, write)
    rows = list(frame.index)
    random.shuffle(rows)
    frame.loc[rows].to_csv(path, index=False)
    counts = read_counts(path)
    assert cells(counts) == by_loop(frame, open_from)
    (note,) = counts.attrs["notes"]
    assert "added up to five-year groups" in note
    whole = read_counts(path, pool_from=85)
    assert whole["persons"].sum() == frame["persons"].sum()
    assert whole.attrs["notes"] == [note]


def test_groups_of_the_file_stay_without_a_note(tmp_path):
    single_years().assign(age_group="0-4").drop_duplicates(COLUMNS[:3]).to_csv(tmp_path / "a.csv", index=False)
    assert read_counts(tmp_path / "a.csv").attrs["notes"] == []
    assert "notes" not in load_counts("spain-2010").attrs


def test_the_first_year_of_life_may_stand_alone(tmp_path):
    rows = [("1", "men", "under 1", 3), ("1", "men", "1-4", 9), ("1", "men", "5-9", 8), ("1", "men", "10+", 7)]
    pd.DataFrame(rows, columns=COLUMNS).to_csv(tmp_path / "a.csv", index=False)
    counts = read_counts(tmp_path / "a.csv")
    assert counts[["age_group", "persons"]].to_numpy().tolist() == [["0-4", 12], ["5-9", 8], ["10+", 7]]


def test_totals_over_single_years_are_checked_and_left_out(tmp_path):
    frame = single_years()
    total = frame.groupby(["place", "sex"], as_index=False)["persons"].sum().assign(age_group="total")
    pd.concat([frame, total]).to_csv(tmp_path / "a.csv", index=False)
    assert cells(read_counts(tmp_path / "a.csv")) == by_loop(frame, 100)
    pd.concat([frame, total.assign(persons=total["persons"] + 1)]).to_csv(tmp_path / "a.csv", index=False)
    assert "the total is not the sum" in fault_of(tmp_path / "a.csv")


def test_single_years_of_a_px_file(tmp_path):
    ages = ("Total", *(f"{age} años" if age != 1 else "1 año" for age in range(10)), "10 y más años")
    rows = [[str(sum(range(11))), *map(str, range(11))] for _ in range(12)]
    rows[:4] = [[str(2 * int(n)) for n in row] for row in rows[:4]]
    places = ("01001 Alegría-Dulantzi", "29025 Benalmádena")
    (tmp_path / "a.px").write_bytes(px_text(rows, ages=ages, places=places).encode("iso-8859-15"))
    counts = read_counts(tmp_path / "a.px", year=2010)
    assert counts["age_group"].tolist() == ["0-4", "5-9", "10+"] * 4
    assert counts["persons"].tolist() == [10, 35, 10] * 4


@pytest.mark.parametrize(
    ("ages", "fault"),
    [
        ([*range(1, 40), "40+"], "no counts of age 0, so that the group 0-4 cannot be made; add it"),
        ([*range(0, 38), "40+"], "no counts of age 38, so that the group 35-39 cannot be made; add it"),
        ([*range(0, 43)], "no counts of age 43, so that the group 40-44 cannot be made; add it"),
        ([*range(0, 40), "42+"], "no counts of age 40, so that the group 40+ cannot be made; add it"),
        ([*range(0, 40), "35-39", "40+"], "age groups 35 and 35-39 overlap; leave one of them out"),
        ([*range(0, 40), "38+"], "age groups 38 and 38+ overlap; leave one of them out"),
        ([*range(0, 20)], "column age_group holds low numbers only, which may be codes"),
        ([*range(0, 40), 999], "row 42: column age_group holds no five-year age group and no age"),
        ([*range(0, 40), "3-7"], "row 42: column age_group holds no five-year age group and no age"),
        ([*range(0, 40), -1], "row 42: column age_group holds no five-year age group and no age"),
    ],
)
def test_what_is_no_whole_of_ages_is_refused(tmp_path, ages, fault):
    frame = pd.DataFrame({"place": "29025", "sex": "men", "age_group": ages, "persons": 3})
    frame.astype({"age_group": str}).to_parquet(tmp_path / "a.parquet")
    frame.to_csv(tmp_path / "a.csv", index=False)
    assert fault_of(tmp_path / "a.csv").startswith(fault)
    assert fault_of(tmp_path / "a.parquet").startswith(fault.replace("row 42", "row 41"))


@settings(max_examples=80)
@given(st.text(alphabet="0123456789-+ aeysño", max_size=12))
def test_any_label_is_read_or_not(label):
    read = labels.ages(label)
    if read not in (None, labels.TOTAL):
        assert 0 <= labels.lowest_age(read) <= 130
        assert labels.ages(read) == read


def test_the_command_says_what_was_added_up(capsys, tmp_path):
    single_years().to_csv(tmp_path / "a.csv", index=False)
    assert run(["population", str(tmp_path / "a.csv"), "--dates", "day"]) == 0
    note = "100 single years or parts of age groups are added up to five-year groups"
    assert capsys.readouterr().out.endswith(f"- {note}\n")
    assert run(["population", str(tmp_path / "a.csv"), "--dates", "day", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["notes"] == [note]


def xls_of(frame):
    return xls_bytes([list(frame.columns), *frame.astype(object).to_numpy().tolist()])


def test_an_xls_workbook_is_read_as_the_same_csv_is(tmp_path, capsys):
    frame = single_years()
    (tmp_path / "a.xls").write_bytes(xls_of(frame))
    frame.to_csv(tmp_path / "a.csv", index=False)
    pd.testing.assert_frame_equal(read_counts(tmp_path / "a.xls"), read_counts(tmp_path / "a.csv"))
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("rows", "fault"),
    [
        ([], "its first sheet is empty"),
        ([COLUMNS], "has no rows"),
        ([["a", "b"], [1, 2]], "row 1 does not look like a header"),
        ([COLUMNS, ["29025", "men", "0-4", None]], "row 2: the count in column persons is missing"),
        ([COLUMNS, ["29025", "men", "0-4", 2.5]], "row 2: the count in column persons has a fraction"),
        ([COLUMNS, ["29025", "men", "0-9", 2]], "row 2: column age_group holds no five-year age group"),
        (
            [["Cifras", None], ["CPRO", "CMUN", "VARONES", "MUJERES"], ["01", "001", 1, 2]],
            "is INE's table of municipalities by sex, which has no ages and so serves to check totals only; use its "
            "table 33570 (kanon-lab data fetch ine-33570), or spain-2010",
        ),
    ],
)
def test_faults_of_an_xls_workbook(tmp_path, rows, fault):
    (tmp_path / "a.xls").write_bytes(xls_bytes(rows))
    assert fault_of(tmp_path / "a.xls").startswith(fault)


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (b"place\tsex\n", "is not an xls workbook, or is damaged or encrypted"),
        (b"<html><table></table></html>", "is not an xls workbook, or is damaged or encrypted"),
        (b"PK\x03\x04 something", "is not .xls but a zip archive or a workbook of the new kind (.xlsx)"),
        (bytes.fromhex("d0cf11e0a1b11ae1") + bytes(600), "is not an xls workbook, or is damaged or encrypted"),
        (bytes.fromhex("d0cf11e0a1b11ae1") + "EncryptedPackage".encode("utf-16-le"), "is encrypted with a password"),
        (b"%PDF-1.4", "is not .xls but a PDF document"),
        (b"", "is empty"),
    ],
)
def test_what_is_called_xls_and_is_not(tmp_path, content, fault):
    (tmp_path / "a.xls").write_bytes(content)
    assert fault_of(tmp_path / "a.xls").startswith(fault)


def test_ines_own_spreadsheet_lacks_ages(shared, capsys):
    path = shared("ine-pobmun10.xls")
    assert "has no ages and so serves to check totals only" in fault_of(path)
    assert run(["population", str(path)]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)


@given(data=st.data())
def test_damage_of_an_xls_workbook_is_told_in_one_line_or_does_no_harm(tmp_path_factory, data):
    content = bytearray(xls_of(single_years(35)))
    start = data.draw(st.integers(0, len(content)))
    content[start : start + data.draw(st.integers(0, 30))] = data.draw(st.binary(max_size=5))
    path = tmp_path_factory.mktemp("damage") / "counts.xls"
    path.write_bytes(content)
    try:
        sound = read_counts(path)["persons"].ge(0).all()
    except DataError as error:
        sound = "\n" not in str(error)
    assert sound
