"""Labels of values and variables: what steps, suppression and removal leave of them, and files that hold them."""

import pandas as pd
import pyreadstat
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon_lab.data import read_file, write_microdata
from kanon_lab.data.writing import fitted
from kanon_lab.errors import OptionError
from kanon_lab.recipes import as_recipe

LABELS = {
    "region": {1: "North", 2: "South", 3: "East", 4: "West", 8: "Overseas"},
    "sex": {1: "Man", 2: "Woman"},
    "job": {1: "Clerk", 2: "Cook", 9: "ZQASTRONAUT"},
    "number": {7: "ZQNUMBER"},
}
NAMES = {"region": "Region of home", "job": "Job, as told", "number": "ZQIDENTITY", "w": "ZQWEIGHT"}


@pytest.fixture
def file(tmp_path):
    """A survey of 60 persons as an SPSS file; one of them is an astronaut."""
    rows = range(60)
    frame = pd.DataFrame({"number": rows, "region": [1 + i % 4 for i in rows], "sex": [1 + i // 4 % 2 for i in rows]})
    frame["job"] = [9 if i == 7 else 1 + i // 8 % 2 for i in rows]
    frame["w"] = 2.5
    pyreadstat.write_sav(frame, tmp_path / "in.sav", variable_value_labels=LABELS, column_labels=NAMES)
    return read_file(tmp_path / "in.sav")


def protected(file, *steps):
    settings = {"key_variables": ["region", "sex", "job"], "weight": "w", "direct_identifiers": ["number"]}
    return as_recipe({**settings, "steps": [*steps, {"remove_variables": {"variables": ["w"]}}]}).apply(file)


def test_labels_are_read(file):
    assert (file.labels, file.variable_labels) == (LABELS, NAMES)


def test_only_labels_of_released_variables_and_codes_leave(file, tmp_path):
    chain = protected(file, {"suppress": {"k_required": 3, "importance": {"region": 1, "sex": 2, "job": 3}}})
    assert chain.frame["job"].isna().any() and 9 not in set(chain.frame["job"].dropna())
    assert chain.variable_labels == {"region": "Region of home", "job": "Job, as told"}
    assert chain.labels == {
        "region": {code: LABELS["region"][code] for code in (1, 2, 3, 4)},
        "sex": LABELS["sex"],
        "job": {1: "Clerk", 2: "Cook"},
    }
    assert any("no released record has their codes: region 1, job 1" in note for note in chain.notes)
    for form in ("sav", "dta"):
        path = tmp_path / f"out.{form}"
        write_microdata(chain.frame, path, labels=chain.labels, variable_labels=chain.variable_labels)
        assert b"ZQ" not in path.read_bytes() and b"Overseas" not in path.read_bytes()
        read = read_file(path)
        assert (read.labels, read.variable_labels) == (chain.labels, chain.variable_labels)
        pd.testing.assert_frame_equal(read.frame, chain.frame.reset_index(drop=True), check_dtype=False)


def test_labels_of_merged_codes_go_and_those_of_kept_ones_stay(file):
    merged = {"recode": {"variable": "region", "groups": {"1": [1, 2]}, "others": "keep"}}
    chain = protected(file, merged)
    assert chain.labels["region"] == {"3": "East", "4": "West"}
    assert any("a step merged or changed their codes: region 2" in note for note in chain.notes)
    chain = protected(file, {"recode": {**merged["recode"], "labels": {1: "North or South"}}})
    assert chain.labels["region"] == {1: "North or South", 3: "East", 4: "West"}
    assert chain.frame["region"].dtype == "int64"


def test_a_code_that_changes_its_meaning_does_not_keep_its_label(file):
    swapped = {"recode": {"variable": "sex", "groups": {1: 2, 2: 1}}}
    assert "sex" not in protected(file, swapped).labels
    again = {"recode": {"variable": "sex", "groups": {1: "2", 2: "1"}}}
    assert "sex" not in protected(file, swapped, again).labels
    named = {"recode": {**swapped["recode"], "labels": {1: "female", 2: "male"}}}
    assert protected(file, named).labels["sex"] == {1: "female", 2: "male"}


def test_bands_hierarchies_and_perturbed_codes(file):
    bands = {"recode": {"variable": "region", "bands": [1, 3, 5], "labels": {"1-2": "low", "3-4": "high"}}}
    assert protected(file, bands).labels["region"] == {"1-2": "low", "3-4": "high"}
    ladder = {"mapping": {1: "x", 2: "x", 3: "3", 4: "4"}}
    chain = protected(
        file, {"recode": {"variable": "region", "hierarchy": ladder, "level": 1, "labels": {"x": "both"}}}
    )
    assert chain.labels["region"] == {"x": "both", "3": "East", "4": "West"}
    assert protected(file, {"pram": {"variables": "sex"}}).labels["sex"] == LABELS["sex"]
    assert "sex" not in protected(file, {"add_noise": {"variables": "sex"}}).labels


@pytest.mark.parametrize(
    ("labels", "fault"),
    [
        (["a"], "labels must be a mapping of new code to text"),
        ({1: 5}, "labels must be a mapping of new code to text"),
        ({5: "x"}, "labels: no group has code 1 of those that are listed"),
    ],
)
def test_labels_that_cannot_be(labels, fault):
    step = {"recode": {"variable": "sex", "groups": {1: [1, 2]}, "labels": labels}}
    with pytest.raises(OptionError, match=fault):
        as_recipe({"key_variables": ["sex"], "steps": [step]})


def test_labels_of_households_that_were_recoded(tmp_path):
    frame = pd.DataFrame({"home": [i // 2 for i in range(40)], "region": [1 + i // 2 % 3 for i in range(40)], "sex": 1})
    labels = {"region": {1: "North", 2: "South", 3: "East"}}
    pyreadstat.write_dta(frame, tmp_path / "in.dta", variable_value_labels=labels)
    inner = {"recode": {"variable": "region", "groups": {1: [1, 2], 3: 3}, "labels": {1: "not East"}}}
    settings = {"key_variables": ["sex"], "household": "home"}
    level = {"key_variables": ["region"], "steps": [inner]}
    chain = as_recipe({**settings, "household_level": level}).apply(read_file(tmp_path / "in.dta"))
    assert chain.labels == {"region": {3: "East", 1: "not East"}}


CODES = st.one_of(st.none(), st.integers(-99, 99))
TEXTS = st.text(st.characters(exclude_categories=["Cc", "Cs", "Zs", "Zl", "Zp"]), min_size=1, max_size=30)


@given(
    codes=st.lists(CODES, min_size=1, max_size=8),
    labels=st.dictionaries(st.integers(-99, 99), TEXTS, min_size=1, max_size=6),
    name=TEXTS,
    form=st.sampled_from(["sav", "dta", "sav.gz"]),
)
def test_what_is_written_is_read_again(tmp_path_factory, codes, labels, name, form):
    path = tmp_path_factory.mktemp("labels") / f"a.{form}"
    frame = pd.DataFrame({"n": pd.array([*codes, 1], dtype="Int64"), "t": pd.array(["a"] * (len(codes) + 1), "str")})
    write_microdata(frame, path, labels={"n": labels, "gone": {1: "x"}}, variable_labels={"n": name, "gone": "x"})
    once, read = path.read_bytes(), read_file(path)
    assert (read.labels, read.variable_labels) == ({"n": labels}, {"n": name})
    assert [None if pd.isna(each) else each for each in read.frame["n"]] == [*codes, 1]
    write_microdata(frame, path, labels={"n": labels}, variable_labels={"n": name}, overwrite=True)
    assert path.read_bytes() == once


def test_labels_that_a_format_cannot_hold(tmp_path):
    frame = pd.DataFrame({"t": ["a", "b"], "x": [1.5, 2.0], "big": [1, 2**40]})
    labels = {"t": {"a": "ñ" * 100}, "x": {1.5: "half", 2: "two"}, "big": {2**40: "much"}}
    sav, dta = (fitted(frame, form, labels, {"t": "ñ" * 200}) for form in ("sav", "dta"))
    assert sav.labels == {**labels, "t": {"a": "ñ" * 60}} and sav.variable_labels == {"t": "ñ" * 127}
    assert dta.labels == {"x": {2: "two"}} and dta.variable_labels == {"t": "ñ" * 80}
    assert (sav.lost, sav.cut, dta.lost, dta.cut) == ((), 2, ("t", "x", "big"), 1)
    for form, found in {"sav": sav, "dta": dta}.items():
        write_microdata(frame, tmp_path / f"a.{form}", labels=labels, variable_labels={"t": "ñ" * 200})
        read = read_file(tmp_path / f"a.{form}")
        assert (read.labels, read.variable_labels) == (found.labels, found.variable_labels)
        assert all("ñ" not in note for note in found.notes(form))
    write_microdata(frame, tmp_path / "a.csv", labels=labels)


def test_addresses_in_labels_identify(tmp_path):
    """An interviewer's address as the label of a code, or in a label of a variable, leaves with the file."""
    frame = pd.DataFrame({"sex": [1, 2] * 30, "by": [1, 2, 3] * 20, "asked": [1] * 60})
    labels, names = {"by": {1: "ana.soto@office.example", 2: "b", 9: "c@office.example"}}, {"asked": "by d@x.example"}
    pyreadstat.write_sav(frame, tmp_path / "in.sav", variable_value_labels=labels, column_labels=names)
    settings = {
        "key_variables": ["sex"],
        "sensitive_variables": ["by"],
        "released_as_is": ["asked"],
        "limits": {"k": 3},
    }
    file = read_file(tmp_path / "in.sav")
    chain = as_recipe(settings).apply(file)
    assert [(found.columns, found.kind, found.cells) for found in chain.identifiers] == [
        (("by",), "email", 20),
        (("asked",), "email", 1),
    ]
    without = as_recipe({**settings, "steps": [{"remove_variables": {"variables": ["asked"]}}, REGROUPED]}).apply(file)
    assert without.identifiers == ()


REGROUPED = {"recode": {"variable": "by", "groups": {1: [1], 2: [2, 3]}, "labels": {1: "one", 2: "others"}}}
