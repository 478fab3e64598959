"""The subsample study of one file."""

from itertools import combinations, product
from math import floor

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon_book.studies.garin import taula
from kanon_lab.classes import class_table
from kanon_lab.errors import DataError, OptionError, about
from kanon_lab.roles import KeySpec
from kanon_lab.sample import SubsampleRisk, subsample_risk
from kanon_lab.sample.study import _notes
from kanon_lab.sample.subsamples import COUNTS, Design, Uniques, count_subsamples

N1, F = 245_944, 0.0406235  # section 4.1; one of the fractions that explain all nine figures (FINDINGS)


def a_sample(records=2000, seed=1):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "region": rng.choice(["north", "south", "west"], records),
            "age": rng.integers(0, 90, records),
            "job": rng.integers(0, 12, records),
            "w": rng.choice([1.0, 4.0, 12.5], records),
        }
    )


def compatible(one, other):
    return all(a is None or b is None or a == b for a, b in zip(one, other, strict=True))


def counts_by_hand(rows, drawn):
    """`COUNTS` of one subsample, by comparing every record with every other."""

    def alone(i, among):
        return not any(i != j and compatible(rows[i], rows[j]) for j in among)

    u2 = [i for i in drawn if alone(i, drawn)]
    u = [i for i in u2 if alone(i, range(len(rows)))]
    return [len(drawn), len(u2), len(u)]


KEYS = st.tuples(st.sampled_from("ab"), st.sampled_from([0, 1, None]))
FILES = st.lists(KEYS, min_size=1, max_size=7)


def uniques_of(rows, weights=None):
    frame = pd.DataFrame(rows, columns=["x", "y"]).astype({"x": "str", "y": "Int64"})
    spec = KeySpec(["x", "y"], weight=None if weights is None else "w")
    return Uniques(class_table(frame.assign(w=weights or 1.0), spec))


@given(FILES, st.sampled_from([0.1, 0.5, 0.83]))
def test_expected_counts_are_the_mean_over_all_bernoulli_subsamples(rows, f):
    expected = np.zeros(len(COUNTS))
    for chosen in product([False, True], repeat=len(rows)):
        drawn = [i for i, taken in enumerate(chosen) if taken]
        chance = f ** len(drawn) * (1 - f) ** (len(rows) - len(drawn))
        expected += chance * np.array(counts_by_hand(rows, drawn))
    found = uniques_of(rows).expected(Design(len(rows), f, "bernoulli", 1, 0))
    assert [found[name] for name in COUNTS] == pytest.approx(expected)


@given(FILES, st.floats(0.01, 0.99))
def test_expected_counts_are_the_mean_over_all_subsamples_of_fixed_size(rows, f):
    design = Design(len(rows), f, "fixed", 1, 0)
    drawn = list(combinations(range(len(rows)), design.size))
    expected = np.mean([counts_by_hand(rows, each) for each in drawn], axis=0)
    found = uniques_of(rows).expected(design)
    assert [found[name] for name in COUNTS] == pytest.approx(expected)


@given(st.lists(st.tuples(KEYS, st.sampled_from([1.0, 1.5, 4.0])), min_size=1, max_size=6))
def test_expected_counts_are_the_mean_over_all_weighted_subsamples(records):
    rows, weights = zip(*records, strict=True)
    expected = np.zeros(len(COUNTS))
    for chosen in product([False, True], repeat=len(rows)):
        chance = np.prod([1 / w if taken else 1 - 1 / w for w, taken in zip(weights, chosen, strict=True)])
        drawn = [i for i, taken in enumerate(chosen) if taken]
        expected += chance * np.array(counts_by_hand(rows, drawn))
    found = uniques_of(rows, weights).expected(Design(len(rows), np.nan, "bernoulli", 1, 0, weights=np.array(weights)))
    assert [found[name] for name in COUNTS] == pytest.approx(expected)


