"""Estimators of population uniques: by ARX, by plain formulas, over every subsample, in populations of their models."""

import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.stats import nbinom

from kanon_lab.errors import OptionError
from kanon_lab.sample import METHODS, population_uniques
from kanon_lab.sample.curve import size_counts
from kanon_lab.sample.estimators import _digamma_rise, _likeliest_gamma, pitman_parameters

# PEERS.md: Adult without missing rows, nine keys. Size to number of classes.
ADULT = """1:15512 2:2098 3:754 4:375 5:189 6:155 7:97 8:73 9:39 10:37 11:29 12:18 13:23 14:14 15:15 16:9 17:11 18:10
19:10 20:5 21:3 22:4 23:3 24:2 25:1 26:3 27:5 29:1 30:2 32:1 34:1 35:1 36:1 45:1"""
SIZES = np.repeat(*np.array([pair.split(":") for pair in ADULT.split()], dtype=int).T)
# Share of population uniques by ARX, by sampling fraction: Zayatz, Pitman.
ARX = {0.01: (0.2717127, 0.1446084), 0.1: (0.3207402, 0.2768499), 0.2: (0.3577099, 0.3366280)}

CLASSES = st.lists(st.integers(1, 6), min_size=1, max_size=12)
SAMPLING = st.floats(0.02, 0.98)


def by_method(sizes, f, **options):
    return population_uniques(sizes, fraction=f, **options).set_index("method")


@pytest.mark.parametrize("f", ARX)
def test_zayatz_and_pitman_by_arx(f):
    """ARX divides population uniques by n / f persons; its Pitman is the form for large N, ours the exact one."""
    assert (SIZES == 1).sum() / SIZES.sum() == pytest.approx(0.5142895, abs=5e-8)
    zayatz, pitman = ARX[f]
    found = by_method(SIZES, f)
    assert found["p_c"]["zayatz"] == pytest.approx(zayatz, abs=5e-8)
    alpha, theta = pitman_parameters(size_counts(SIZES))
    persons = SIZES.sum() / f
    large = math.exp(math.lgamma(theta + 1) - math.lgamma(theta + alpha)) * persons ** (alpha - 1)
    assert large == pytest.approx(pitman, abs=5e-8)
    assert 0.99 < found["p_c"]["pitman"] / large < 1


def test_pitman_where_the_form_for_large_n_is_no_probability():
    """Nearly all unique, theta is far above N, and that form says that 50 times the population is unique."""
    sizes, f = [1] * 1000 + [2] * 5, 0.5
    alpha, theta = pitman_parameters(size_counts(sizes))
    large = math.exp(math.lgamma(theta + 1) - math.lgamma(theta + alpha)) * (sum(sizes) / f) ** (alpha - 1)
    assert large > 50
    # With alpha = 0 the chance to be alone among N is theta / (theta + N - 1).
    assert alpha == 0
    assert by_method(sizes, f)["p_c"]["pitman"] == pytest.approx(theta / (theta + sum(sizes) / f - 1))


def hypergeometric(k, n, persons):
    """Chance that n of N persons hold one of k, exactly."""
    others = n - 1 if persons - k >= n - 1 else None
    return Fraction(0) if others is None else Fraction(k * math.comb(persons - k, others), math.comb(persons, n))


@given(sizes=CLASSES.filter(lambda s: 1 in s), f=SAMPLING)
def test_methods_of_the_sample_uniques_by_plain_formulas(sizes, f):
    n, alone, pairs = sum(sizes), sizes.count(1), sizes.count(2)
    found = by_method(sizes, f, methods=["subsample", "tangent", "zayatz"])
    persons = round(n / f)
    chances = [hypergeometric(k, n, persons) for k in sizes]
    expected = {
        "subsample": alone / sum(k * (1 - f) ** (k - 1) for k in sizes),
        "tangent": f ** (2 * pairs / alone),
        "zayatz": float(alone * hypergeometric(1, n, persons) / sum(chances)),
    }
    for method, p_d in expected.items():
        assert found["p_d"][method] == pytest.approx(p_d)
        assert found["p_c"][method] == pytest.approx(alone / n * p_d)
        assert found["population_uniques"][method] == pytest.approx(alone * p_d / f)


