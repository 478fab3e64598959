"""Hierarchies: what each kind covers, how its labels read, that levels nest, and that nothing falls out unseen."""

import datetime
import gzip
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon_lab.errors import DataError, KanonLabError, OptionError, about
from kanon_lab.methods import Hierarchy, recode_dates

AGES = Hierarchy.from_intervals([range(0, 101, 10), [0, 50, 100]], closed="left", top="*", name="age")
REGION = {"Reus": ["Tarragona", "Catalunya"], "Vic": ["Barcelona", "Catalunya"], "Soria": ["Soria", "Castilla"]}


def column(*values, name="x", **options):
    return pd.Series(list(values), name=name, **options)


# --- bands ----------------------------------------------------------------------------------------------------------


def test_whole_bands_read_as_the_note_prints_decades():
    # AEPD note, Tabla 3.
    assert AGES.recode(column(40, 44, 37, 0, 99), 1).tolist() == ["40-49", "40-49", "30-39", "0-9", "90-99"]
    assert AGES.recode(column(49, 50), 2).tolist() == ["0-49", "50-99"]
    assert AGES.recode(column(49, 50), 3).tolist() == ["*", "*"]


@pytest.mark.parametrize(
    ("edges", "closed", "whole", "labels"),
    [
        ([None, 15, 65, None], "left", None, ["under 15", "15-64", "65+"]),
        ([None, 14, 64, None], "right", None, ["under 15", "15-64", "65+"]),
        ([-math.inf, 15, 16, math.inf], "left", None, ["under 15", "15", "16+"]),
        ([-10, 0, 10], "left", None, ["-10 to -1", "0-9"]),
        ([40, 50, 60], "left", False, ["[40, 50)", "[50, 60)"]),
        ([0.5, 1.5], "right", None, ["(0.5, 1.5]"]),
        ([None, 0.5, None], "left", None, ["< 0.5", ">= 0.5"]),
        ([None, 0.5, None], "right", None, ["<= 0.5", "> 0.5"]),
        ([None, None], "left", None, ["any"]),
    ],
)
def test_labels_of_bands(edges, closed, whole, labels):
    assert list(Hierarchy.from_intervals([edges], closed=closed, whole=whole).rules[0].names) == labels


@given(
    st.lists(st.integers(-30, 30), min_size=2, max_size=8, unique=True).map(sorted),
    st.sampled_from(["left", "right"]),
    st.lists(st.integers(-40, 40), min_size=1, max_size=20),
)
def test_bands_hold_what_lies_between_their_edges_and_refuse_the_rest(edges, closed, values):
    hierarchy = Hierarchy.from_intervals([edges], closed=closed)
    inside = [v for v in values if (edges[0] <= v < edges[-1] if closed == "left" else edges[0] < v <= edges[-1])]
    if len(inside) < len(values):
        with pytest.raises(DataError, match="inside the bands"):
            hierarchy.recode(pd.Series(values), 1)
    if not inside:
        return
    names = hierarchy.rules[0].names
    for value, label in zip(inside, hierarchy.recode(pd.Series(inside), 1)):
        band = names.index(label)
        low, high = edges[band], edges[band + 1]
        assert low <= value < high if closed == "left" else low < value <= high


def test_a_value_outside_is_named_by_row_and_column_and_never_shown():
    with pytest.raises(DataError) as caught, about("survey.csv"):
        AGES.recode(pd.Series([40, 731, 832], index=["a", "b", "c"], name="years"), 1)
    text = str(caught.value)
    assert "survey.csv: column years: row b (and 1 more)" in text
    assert "731" not in text and "832" not in text and "\n" not in text


@pytest.mark.parametrize("value", [49.5, math.inf, "40", True])
def test_whole_bands_refuse_fractions_infinite_values_text_and_truth(value):
    with pytest.raises(DataError):
        AGES.recode(pd.Series([40, value], dtype=object), 1)


def test_the_catalan_age_bands_do_not_nest_unless_declared():
    # Garín 1996: five-year bands end at 65+, ten-year bands at 80+.
    bands = [[*range(0, 70, 5), None], [*range(0, 90, 10), None]]
    with pytest.raises(OptionError, match="cuts at 70"):
        Hierarchy.from_intervals(bands, closed="left")
    declared = Hierarchy.from_intervals(bands, closed="left", nested=False)
    assert not declared.nested
    assert declared.table([66, 72, 85]).values.tolist() == [
        [66, "65+", "60-69"],
        [72, "65+", "70-79"],
        [85, "65+", "80+"],
    ]