@given(st.lists(st.tuples(KEYS, st.sampled_from([1.0, 2.5])), min_size=1, max_size=12), st.data())
def test_counts_of_a_subsample_are_those_by_hand(records, data):
    rows, weights = zip(*records, strict=True)
    drawn = data.draw(st.lists(st.integers(0, len(rows) - 1), unique=True))
    expected = counts_by_hand(rows, drawn)
    assert list(uniques_of(rows, weights).count(np.array(drawn, dtype=int))) == expected
    assert list(uniques_of(rows).count(np.array(drawn, dtype=int))) == expected


@pytest.mark.parametrize(("u1", "u2", "u", "printed"), list(taula().itertuples(index=False, name=None)))
def test_the_formulas_give_taula_1(u1, u2, u, printed):
    """Garín i Ramírez (1996), Taula 1: u1, u2, u and p(identification) in per cent, as printed."""
    draws = pd.DataFrame({"repeat": [1], "n2": [9991], "u2": [u2], "u": [u]})
    risk = SubsampleRisk((), N1, u1, F, 1.0, "bernoulli", 1, 0, "wildcard", None, draws, {}, ())
    assert risk.p_b == F
    assert risk.p_c == pytest.approx((u1 / N1) * (u / u2))
    assert risk.p_d == pytest.approx(u / u2)
    whole, decimals = printed.rstrip("%").split(",")
    # It truncates.
    assert floor(risk.p_identification * 100 * 10 ** len(decimals)) == int(whole + decimals)


@pytest.mark.parametrize("scheme", ["bernoulli", "fixed"])
def test_means_over_many_subsamples_are_the_expected_ones(scheme):
    risk = subsample_risk(a_sample(), ["region", "age", "job"], fraction=0.2, repeats=400, scheme=scheme)
    for name in ("n2", "u2", "u"):
        error = risk.spread.at[name, "sd"] / 400**0.5
        assert abs(getattr(risk, name) - risk.expected[name]) <= 4 * error + 1e-9
    for name in ("p_c", "p_d", "p_identification"):
        assert getattr(risk, name) == pytest.approx(risk.expected[name], rel=0.02)
    assert (risk.draws["n2"] == 400).all() == (scheme == "fixed")


def test_means_over_many_weighted_subsamples_are_the_expected_ones():
    risk = subsample_risk(a_sample(), KeySpec(["region", "age", "job"], weight="w"), repeats=400)
    for name in ("n2", "u2", "u", "p_c", "p_d"):
        assert getattr(risk, name) == pytest.approx(risk.expected[name], rel=0.02)


def test_probabilities_are_those_of_the_mean_counts():
    frame = a_sample()
    risk = subsample_risk(frame, ["region", "age", "job"], fraction=0.1, repeats=7, p_a=0.2)
    u1 = int((frame.groupby(["region", "age", "job"])["w"].transform("size") == 1).sum())
    assert (risk.n1, risk.u1, risk.p_a, risk.p_b) == (2000, u1, 0.2, 0.1)
    assert risk.u2 == pytest.approx(risk.draws["u2"].mean())
    assert risk.p_c == pytest.approx(u1 / 2000 * risk.u / risk.u2)
    assert risk.p_identification == pytest.approx(0.2 * 0.1 * risk.p_c * risk.p_d)
    one = risk.draws.iloc[3]
    assert one["p_identification"] == pytest.approx(0.2 * 0.1 * u1 / 2000 * (one["u"] / one["u2"]) ** 2)
    low, high = np.quantile(risk.draws["u"], [0.025, 0.975])
    assert tuple(risk.spread.loc["u", ["q025", "q975"]]) == pytest.approx((low, high))


def test_equal_weights_give_what_a_fraction_gives():
    frame = a_sample().assign(w=5.0)
    weighted = subsample_risk(frame, KeySpec(["region", "age", "job"], weight="w"), repeats=3, seed=4)
    plain = subsample_risk(frame, ["region", "age", "job"], fraction=0.2, repeats=3, seed=4)
    for name in ("n1", "u1", "n2", "u2", "u", "p_b", "p_c", "p_d", "p_identification"):
        assert getattr(weighted, name) == pytest.approx(getattr(plain, name))
    assert weighted.expected == pytest.approx(plain.expected)