@given(sizes=st.lists(st.integers(1, 4), min_size=1, max_size=5).filter(lambda s: sum(s) < 10), f=SAMPLING)
def test_subsample_is_the_mean_of_the_study_over_every_subsample(sizes, f):
    persons = [number for number, size in enumerate(sizes) for _ in range(size)]
    u = u2 = 0.0
    for drawn in itertools.product((0, 1), repeat=len(persons)):
        chance = math.prod(f if is_in else 1 - f for is_in in drawn)
        counts = Counter(person for person, is_in in zip(persons, drawn) if is_in)
        ones = [person for person, count in counts.items() if count == 1]
        u2 += chance * len(ones)
        u += chance * sum(sizes[person] == 1 for person in ones)
    found = by_method(sizes, f, methods="subsample").loc["subsample"]
    assert found["p_d"] == pytest.approx(u / u2)
    assert found["p_c"] == pytest.approx(sizes.count(1) / len(persons) * u / u2)


def ewens_pitman_log(sizes, alpha, theta):
    """The logarithm of the sampling formula, but for what no parameter changes, one factor after the other."""
    classes, n = len(sizes), sum(sizes)
    opened = sum(math.log(theta + i * alpha) for i in range(1, classes))
    grown = sum(math.log(j - alpha) for size in sizes for j in range(1, size))
    return opened + grown - sum(math.log(theta + i) for i in range(1, n))


@settings(max_examples=8)
@given(sizes=st.lists(st.integers(1, 5), min_size=3, max_size=15))
@example(sizes=[1] * 14 + [2])
@example(sizes=[12, 1])
def test_pitman_by_a_search_of_the_likelihood(sizes):
    assume(1 < len(sizes) < sum(sizes))
    alpha, theta = pitman_parameters(size_counts(sizes))
    assert 0 <= alpha < 1

    def loss(where):
        share = 1 / (1 + math.exp(-max(min(where[0], 30), -30)))
        return -ewens_pitman_log(sizes, share, math.exp(max(min(where[1], 30), -30)) - share)

    best = min(minimize(loss, start, method="Nelder-Mead").fun for start in itertools.product((-4, 0, 2), (-1, 1, 4)))
    assert -ewens_pitman_log(sizes, alpha, theta) <= best + 1e-6


def grown_by_persons(start, persons, alpha, theta):
    """Chances of class sizes, as sorted tuples, when persons join one after the other by the Ewens-Pitman rule."""
    chances = {start: 1.0}
    for present in range(sum(start), persons):
        after = Counter()
        for sizes, chance in chances.items():
            after[1, *sizes] += chance * (theta + len(sizes) * alpha) / (theta + present)
            for place, size in enumerate(sizes):
                grown = tuple(sorted((*sizes[:place], size + 1, *sizes[place + 1 :])))
                after[grown] += chance * (size - alpha) / (theta + present)
        chances = after
    return chances


@pytest.mark.parametrize("sizes", [(1, 1, 1, 2, 2), (1, 1, 1, 1, 3), (1, 2, 2)])
def test_pitman_by_letting_persons_join_one_by_one(sizes):
    n = sum(sizes)
    alpha, theta = pitman_parameters(size_counts(sizes))
    found = by_method(sizes, 0.5).loc["pitman"]

    def uniques(persons):
        return sum(chance * now.count(1) for now, chance in grown_by_persons((1,), persons, alpha, theta).items())

    assert found["population_uniques"] == pytest.approx(uniques(2 * n))
    assert found["p_c"] == pytest.approx(uniques(2 * n) / (2 * n))
    # A sample unique stays alone: of the population uniques, half are in the sample.
    assert found["p_d"] == pytest.approx(uniques(2 * n) / 2 / uniques(n))


@given(sizes=CLASSES, more=st.integers(1, 200), f=SAMPLING)
@example(sizes=[5, 5, 5, 1], more=1, f=0.1)
def test_poisson_gamma_by_the_negative_binomial(sizes, more, f):
    cells, n = len(sizes) + more, sum(sizes)
    full = np.array(sizes + [0] * more)
    found = by_method(sizes, f, cells=cells)
    mean, variance = full.mean(), full.var(ddof=1)
    assume(abs(variance / mean - 1) > 1e-6 and abs(full.var() / mean - 1) > 1e-6)
    if variance > mean:
        # Shape r and chance p give the moments r (1 - p) / p and r (1 - p) / p^2.
        check_gamma(found.loc["poisson-gamma"], cells, n, f, mean**2 / (variance - mean))
    else:
        assert not found["converged"]["poisson-gamma"]
    if full.var() > mean:
        shape, scale = _likeliest_gamma(size_counts(sizes), cells)
        assert shape * scale * cells == pytest.approx(1)
        near = [
            nbinom.logpmf(full, shape * times, shape * times / (shape * times + mean)).sum() for times in (0.9, 1, 1.1)
        ]
        assert near[1] == max(near)
        check_gamma(found.loc["poisson-gamma-ml"], cells, n, f, shape)
    else:
        assert "chance" in found["note"]["poisson-gamma-ml"]


