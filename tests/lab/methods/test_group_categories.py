"""Categories grouped and renamed."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kanon_lab.errors import DataError, OptionError, about
from kanon_lab.methods import group_categories

TOWNS = pd.Series(["city", "town", None, "farm"], index=list("abcd"), name="place")


@given(
    st.lists(st.one_of(st.none(), st.sampled_from("abcdef")), min_size=1, max_size=15),
    st.dictionaries(st.sampled_from("abcdef"), st.sampled_from("XYZ"), min_size=1),
    st.sampled_from(["raise", "keep", "rest"]),
    st.sampled_from([object, "category", "str"]),
)
@settings(max_examples=80)
def test_groups_are_what_a_loop_makes_of_them(values, label_of, others, dtype):
    groups = {}
    for value, label in label_of.items():
        groups.setdefault(label, []).append(value)
    series = pd.Series(values, dtype=object).astype(dtype)
    before = series.copy()
    present = {v for v in values if v is not None}
    uncovered, absent = present - set(label_of), set(label_of) - present
    if uncovered and (others == "raise" or absent):
        with pytest.raises(DataError if others == "raise" else OptionError):
            group_categories(series, groups, others=others)
        return
    expected = [None if v is None else label_of.get(v, v if others == "keep" else others) for v in values]
    assert [None if pd.isna(v) else v for v in group_categories(series, groups, others=others)] == expected
    pd.testing.assert_series_equal(series, before)


def test_a_value_in_no_group_is_named_by_its_row_alone():
    with (
        pytest.raises(DataError, match="survey: column place: row d: a value that no group has") as caught,
        about("survey"),
    ):
        group_categories(TOWNS, {"urban": ["city", "town"]})
    assert "farm" not in str(caught.value)


def test_a_group_of_one_renames_and_others_stay_or_are_pooled():
    assert group_categories(TOWNS, {"capital": "city"}, others="keep").tolist()[:2] == ["capital", "town"]
    assert group_categories(TOWNS, {"capital": ["city"]}, others="other").fillna("-").tolist() == [
        "capital",
        "other",
        "-",
        "other",
    ]


def test_a_misspelt_value_does_not_let_the_true_one_through():
    with pytest.raises(OptionError, match="no row has value 2 of those that are listed"):
        group_categories(TOWNS, {"urban": ["city", "twon"]}, others="keep")
    # Where every value has its group, nothing can slip through; a category without a record is known, too.
    full = {"urban": ["city", "town", "port"], "rural": ["farm"]}
    assert group_categories(TOWNS, full, others="keep").tolist()[0] == "urban"
    places = TOWNS.astype(pd.CategoricalDtype(["city", "town", "farm", "port"]))
    assert group_categories(places, {"urban": ["city", "port"]}, others="keep").tolist()[0] == "urban"


def test_numbers_text_and_truth_are_told_apart():
    assert group_categories(pd.Series([1, 2.0, 3]), {1: [1], "2 or 3": [2, 3]}).tolist() == ["1", "2 or 3", "2 or 3"]
    assert group_categories(pd.Series([True, False]), {"yes": True, "no": [False]}).tolist() == ["yes", "no"]
    assert group_categories(pd.Series([1, 2, 3.5]), {"x": [1, 2]}, others="keep").tolist() == ["x", "x", "3.5"]
    for values, groups in (([1, 2], {"x": ["1", "2"]}), (["1"], {"x": 1}), ([1], {"x": True}), ([True], {"x": 1})):
        with pytest.raises(DataError, match="text and numbers differ"):
            group_categories(pd.Series(values), groups)


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ({}, "groups: give a mapping"),
        (["city"], "groups: give a mapping"),
        ({"urban": []}, "group 1 has no values"),
        ({"urban": None}, "a missing value or a list"),
        ({"urban": ["city", np.nan]}, "a missing value or a list"),
        ({"urban": [["city"]]}, "a missing value or a list"),
        ({"urban": {"city": 1}}, "a missing value or a list"),
        ({"urban": ["city"], "big": ["city"]}, "a value of group 2 is named twice"),
        ({"a": [1], "b": [1.0]}, "named twice"),
        ({True: ["city"]}, "put it in quotes"),
        ({"": ["city"]}, "not text"),
    ],
)
def test_groups_that_cannot_be_used_are_refused(groups, message):
    with pytest.raises(OptionError, match=message):
        group_categories(TOWNS, groups)


@pytest.mark.parametrize("others", [None, "", 3, ["keep"]])
def test_what_becomes_of_others_is_text(others):
    with pytest.raises(OptionError, match="others must be"):
        group_categories(TOWNS, {"urban": ["city"]}, others=others)


def test_an_accent_is_the_same_whether_composed_or_not():
    written = {"north": ["Araba\u0301"], "south": "Ca\u0301diz"}
    towns = pd.Series(["Araba\u0301", "Arab\u00e1", "C\u00e1diz"])
    assert list(group_categories(towns, written)) == ["north", "north", "south"]
    assert list(group_categories(towns, {"here": "Arab\u00e1"}, others="keep")) == ["here", "here", "C\u00e1diz"]
