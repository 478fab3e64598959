"""The exact distribution of persons in a range of k: all draws of small cells, moments of large ones, simulation."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kanon_lab import load_counts
from kanon_lab.errors import OptionError
from kanon_lab.population import (
    anonymity,
    central_interval,
    distribution_in_range,
    parse_ranges,
    persons_in_ranges,
    simulate,
    variance_in_ranges,
)
from kanon_lab.population import exact as of_exact

RANGES = ["1", "2", "2-3", "3+", "1+", "7"]


def by_all_draws(n, chances, k_range):
    """Probability of each number of persons, from every way in which n persons are born."""
    (k_range,) = parse_ranges(k_range)
    last = np.inf if k_range.k_to is None else k_range.k_to
    result = np.zeros(n + 1)
    for births in product(range(len(chances)), repeat=n):
        k = np.bincount(births)
        result[k[(k >= k_range.k_from) & (k <= last)].sum()] += np.prod([chances[birth] for birth in births])
    return result


@settings(max_examples=15, deadline=None)
@given(st.lists(st.integers(0, 4), min_size=1, max_size=3), st.integers(1, 4), st.booleans(), st.sampled_from(RANGES))
def test_it_is_that_of_all_draws(cells, periods, equal, k_range):
    chances = np.full(periods, 1 / periods) if equal else np.arange(1, periods + 1) / (periods * (periods + 1) / 2)
    expected = np.ones(1)
    for n in cells:
        expected = np.convolve(expected, by_all_draws(n, chances, k_range))
    persons, probability = distribution_in_range(np.array(cells), periods if equal else chances, k_range)
    whole = np.zeros(sum(cells) + 1)
    whole[persons[persons < len(whole)]] = probability[persons < len(whole)]
    np.testing.assert_allclose(whole, expected, atol=1e-12)
    assert (np.diff(persons) > 0).all()


@pytest.mark.parametrize(("periods", "k_range"), [(1826, "1"), (1826, "2-3"), (60, "1"), (60, "5+"), (1826, "5")])
def test_its_moments_are_those_in_closed_form(periods, k_range):
    cells = np.array([3, 40, 40, 150, 300])
    persons, probability = distribution_in_range(cells, periods, k_range)
    mean = persons_in_ranges(cells, periods, k_range).sum()
    variance = variance_in_ranges(cells, periods, k_range).sum()
    assert probability.sum() == pytest.approx(1, abs=1e-10)
    assert persons @ probability == pytest.approx(mean, rel=1e-9, abs=1e-9)
    assert (persons - mean) ** 2 @ probability == pytest.approx(variance, rel=1e-7, abs=1e-7)


def test_a_window_has_the_mass_of_the_whole(monkeypatch):
    cells = np.full(60, 30)
    wide = distribution_in_range(cells, 60, "1")
    monkeypatch.setattr(of_exact, "_REACH", 100)
    whole = distribution_in_range(cells, 60, "1")
    assert len(wide[0]) < len(whole[0]) == 1801
    np.testing.assert_allclose(whole[1][wide[0]], wide[1], atol=1e-13)


@given(st.lists(st.floats(0.001, 1), min_size=1, max_size=30), st.sampled_from([0.5, 0.95]))
def test_a_central_interval_leaves_half_of_the_rest_on_either_side(weights, confidence):
    probability = np.array(weights) / sum(weights)
    persons = np.arange(len(probability)) * 3
    low, high = central_interval(persons, probability, confidence)
    tail = (1 - confidence) / 2 + 1e-9
    assert probability[persons < low].sum() <= tail and probability[persons > high].sum() <= tail
    assert probability[persons <= low].sum() > tail - 2e-9 and probability[persons >= high].sum() > tail - 2e-9


def test_exact_intervals_hold_where_the_normal_one_does_not():
    counts = load_counts("spain-2010")
    hamlet = counts[counts["place"] == "29S099"]
    asked = {"dates": ["day"], "ranges": "1,2,3+", "by": "municipality"}
    law = anonymity(hamlet, **asked, exact=True)
    assert law["interval"].tolist() == ["exact"] * 3
    assert law.drop(columns=["lower", "upper", "interval"]).equals(anonymity(hamlet, **asked))
    drawn = simulate(hamlet, **asked, repeats=1000, seed=3).merge(law[["k_from", "lower", "upper", "half_width"]])
    mean = drawn["k_from"].map(law.set_index("k_from")["persons"])
    exact = drawn["persons"].between(drawn["lower"], drawn["upper"]).groupby(drawn["k_from"]).mean()
    normal = (drawn["persons"] - mean).abs().le(drawn["half_width"]).groupby(drawn["k_from"]).mean()
    assert (exact > 0.95 - 0.015).all() and normal.min() < 0.89


def test_where_luck_is_a_matter_of_many_groups_the_normal_curve_is_taken():
    counts = load_counts("spain-2010")
    law = anonymity(counts[counts["place"] == "29025"], dates=["day"], ranges="1,7", exact=True)
    assert law["interval"].tolist() == ["normal", "exact"]
    many = law.iloc[0]
    assert (many["lower"], many["upper"]) == (
        np.floor(many["persons"] - many["half_width"]),
        np.ceil(many["persons"] + many["half_width"]),
    )
    assert (law["lower"] <= law["persons"]).all() and (law["persons"] <= law["upper"]).all()


def test_what_takes_too_long_or_does_not_go_together_is_refused(monkeypatch):
    counts = pd.DataFrame({"place": "01001", "name": "a", "province": "01", "persons": [5, 0, 9]})
    for options in ({"round_each_k": True}, {"spread": False}):
        with pytest.raises(OptionError, match="exact: intervals need the spread"):
            anonymity(counts, exact=True, **options)
    monkeypatch.setattr(of_exact, "MOST_TERMS_IN_ALL", 10)
    with pytest.raises(OptionError, match="choose fewer"):
        anonymity(counts, exact=True)
    with pytest.raises(OptionError, match="takes too long"):
        distribution_in_range([5, 9], 60, "1")


@pytest.mark.filterwarnings("error")
def test_ranges_that_nobody_or_everybody_is_in_are_quick_and_warn_of_nothing():
    assert distribution_in_range([10**6] * 3, 1826, "1")[0][0] == 0
    for k_range, persons in (("1-100000000000", 14), ("100000000000+", 0), ("10-12", 0)):
        numbers, probability = distribution_in_range([5, 9], 1, k_range)
        assert (numbers.tolist(), probability.tolist()) == ([persons], [1.0]) or probability[numbers == persons] > 0.999
    law = anonymity(
        pd.DataFrame({"place": "01001", "name": "a", "province": "01", "persons": [2000]}),
        dates={"once": 1},
        ranges="1,2,2000+",
        exact=True,
    )
    assert law["lower"].tolist() == law["upper"].tolist() == [0, 0, 2000]


def test_arguments_of_distributions_and_intervals_are_checked():
    with pytest.raises(OptionError, match="a single range of k"):
        distribution_in_range([3], 4, "1,2")
    with pytest.raises(OptionError, match="cells must be one list of whole numbers"):
        distribution_in_range([[3]], 4, "1")
    for persons, probability, confidence in (([], [], 0.9), ([1, 2], [1.0], 0.9), ([1], [1.0], 1), ([1], [1.0], "x")):
        with pytest.raises(OptionError):
            central_interval(np.array(persons), np.array(probability), confidence)


def test_empty_places_have_nobody_in_any_range():
    counts = pd.DataFrame({"place": "01001", "name": "a", "province": "01", "persons": [0, 0]})
    law = anonymity(counts, dates=["day"], ranges="1,2+,1+", exact=True)
    assert law[["lower", "upper"]].to_numpy().tolist() == [[0, 0]] * 3
