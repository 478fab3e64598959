"""Ratios of complex surveys, against plain loops over units and against sums done by hand."""

import math
import statistics

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, t

from kanon_lab.errors import DataError, OptionError, about
from kanon_lab.measures import Design
from kanon_lab.measures.survey_design import Domains, Survey, mean_interval, rate_interval, ratios

SURVEY = Design("w", ("stratum",), "unit")
#: Stratum, unit, weight, group (None: in none), value.
RECORD = st.tuples(
    st.sampled_from("AB"),
    st.integers(1, 3),
    st.sampled_from([0.5, 1.0, 2.0, 7.25]),
    st.sampled_from([0, 1, None]),
    st.sampled_from([-3.0, 0.0, 1.0, 1.5, 40.0]),
)
RECORDS = st.lists(RECORD, min_size=1, max_size=14)


def frame_of(records):
    return pd.DataFrame(records, columns=["stratum", "unit", "w", "group", "y"])


def estimated(records, design=SURVEY, groups=2):
    """Estimate, standard error, degrees of freedom and lone strata of each group."""
    frame = frame_of(records)
    survey = Survey(frame, design)
    within = Domains(survey, frame["group"].fillna(-1).to_numpy(dtype=np.int64), groups)
    estimate, se = ratios(within, frame["y"].to_numpy(dtype=float))
    return [tuple(map(float, row)) for row in zip(estimate, se, within.df, within.lone)]


def by_hand(records, group):
    """The same of one group, unit by unit, in the words of the formula."""
    mine = [record for record in records if record[3] == group]
    if not mine:
        return math.nan, math.nan, 0, 0
    total = sum(w for _, _, w, _, _ in mine)
    mean = sum(w * y for _, _, w, _, y in mine) / total
    units = {(stratum, unit): 0.0 for stratum, unit, *_ in records}
    for stratum, unit, w, _, y in mine:
        units[stratum, unit] += w * (y - mean) / total
    grand_mean = sum(units.values()) / len(units)
    variance, lone = 0.0, set()
    for stratum in {stratum for stratum, _ in units}:
        z = [value for (own, _), value in units.items() if own == stratum]
        if len(z) == 1:
            variance += (z[0] - grand_mean) ** 2
            lone.add(stratum)
        else:
            variance += len(z) / (len(z) - 1) * sum((value - sum(z) / len(z)) ** 2 for value in z)
    present = {(stratum, unit) for stratum, unit, *_ in mine}
    strata = {stratum for stratum, _ in present}
    df = len(present) - len(strata)
    return mean, math.sqrt(variance) if df else math.nan, df, len(lone & strata)


@given(RECORDS)
def test_every_group_is_as_by_hand(records):
    for group, (estimate, se, df, lone) in enumerate(estimated(records)):
        mean, error, freedom, alone = by_hand(records, group)
        assert estimate == pytest.approx(mean, abs=1e-12, nan_ok=True)
        if any(record[3] == group for record in records):
            assert se == pytest.approx(error, abs=1e-12, nan_ok=True)
            assert (df, lone) == (freedom, alone)


def test_a_simple_random_sample():
    y = [3.0, 4.0, 4.5, 9.0, 10.0, 12.5]
    ((mean, se, df, _),) = estimated([("A", 1, 1.0, 0, value) for value in y], Design(), groups=1)
    assert (mean, df) == (pytest.approx(statistics.mean(y)), 5)
    assert se == pytest.approx(statistics.stdev(y) / math.sqrt(6))


def test_a_stratified_sample_with_the_shares_of_its_strata():
    # Of N = 100 + 300; each record stands for N_h / n_h of its stratum.
    values = {"A": (100, [1.0, 2.0, 6.0]), "B": (300, [10.0, 14.0])}
    records = [(name, i, size / len(y), 0, y[i]) for name, (size, y) in values.items() for i in range(len(y))]
    ((mean, se, df, _),) = estimated(records, Design("w", "stratum"), groups=1)
    assert mean == pytest.approx(0.25 * 3 + 0.75 * 12)
    # The sum of W_h^2 s_h^2 / n_h: s^2 is 7 in A and 8 in B.
    assert se == pytest.approx(math.sqrt(0.25**2 * 7 / 3 + 0.75**2 * 8 / 2))
    assert df == 3


