"""Bounds of population uniques: the confidence set against exact tails, the programs against others, coverage."""

import math

import numpy as np
import pandas as pd
import pytest
from cases import others_slow
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import LinearConstraint, milp
from scipy.stats import binom

from kanon_lab.errors import DataError, OptionError
from kanon_lab.roles import KeySpec
from kanon_lab.sample import METHODS, bound_uniques, population_uniques, programs
from kanon_lab.sample.programs import COUNTED, Knowledge, count_limits, fewest_and_most, moves_of_fixed


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.floats(0.001, 1), min_size=1, max_size=40),
    st.sampled_from([0, 1, 30, np.inf]),
    st.sampled_from([0.2, 0.05, 0.001]),
)
def test_limits_miss_the_mean_of_a_sum_of_indicators_no_more_often_than_they_may(chances, more, chance):
    exact = np.ones(1)
    for p in chances:
        exact = np.convolve(exact, [1 - p, p])
    seen = np.arange(len(exact))
    low, high = count_limits(seen, len(chances) + more, chance)
    assert exact[low > sum(chances) + 1e-9].sum() <= chance + 1e-9
    assert exact[high < sum(chances) - 1e-9].sum() <= chance + 1e-9
    assert (np.diff(low) >= 0).all() and (np.diff(high) >= 0).all()


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(1, 6), min_size=2, max_size=25), st.integers(1, 3), st.floats(0.05, 0.95))
def test_limits_of_a_sample_of_fixed_size_miss_no_more_often_either(classes, j, share):
    persons = sum(classes)
    n = max(round(share * persons), 1)
    ways = np.zeros((n + 1, len(classes) + 1))  # of samples of so many persons in which so many classes have j records
    ways[0, 0] = 1
    for size in classes:
        before, ways = ways, np.zeros_like(ways)
        for drawn in range(min(size, n) + 1):
            moved = np.roll(before, drawn == j, axis=1) if drawn == j else before
            ways[drawn:] += math.comb(size, drawn) * moved[: n + 1 - drawn]
    chances = ways[n] / math.comb(persons, n)
    mean = sum(float(binom.pmf(j, size, n / persons)) for size in classes)
    for chance in (0.2, 0.02):
        low, high = count_limits(np.arange(len(chances)), float(persons // j), chance, moves_of_fixed(n, persons))
        assert chances[low > mean + 1e-9].sum() <= chance + 1e-9
        assert chances[high < mean - 1e-9].sum() <= chance + 1e-9


@settings(max_examples=20, deadline=None)
@given(st.integers(1, 400), st.integers(0, 60), st.floats(0.01, 0.95))
def test_chances_of_a_range_of_sizes_are_those_at_its_worst(low, more, fraction):
    columns = programs._Columns(np.zeros(1), np.array([float(low)]), np.array([float(low + more)]))
    smallest, largest = programs._chances(columns, fraction)
    sizes = np.arange(low, low + more + 1)
    each = [*(binom.pmf(j, sizes, fraction) for j in range(1, COUNTED + 1)), binom.sf(COUNTED, sizes, fraction)]
    np.testing.assert_allclose(smallest[:, 0], [values.min() for values in each], atol=1e-12)
    np.testing.assert_allclose(largest[:, 0], [values.max() for values in each], atol=1e-12)


def by_milp(sizes, fraction, chance, total):
    """The same two programs, set up size by size, whole numbers of classes asked for."""
    each = chance / 2 / (COUNTED + 2)
    k = np.arange(1, total + 1)
    rows, low, high = [k], [total], [total]
    for j in range(1, COUNTED + 2):
        seen = (sizes == j).sum() if j <= COUNTED else (sizes > COUNTED).sum()
        ends = count_limits(np.array(seen), float(max(total // j, seen)), each)
        rows.append(binom.pmf(j, k, fraction) if j <= COUNTED else binom.sf(COUNTED, k, fraction))
        low.append(ends[0])
        high.append(ends[1])
        if j > 1:
            rows.append((k >= j) * k)
            low.append(sizes[sizes >= j].sum())
            high.append(np.inf)
    allowed = LinearConstraint(np.array(rows, dtype=float), low, high)
    ends = []
    for whole in (0, 1):
        solved = [milp(sign * (k == 1), constraints=allowed, integrality=whole * np.ones(total)) for sign in (1, -1)]
        ends.append((solved[0].fun, -solved[1].fun))
    return ends


@pytest.mark.parametrize(("fraction", "seed"), others_slow([(0.6, 3), (0.1, 1), (0.3, 2), (0.9, 4)]))
def test_bounds_are_those_of_another_program_and_hold_those_of_whole_numbers(fraction, seed):
    rng = np.random.default_rng(seed)
    classes = rng.choice([1, 1, 1, 2, 2, 3, 5, 9], 25)
    sizes = rng.binomial(classes, fraction)
    low, high = fewest_and_most(
        sizes, np.zeros_like(sizes), fraction, 0.05, Knowledge(int(classes.sum()), np.ones(1, dtype=int))
    )
    linear, whole = by_milp(sizes, fraction, 0.05, int(classes.sum()))
    assert low == max(np.ceil(linear[0] - 1e-6), 0) and high == np.floor(linear[1] + 1e-6)
    assert low <= whole[0] + 1e-6 and whole[1] <= high + 1e-6
    assert low <= (classes == 1).sum() <= high


def test_ranges_of_sizes_make_the_bounds_wider_and_hardly(monkeypatch):
    rng = np.random.default_rng(5)
    classes = np.unique(np.concatenate([rng.geometric(0.3, 2000), rng.integers(1, 600, 60)]), return_counts=True)
    classes = np.repeat(*classes)
    sizes = rng.binomial(classes, 0.2)
    exact = {"persons": int(classes.sum()), "fraction": 0.2, "methods": "tangent"}
    coarse = bound_uniques(sizes, **exact)
    monkeypatch.setattr(programs, "_SINGLE", 3000)
    fine = bound_uniques(sizes, **exact)
    assert coarse.low <= fine.low <= fine.high <= coarse.high < fine.high * 1.01 + 1


@pytest.mark.parametrize("scheme", others_slow(["bernoulli", "fixed"]))
def test_the_truth_lies_within_at_least_as_often_as_it_should(scheme):
    rng = np.random.default_rng(6)
    classes = np.concatenate([np.ones(60, int), np.full(40, 2), np.full(20, 5), rng.integers(6, 60, 10)])
    person, inside = np.repeat(np.arange(len(classes)), classes), 0
    for _ in range(20):
        n = len(person) // 2
        drawn = rng.permutation(person)[:n] if scheme == "fixed" else person[rng.random(len(person)) < 0.5]
        bounds = bound_uniques(np.bincount(drawn), fraction=0.5, persons=len(person), scheme=scheme, methods="tangent")
        inside += bounds.low <= 60 <= bounds.high
        assert bounds.high < len(person)
    assert inside >= 19


def test_a_fixed_number_of_records_is_bounded_more_widely():
    sizes = [1] * 30 + [2] * 15 + [3] * 8 + [4] * 4
    free = bound_uniques(sizes, fraction=0.1, persons=1000)
    fixed = bound_uniques(sizes, fraction=0.1, scheme="fixed")
    assert fixed.persons == 1000 and fixed.low <= free.low and fixed.high > free.high
    assert bound_uniques(sizes, fraction=0.1).high >= free.high
    assert bound_uniques(sizes, fraction=0.1, persons=1000, confidence=0.5).high < free.high


def test_models_are_those_of_population_uniques_and_inside_says_where_they_lie():
    sizes = [1] * 60 + [2] * 10 + [4] * 5
    bounds = bound_uniques(sizes, fraction=0.25)
    estimates = population_uniques(sizes, fraction=0.25)
    assert bounds.models["method"].tolist() == list(METHODS)
    np.testing.assert_allclose(bounds.models["population_uniques"], estimates["population_uniques"])
    for row in bounds.models.itertuples():
        assert row.inside == (bounds.low <= row.population_uniques <= bounds.high)
    alone = bound_uniques([1] * 50, fraction=0.5, methods="pitman")
    assert alone.models["inside"].tolist() == [None] == [alone.to_dict()["models"][0]["population_uniques"]]


def a_population(seed=7):
    rng = np.random.default_rng(seed)
    people = pd.DataFrame({"town": rng.integers(0, 4, 1500), "age": rng.integers(0, 90, 1500), "sex": 0})
    return people.assign(sex=rng.integers(0, 2, 1500))


KEYS = ["town", "age", "sex"]


def true_uniques(people):
    return int((people.groupby(KEYS).size() == 1).sum())


def test_what_is_known_narrows_the_bounds_and_keeps_the_truth():
    people = a_population()
    truth, sample = true_uniques(people), people.sample(frac=0.3, random_state=1)
    margin = people.groupby(["town", "age"]).size().rename("persons").reset_index()
    free = bound_uniques(sample, KEYS, fraction=0.3, persons=1500)
    with_margin = bound_uniques(sample, KEYS, fraction=0.3, known=margin.astype({"town": str}))
    with_cells = bound_uniques(sample, KEYS, fraction=0.3, known=margin, cells=720)
    assert free.low <= with_margin.low <= truth <= with_cells.high <= with_margin.high <= free.high
    assert with_margin.low >= (margin["persons"] == 1).sum() and with_cells.high < free.high
    assert with_margin.persons == 1500


def test_the_least_size_of_a_class_holds_by_block():
    people = a_population()
    people["town"] = people["town"].where(people["age"] < 60, 9)
    people.loc[people["town"] < 2, "age"] //= 30
    truth, sample = true_uniques(people), people.sample(frac=0.3, random_state=2)
    least = people.groupby(KEYS).size().groupby("town").min().rename("least").reset_index()
    assert least["least"].max() > 3
    free = bound_uniques(sample, KEYS, fraction=0.3, persons=1500)
    bounds = bound_uniques(sample, KEYS, fraction=0.3, persons=1500, known=least)
    assert bounds.low <= truth <= bounds.high <= free.high
    of_all = people.groupby("town").size().rename("persons").reset_index().assign(least=2)
    paired = pd.concat([people, people])
    half = paired.sample(frac=0.5, random_state=1)
    of_all["persons"] *= 2
    assert bound_uniques(half, KEYS, fraction=0.5, known=of_all).high == 0
    of_all["least"] = range(5, 10)
    with pytest.raises(DataError, match="no population agrees with the sample"):
        bound_uniques(half, KEYS, fraction=0.5, known=of_all)


def test_weights_thin_the_sample_to_equal_chances():
    people = a_population()
    chance = np.where(people["age"] < 30, 0.8, 0.4)
    drawn = people.assign(w=1 / chance)[np.random.default_rng(8).random(1500) < chance]
    bounds = bound_uniques(drawn, KeySpec(KEYS, weight="w"), persons=1500, seed=1)
    assert bounds.fraction == pytest.approx(0.4) and bounds.records < len(drawn)
    assert bounds.records == pytest.approx(600, abs=80)
    assert bounds.low <= true_uniques(people) <= bounds.high
    assert "are kept" in bounds.notes[-1]
    assert bound_uniques(drawn.assign(w=2.5), KeySpec(KEYS, weight="w")).records == len(drawn)


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        (
            {"sizes": [1, 2], "fraction": 0.5, "confidence": 1},
            OptionError,
            "confidence must be a number above 0 and below 1",
        ),
        ({"sizes": [1, 2], "fraction": 0.5, "known": pd.DataFrame({"a": [1]})}, OptionError, "not for class sizes"),
        ({"sizes": [1, 2], "fraction": 0.5, "persons": 2}, OptionError, "persons must be a whole number from 3"),
        ({"spec": KEYS}, OptionError, "give the sampling fraction"),
        ({"spec": KeySpec(KEYS, weight="w"), "fraction": 0.5}, OptionError, "the weights in w say"),
        (
            {"spec": KEYS, "known": pd.DataFrame({"town": [0]})},
            DataError,
            "table 1 .*: needs one or more of the key variables",
        ),
        ({"spec": KEYS, "known": pd.DataFrame({"town": [0], "persons": [9999]})}, DataError, "in no block of it"),
        (
            {"spec": KEYS, "known": pd.DataFrame({"town": range(4), "persons": 9})},
            DataError,
            "column persons: row 0 .*fewer persons than the sample",
        ),
        (
            {"spec": KEYS, "known": pd.DataFrame({"town": [0, 0], "least": [1, 2]})},
            DataError,
            "two rows for the same block",
        ),
        ({"spec": KEYS, "known": pd.DataFrame({"town": [0], "least": [0.5]})}, DataError, "not a whole number from 1"),
        ({"spec": KEYS, "known": {"towns": pd.DataFrame({"town": [0], "least": [True]})}}, DataError, "towns: .*whole"),
        ({"spec": KEYS, "known": 3}, OptionError, "a DataFrame is needed, not int"),
        (
            {"spec": KEYS, "known": pd.DataFrame([[0, 1, 2]], columns=["town", "persons", "persons"])},
            DataError,
            "two columns of the same name",
        ),
        (
            {"spec": KEYS, "known": pd.DataFrame({"town": range(5), "persons": 999, "least": 1000})},
            DataError,
            "more persons in a class than in its block",
        ),
        ({"spec": KEYS, "persons": 99999}, DataError, "a fraction of 0.5 is about 50,000, .* 1,500 records"),
        (
            {"spec": KEYS, "persons": 1501, "known": pd.DataFrame({"town": range(4), "persons": 9999})},
            DataError,
            "different numbers of persons in all",
        ),
    ],
)
def test_what_does_not_fit_is_refused(arguments, error, text):
    arguments = {"sizes": a_population().assign(w=2.0), **arguments}
    if not {"fraction", "weight"} & {*arguments} and {"known", "persons"} & {*arguments}:
        arguments["fraction"] = 0.5
    with pytest.raises(error, match=text):
        bound_uniques(**arguments)


def test_a_key_variable_has_not_the_name_of_what_is_known():
    sample = pd.DataFrame({"persons": [1, 2] * 30, "age": range(60)})
    known = pd.DataFrame({"persons": [1, 2], "least": 1})
    with pytest.raises(DataError, match="persons is a key variable and what is known"):
        bound_uniques(sample, ["persons", "age"], fraction=0.5, known=known)


@pytest.mark.filterwarnings("error")
def test_chances_too_small_to_divide_by_bound_nothing():
    sample = pd.DataFrame({"a": [0] * 301})
    known = pd.DataFrame({"a": [0], "persons": 334, "least": 334})
    for confidence in (0.3, 0.95):
        bounds = bound_uniques(sample, ["a"], fraction=301 / 334, scheme="fixed", known=known, confidence=confidence)
        assert (bounds.low, bounds.high) == (0, 0)


def test_samples_at_the_edge_have_bounds_too():
    assert bound_uniques([1], fraction=0.5, scheme="fixed").high == 2
    assert bound_uniques([1.0, 2.0, 0.0], fraction=0.5).sample_uniques == 1
    everybody = bound_uniques([1, 1, 2], fraction=0.9, scheme="fixed", persons=4)
    assert everybody.low <= 2 <= everybody.high
    gaps = bound_uniques(pd.DataFrame({"a": [1, None] * 30}), ["a"], fraction=0.3)
    assert "a missing key is a value of its own" in gaps.notes[0]
