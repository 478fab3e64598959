"""Household risk, its bounds, and households that are counted: the guide's example and plain loops."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon_lab.classes import class_table
from kanon_lab.errors import DataError, OptionError
from kanon_lab.measures import file_risk, household_risk, household_risks, household_size, with_household_size
from kanon_lab.roles import KeySpec

MEMBERS = st.lists(st.tuples(st.floats(0, 1), st.integers(0, 5)), min_size=1, max_size=30)


def test_household_of_the_guide():
    """INE Chile (2023), section 7.8: 1 - (.98)(.97)(.97) = .077918, printed .078; without independence .03 to .08."""
    risk, homes = [0.02, 0.5, 0.03, 0.03], ["a", "b", "a", "a"]
    np.testing.assert_allclose(household_risk(risk, homes), [0.077918, 0.5, 0.077918, 0.077918], atol=1e-12)
    found = household_risks(risk, homes)
    assert found.index.tolist() == ["a", "b"]
    assert found["members"].tolist() == [3, 1]
    np.testing.assert_allclose(found.loc["a", ["risk", "lower", "upper"]].astype(float), [0.077918, 0.03, 0.08])
    assert found.loc["b", "risk":].tolist() == [0.5, 0.5, 0.5]


@given(MEMBERS)
def test_household_risk_by_plain_loops(members):
    risk, home = [risk for risk, _ in members], [home for _, home in members]
    by_record, found = household_risk(risk, home), household_risks(risk, home)
    for own, of_record, (_, each) in zip(risk, by_record, members):
        inside = [other for other, its in members if its == each]
        expected = 1 - math.prod(1 - other for other in inside)
        assert of_record == pytest.approx(expected, abs=1e-12)
        assert of_record >= own * (1 - 1e-12)
        row = found.loc[each]
        assert row["members"] == len(inside)
        assert row["risk"] == pytest.approx(expected, abs=1e-12)
        assert row["lower"] == max(inside)
        assert row["upper"] == pytest.approx(min(1, math.fsum(inside)), abs=1e-12)
    assert (found["lower"] <= found["risk"]).all()
    assert (found["risk"] <= found["upper"]).all()
    assert found.index.is_monotonic_increasing


@given(
    risks=st.lists(st.integers(1, 6), min_size=1, max_size=4),
    order=st.randoms(use_true_random=False),
)
def test_bounds_are_those_of_members_who_depend_on_each_other(risks, order):
    """Twelve equally likely worlds; a member of risk r is found in 12 r of them, however these are chosen."""
    risk = [each / 12 for each in risks]
    found = household_risks(risk, [1] * len(risk)).loc[1]

    def some(worlds):
        return len(set().union(*worlds)) / 12

    assert some([set(range(each)) for each in risks]) == pytest.approx(found["lower"])
    starts = np.cumsum([0, *risks])
    apart = [{world % 12 for world in range(start, start + each)} for start, each in zip(starts, risks)]
    assert some(apart) == pytest.approx(found["upper"])
    chosen = some([set(order.sample(range(12), each)) for each in risks])
    assert found["lower"] - 1e-12 <= chosen <= found["upper"] + 1e-12


def test_expectations_per_household_and_per_person():
    """Two weights of 10: risks ln(10)/9 each; a household of two and one of one."""
    frame = pd.DataFrame({"a": [1, 2, 3], "w": 10.0, "h": ["p", "q", "p"]})
    found = file_risk(class_table(frame, KeySpec("a", weight="w", household="h")))
    r = math.log(10) / 9
    pair = 1 - (1 - r) ** 2
    assert found.expected_household_reidentifications == pytest.approx(pair + r)
    assert found.expected_persons_in_reidentified_households == pytest.approx(2 * pair + r)
    assert found.household_risk == pytest.approx((2 * pair + r) / 3)
    without = file_risk(class_table(frame, KeySpec("a", weight="w")))
    assert without.expected_persons_in_reidentified_households is None


def test_identifiers_of_every_kind():
    """Texts and numbers together, categories without a record, labels of rows that repeat."""
    homes = pd.Series(["b", 2, "b", 10], index=[5, 5, 1, 0], dtype=object)
    assert household_size(homes).tolist() == [2, 1, 2, 1]
    assert household_size(homes).index.tolist() == [5, 5, 1, 0]
    assert household_risks([0.5] * 4, homes).index.tolist() == [2, 10, "b"]
    some = pd.Categorical(["y", "x", "y"], categories=["z", "y", "x"])
    assert len(household_risks([0.1] * 3, some)) == 2
    assert household_size(pd.Series(some)).tolist() == [2, 1, 2]


@pytest.mark.parametrize("homes", [[1, None], pd.Series([1, np.nan], index=["p", "q"]), pd.Categorical(["x", None])])
def test_a_record_without_a_household(homes):
    for measure in (lambda: household_risk([0.1, 0.1], homes), lambda: household_risks([0.1, 0.1], homes)):
        with pytest.raises(DataError, match="record [1q] has no household; fill it in or drop the record"):
            measure()
    with pytest.raises(DataError, match="record [1q] has no household"):
        household_size(pd.Series(homes))


def test_households_that_cannot_be():
    with pytest.raises(OptionError, match="one of each"):
        household_risk([0.1], [1, 2])
    for risk in (1.5, -0.1, math.nan):
        with pytest.raises(OptionError, match="from 0 to 1"):
            household_risks([risk], [1])
    with pytest.raises(DataError, match="no households"):
        household_risk([], [])
    with pytest.raises(DataError, match="holds lists"):
        household_risk([0.1], pd.Series([[1]]))
    with pytest.raises(OptionError, match="no household"):
        with_household_size(class_table(pd.DataFrame({"a": [1]}), "a"))


ROWS = st.lists(
    st.tuples(st.sampled_from(["x", "y", None]), st.sampled_from([1, 2, None]), st.integers(0, 6)),
    min_size=1,
    max_size=25,
)


@given(rows=ROWS, missing=st.sampled_from(["wildcard", "category"]))
def test_counting_households_is_a_further_key(rows, missing):
    frame = pd.DataFrame(rows, columns=["a", "b", "h"]).astype({"a": object, "b": object})
    found = with_household_size(class_table(frame, KeySpec(["a", "b"], household="h", missing=missing)))
    counted = class_table(
        frame.assign(size=[sum(other[2] == row[2] for other in rows) for row in rows]),
        KeySpec(["a", "b", "size"], missing=missing),
    )
    assert found == {
        "classes": counted.n_classes,
        "k_achieved": counted.k_achieved,
        "sample_uniques": counted.sample_uniques,
    }


def test_household_size_survives_the_removal_of_its_variable():
    """INE Chile (2023), section 7.8: members can be counted wherever the identifier of the household is released."""
    frame = pd.DataFrame({"sex": list("mfmfmf"), "h": [1, 1, 2, 2, 3, 4]})
    table = class_table(frame, KeySpec("sex", household="h"))
    assert (table.k_achieved, with_household_size(table)["k_achieved"]) == (3, 1)
    known = class_table(frame.assign(size=household_size(frame["h"])), KeySpec(["sex", "size"], household="h"))
    assert with_household_size(known)["classes"] == known.n_classes
