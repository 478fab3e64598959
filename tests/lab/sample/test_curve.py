"""The curve G(s) and what the study expects, against every possible sample of tiny populations."""

import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon_lab.errors import DataError, OptionError
from kanon_lab.roles import KeySpec
from kanon_lab.sample import expected_study, population_sizes, uniqueness_curve

FRACTIONS = st.floats(0.01, 0.99)


def persons_of(sizes):
    return [number for number, size in enumerate(sizes) for _ in range(size)]


def sizes_in(drawn, persons):
    return Counter(person for person, is_in in zip(persons, drawn) if is_in)


def classes_of(counter, size):
    return {name for name, count in counter.items() if count == size}


@given(sizes=st.lists(st.integers(0, 4), min_size=1, max_size=5).filter(lambda s: 0 < sum(s) < 7), f=FRACTIONS)
def test_every_sample_and_subsample_of_a_tiny_population(sizes, f):
    """A person is out of the sample, in it only, or in the subsample too: 3^N outcomes."""
    persons = persons_of(sizes)
    alone = classes_of(sizes_in([1] * len(persons), persons), 1)
    sums = Counter()
    for where in itertools.product(range(3), repeat=len(persons)):
        chance = math.prod((1 - f, f * (1 - f), f * f)[place] for place in where)
        sample, sub = (sizes_in([place >= least for place in where], persons) for least in (1, 2))
        ones, twos = classes_of(sample, 1), classes_of(sub, 1)
        found = {"n1": sample.total(), "u1": len(ones), "n2": sub.total(), "u2": len(twos), "u": len(ones & twos)}
        found |= {"pairs": len(classes_of(sample, 2)), "both": len(ones & alone)}
        for name, value in found.items():
            sums[name] += chance * value
    row = expected_study(sizes, [f], p_a=0.2).iloc[0]
    for name in ("n1", "u1", "n2", "u2", "u"):
        assert row[name] == pytest.approx(sums[name])
    p_c, p_d = sums["u1"] / sums["n1"] * sums["u"] / sums["u2"], sums["u"] / sums["u2"]
    assert row[["p_b", "p_c", "p_d", "p_identification"]].tolist() == pytest.approx(
        [f, p_c, p_d, 0.2 * f * p_c * p_d], rel=1e-9
    )
    steep = 2 * sums["pairs"] / sums["u1"]
    assert row["tangent_p_d"] == pytest.approx(f**steep)
    assert row["tangent_p_c"] == pytest.approx(sums["u1"] / sums["n1"] * f**steep)
    truth = [len(alone) / len(persons), sums["both"] / sums["u1"]]
    assert row[["true_p_c", "true_p_d"]].tolist() == pytest.approx(truth)
    assert row["true_p_identification"] == pytest.approx(0.2 * f * math.prod(truth))
    curve = uniqueness_curve(sizes, [f]).iloc[0]
    assert curve["uniques"] == pytest.approx(sums["u1"])
    assert curve["share"] == pytest.approx(sums["u1"] / sums["n1"])
    assert curve["slope"] == pytest.approx(-steep)


@given(sizes=st.lists(st.integers(1, 50), min_size=1, max_size=20), s=st.floats(0.02, 0.9))
def test_slope_is_the_derivative_and_the_curve_falls(sizes, s):
    step = 1e-5
    near = uniqueness_curve(sizes, [s * math.exp(-step), s, s * math.exp(step)])
    logs = np.log(near["share"])
    assert near["slope"][1] == pytest.approx((logs[2] - logs[0]) / (2 * step), rel=1e-4, abs=1e-6)
    assert near["share"].is_monotonic_decreasing
    assert uniqueness_curve(sizes, [1])["share"][0] == pytest.approx(sizes.count(1) / sum(sizes))


def test_the_curve_by_drawing_samples():
    rng = np.random.default_rng(7)
    sizes = rng.geometric(0.25, size=20_000)
    drawn = [(rng.binomial(sizes, 0.1) == 1).sum() for _ in range(60)]
    expected = uniqueness_curve(sizes, [0.1])["uniques"][0]
    assert np.mean(drawn) == pytest.approx(expected, abs=4 * math.sqrt(expected / 60))


def test_classes_of_millions_and_tiny_fractions():
    """A class of 10^7 is unique with a chance of about exp(-10): x e^-x at x = s F."""
    curve = uniqueness_curve([10**7], [1e-6, 0.5, 1])
    assert curve["uniques"][0] == pytest.approx(10 * math.exp(-10), rel=1e-5)
    assert curve["uniques"].tolist()[1:] == [0, 0]
    assert curve["slope"][1] == pytest.approx(-(10**7 - 1))
    assert math.isnan(curve["slope"][2])
    study = expected_study([10**7, 1], [1e-6, 0.5, 1 - 1e-9])
    assert np.isfinite(study).all(axis=None)
    assert study["true_p_d"][1] == pytest.approx(1)
    assert expected_study([10**7], [0.5])["true_p_d"][0] == 0