def check_gamma(row, cells, n, f, shape):
    """Cells with one person, and sample uniques with no other person, from the negative binomial law itself."""

    def one(persons):
        return nbinom.pmf(1, shape, shape / (shape + persons / cells))

    assert row["population_uniques"] == pytest.approx(cells * one(n / f))
    assert row["p_c"] == pytest.approx(cells * one(n / f) / (n / f))
    assert row["p_d"] == pytest.approx(f * one(n / f) / one(n))


def test_without_cells_their_number_has_no_limit():
    many, none = by_method(SIZES, 0.05, cells=10**13), by_method(SIZES, 0.05)
    for method in ("poisson-gamma", "poisson-gamma-ml"):
        assert none["p_c"][method] == pytest.approx(many["p_c"][method], rel=1e-6)
        assert none["p_d"][method] == pytest.approx(many["p_d"][method], rel=1e-6)
    assert by_method([3, 1, 1], 0.1, methods="poisson-gamma")["p_c"].iloc[0] == pytest.approx(
        1 / (1 + 10 * (11 / 5 - 1))
    )


def sample_of(sizes, f, seed):
    return np.random.default_rng(seed).binomial(sizes, f)


def truth_of(sizes, f):
    alone = (sizes == 1).sum()
    return alone / sizes.sum(), alone / np.sum(sizes * (1 - f) ** (sizes - 1.0))


def test_a_population_with_gamma_chances():
    """400 thousand cells of shape 0.15: the model finds the truth from 40 thousand records, the study does not."""
    rng = np.random.default_rng(3)
    cells, f = 400_000, 0.04
    sizes = rng.poisson(rng.gamma(0.15, 1 / 0.15, cells) * 2.5)
    p_c, p_d = truth_of(sizes[sizes > 0], f)
    found = by_method(sample_of(sizes, f, 4), f, cells=cells)
    for method in ("poisson-gamma", "poisson-gamma-ml"):
        assert found["p_c"][method] == pytest.approx(p_c, rel=0.04)
        assert found["p_d"][method] == pytest.approx(p_d, rel=0.04)
    assert (found["p_c"][["subsample", "zayatz"]] > 3 * p_c).all()


def test_a_population_grown_by_the_ewens_pitman_rule():
    """100 thousand persons with alpha 0.6 and theta 50: a newcomer opens a class, or joins that of someone before."""
    rng = np.random.default_rng(5)
    alpha, theta, persons, f = 0.6, 50.0, 100_000, 0.1
    class_of, sizes = np.zeros(persons, dtype=int), [1]
    for present in range(1, persons):
        if rng.random() * (theta + present) < theta + len(sizes) * alpha:
            sizes.append(0)
            class_of[present] = len(sizes) - 1
        else:
            chosen = class_of[int(rng.random() * present)]
            while rng.random() * sizes[chosen] >= sizes[chosen] - alpha:
                chosen = class_of[int(rng.random() * present)]
            class_of[present] = chosen
        sizes[class_of[present]] += 1
    sizes = np.array(sizes)
    sample = sample_of(sizes, f, 6)
    p_c, p_d = truth_of(sizes, f)
    found = by_method(sample, f).loc["pitman"]
    found_alpha, found_theta = pitman_parameters(size_counts(sample))
    assert found_alpha == pytest.approx(alpha, abs=0.02)
    assert found_theta == pytest.approx(theta, rel=0.4)
    assert found["p_c"] == pytest.approx(p_c, rel=0.06)
    assert found["p_d"] == pytest.approx(p_d, rel=0.06)


