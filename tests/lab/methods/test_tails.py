"""Top and bottom coding."""

from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kanon_lab.errors import DataError, OptionError
from kanon_lab.methods import bottom_code, top_code

AGES = pd.Series([3, 64, 65, 90, 81, 70], index=list("abcdef"), name="age")
SCHOOL = ["none", "primary", "secondary", "university", "doctorate"]
PUPILS = pd.Series(pd.Categorical(["none", "university", None, "secondary"], SCHOOL, ordered=True), name="school")


@given(
    st.lists(st.one_of(st.none(), st.floats(allow_nan=False, allow_infinity=False)), min_size=1, max_size=15),
    st.floats(-1e6, 1e6),
    st.booleans(),
    st.sampled_from(["limit", "value", "label", "mean"]),
)
@settings(max_examples=80)
def test_what_lies_strictly_beyond_is_coded_and_the_rest_stays(values, limit, top, form):
    series = pd.Series(values, dtype=float)
    beyond = [v is not None and (v > limit if top else v < limit) for v in values]
    value = limit + 1 if top else limit - 1
    options = {"limit": {}, "value": {"value": value}, "label": {"label": "far"}, "mean": {"value": "mean"}}[form]
    coded = {"limit": limit, "value": value, "label": "far", "mean": None}[form]

    def recoded():
        return top_code(series, above=limit, **options) if top else bottom_code(series, below=limit, **options)

    if form == "mean" and 0 < sum(beyond) < 3:
        with pytest.raises(DataError, match="fewer than 3"):
            recoded()
        return
    if form == "mean" and any(beyond):
        tail = [v / sum(beyond) for v, far in zip(values, beyond) if far]
        coded = pytest.approx(sum(tail), rel=1e-9)
    for new, old, far in zip(recoded(), values, beyond):
        if old is None:
            assert pd.isna(new)
        else:
            assert new == coded if far else float(new) == old


def test_the_guide_codes_ages_above_64_and_below_5():
    # Bloque 8.6: 65 and 5 replace them.
    ages = bottom_code(top_code(AGES, above=64, value=65), below=5, value=5)
    assert ages.tolist() == [5, 64, 65, 65, 65, 65]
    assert top_code(AGES, above=64, label="65+").tolist() == ["3", "64", "65+", "65+", "65+", "65+"]


@pytest.mark.parametrize(
    ("dtype", "options", "expected"),
    [
        ("int8", {"value": 300}, "int64"),
        ("UInt8", {}, "Int64"),
        ("Int64", {"value": 70.5}, "Float64"),
        ("int64", {"value": 80.0}, "int64"),
        ("int64", {"value": "mean"}, "float64"),
        ("float32", {}, "float64"),
        ("int64[pyarrow]", {"value": "mean"}, "Float64"),
        (object, {}, object),
    ],
)
def test_types_hang_on_options_and_not_on_values(dtype, options, expected):
    for ages in (AGES, AGES[AGES < 65]):
        assert top_code(ages.astype(dtype), above=64, **options).dtype == expected


def test_decimals_stay_decimals():
    amounts = pd.Series([Decimal("1.10"), Decimal(50), None])
    assert top_code(amounts, above=9.9).tolist()[:2] == [Decimal("1.10"), Decimal("9.9")]
    assert isinstance(top_code(amounts, above=9)[1], Decimal)


def test_a_mean_keeps_the_sum_and_never_tells_one_or_two_values():
    assert top_code(AGES, above=64, value="mean").sum() == AGES.sum()
    with pytest.raises(DataError, match=r"column age: row d \(and 1 more\): fewer than 3") as caught:
        top_code(AGES, above=70, value="mean")
    assert "90" not in str(caught.value) and "85.5" not in str(caught.value)
    assert top_code(pd.Series([1e308] * 4), above=0, value="mean").tolist() == [1e308] * 4


def test_ordered_categories():
    top = top_code(PUPILS, above="secondary", label="higher")
    assert top.fillna("none").tolist() == ["none", "higher", "none", "secondary"]
    assert top.cat.categories.tolist() == ["none", "primary", "secondary", "higher"] and top.cat.ordered
    bottom = bottom_code(top, below="primary")
    assert bottom.cat.categories.tolist() == ["primary", "secondary", "higher"]
    assert bottom.isna().tolist() == [False, False, True, False]
    numbers = pd.Series(pd.Categorical([10, 70, 80], ordered=True))
    assert top_code(numbers, above=64).tolist() == [10, 64, 64]


@pytest.mark.parametrize(
    ("series", "options", "message"),
    [
        (AGES, {"above": "64"}, "above must be a number, not text"),
        (AGES, {"above": True}, "above must be a number"),
        (AGES, {"above": np.inf}, "above must be a number"),
        (AGES, {"above": 64, "value": 60}, "value lies on the other side of above"),
        (AGES, {"above": 64, "value": "max"}, "value must be a number"),
        (AGES, {"above": 64, "label": 65}, "label must be text"),
        (AGES, {"above": 64, "label": "x", "value": 65}, "not both"),
        (PUPILS, {"above": "high"}, "above must be one of the ordered categories, not text"),
        (PUPILS, {"above": "primary", "label": "none"}, "value is a category that stays"),
        (PUPILS, {"above": "primary", "value": "mean"}, "no mean"),
    ],
)
def test_options_that_cannot_be_used_are_refused(series, options, message):
    with pytest.raises(OptionError, match=message):
        top_code(series, **options)


def test_below_has_its_own_name():
    with pytest.raises(OptionError, match="value lies on the other side of below"):
        bottom_code(AGES, below=5, value=6)