def test_clusters_by_hand():
    # The weights add up to 8, weight x value to 40: the mean is 5. Times 8, the units' z are
    # A1: (2 - 5) + (4 - 5) = -4, A2: 2 (4 - 5) = -2, B1: 5 - 5 = 0, B2: 3 (7 - 5) = 6.
    records = [("A", 1, 1, 0, 2), ("A", 1, 1, 0, 4), ("A", 2, 2, 0, 4), ("B", 1, 1, 0, 5), ("B", 2, 3, 0, 7)]
    # In A they lie 1 from their mean -3, in B 3 from theirs: V = (2 (1 + 1) + 2 (9 + 9)) / 64 = 40 / 64.
    assert estimated(records, groups=1) == [(5.0, pytest.approx(math.sqrt(40) / 8), 2, 0)]


def test_a_lone_unit_is_measured_from_the_mean_of_all_units():
    # Mean 22 / 4; times 4, z is -3.5 and 0.5 in A, 3 in the lone C: V = (2 (2^2 + 2^2) + 3^2) / 16 = 25 / 16.
    records = [("A", 1, 1, 0, 2), ("A", 2, 1, 0, 6), ("C", 1, 2, 0, 7)]
    assert estimated(records, groups=1) == [(5.5, pytest.approx(1.25), 1, 1)]


@pytest.mark.parametrize(
    "records, expected",
    [
        ([("A", 1, 1, 0, 2), ("B", 1, 1, 0, 6)], (4.0, 0, 2)),  # lone units only
        ([("A", 1, 1, 0, 10), ("A", 1, 1, 0, 20), ("A", 2, 1, None, 3)], (15.0, 0, 0)),  # all in one unit
        ([("A", 1, 1, 0, 8), ("A", 2, 1, None, 3), ("B", 2, 1, None, 3)], (8.0, 0, 0)),  # one record
    ],
)
def test_a_group_without_two_units_of_a_stratum_has_no_error(records, expected):
    ((mean, se, df, lone),) = estimated(records, groups=1)
    assert (mean, df, lone) == expected and math.isnan(se)
    arrays = [np.array([value]) for value in (mean, se, df)]
    assert np.isnan(mean_interval(*arrays, 0.95)).all()
    for rate in (0.0, 0.5, 1.0):
        assert np.isnan(rate_interval(np.array([rate]), *arrays[1:], np.array([1]), 0.95)).all()


@given(RECORDS, st.randoms(use_true_random=False))
def test_what_is_outside_a_group_tells_only_how_many_units_there_are(records, random):
    expected = estimated(records)
    # More records of none in units that are there, and whole strata without a record in a group.
    outside = [(stratum, unit, 5.0, None, 40.0) for stratum, unit, *_ in records]
    np.testing.assert_allclose(estimated([*records, *outside]), expected, atol=1e-12)
    elsewhere = [("Z", unit, 1.0, None, 3.0) for unit in (1, 2)]
    np.testing.assert_allclose(estimated([*records, *elsewhere]), expected, atol=1e-12)
    # Neither the order of records nor the scale of weights says anything; units are nested in strata.
    shuffled = random.sample(records, len(records))
    changed = [(stratum, f"{stratum}{unit}", 3 * w, group, y) for stratum, unit, w, group, y in shuffled]
    np.testing.assert_allclose(estimated(changed), expected, atol=1e-12)


def test_several_strata_are_crossed():
    frame = pd.DataFrame({"a": [1, 1, 2, 2], "b": [1, 2, 1, 2], "u": [1, 1, 1, 1]})
    survey = Survey(frame, Design(strata=("a", "b"), sampling_unit="u"))
    assert survey.units.tolist() == [1, 1, 1, 1]


