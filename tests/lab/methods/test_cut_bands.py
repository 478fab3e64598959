"""Numbers in bands: what lies where, how it reads, and that nothing falls out unseen."""

import datetime
import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon_lab.errors import DataError, OptionError, about
from kanon_lab.methods import cut_bands, round_values, top_code
from kanon_lab.methods.recoding import equal_edges

AGES = pd.Series([0, 14, 15, 74, None], index=list("abcde"), name="age")


def texts(series):
    return [None if pd.isna(each) else each for each in series]


@given(
    st.lists(st.integers(-30, 30), min_size=2, max_size=6, unique=True).map(sorted),
    st.sampled_from(["left", "right"]),
    st.lists(st.one_of(st.none(), st.decimals(-40, 40, places=1)), min_size=1, max_size=20),
    st.sampled_from([float, Decimal]),
)
def test_every_number_is_in_its_band_or_in_the_category_named_for_its_side(edges, closed, values, kind):
    labels = [f"band {i}" for i in range(len(edges) - 1)]
    series = pd.Series([None if v is None else kind(v) for v in values], dtype=object if kind is Decimal else float)
    cut = cut_bands(
        series, bands=edges, closed=closed, labels=labels, outside={"below": "under", "above": "over"}, whole=False
    )
    for value, label in zip(values, texts(cut)):
        if value is None:
            assert label is None
        elif label == "under":
            assert value < edges[0] or (closed == "right" and value == edges[0])
        elif label == "over":
            assert value > edges[-1] or (closed == "left" and value == edges[-1])
        else:
            low, high = edges[labels.index(label)], edges[labels.index(label) + 1]
            assert low <= value < high if closed == "left" else low < value <= high


@given(
    st.integers(1, 50),
    st.integers(0, 3),
    st.integers(-20, 20),
    st.lists(st.integers(0, 2000), min_size=1, max_size=8),
    st.sampled_from(["left", "right"]),
)
def test_bands_of_equal_width_are_cut_as_they_are_written(width, places, start, steps, closed):
    """Widths such as 0.1 and values such as 0.3 lie on edges, whatever binary numbers stand for them."""
    unit = Decimal(1).scaleb(-places)
    values = [(start + step + (closed == "right")) * unit for step in steps]
    cut = cut_bands(
        pd.Series([float(v) for v in values]),
        width=float(width * unit),
        start=float(start * unit),
        closed=closed,
        whole=False,
    )
    for value, label in zip(values, cut):
        low, high = (Decimal(edge) for edge in label.strip("[]()").split(", "))
        assert high - low == width * unit
        assert low <= value < high if closed == "left" else low < value <= high


def test_whole_and_fractional_bands_read_differently():
    assert texts(cut_bands(AGES, bands=[0, 15, 75])) == ["0-14", "0-14", "15-74", "15-74", None]
    assert texts(cut_bands(AGES, bands=[0, 15, 75], whole=False))[:3] == ["[0, 15)", "[0, 15)", "[15, 75)"]
    assert texts(cut_bands(AGES, width=10)) == ["0-9", "10-19", "10-19", "70-79", None]
    # The guide's footnote 1: shifted edges put 9999.5 in the wrong class.
    income = pd.Series([9999, 9999.5, 10000])
    assert texts(cut_bands(income, bands=[0, 10000, 20000])) == ["[0, 10000)", "[0, 10000)", "[10000, 20000)"]
    with pytest.raises(DataError, match="row 1: a number with a fraction.*whole: false"):
        cut_bands(income, bands=[0, 10000, 20000], whole=True)


@pytest.mark.parametrize("dtype", ["float32", "Float32", "float[pyarrow]"])
def test_short_floats_are_read_as_they_are_written(dtype):
    tenths = pd.Series([0.1, 0.3], dtype=dtype)
    assert texts(cut_bands(tenths, bands=[0, 0.1, 0.3], closed="right")) == ["(0, 0.1]", "(0.1, 0.3]"]


def test_sizes_that_floats_hardly_hold():
    huge = pd.Series([1e308, -1e308, 0.0])
    assert texts(cut_bands(huge, bands=[None, 0, 1e307, None])) == [">= 1e+307", "< 0", "[0, 1e+307)"]
    # Beyond 2^53 the number before an edge has no float of its own.
    assert texts(cut_bands(pd.Series([5]), bands=[0, 1e20])) == ["[0, 1e+20)"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"bands": [0, 15, 60]}, r"row d: a number above the bands, which end before 60; .*null.*outside"),
        ({"bands": [0, 15, 100], "closed": "right"}, r"row a: a number below the bands, which start after 0;"),
        ({"bands": [0, 15, 60], "outside": {"below": "x"}}, "row d: a number above"),
        ({"width": 10, "closed": "right"}, "row a: a number below the bands, which start after 0; widen"),
        ({"width": 5, "start": 0, "stop": 50}, "row d: a number above the bands, which end before 50"),
    ],
)
def test_a_number_outside_is_named_by_its_row(options, message):
    with pytest.raises(DataError, match=f"survey: column age: {message}") as caught, about("survey"):
        cut_bands(AGES, **options)
    assert "74" not in str(caught.value) and "80" not in str(caught.value)