@pytest.mark.parametrize(
    "options",
    [
        {"levels": [[0, 5, 5]], "closed": "left"},
        {"levels": [[5]], "closed": "left"},
        {"levels": [[0, None, 5]], "closed": "left"},
        {"levels": [[0, "5"]], "closed": "left"},
        {"levels": [[0, True]], "closed": "left"},
        {"levels": [0, 5, 10], "closed": "left"},
        {"levels": [], "closed": "left"},
        {"levels": [[0, 5]], "closed": "both"},
        {"levels": [[0, 0.5]], "closed": "left", "whole": True},
        {"levels": [[0, 5, 10], [0, 5]], "closed": "left"},
        {"levels": [[0, 5, 10]], "closed": "left", "labels": [["a", "a"]]},
        {"levels": [[0, 5, 10]], "closed": "left", "labels": [["a"]]},
        {"levels": [[0, 5, 10]], "closed": "left", "labels": []},
    ],
)
def test_bands_that_cannot_be_used_are_refused(options):
    with pytest.raises(OptionError):
        Hierarchy.from_intervals(**options)


def test_own_labels():
    hierarchy = Hierarchy.from_intervals([[0, 15, None]], closed="left", labels=[["menors", "adults"]])
    assert hierarchy.recode(column(14, 15), 1).tolist() == ["menors", "adults"]


# --- masks ----------------------------------------------------------------------------------------------------------


def test_postcodes_as_the_note_masks_them():
    # AEPD note, Figura 2 and Tabla 3: 37003 -> 37***.
    codes = Hierarchy.from_masks([5, 2, 0])
    assert codes.table(["37003", "08001"]).values.tolist() == [["37003", "37***", "*****"], ["08001", "08***", "*****"]]
    assert codes.level_names == ("as it is", "first 2 of 5", "all masked")


def test_numbers_that_lost_leading_zeros_are_refused_unless_width_is_said():
    spoiled = column(37003, 8001)
    with pytest.raises(DataError, match=r"row 1: .*width") as caught:
        Hierarchy.from_masks([5, 2]).recode(spoiled, 1)
    assert "8001" not in str(caught.value)
    assert Hierarchy.from_masks([5, 2], width=5).recode(spoiled, 1).tolist() == ["37***", "08***"]
    with_gap = column(37003, None, 8001)
    assert Hierarchy.from_masks([5, 2], width=5).recode(with_gap, 1).fillna("-").tolist() == ["37***", "-", "08***"]


@pytest.mark.parametrize("value", ["3700", "370031", 3.5, -3700, None.__class__])
def test_other_lengths_are_refused(value):
    with pytest.raises(DataError):
        Hierarchy.from_masks([5, 2], width=5).recode(column("37003", value), 1)


@pytest.mark.parametrize("keep", [[5], [2, 5], [5, 5], [5, -1], [5, 2.5], [True, False]])
def test_masks_that_do_not_fall_are_refused(keep):
    with pytest.raises(OptionError):
        Hierarchy.from_masks(keep)
    with pytest.raises(OptionError):
        Hierarchy.from_masks([5, 2], width=4)
    with pytest.raises(OptionError):
        Hierarchy.from_masks([5, 2], mask="**")


# --- lists ----------------------------------------------------------------------------------------------------------


def test_lists_of_labels():
    hierarchy = Hierarchy.from_mapping(REGION, top="*", name="town")
    assert hierarchy.height == 3
    assert hierarchy.recode(column("Vic", None, "Soria"), 2).fillna("-").tolist() == ["Catalunya", "-", "Castilla"]
    chained = Hierarchy.from_mapping(
        [{"Reus": "Tarragona", "Vic": "Barcelona"}, {"Tarragona": "Catalunya", "Barcelona": "Catalunya"}]
    )
    assert chained.table().loc["Vic"].tolist() == ["Vic", "Barcelona", "Catalunya"]
    assert Hierarchy.from_mapping({1: "low", 2: "low"}).recode(column(1.0, 2.0), 1).tolist() == ["low", "low"]


@pytest.mark.parametrize(
    "mapping",
    [
        {},
        [],
        {"a": []},
        {"a": ["x"], "b": ["x", "y"]},
        {"a": ["x", "1"], "b": ["x", "2"]},
        {"a": [None]},
        {math.nan: ["x"]},
        [{"a": "x"}, {"y": "z"}],
        ["a"],
    ],
)
def test_lists_with_gaps_or_contradictions_are_refused(mapping):
    with pytest.raises(OptionError):
        Hierarchy.from_mapping(mapping)