def test_with_weights_the_product_is_of_persons_who_are_in_the_sample_and_unique():
    """6,000 unique persons, half of them drawn, among 54,000 of large classes, of whom one in twenty is."""
    rng = np.random.default_rng(8)
    rare = np.arange(60_000) < 6_000
    population = pd.DataFrame({"key": np.where(rare, np.arange(60_000), rng.integers(60_000, 60_500, 60_000))})
    chance = np.where(rare, 1 / 2, 1 / 20)
    sample = population.assign(w=1 / chance)[rng.random(60_000) < chance]
    risk = subsample_risk(sample, KeySpec(["key"], weight="w"))
    assert risk.p_b == pytest.approx(len(sample) / sample["w"].sum())
    assert risk.p_c == pytest.approx(risk.u1 / risk.n1 * risk.p_d)
    # 3,000 persons of 60,000 are in the sample and unique; those of large classes seem so too seldom to matter.
    assert risk.expected["p_c"] * risk.p_b == pytest.approx(3_000 / 60_000, rel=0.1)


def test_a_whole_population_is_its_own_subsample():
    risk = subsample_risk(a_sample().assign(w=1), KeySpec(["age", "job"], weight="w"))
    assert risk.n1 == risk.n2 == risk.expected["n2"]
    assert risk.u1 == risk.u2 == risk.u
    assert (risk.p_b, risk.p_d) == (1, 1)
    assert risk.p_c == pytest.approx(risk.u1 / risk.n1)


def test_weights_that_differ_make_the_step_to_the_subsample_too_short():
    """One population, sampled evenly or by strata: with like weights like estimates, else higher ones and a note."""
    rng = np.random.default_rng(3)
    stratum = rng.choice(3, 60_000, p=[0.6, 0.3, 0.1])
    population = pd.DataFrame({"age": rng.integers(0, 90, 60_000), "job": rng.zipf(1.6, 60_000) % 300})
    found = {}
    for chances in ([0.1, 0.1, 0.1], [0.08, 0.12, 0.16], [0.06, 0.1, 0.34]):
        chance = np.array(chances)[stratum]
        sample = population.assign(w=1 / chance)[rng.random(60_000) < chance]
        found[chances[-1]] = subsample_risk(sample, KeySpec(["age", "job"], weight="w"))
    even, alike, apart = found.values()
    assert alike.expected["p_c"] == pytest.approx(even.expected["p_c"], rel=0.05)
    assert apart.expected["p_c"] > 1.1 * even.expected["p_c"]
    assert apart.expected["n2"] / apart.n1 > 1.5 * apart.p_b
    assert (even.notes, alike.notes) == ((), ())
    assert "the weights differ so much that a subsample has 16." in apart.notes[0]


def test_a_seed_decides_and_more_repeats_keep_the_first_ones():
    frame, keys = a_sample(), ["age", "job"]
    few, many = (subsample_risk(frame, keys, fraction=0.3, repeats=repeats, seed=8) for repeats in (2, 5))
    pd.testing.assert_frame_equal(few.draws, many.draws[:2])
    assert not few.draws.equals(subsample_risk(frame, keys, fraction=0.3, repeats=2, seed=9).draws)
    assert few.to_dict()["seed"] == 8


def test_a_subsample_without_unique_records_leaves_the_conditions_unknown():
    risk = subsample_risk(pd.DataFrame({"a": [1] * 200}), ["a"], fraction=0.5)
    assert risk.u2 == 0
    assert np.isnan([risk.p_c, risk.p_d, risk.p_identification]).all()
    found = risk.to_dict()
    assert found["p_c"] is found["p_identification"] is found["spread"]["p_d"]["min"] is None
    assert "too few unique records" in risk.notes[0]


@pytest.mark.parametrize(
    ("u2", "u", "warned"), [(49, 40, True), (60, 30, False), (400, 15, True), (400, 16, False), (90, 0, True)]
)
def test_the_warning_follows_its_rule(u2, u, warned):
    """u2 below 50, no u, or a relative standard error sqrt(1/u - 1/u2) above 0.25."""
    draws = pd.DataFrame({"u2": [u2], "u": [u]})
    assert bool(list(_notes(draws, Design(1000, 0.1, "bernoulli", 1, 0), 0.1))) == warned