def test_a_class_for_what_lies_outside():
    assert texts(cut_bands(AGES, bands=[0, 15, 60], outside="60+")) == ["0-14", "0-14", "15-59", "60+", None]
    ends = cut_bands(AGES, width=1, start=1, stop=15, outside={"below": "babies", "above": "15+"})
    assert texts(ends) == ["babies", "14", "15+", "15+", None]


NO_NUMBERS = {
    "a truth value": [
        pd.Series([True, False]),
        pd.Series([1, True], dtype=object),
        pd.Series([None, True], dtype="boolean"),
    ],
    "text": [pd.Series(["1", "2"]), pd.Series([1, "n"], dtype=object), pd.Series(["a"], dtype="category")],
    "a date": [pd.Series(pd.to_datetime(["2001-01-01"])), pd.Series([datetime.date(2001, 1, 1)])],
    "infinite": [
        pd.Series([1, math.inf]),
        pd.Series([Decimal("-Infinity")]),
        pd.Series([2**63], dtype="uint64"),
        pd.Series([10**400]),
    ],
    "not a number": [pd.Series([1j]), pd.Series([object()])],
    "lists": [pd.Series([[1], [2]])],
}


@pytest.mark.parametrize(("fault", "series"), [(fault, each) for fault, cases in NO_NUMBERS.items() for each in cases])
def test_what_is_no_number_is_refused_everywhere(fault, series):
    recodings = [
        lambda: cut_bands(series, bands=[None, None], outside="other"),
        lambda: round_values(series),
        lambda: top_code(series, above=0, label="0+"),
    ]
    for recoding in recodings:
        with pytest.raises(DataError, match=fault) as caught:
            recoding()
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "series",
    [
        pd.Series([1, 12, None], dtype="Int64"),
        pd.Series([1.0, 12.0, None], dtype="Float64"),
        pd.Series([1, 12, None], dtype="category"),
        pd.Series([Decimal(1), Decimal("12.0"), Decimal("NaN")]),
        pd.Series([1, 12.0, None], dtype=object),
        pd.Series([1, 12, None], dtype="int64[pyarrow]"),
    ],
    ids=lambda series: str(series.dtype),
)
def test_kinds_of_columns(series):
    before = series.copy()
    assert texts(cut_bands(series, width=10)) == ["0-9", "10-19", None]
    pd.testing.assert_series_equal(series, before)


def test_columns_without_a_number():
    empty = (
        pd.Series([], dtype=float),
        pd.Series([None, None]),
        *(pd.Series([None], dtype=t) for t in ("Int64", "category")),
    )
    for series in empty:
        assert texts(cut_bands(series, bands=[0, 1])) == [None] * len(series)
        assert texts(cut_bands(series, width=5)) == [None] * len(series)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "either bands .* or width"),
        ({"bands": [0, 1], "width": 1}, "either bands .* or width"),
        ({"bands": [0, 1], "stop": 1}, "start and stop go with width"),
        ({"bands": 5}, "bands must be a list of edges"),
        ({"bands": "0, 5"}, "bands must be a list of edges"),
        ({"bands": [0, None, 5]}, "bands: edges must be two numbers or more that rise"),
        ({"bands": [5, 0]}, "bands: edges must be"),
        ({"bands": [0, 0.5], "whole": True}, "must be whole"),
        ({"bands": [0, 1], "whole": 1}, "whole must be true or false"),
        ({"bands": [0, 1], "closed": "both"}, "closed must be left or right"),
        ({"bands": [0, 1, 2], "labels": ["a"]}, "a list of 2 labels"),
        ({"bands": [0, 1, 2], "labels": "ab"}, "a list of 2 labels"),
        ({"bands": [0, 1, 2], "labels": [["a"], ["b"]]}, "a list of 2 labels"),
        ({"width": 0}, "width must be above 0"),
        ({"width": "ten"}, "width must be a number"),
        ({"width": 7, "stop": 100}, "do not fill 0 to 100"),
        ({"width": 0.001}, "more than 10,000"),
        ({"width": 10, "labels": ["a"]}, "labels need stop"),
        ({"bands": [0, 100], "outside": "0-99"}, "outside: the label is that of a band"),
        ({"bands": [0, 100], "outside": {"over": "x"}}, "outside must be"),
        ({"bands": [0, 100], "outside": None}, "outside must be"),
    ],
)
def test_bands_that_cannot_be_cut_are_refused(options, message):
    with pytest.raises(OptionError, match=message) as caught:
        cut_bands(AGES, **options)
    assert "74" not in str(caught.value)


def test_edges_of_one_width_are_right_in_decimal():
    assert equal_edges(0.1, 0, 1) == [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1]
    assert equal_edges(np.float64(2.5), -5, 5) == [-5, -2.5, 0, 2.5, 5]


@pytest.mark.parametrize("options", [{"width": Fraction(1, 3)}, {"width": 1, "start": Fraction(1, 3)}])
def test_a_fraction_without_digits_is_refused(options):
    with pytest.raises(OptionError, match="must be a number"):
        cut_bands(pd.Series([1, 2]), **options)


def test_edges_that_can_be_read_once_only_are_refused():
    """They would serve the first of several variables."""
    with pytest.raises(OptionError, match="^bands must be a list of edges"):
        cut_bands(pd.Series([1, 2]), bands=(edge for edge in [0, 5]))
