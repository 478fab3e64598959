"""Rank swapping: what it keeps, its definition step by step, and what is refused."""

import datetime
import math
import statistics
from collections import Counter
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import spearmanr

from kanon_lab.errors import DataError, OptionError, about
from kanon_lab.methods import KEEPS, rank_swap
from kanon_lab.methods.swapping import _partners


def ranks_of(value, values):
    """First and last rank that equal values have together."""
    below = sum(other < value for other in values)
    return below + 1, below + values.count(value)


@given(st.data())
def test_values_stay_ranks_move_within_the_window_and_gaps_stay(data):
    n = data.draw(st.integers(2, 40))
    values = data.draw(st.lists(st.one_of(st.none(), st.integers(0, 12)), min_size=n, max_size=n))
    stratum = data.draw(st.lists(st.sampled_from("ab"), min_size=n, max_size=n))
    percent = data.draw(st.integers(1, 100))
    parts = [[i for i in range(n) if stratum[i] == s and values[i] is not None] for s in "ab"]
    parts = [part for part in parts if part]
    frame = pd.DataFrame({"x": pd.array(values, dtype="Int64"), "s": stratum})
    if not parts or any(len({values[i] for i in part}) == 1 for part in parts):
        with pytest.raises(DataError):
            rank_swap(frame, "x", strata="s")
        return
    result = rank_swap(frame, "x", strata="s", window=percent / 100, seed=data.draw(st.integers(0, 99)))
    assert result.keeps == KEEPS["rank_swap"]["rank_swap"]
    after = [None if pd.isna(value) else value for value in result.frame["x"]]
    assert [v is None for v in after] == [v is None for v in values]
    windows = []
    for part in parts:
        before, now = [values[i] for i in part], [after[i] for i in part]
        assert Counter(before) == Counter(now)
        windows.append(max(1, math.floor(Fraction(percent, 100) * len(part))))
        for old, new in zip(before, now):
            (low, high), (first, last) = ranks_of(old, before), ranks_of(new, before)
            assert max(first - high, low - last) <= windows[-1]
    found = result.details["ranks"].loc[0]
    assert (found["records"], found["window_least"], found["window_most"]) == (
        sum(map(len, parts)),
        min(windows),
        max(windows),
    )
    assert found["left"] <= len(parts)


def pairings(left, window):
    """Every way in which ranks find partners, with its probability: straight from the definition."""
    if not left:
        return {frozenset(): Fraction(1)}
    rank, rest = left[0], left[1:]
    reach = [other for other in rest if other - rank <= window]
    found = Counter()
    for other in reach or [None]:
        for pairs, probability in pairings(tuple(r for r in rest if r != other), window).items():
            pair = frozenset() if other is None else frozenset([(rank, other)])
            found[pairs | pair] += probability / max(len(reach), 1)
    return found


@pytest.mark.parametrize(("records", "window"), [(1, 1), (2, 1), (5, 1), (5, 2), (6, 2), (6, 3), (7, 7), (5, 4)])
def test_partners_are_drawn_as_defined(records, window):
    expected, draws = pairings(tuple(range(records)), window), 4000
    rng = np.random.default_rng(records * 10 + window)
    found = Counter()
    for _ in range(draws):
        partner = _partners(records, window, rng).tolist()
        found[frozenset((a, b) for a, b in enumerate(partner) if a < b)] += 1
        assert all(partner[b] == a for a, b in enumerate(partner))
    assert set(found) <= set(expected)
    for pairs, probability in expected.items():
        error = math.sqrt(draws * probability * (1 - probability))
        assert abs(found[pairs] - draws * probability) <= 4.5 * error + 1e-9