def test_large_numbers_keep_their_spread():
    records = [("A", unit, 1.0, 0, float(y)) for unit, y in enumerate([1, 2, 4, 8, 16])]
    far = [(*record[:4], record[4] + 1e9) for record in records]
    survey = Survey(frame_of(far), SURVEY)
    within = Domains(survey, np.zeros(5, dtype=int), 1)
    _, se = ratios(within, frame_of(far)["y"].to_numpy(), shift=1e9)
    assert se[0] == pytest.approx(estimated(records, groups=1)[0][1])
    assert ratios(within, np.full(5, 0.1), shift=0.3)[1][0] == 0


def test_intervals_of_means_and_rates():
    estimate, se, df = np.array([0.25, 0.9, 0.0, 1.0]), np.array([0.05, 0.1, 0.0, 0.0]), np.array([10, 3, 5, 5])
    lower, upper = mean_interval(estimate, se, df, 0.95)
    assert (upper - estimate)[:2] == pytest.approx(t.ppf(0.975, df[:2]) * se[:2])
    assert lower.tolist()[2:] == upper.tolist()[2:] == [0.0, 1.0]
    lower, upper = rate_interval(estimate, se, df, df + 1, 0.95)
    # log(0.25 / 0.75) and 0.05 / (0.25 x 0.75), with the t quantile of 10 degrees as in any table.
    ends = [1 / (1 + math.exp(math.log(3) + sign * 2.228139 * 0.05 / 0.1875)) for sign in (1, -1)]
    assert [lower[0], upper[0]] == pytest.approx(ends, abs=1e-6)
    # A rate without error that is neither none nor all is its own interval.
    assert [*map(float, np.ravel(rate_interval(estimate[:1], se[2:3], df[:1], df[:1], 0.95)))] == [0.25, 0.25]


@pytest.mark.parametrize("units", [1, 2, 30])
@pytest.mark.parametrize("level", [0.5, 0.95])
def test_a_rate_of_none_or_all_has_the_exact_interval_of_its_units(units, level):
    rates = np.array([0.0, 1.0])
    found = np.transpose(rate_interval(rates, np.zeros(2), np.ones(2), np.full(2, units), level))
    for rate, ends in zip(rates, found):
        exact = binomtest(int(rate * units), units).proportion_ci(level, "exact")
        assert tuple(ends) == pytest.approx((exact.low, exact.high)) and rate in ends


@given(st.floats(0.001, 0.999), st.floats(1e-4, 0.5), st.integers(1, 500), st.floats(0.5, 0.999))
def test_the_interval_of_a_rate_holds_it_and_stays_in_range(p, se, df, level):
    arrays = [np.array([each]) for each in (p, se, df)]
    lower, upper = rate_interval(*arrays, arrays[2], level)
    assert 0 <= lower[0] < p < upper[0] <= 1
    # What is rare in one way of counting is frequent in the other.
    other_lower, other_upper = rate_interval(1 - arrays[0], *arrays[1:], arrays[2], level)
    assert [other_lower[0], other_upper[0]] == pytest.approx([1 - upper[0], 1 - lower[0]], abs=1e-9)


def test_intervals_cover_the_truth_in_repeated_samples():
    rng = np.random.default_rng(5)
    clusters = pd.DataFrame({"stratum": np.repeat(np.arange(5), 60), "size": rng.integers(4, 13, 300)})
    clusters["level"] = clusters["stratum"] + rng.normal(0, 1, 300)
    people = clusters.loc[clusters.index.repeat(clusters["size"])].rename_axis("unit").reset_index()
    people["y"] = people["level"] + rng.normal(0, 1, len(people))
    people["w"] = 60 / 8
    truth, share = people["y"].mean(), (people["y"] > 3).mean()
    covered = np.zeros(2)
    for _ in range(400):
        drawn = np.concatenate([stratum * 60 + rng.choice(60, 8, replace=False) for stratum in range(5)])
        sample = people[people["unit"].isin(drawn)]
        within = Domains(Survey(sample, SURVEY), np.zeros(len(sample), dtype=int), 1)
        y = sample["y"].to_numpy()
        lower, upper = mean_interval(*ratios(within, y), within.df, 0.95)
        covered[0] += lower[0] <= truth <= upper[0]
        lower, upper = rate_interval(*ratios(within, (y > 3).astype(float)), within.df, within.units, 0.95)
        covered[1] += lower[0] <= share <= upper[0]
    assert ((covered / 400 >= 0.90) & (covered / 400 <= 0.99)).all()


