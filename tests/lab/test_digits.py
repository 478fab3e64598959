"""Numbers and shares in words: what differs looks different, and in the right order."""

import math
from decimal import Decimal

import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kanon_lab.digits import number, percent, rounded

SHARES = st.floats(0, 1)
NEAR = SHARES.flatmap(lambda a: st.tuples(st.just(a), st.sampled_from([math.nextafter(a, 0), math.nextafter(a, 1)])))


def read(text: str) -> Decimal:
    assert text.endswith("%")
    return Decimal(text[:-1].replace(",", ""))


@given(st.one_of(st.tuples(SHARES, SHARES), NEAR))
@example((0.000121, 0.0001))
@example((0.99996, 1.0))
@example((0.0, 5e-324))
@example((0.0995, 0.09949999999999999))
def test_shares_that_differ_look_different_and_in_order(pair):
    a, b = pair
    one, other = read(percent(a, b)), read(percent(b, a))
    assert (one < other) == (a < b) and (one > other) == (a > b)
    assert (percent(a, b) == percent(b, a)) == (a == b)


@given(SHARES.filter(lambda share: share == 0 or share > 1e-300))  # the least floats have not three digits themselves
def test_a_share_is_told_to_three_digits_and_only_all_is_all(share):
    text = percent(share, 0)
    assert (text == "0%") == (share == 0) and (text == "100%") == (share == 1)
    assert abs(read(text) - Decimal(share) * 100) <= Decimal(share) * Decimal("0.501")
    assert len(text.rstrip("%").replace(".", "").lstrip("0") or "0") >= 1


@given(st.floats(-1e9, 1e9), st.floats(-1e9, 1e9))
def test_numbers_that_differ_look_different_and_in_order(a, b):
    one, other = (Decimal(number(*pair).replace(",", "")) for pair in ((a, b), (b, a)))
    assert (one < other) == (a < b) and (one > other) == (a > b)


@given(st.integers(-(10**15), 10**15))
def test_whole_numbers_stay_whole(value):
    assert number(value) == f"{value:,}"


@pytest.mark.parametrize(
    ("share", "beside", "text"),
    [
        (0.000121, (), "0.0121%"),
        (0.000121, (0.0001,), "0.0121%"),
        (0.0001, (0.000121,), "0.01%"),
        (0.05004, (0.05,), "5.004%"),
        (0.99996, (), "99.996%"),
        (0.5, (0.5,), "50%"),
        (0.03125, (), "3.13%"),
        (2.5, (), "250%"),
        (1e-12, (), "under 0.0000001%"),
        (1e-12, (2e-12,), "1e-10%"),
        (-0.0, (), "0%"),
        (None, (), "unknown"),
        (pd.NA, (), "unknown"),
        (math.nan, (0.5,), "unknown"),
        (0.5, (None, math.nan, math.inf), "50%"),
        (math.inf, (), "infinite"),
    ],
)
def test_shares_in_words(share, beside, text):
    assert percent(share, *beside) == text


def test_a_table_takes_the_number():
    assert f"{rounded(0.000121, power=2):f}" == "0.0121" and rounded(123456.7, digits=2) == Decimal("123457")


def test_a_half_as_it_is_written_is_rounded_up():
    # 65, 145 and 229 of 400: the binary fraction next to .3625 lies below it.
    assert [percent(n / 400) for n in (65, 145, 229)] == ["16.3%", "36.3%", "57.3%"]