def test_almost_everyone_finds_a_partner():
    for n in (1000, 1001):
        frame = pd.DataFrame({"x": np.random.default_rng(1).permutation(n)})
        for window in (0.0001, 0.01, 0.3, 1):
            result = rank_swap(frame, "x", window=window)
            assert result.details["ranks"]["left"][0] == (result.frame["x"] == frame["x"]).sum() <= 1 + n % 2
            assert result.cells["cells"][0] >= n - 2
            moved = (result.frame["x"] - frame["x"]).abs()
            assert moved.max() == max(1, int(window * n)) or window > 0.1


def test_the_wider_the_window_the_more_is_lost():
    rng = np.random.default_rng(2)
    frame = pd.DataFrame(rng.normal(size=(3000, 2)) @ [[1, 0.9], [0, 0.4]], columns=["x", "y"])
    own, pair = [], []
    for window in (0.01, 0.1, 0.5):
        result = rank_swap(frame, ["x", "y"], window=window)
        ranks = result.details["ranks"]
        expected = [spearmanr(frame[name], result.frame[name]).statistic for name in "xy"]
        assert ranks["rank_correlation"].tolist() == pytest.approx(expected)
        own.append(expected[0])
        pair.append(result.frame.corr().loc["x", "y"])
    assert 1 > own[0] > own[1] > own[2] and frame.corr().loc["x", "y"] > pair[1] > pair[2]


def test_which_of_equal_values_move_does_not_hang_on_the_order_of_records():
    frame = pd.DataFrame({"x": [0] * 30 + [1] * 30})
    moved = Counter()
    for seed in range(300):
        after = rank_swap(frame, "x", window=0.05, seed=seed).frame["x"]
        moved.update(np.flatnonzero(after != frame["x"]).tolist())
    # Each record is as likely to move as another one: its number of moves is binomial.
    expected = statistics.fmean(moved[i] for i in range(60))
    assert all(abs(moved[i] - expected) < 4.5 * math.sqrt(expected) for i in range(60))