@pytest.mark.parametrize("units", [2, 4])
def test_intervals_of_a_rare_rate_cover_it_with_few_units(units):
    rng = np.random.default_rng(21)
    sizes = rng.integers(5, 15, 60)
    cases = rng.binomial(sizes, 1 / (1 + np.exp(3 - rng.normal(size=60))))
    share, covered, none = cases.sum() / sizes.sum(), 0, 0
    for _ in range(400):
        drawn = rng.integers(0, 60, units)
        unit = np.repeat(np.arange(units), sizes[drawn])
        case = np.concatenate([np.arange(sizes[i]) < cases[i] for i in drawn]).astype(float)
        survey = Survey(pd.DataFrame({"unit": unit}), Design(sampling_unit="unit"))
        within = Domains(survey, np.zeros(len(unit), dtype=int), 1)
        estimate, se = ratios(within, case)
        lower, upper = rate_interval(estimate, se, within.df, within.units, 0.95)
        covered += lower[0] <= share <= upper[0]
        none += estimate[0] == 0
    # Were the interval of a sample without a case its estimate alone, all of these would miss the share.
    assert none / 400 > 0.05 and covered / 400 >= 0.95


@pytest.mark.parametrize(
    "column, values, told",
    [
        ("w", [1.0, None], "test: column w: row b: a missing weight; fill it in, or drop the record"),
        ("w", [1.0, 0.0], "test: column w: row b: a weight that is not above 0; correct it, or drop the record"),
        ("w", [1.0, -2.0], "test: column w: row b: a weight that is not above 0; correct it, or drop the record"),
        ("w", [1.0, "much"], "test: column w: row b: text, but numbers are needed"),
        ("stratum", ["A", None], "test: column stratum: row b: no stratum; fill it in, or drop the record"),
        ("unit", [None, 1], "test: column unit: row a: no sampling unit; fill it in, or drop the record"),
    ],
)
def test_a_design_that_cannot_be_read_is_refused(column, values, told):
    frame = pd.DataFrame({"stratum": ["A", "A"], "unit": [1, 2], "w": [1.0, 2.0]}, index=["a", "b"])
    frame[column] = pd.Series(values, index=frame.index)
    with pytest.raises(DataError) as caught, about("test"):
        Survey(frame, SURVEY)
    assert str(caught.value).startswith(told)


def test_a_design_without_columns_or_records_is_refused():
    with pytest.raises(DataError, match="^test: column stratum is not there; did you mean Stratum\\?$"), about("test"):
        Survey(pd.DataFrame({"w": [1.0], "Stratum": [1], "unit": [1]}), SURVEY)
    with pytest.raises(DataError, match="^test: has no records"), about("test"):
        Survey(pd.DataFrame({"w": []}), Design("w"))


@pytest.mark.parametrize(
    "settings, told",
    [
        ({"weight": ["w"]}, "weight must be the name of one column, not a list"),
        ({"sampling_unit": 7}, "sampling_unit must be the name of one column, not 7"),
        ({"strata": 3}, "strata must be names of columns"),
        ({"strata": ["a", "a"]}, "strata: a is named twice"),
    ],
)
def test_a_design_of_bad_names_is_refused(settings, told):
    with pytest.raises(OptionError) as caught:
        Design(**settings)
    assert str(caught.value).startswith(told)