def test_levels_that_do_not_nest_may_be_declared():
    hierarchy = Hierarchy.from_mapping({"a": ["x", "1"], "b": ["x", "2"]}, nested=False)
    assert hierarchy.recode(column("a", "b"), 2).tolist() == ["1", "2"]


@given(st.dictionaries(st.integers(0, 8), st.lists(st.sampled_from("xyz"), min_size=2, max_size=2), min_size=1))
def test_nesting_is_what_a_plain_loop_finds(mapping):
    nests = all(mapping[a][1] == mapping[b][1] for a in mapping for b in mapping if mapping[a][0] == mapping[b][0])
    if nests:
        assert Hierarchy.from_mapping(mapping).nested
    else:
        with pytest.raises(OptionError, match="must nest"):
            Hierarchy.from_mapping(mapping)


@given(st.lists(st.sampled_from([*REGION, None]), min_size=1, max_size=12), st.integers(0, 3), st.randoms())
def test_neither_index_nor_order_nor_categories_matter(values, level, random):
    hierarchy = Hierarchy.from_mapping(REGION, top="*")
    rows = list(range(len(values)))
    random.shuffle(rows)
    plain = pd.Series(values, index=[f"r{i}" for i in rows], name="town", dtype=object)
    # At the level that says nothing of any town, a missing one is like all others.
    expected = ["*" if level == 3 else None if v is None else [v, *REGION[v]][level] for v in values]
    categories = plain.astype(pd.CategoricalDtype([*REGION, "Nowhere"]))
    for series in (plain, categories):
        before = series.copy()
        recoded = hierarchy.recode(series, level)
        assert [None if pd.isna(v) else v for v in recoded] == expected
        assert recoded.index.equals(series.index) and recoded.name == "town"
        assert not isinstance(recoded.dtype, pd.CategoricalDtype)
        pd.testing.assert_series_equal(series, before)


def test_a_gap_does_not_show_among_asterisks():
    """At the top of a ladder a gap would tell who did not answer."""
    answers = pd.Series(["12", None])
    assert Hierarchy.from_masks([2, 1, 0]).recode(answers, 2).tolist() == ["**", "**"]
    assert Hierarchy.from_mapping({"12": "any"}, top="?").recode(answers, 2).tolist() == ["?", "?"]
    assert Hierarchy.from_mapping({"12": "*"}).recode(answers, 1).tolist() == ["*", "*"]


def test_a_label_that_says_something_is_not_given_to_gaps():
    answers = pd.Series([12, None])
    for one_label in (Hierarchy.from_mapping({12: "yes"}), Hierarchy.from_intervals([[None, None]], closed="left")):
        assert one_label.recode(answers, 1).isna().tolist() == [False, True]


@pytest.mark.parametrize("level", [-1, 4, 1.0, True, "1", None])
def test_there_is_no_other_level(level):
    with pytest.raises(OptionError, match="level"):
        Hierarchy.from_mapping(REGION, top="*").recode(column("Vic"), level)


def test_lists_in_a_cell_are_refused():
    with pytest.raises(DataError, match="lists"):
        Hierarchy.from_mapping(REGION).recode(column(["Vic"], ["Reus"]), 1)


def test_level_names_are_one_a_level():
    with pytest.raises(OptionError):
        Hierarchy.from_mapping(REGION, level_names=["town", "province"])
    assert Hierarchy.from_mapping(REGION, level_names=["a", "b", "c"]).level_names == ("a", "b", "c")


def test_a_table_of_bands_needs_values():
    with pytest.raises(OptionError):
        AGES.table()
    assert AGES.table([5]).columns.tolist() == [0, 1, 2, 3]


# --- dates ----------------------------------------------------------------------------------------------------------


def test_dates_from_day_to_decade():
    hierarchy = Hierarchy.from_dates(["month", "quarter", "year", "decade"])
    expected = ["2001-05-31", "2001-05", "2001-Q2", "2001", "2000-2009", "*"]
    assert hierarchy.table(["2001-05-31"]).iloc[0].tolist() == expected
    assert hierarchy.recode(pd.Series(pd.to_datetime(["2001-05-31", None])), 3).fillna("-").tolist() == ["2001", "-"]
    for units in (["year", "month"], ["week"], []):
        with pytest.raises(OptionError):
            Hierarchy.from_dates(units)


# --- files ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["towns.csv", "towns.csv.gz"])
def test_a_hierarchy_survives_a_file(tmp_path, name):
    written = Hierarchy.from_mapping(REGION, top="*", level_names=["town", "province", "region", "all"])
    written.to_file(tmp_path / name)
    read = Hierarchy.from_file(tmp_path / name, header=True)
    pd.testing.assert_frame_equal(read.table(), written.table())
    assert read.level_names == written.level_names
    AGES.to_file(tmp_path / name, values=range(100))
    again = Hierarchy.from_file(tmp_path / name, header=True, numbers=True)
    assert again.recode(column(44), 1).tolist() == ["40-49"]
    with pytest.raises(OptionError):
        written.to_file(tmp_path / "towns.txt")


