"""Whole frames: global recoding, local generalisation, records taken out."""

import io

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon_lab.errors import DataError, OptionError
from kanon_lab.methods import Hierarchy, generalise, generalise_records, suppress_records

HIERARCHIES = {
    "postcode": Hierarchy.from_masks([5, 2, 0]),
    "age": Hierarchy.from_intervals([range(0, 101, 10)], closed="left", top="*"),
}
# AEPD note, Tablas 2 and 3.
TABLA_2 = pd.DataFrame(
    {
        "postcode": ["37003", "28108", "24700", "24700", "37003", "28108"],
        "age": [40, 44, 37, 37, 44, 40],
        "cholesterol": ["S", "S", "N", "N", "S", "S"],
    }
)
TABLA_3 = TABLA_2.assign(
    postcode=["37***", "28***", "24***", "24***", "37***", "28***"],
    age=["40-49", "40-49", "30-39", "30-39", "40-49", "40-49"],
)
TABLA_4 = TABLA_3.assign(postcode=["37***", "28***", "24700", "24700", "37***", "28***"])


def test_tabla_3_is_tabla_2_recoded_globally():
    before = TABLA_2.copy()
    pd.testing.assert_frame_equal(generalise(TABLA_2, HIERARCHIES, {"postcode": 1, "age": 1}), TABLA_3)
    pd.testing.assert_frame_equal(TABLA_2, before)


def test_tabla_4_is_tabla_2_recoded_record_by_record():
    levels = pd.DataFrame({"postcode": [1, 1, 0, 0, 1, 1], "age": 1})
    pd.testing.assert_frame_equal(generalise_records(TABLA_2, HIERARCHIES, levels), TABLA_4)


@given(st.data())
def test_local_generalisation_is_each_record_s_own_label(data):
    n = data.draw(st.integers(1, 8))
    ages = data.draw(st.lists(st.one_of(st.integers(0, 99), st.none()), min_size=n, max_size=n))
    levels = data.draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))
    index = data.draw(st.permutations(range(n)))
    frame = pd.DataFrame({"age": pd.Series(ages, dtype=float)}).set_axis(index)
    recoded = generalise_records(frame, HIERARCHIES, pd.DataFrame({"age": levels}, index=index))["age"]
    for age, level, label in zip(ages, levels, recoded):
        if age is None:
            assert label == "*" if level == 2 else pd.isna(label)
        elif set(levels) == {0}:
            assert label == age
        else:
            assert label == [str(age), f"{age // 10 * 10}-{age // 10 * 10 + 9}", "*"][level]
    text = recoded.to_frame().to_csv(index=False)
    kind = float if set(levels) == {0} else str
    pd.testing.assert_series_equal(
        pd.read_csv(io.StringIO(text), skip_blank_lines=False, dtype=kind)["age"],
        recoded.reset_index(drop=True),
        check_dtype=False,
    )


def test_what_cannot_be_generalised_is_refused():
    with pytest.raises(OptionError, match="no hierarchy"):
        generalise(TABLA_2, HIERARCHIES, {"cholesterol": 1})
    with pytest.raises(OptionError, match="level"):
        generalise(TABLA_2, HIERARCHIES, {"age": 3})
    with pytest.raises(DataError, match="column age is not there"):
        generalise(TABLA_2[["postcode"]], HIERARCHIES, {"age": 1})
    with pytest.raises(DataError, match="occurs twice"):
        generalise(TABLA_2.iloc[:, [0, 1, 1]], HIERARCHIES, {"age": 1})
    with pytest.raises(OptionError, match="index"):
        generalise_records(TABLA_2, HIERARCHIES, pd.DataFrame({"age": [1]}))
    with pytest.raises(DataError, match="row 1:"):
        generalise_records(TABLA_2.assign(age=[40, 440, *[37] * 4]), HIERARCHIES, pd.DataFrame({"age": [1] * 6}))


@given(st.lists(st.booleans(), max_size=8))
def test_suppression_by_mask_and_by_label(gone):
    labels = [f"r{i}" for i in range(len(gone))]
    frame = pd.DataFrame({"x": range(len(gone))}, index=pd.Index(labels, dtype=object))
    expected = [label for label, out in zip(labels, gone) if not out]
    by_mask = suppress_records(frame, np.array(gone, dtype=bool))
    by_series = suppress_records(frame, pd.Series(gone, index=frame.index, dtype=bool))
    by_label = suppress_records(frame, [label for label, out in zip(labels, gone) if out])
    for kept in (by_mask, by_series, by_label):
        assert kept.index.tolist() == expected
        assert kept["x"].tolist() == [int(label[1:]) for label in expected]


def test_no_category_tells_of_a_removed_record():
    frame = TABLA_2.assign(cholesterol=TABLA_2["cholesterol"].astype("category"))
    kept = suppress_records(frame, [2, 3])
    assert kept["cholesterol"].cat.categories.tolist() == ["S"]
    assert frame["cholesterol"].cat.categories.tolist() == ["N", "S"]
    recoded = generalise(frame.astype({"postcode": "category"}), HIERARCHIES, {"postcode": 0})
    assert not isinstance(recoded["postcode"].dtype, pd.CategoricalDtype)


def test_records_that_cannot_be_told_are_refused():
    twice = TABLA_2.set_axis([0, 1, 2, 3, 4, 4])
    with pytest.raises(DataError, match="twice"):
        suppress_records(twice, [4])
    assert len(suppress_records(twice, [])) == 6
    assert len(suppress_records(twice, [True, *[False] * 5])) == 5
    for rows in ([9], [True, False], pd.Series([True] * 6, index=range(1, 7))):
        with pytest.raises(OptionError):
            suppress_records(TABLA_2, rows)