def test_a_fixed_number_that_is_rounded_up_is_no_matter_of_weights():
    risk = subsample_risk(a_sample(120), ["age"], fraction=0.005, scheme="fixed")
    assert risk.n2 == 1
    assert len(risk.notes) == 1


def test_missing_keys_are_wildcards_categories_or_errors():
    frame = a_sample().assign(job=lambda f: f["job"].astype("Int64").mask(f.index % 50 == 0))
    risks = {
        missing: subsample_risk(frame, KeySpec(["region", "age", "job"], missing=missing), fraction=0.5, repeats=30)
        for missing in ("wildcard", "category")
    }
    for risk in risks.values():
        assert risk.u2 == pytest.approx(risk.expected["u2"], rel=0.02)
    assert risks["wildcard"].u1 < risks["category"].u1
    with pytest.raises(DataError, match=r"row \d+ .*missing value in column job"):
        subsample_risk(frame, KeySpec(["age", "job"], missing="error"), fraction=0.5)


def test_the_frame_stays_as_it_was_and_its_index_does_not_matter():
    frame = a_sample()
    before = frame.copy(deep=True)
    one = subsample_risk(frame, ["age", "job"], fraction=0.2)
    other = subsample_risk(frame.set_axis(["same"] * 2000), ["age", "job"], fraction=0.2)
    pd.testing.assert_frame_equal(frame, before)
    pd.testing.assert_frame_equal(one.draws, other.draws)


@pytest.mark.parametrize("fraction", [0, 1, -0.1, 1.5, float("nan"), float("inf"), True, "0.04", [0.04]])
def test_a_fraction_out_of_its_range_is_refused(fraction):
    with pytest.raises(OptionError, match="fraction must be a number from 1e-9 to below 1, not"):
        subsample_risk(a_sample(), ["age"], fraction=fraction)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "fraction: give the sampling fraction"),
        ({"fraction": 0.1, "repeats": 0}, "repeats must be a whole number from 1 to 100,000"),
        ({"fraction": 0.1, "repeats": True}, "repeats must be a whole number from 1 to 100,000"),
        ({"fraction": 0.1, "seed": -1}, "seed must be a whole number"),
        ({"fraction": 0.1, "scheme": "poisson"}, "scheme must be bernoulli or fixed, not text"),
        ({"fraction": 0.1, "p_a": 1.2}, "p_a must be a number from 0 to 1, not 1.2"),
        ({"spec": KeySpec(["age"], weight="w"), "fraction": 0.1}, "fraction: the weights in w say"),
        ({"spec": KeySpec(["age"], weight="w"), "scheme": "fixed"}, "scheme fixed: .* not for weights"),
    ],
)
def test_other_arguments_are_refused(options, message):
    with pytest.raises(OptionError, match=message):
        subsample_risk(a_sample(), options.pop("spec", ["age"]), **options)


def test_data_that_cannot_be_used_are_refused():
    frame = a_sample()
    with pytest.raises(DataError, match=r"survey: column agee is not there; did you mean age\?"), about("survey"):
        subsample_risk(frame, ["agee"], fraction=0.1)
    with pytest.raises(DataError, match="survey: has 99 records; .* 100 or more"), about("survey"):
        subsample_risk(frame[:99], ["age"], fraction=0.1)
    with pytest.raises(OptionError, match="a DataFrame is needed, not list"):
        subsample_risk([1, 2], ["age"], fraction=0.1)
    light = frame.assign(w=np.where(frame["age"] == 30, 0.5, 2)).set_axis(range(10, 2010))
    with pytest.raises(DataError, match=r"column w: row \d+ \(and \d+ more\): a weight below 1;"):
        subsample_risk(light, KeySpec(["age"], weight="w"))


def test_the_same_subsamples_are_counted_under_every_key():
    frame = a_sample()
    each = [Uniques(class_table(frame, keys)) for keys in (["age"], ["age", "job"])]
    design = Design(len(frame), 0.3, "bernoulli", 2, 5)
    together = count_subsamples(each, design)
    assert together.shape == (2, 2, len(COUNTS))
    assert (together[0] == count_subsamples(each[:1], design)).all()
    assert (together[0, :, 0] == together[1, :, 0]).all()