@pytest.mark.parametrize("sign", [",", ";", "\t"])
def test_files_of_other_signs_and_without_header(tmp_path, sign):
    path = tmp_path / "h.csv"
    path.write_text(f"Vic{sign}Barcelona\n\nReus{sign}Tarragona\n", "utf-8")
    assert Hierarchy.from_file(path, header=False).recode(column("Reus"), 1).tolist() == ["Tarragona"]


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        ("a,x\nb\n", "row 2: 1 cells"),
        ("a,x\nb,\n", "row 2: an empty cell"),
        ("a,x\na,y\n", "row 2: its value has a row"),
        ("a\nb\n", "one column"),
        ("\n\n", "no rows"),
        ("1,x\nzwei,y\n", "row 2: its value is not a number"),
        ('a,x\nb,"y\n', "quotation"),
        pytest.param(f"{'a' * 140_000},x\n", "row 1: not csv", id="a very long cell"),
    ],
)
def test_files_at_fault_name_their_row(tmp_path, content, fault):
    path = tmp_path / "h.csv"
    path.write_text(content, "utf-8")
    with pytest.raises(DataError, match=fault) as caught:
        Hierarchy.from_file(path, header=False, numbers=content.startswith("1"))
    assert str(caught.value).startswith(str(path)) and "\n" not in str(caught.value)


@pytest.mark.parametrize("content", ["1,x\nSECRET,y\n", "1,x\n1,SECRET\n", "1,x,SECRET\n2,x,y\n"])
def test_faults_of_a_file_quote_nothing_of_it(tmp_path, content):
    path = tmp_path / "h.csv"
    path.write_text(content, "utf-8")
    with pytest.raises(KanonLabError) as caught:
        Hierarchy.from_file(path, header=False, numbers=True)
    assert "SECRET" not in str(caught.value)


@pytest.mark.parametrize("date_format", [5, None, "%Y-%Y", "%q", "%Y%"])
def test_formats_that_no_date_can_be_read_by(date_format):
    with pytest.raises(OptionError, match="^date_format"):
        Hierarchy.from_dates(["month", "year"], date_format=date_format)
    with pytest.raises(OptionError, match="^date_format"):
        recode_dates(pd.Series(["2001-02-03"]), to="year", date_format=date_format)


@pytest.mark.parametrize("date_format", ["%d/%m/%y", "%d.%m.%Y", "%Y-%m-%dT%H:%M:%S%z", "%G-W%V-%u", "%d %b %Y"])
def test_formats_that_dates_can_be_read_by(date_format):
    text = datetime.datetime(2001, 2, 3, tzinfo=datetime.UTC).strftime(date_format)
    assert recode_dates(pd.Series([text]), to="month", date_format=date_format).tolist() == ["2001-02"]


def test_files_that_are_no_text_or_only_a_header(tmp_path):
    path = tmp_path / "h.csv"
    path.write_bytes("Málaga,x".encode("latin-1"))
    with pytest.raises(DataError, match="UTF-8"):
        Hierarchy.from_file(path, header=False)
    path.write_text("value,group\n", "utf-8")
    with pytest.raises(DataError, match="no rows"):
        Hierarchy.from_file(path, header=True)
    with pytest.raises(DataError, match="no such file"):
        Hierarchy.from_file(tmp_path / "absent.csv", header=True)
    (tmp_path / "bad.csv.gz").write_bytes(gzip.compress(b"a,x\n", mtime=0)[:-4])
    with pytest.raises(DataError):
        Hierarchy.from_file(tmp_path / "bad.csv.gz", header=False)


def test_recoded_columns_survive_csv(tmp_path):
    frame = pd.DataFrame({"age": AGES.recode(pd.Series([40, np.nan, 37]), 1)})
    frame.to_csv(tmp_path / "f.csv", index=False)
    assert pd.read_csv(tmp_path / "f.csv")["age"].fillna("-").tolist() == ["40-49", "-", "30-39"]


def test_one_cell_that_is_no_number_is_named_as_the_cause():
    ages = pd.Series(["68", "NA"], name="age")
    with pytest.raises(DataError, match="column age: row 1: NA is not a number; .*--na NA"):
        Hierarchy.from_intervals([[0, 100]], closed="left").recode(ages, 1)