def test_a_population_of_unique_persons_has_a_flat_curve():
    curve = uniqueness_curve(np.ones(9, dtype=int), [0.001, 0.5, 1])
    assert curve["share"].tolist() == pytest.approx([1, 1, 1])
    assert curve["slope"].tolist() == [0, 0, 0]
    assert expected_study([1, 1], [0.3])[["p_d", "p_c", "tangent_p_d", "true_p_d"]].iloc[0].tolist() == [1] * 4


@given(
    rows=st.lists(
        st.tuples(st.integers(0, 30), st.sampled_from("abc"), st.integers(1, 9)),
        min_size=1,
        max_size=30,
    ),
    width=st.integers(1, 10),
)
def test_sizes_of_a_population_by_counting_persons(rows, width):
    frame = pd.DataFrame(rows, columns=["age", "place", "persons"])
    before = frame.copy()
    expected = Counter()
    for age, place, persons in rows:
        expected[age // width, place] += persons
    recode = {"age": {"bands": [*range(0, 31, width), None]}, "place": None}
    sizes = population_sizes(frame, ["age", "place"], persons="persons", recode=recode)
    assert sorted(sizes.tolist()) == sorted(expected.values())
    assert sizes.dtype.kind == "i"
    one_by_one = frame.loc[frame.index.repeat(frame["persons"])]
    assert sorted(population_sizes(one_by_one, ["age", "place"], recode=recode)) == sorted(expected.values())
    pd.testing.assert_frame_equal(frame, before)


def test_populations_that_are_refused():
    frame = pd.DataFrame({"x": [1, None], "n": [1.5, 2]}, index=["p", "q"])
    with pytest.raises(DataError, match="the population: a key is missing"):
        population_sizes(pd.concat([frame, frame]), "x")
    assert population_sizes(frame, KeySpec("x", missing="category")).tolist() == [1, 1]
    with pytest.raises(DataError, match="row p: not a whole number of persons"):
        population_sizes(frame, KeySpec("x", missing="category"), persons="n")
    with pytest.raises(DataError, match="column y is not there"):
        population_sizes(frame, ["y"])
    with pytest.raises(OptionError, match="recode: n is not a key variable"):
        population_sizes(frame, ["x"], recode={"n": {"width": 5}})
    with pytest.raises(OptionError, match="x: a level must be settings"):
        population_sizes(frame, ["x"], recode={"x": 5})
    with pytest.raises(OptionError, match="recode must map"):
        population_sizes(frame, ["x"], recode=["x"])
    with pytest.raises(OptionError, match="the population: a DataFrame is needed, not dict"):
        population_sizes({"x": [1]}, ["x"])


def test_a_level_recodes_its_own_variable_or_removes_it():
    frame = pd.DataFrame({"x": [1, 1, 2, 2], "y": [5, 6, 7, 7]})
    assert sorted(population_sizes(frame, ["x", "y"], recode={"y": "remove"})) == [2, 2]
    with pytest.raises(OptionError, match="y: a level must be settings of recode without variable"):
        population_sizes(frame, ["x", "y"], recode={"y": {"variable": "x", "width": 5}})
    with pytest.raises(OptionError, match="recode removes every key variable"):
        population_sizes(frame, ["x"], recode={"x": "remove"})


@pytest.mark.parametrize("counts", [[1, 1e300, 2], [1, 2**53, 1]])
def test_more_persons_than_can_be_counted_are_refused_where_they_stand(counts):
    frame = pd.DataFrame({"x": [1, 2, 3], "n": counts}, index=["p", "q", "r"])
    with pytest.raises(DataError, match=r"column n: row q \(and 1 more\): the persons up to this row are 2 \*\* 53"):
        population_sizes(frame, ["x"], persons="n")


@pytest.mark.parametrize(
    "sizes",
    [[], [0], [-1, 2], [1.5], [math.nan], [[1]], "abc", None, [True], [2.0**60], [1, [2]], [1j], ["1"]]
    + [np.array([2], dtype) for dtype in ("M8[D]", "m8[s]", object)],
)
def test_sizes_that_are_none(sizes):
    with pytest.raises(OptionError, match="sizes must"):
        uniqueness_curve(sizes, [0.5])


@pytest.mark.parametrize(
    "fraction", [0, -0.1, 1.1, math.nan, "0.5", True, None, 1e-300, Fraction(1, 10**400), 10**400, np.array(0.1)]
)
def test_fractions_that_are_none(fraction):
    for function in (uniqueness_curve, expected_study):
        with pytest.raises(OptionError, match="sampling fraction must be a number from 1e-9"):
            function([1, 2], fraction if isinstance(fraction, np.ndarray) else [fraction])
    with pytest.raises(OptionError, match="at least one sampling fraction"):
        uniqueness_curve([1, 2], [])
    with pytest.raises(OptionError, match="to below 1, not 1"):
        expected_study([1, 2], [1])
    with pytest.raises(OptionError, match="to below 1, not Fraction"):  # as a float it is 1
        expected_study([1, 2], [1 - Fraction(1, 10**20)])
    with pytest.raises(OptionError, match="p_a"):
        expected_study([1, 2], [0.5], p_a=2)