DAYS = [datetime.date(2020, 1, day) for day in range(1, 21)]
COLUMNS = {
    "ordered": pd.Categorical(list("cabba") * 4, categories=["c", "a", "b", "unused"], ordered=True),
    "days": DAYS,
    "times": pd.to_datetime(DAYS),
    "months": pd.period_range("2020-01", periods=20, freq="M"),
    "whole": pd.array([*range(19), None], dtype="Int64"),
    "small": np.arange(20, dtype=np.int8),
    "decimals": [Decimal(i) / 7 for i in range(20)],
    "floats": np.linspace(0, 1, 20),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_whatever_has_an_order_is_swapped_and_keeps_its_type(name):
    frame = pd.DataFrame({name: COLUMNS[name]}, index=list("ab") * 10)
    before = frame.copy()
    result = rank_swap(frame, name, window=0.1, seed=3)
    pd.testing.assert_frame_equal(frame, before)
    after = result.frame[name]
    assert after.dtype == frame[name].dtype and after.index.equals(frame.index)
    assert result.cells["cells"][0] > 3
    assert Counter(after.dropna()) == Counter(frame[name].dropna())


def test_categories_are_ranked_in_their_own_order():
    """low, middle, high: by the alphabet high would stand next to low."""
    values = ["low"] * 40 + ["middle"] * 40 + ["high"] * 40
    frame = pd.DataFrame({"x": pd.Categorical(values, ["low", "middle", "high"], ordered=True)})
    after = rank_swap(frame, "x", window=0.1).frame["x"]
    pairs = set(zip(frame["x"], after))
    assert ("low", "middle") in pairs and not {("low", "high"), ("high", "low")} & pairs


def test_another_variable_changes_none_and_a_seed_says_it_all():
    frame = pd.DataFrame({"x": np.arange(50), "y": np.arange(50) % 7, "z": np.arange(50.0)})
    alone, both, again, other = (
        rank_swap(frame, names, seed=seed) for names, seed in (("x", 1), (["x", "z"], 1), (["x", "z"], 1), ("x", 2))
    )
    assert alone.frame["x"].equals(both.frame["x"]) and not alone.frame["x"].equals(other.frame["x"])
    assert (both.frame["x"] != both.frame["z"]).any()
    pd.testing.assert_frame_equal(both.frame, again.frame)
    pd.testing.assert_series_equal(both.frame["y"], frame["y"])
    assert (both.method, both.variables, both.strata, both.seed) == ("rank_swap", ("x", "z"), (), 1)


def test_who_knows_the_seed_swaps_back():
    frame = pd.DataFrame({"x": np.random.default_rng(5).permutation(200) ** 2})
    released = rank_swap(frame, "x", window=0.3, seed=9).frame["x"]
    partner = rank_swap(pd.DataFrame({"any": np.arange(200)}), "any", window=0.3, seed=9).frame["any"]
    back = np.sort(released)[partner[released.rank().astype(int) - 1]]
    assert (released != frame["x"]).all() and (back == frame["x"]).all()


@pytest.mark.parametrize("window", [0, -0.1, 1.01, math.nan, "5%", True, None])
def test_window_is_a_share(window):
    with pytest.raises(OptionError, match="^window must be a number above 0 and at most 1, not"):
        rank_swap(pd.DataFrame({"x": [1, 2]}), "x", window=window)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (
            ["a", "b", "c"],
            "column x: its values have no order to rank them by; make it ordered categories, or use pram",
        ),
        ([True, False, True], "column x: its values have no order"),
        (pd.Categorical([1, 2, 3]), "column x: its values have no order"),
        ([1, "b", 3], "column x: row 1: text, but numbers are needed"),
        ([1.0, 2.0, math.inf], "column x: row 2: a number that is infinite"),
        ([4.5, 4.5, None], "column x has the same value in every record; leave it out"),
        ([None, None, None], "column x has no value; leave it out"),
        ([], "column x has no value; leave it out"),
    ],
)
def test_bad_columns_in_one_line(values, message):
    with pytest.raises(DataError, match=f"^the file: {message}") as caught, about("the file"):
        rank_swap(pd.DataFrame({"x": values}), "x")
    assert "\n" not in str(caught.value) and "4.5" not in str(caught.value)


def test_bad_names_strata_and_seeds_in_one_line():
    frame = pd.DataFrame({"x": [1, 2, 3, 3], "s": ["a", "a", "b", "b"], "gap": ["a", None, "a", "a"]})
    with pytest.raises(DataError, match="column x has the same value in every record in 1 of 2 strata; join strata"):
        rank_swap(frame, "x", strata="s")
    with pytest.raises(DataError, match="column gap: row 1: no stratum"):
        rank_swap(frame, "x", strata=["s", "gap"])
    with pytest.raises(DataError, match="column xx is not there; did you mean x"):
        rank_swap(frame, "xx")
    with pytest.raises(OptionError, match="seed must be"):
        rank_swap(frame, "x", seed=1.5)
    with pytest.raises(OptionError, match="x is named twice"):
        rank_swap(frame, ["x", "x"])
    with pytest.raises(OptionError, match="name at least one variable"):
        rank_swap(frame, [])


def test_the_window_is_of_the_ranks_of_a_stratum_and_not_of_those_of_the_file():
    """Ten values of one stratum have nearly a thousand of the other between them."""
    values = [*np.linspace(0, 1000, 10), *np.linspace(450, 550, 990)]
    frame = pd.DataFrame({"x": values, "s": ["spread"] * 10 + ["bunched"] * 990})
    result = rank_swap(frame, "x", window=0.1, strata="s")
    moved = (result.frame["x"].rank() - frame["x"].rank()).abs()
    within = (result.frame.groupby("s")["x"].rank() - frame.groupby("s")["x"].rank()).abs()
    assert within.groupby(frame["s"]).max().to_dict() == {"bunched": 99, "spread": 1}
    assert moved[frame["s"] == "spread"].max() > 900