@given(
    sizes=st.lists(st.one_of(st.integers(1, 4), st.integers(1, 10**7)), min_size=1, max_size=30),
    f=st.one_of(st.sampled_from([1e-6, 1e-3, 0.999999]), SAMPLING),
    more=st.one_of(st.none(), st.integers(0, 10**6), st.integers(0, 2**52)),
)
@example(sizes=[1] * 50, f=0.04, more=None)
@example(sizes=[2, 3, 4], f=0.04, more=0)
@example(sizes=[10**7], f=1e-6, more=None)
@example(sizes=[10**7] * 3 + [1], f=0.999999, more=None)
@example(sizes=[1], f=0.999999, more=0)
@example(sizes=[1, 1, 2], f=1e-6, more=3)
@example(sizes=[7] * 9, f=0.5, more=0)
@example(sizes=[1, 1, 2, 5], f=0.04, more=10**15)
@example(sizes=[9], f=0.04, more=2**53 - 1)
def test_chances_or_a_reason(sizes, f, more):
    """Never an impossible chance; a unique record is rarer than one of those unique in the sample."""
    found = population_uniques(sizes, fraction=f, cells=None if more is None else len(sizes) + more)
    assert found["method"].tolist() == list(METHODS)
    good = found[found["converged"]]
    assert good[["p_c", "p_d"]].stack().between(0, 1).all()
    assert (good["p_c"] <= good["p_d"] * (1 + 1e-9)).all()
    np.testing.assert_allclose(good["population_uniques"], good["p_c"] * sum(sizes) / f)
    bad = found[~found["converged"]]
    assert bad[["p_c", "p_d", "population_uniques"]].isna().all(axis=None)
    assert (bad["note"].str.len() > 0).all()


def test_notes_on_samples_that_say_little():
    unique = by_method([1] * 60, 0.04)
    assert unique["p_d"][["subsample", "tangent", "zayatz"]].tolist() == [1, 1, 1]
    assert unique["note"][["subsample", "tangent", "zayatz"]].str.startswith("every record is unique").all()
    assert by_method([1, 1, 3], 0.04)["note"]["tangent"].startswith("no class has two records")
    assert not unique["converged"][["poisson-gamma", "poisson-gamma-ml", "pitman"]].any()
    none = by_method([2, 3, 4, 2], 0.04)
    assert none["p_c"][["subsample", "tangent", "zayatz"]].tolist() == [0, 0, 0]
    assert none["note"]["tangent"] == "no record is unique in the sample"
    assert none["note"]["pitman"].startswith("alpha 0, the edge of its range")
    assert by_method([9], 0.04)["note"]["pitman"] == "all records are in one class"


def test_empty_cells_order_and_choice_of_methods_change_nothing():
    mixed = np.append(SIZES, [0, 0])
    np.random.default_rng(1).shuffle(mixed)
    pd.testing.assert_frame_equal(population_uniques(mixed, fraction=0.1), population_uniques(SIZES, fraction=0.1))
    chosen = population_uniques(SIZES, fraction=0.1, methods=["pitman", "tangent", "pitman"])
    assert chosen["method"].tolist() == ["pitman", "tangent"]
    assert chosen["p_c"].tolist() == by_method(SIZES, 0.1)["p_c"][["pitman", "tangent"]].tolist()


@pytest.mark.parametrize("x", [0.3, 50, 99.9, 100.1, 1e4, 1e9])
@pytest.mark.parametrize("more", [1, 7, 300])
def test_digamma_rises_by_one_over_each_number_passed(x, more):
    assert _digamma_rise(x, more) == pytest.approx(math.fsum(1 / (x + i) for i in range(more)), rel=1e-12)


def test_options_of_estimators_that_are_none():
    for fraction in (0, 1, 1.5, math.nan, "0.1", [0.1, 0.2]):
        with pytest.raises(OptionError, match="sampling fraction"):
            population_uniques([1, 2], fraction=fraction)
    with pytest.raises(OptionError, match="methods: bethlehem is not one of subsample, tangent"):
        population_uniques([1, 2], fraction=0.1, methods="bethlehem")
    for methods in ([], None, 5, [["a"]]):
        with pytest.raises(OptionError, match="at least one"):
            population_uniques([1, 2], fraction=0.1, methods=methods)
    with pytest.raises(OptionError, match=r"cells must be at most 2 \*\* 53"):
        population_uniques([1, 2], fraction=0.1, cells=10**400)
    for cells in (1, 2.5, True, "9"):
        with pytest.raises(OptionError, match="cells must be a whole number from the number of classes"):
            population_uniques([1, 2], fraction=0.1, cells=cells)
    with pytest.raises(OptionError, match="sizes must"):
        population_uniques([], fraction=0.1)
