"""Indicators before and after a protection: overlap of their intervals, and what is lost."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kanon_lab.errors import OptionError
from kanon_lab.measures import Design, IndicatorSet, compare_indicators, indicator_loss, indicators
from kanon_lab.measures.survey_indicators import KEYS


def frame_of(rows):
    """Indicators of groups: name, estimate, lower, upper."""
    found = pd.DataFrame(rows, columns=["group", "estimate", "lower", "upper"])
    return found.assign(kind="mean", variable="y", category="", by="g")[[*KEYS, "estimate", "lower", "upper"]]


def overlaps(ones, others):
    sides = ([(f"g{i}", sum(ends) / 2, *ends) for i, ends in enumerate(side)] for side in (ones, others))
    return compare_indicators(*map(frame_of, sides))["overlap"].tolist()


ENDS = st.tuples(st.integers(-20, 20), st.integers(-20, 20)).map(lambda ends: tuple(map(float, sorted(ends))))


@settings(max_examples=15)
@given(st.lists(st.tuples(ENDS, ENDS), min_size=1, max_size=20), st.floats(0.01, 100))
def test_overlap_is_the_mean_share_of_two_lengths(pairs, scale):
    ones, others = zip(*pairs)
    found = overlaps(ones, others)
    for (one, other), share in zip(pairs, found):
        common = max(0.0, min(one[1], other[1]) - max(one[0], other[0]))
        meet = max(one[0], other[0]) <= min(one[1], other[1])
        shares = [common / (high - low) if high > low else float(meet) for low, high in (one, other)]
        assert share == pytest.approx(sum(shares) / 2) and 0 <= share <= 1
    assert found == overlaps(others, ones)
    scaled = [[(low * scale, high * scale) for low, high in side] for side in (ones, others)]
    assert found == pytest.approx(overlaps(*scaled))


@pytest.mark.parametrize(
    "one, other, expected",
    [
        ((0.0, 4.0), (0.0, 4.0), 1.0),
        ((0.0, 4.0), (2.0, 6.0), 0.5),
        ((0.0, 4.0), (1.0, 3.0), 0.75),  # all of one, half of the other
        ((0.0, 4.0), (4.0, 8.0), 0.0),
        ((0.0, 4.0), (5.0, 8.0), 0.0),
        ((0.0, 4.0), (3.0, 3.0), 0.5),  # a point within
        ((0.1 + 0.2, 0.1 + 0.2), (0.3, 0.3), 1.0),  # the same point, but for rounding
        ((3.0, 3.0), (4.0, 4.0), 0.0),
        # Far from 0 as near it.
        ((1e12 - 1, 1e12 + 1), (1e12 + 0.5, 1e12 + 2.5), 0.25),
        ((1e12 - 1, 1e12 + 1), (1e12 + 1.5, 1e12 + 2.5), 0.0),
        ((1e12 - 1, 1e12 + 1), (1e12 + 0.5, 1e12 + 0.5), 0.5),
        ((1e12, 1e12), (1e12 + 2, 1e12 + 2), 0.0),
        ((1e12, 1e12), (1e12, 1e12), 1.0),
    ],
)
def test_overlap_of_plain_cases(one, other, expected):
    assert overlaps([one], [other]) == [pytest.approx(expected)]


def test_each_indicator_is_compared_or_lost():
    before = frame_of([("a", 10.0, 8.0, 12.0), ("b", 0.0, -1.0, 1.0), ("c", -4.0, -6.0, -2.0), ("d", 5.0, 5.0, 5.0)])
    after = frame_of([("new", 1.0, 0.0, 2.0), ("c", -5.0, -7.0, -3.0), ("b", 2.0, 0.0, 4.0), ("a", 10.0, 8.0, 12.0)])
    compared = compare_indicators(before, after)
    assert compared["group"].tolist() == ["a", "b", "c", "d"]
    assert compared["status"].tolist() == ["compared", "compared", "compared", "lost"]
    np.testing.assert_allclose(compared["difference"], [0, 2, -1, np.nan])
    np.testing.assert_allclose(compared["relative_difference"], [0, np.nan, -0.25, np.nan])
    np.testing.assert_allclose(compared["overlap"], [1, 3 / 8, 3 / 4, np.nan])
    assert compared["covered"].tolist() == [True, False, True, pd.NA]
    assert indicator_loss(compared) == {
        **{"compared": 3, "lost": 1, "overlap_least": pytest.approx(3 / 8)},
        "overlap_all": pytest.approx((1 + 3 / 8 + 3 / 4 + 0) / 4),
        **{"overlap_mean": pytest.approx((1 + 3 / 8 + 3 / 4) / 3), "covered": pytest.approx(2 / 3)},
    }


def test_an_estimate_far_from_0_may_leave_its_interval():
    before = frame_of([(name, 1e12, 1e12 - 1, 1e12 + 1) for name in "abc"])
    after = frame_of([(name, 1e12 + far, 1e12, 1e12 + 3) for name, far in zip("abc", (0.5, 1, 1.5))])
    assert compare_indicators(before, after)["covered"].tolist() == [True, True, False]


def test_what_had_no_interval_is_not_weighed():
    nothing = math.nan, math.nan
    before = frame_of([(name, 5.0, 4.0, 6.0) for name in "abc"] + [(name, 5.0, *nothing) for name in "def"])
    after = frame_of([("a", 5.0, 4.0, 6.0), ("b", 5.0, *nothing), ("d", 5.0, *nothing), ("e", 5.0, 4.0, 6.0)])
    compared = compare_indicators(before, after)
    assert compared["status"].tolist() == ["compared", "compared", "lost"] * 2
    np.testing.assert_array_equal(compared["overlap"], [1, *[np.nan] * 5])
    assert compared["covered"].tolist() == [True, True, *[pd.NA] * 4]
    # c is lost and b has lost its interval: both count as no overlap. f is lost too, and had none.
    assert indicator_loss(compared) == {
        **{"compared": 4, "lost": 2, "overlap_all": pytest.approx(1 / 3)},
        **{"overlap_mean": 1.0, "overlap_least": 1.0, "covered": 1.0},
    }


def test_nothing_left_to_compare():
    before = frame_of([("a", 10.0, 8.0, 12.0)])
    lost = compare_indicators(before, pd.DataFrame({name: [] for name in before.columns}))
    nothing = {"overlap_mean": None, "overlap_least": None, "covered": None}
    assert indicator_loss(lost) == {"compared": 0, "lost": 1, "overlap_all": 0.0, **nothing}
    # Estimates without intervals, as of groups within one sampling unit.
    unknown = frame_of([("a", 10.0, math.nan, math.nan)])
    nothing["overlap_all"] = None
    assert indicator_loss(compare_indicators(unknown, unknown)) == {"compared": 1, "lost": 0, **nothing}
    assert indicator_loss(compare_indicators(before[:0], before)) == {"compared": 0, "lost": 0, **nothing}


def test_what_are_no_indicators_is_refused():
    good = frame_of([("a", 10.0, 8.0, 12.0)])
    with pytest.raises(OptionError, match="^after must be what indicators gives"):
        compare_indicators(good, good.drop(columns="lower"))
    with pytest.raises(OptionError, match="^before must be what indicators gives"):
        compare_indicators(pd.concat([good, good]), good)


def test_a_survey_before_and_after_protection(shared):
    original = pd.read_csv(shared("enusc-2019.csv.gz"))
    design = Design("Fact_Pers", "VarStrat", "Conglomerado")
    wanted = IndicatorSet({"VA_DC": [1]}, "rph_edad", ["enc_region", "rph_sexo"], design)
    before = indicators(original, wanted)

    def loss(released):
        now = indicators(released, wanted, design_from=original, absent="skip")
        return indicator_loss(compare_indicators(before, now))

    same = {"overlap_mean": 1.0, "overlap_least": 1.0, "covered": 1.0}
    assert loss(original.drop(columns=["VarStrat", "Conglomerado"])) == {
        "compared": 38,
        "lost": 0,
        "overlap_all": 1.0,
        **same,
    }
    # Without regions, or with bands of ages, the rest is as it was.
    assert loss(original.drop(columns="enc_region")) == {"compared": 6, "lost": 32, "overlap_all": 6 / 38, **same}
    bands = original.assign(rph_edad=(original["rph_edad"] // 15).astype(str) + " bands")
    assert loss(bands) == {"compared": 19, "lost": 19, "overlap_all": 0.5, **same}
    # The more households change places, the less is left of what tells regions apart.
    rng, worse = np.random.default_rng(3), [1.0]
    for share in (0.05, 0.4, 1.0):
        moved = np.flatnonzero(rng.random(len(original)) < share)
        released = original.copy()
        released.loc[moved, "VA_DC"] = original["VA_DC"].to_numpy()[rng.permutation(moved)]
        worse.append(loss(released)["overlap_mean"])
    assert worse == sorted(worse, reverse=True) and worse[-1] < 0.9
