"""Rounding: right in decimal, both rules for halves, and the type that comes out."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kanon_lab.errors import DataError, OptionError
from kanon_lab.methods import round_values

BASES = st.sampled_from(
    [1, 2, 5, 10, 25, 100, 1000, 0.1, 0.01, 0.5, 0.25, 2.5, 0.05, 0.3, 3e-15, 1.000000000001e-15, 1e15]
)


def rounded(text, base, half):
    """The multiple next to a number as it is written, by fractions alone."""
    step = Fraction(str(base))
    below = Fraction(text) // step * step
    above = below + step
    distances = Fraction(text) - below, above - Fraction(text)
    if distances[0] != distances[1]:
        return below if distances[0] < distances[1] else above
    if half == "up":
        return max(below, above, key=abs)
    return below if below / step % 2 == 0 else above


@given(
    st.lists(
        st.one_of(st.floats(allow_nan=False, allow_infinity=False), st.integers(-10000, 10000).map(lambda n: n / 8)),
        min_size=1,
        max_size=8,
    ),
    st.lists(st.decimals(-10000, 10000, places=3), max_size=8),
    BASES,
    st.sampled_from(["even", "up"]),
)
@settings(max_examples=120)
def test_floats_and_decimals_become_the_multiple_next_to_what_is_written(floats, decimals, base, half):
    floats = floats + [float(each) for each in decimals]
    expected = [float(rounded(repr(value), base, half)) for value in floats]
    assert round_values(pd.Series(floats), base=base, half=half).tolist() == expected
    exact = round_values(pd.Series([*decimals, Decimal(1)]), base=base, half=half)
    assert [Fraction(each) for each in exact] == [rounded(str(each), base, half) for each in [*decimals, 1]]


@given(
    st.lists(st.one_of(st.integers(-(10**18), 10**18), st.integers(-300, 300)), min_size=1, max_size=10),
    BASES,
    st.sampled_from(["even", "up"]),
)
@settings(max_examples=80)
def test_whole_numbers(values, base, half):
    if base < 1 or base == 2.5:
        values = [value % 10**9 for value in values]
    result = round_values(pd.Series(values), base=base, half=half)
    assert result.dtype == ("int64" if float(base).is_integer() else "float64")
    assert result.tolist() == [
        float(e) if result.dtype == float else e for e in (rounded(str(v), base, half) for v in values)
    ]


@pytest.mark.parametrize(
    ("values", "base", "half", "expected"),
    [
        ([2.675, 1.005, -2.675], 0.01, "up", [2.68, 1.01, -2.68]),
        ([2.665, 2.675], 0.01, "even", [2.66, 2.68]),
        ([85, 75, -85, -75], 10, "even", [80, 80, -80, -80]),
        ([85, 75, -85, -75], 10, "up", [90, 80, -90, -80]),
        ([0.25, 0.75], 0.5, "even", [0, 1]),
        ([12, 13, 37, 38], 25, "up", [0, 25, 25, 50]),
        ([149, 150, 250], 100, "even", [100, 200, 200]),
        ([1e308, 1.7976931348623157e308, 5e-324], 10, "up", [1e308, 1.7976931348623157e308, 0]),
    ],
)
def test_known_cases(values, base, half, expected):
    assert round_values(pd.Series(values), base=base, half=half).tolist() == expected


def test_no_sign_is_left_on_nothing():
    for series in (pd.Series([-0.2]), pd.Series([Decimal("-0.2")])):
        assert str(round_values(series)[0]).strip("0.") == ""


@pytest.mark.parametrize(
    ("dtype", "whole", "fractional"),
    [
        ("int8", "int64", "float64"),
        ("UInt8", "Int64", "Float64"),
        ("float32", "float64", "float64"),
        ("Float32", "Float64", "Float64"),
        ("int64[pyarrow]", "Int64", "Float64"),
        (object, object, object),
    ],
)
def test_types_that_come_out(dtype, whole, fractional):
    series = pd.Series([127, 3], index=["p", "q"], name="x", dtype=dtype)
    for base, expected in ((10, whole), (2.5, fractional)):
        result = round_values(series, base=base)
        assert result.dtype == expected and result.index.equals(series.index) and result.name == "x"
    assert round_values(series, base=10).tolist() == [130, 0]


def test_gaps_stay_and_the_default_is_half_even():
    assert round_values(pd.Series([0.5, 1.5, np.nan])).fillna(-1).tolist() == [0, 2, -1]
    assert round_values(pd.Series([5, None], dtype="Int64"), base=10).fillna(-1).tolist() == [0, -1]
    assert round_values(pd.Series([Decimal("0.5"), None]), half="up").fillna(-1).tolist() == [Decimal(1), -1]


@pytest.mark.parametrize("options", [{"base": b} for b in (0, -1, "1", True, None, np.nan, 1e-300, 1e300)])
def test_bases_that_are_none_are_refused(options):
    with pytest.raises(OptionError, match="base must"):
        round_values(pd.Series([1]), **options)


@pytest.mark.parametrize("half", ["down", None, ["up"]])
def test_other_rules_for_halves_are_refused(half):
    with pytest.raises(OptionError, match="half must be even or up"):
        round_values(pd.Series([1]), half=half)


def test_whole_numbers_that_64_bits_might_not_hold_are_refused():
    with pytest.raises(DataError, match="row 0: .*beyond"):
        round_values(pd.Series([2**63 - 1]), base=10)
