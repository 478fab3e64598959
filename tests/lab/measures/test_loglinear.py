"""The log-linear model against closed forms, sums, a likelihood maximised another way, and simulated populations."""

import itertools
import math
from functools import partial

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from kanon_lab.classes import class_table, with_population
from kanon_lab.errors import DataError, OptionError
from kanon_lab.measures import loglinear, loglinear_model
from kanon_lab.measures.loglinear_model import _mean_inverse
from kanon_lab.roles import KeySpec

KEYS = ["a", "b", "c"]


def sample(rows=400, seed=7, sizes=(4, 3, 2)):
    """Records of three keys that depend on each other, with a weight of 20."""
    rng = np.random.default_rng(seed)
    a = rng.choice(sizes[0], rows, p=np.arange(1, sizes[0] + 1) / sum(range(1, sizes[0] + 1)))
    b = (a + rng.integers(0, 2, rows)) % sizes[1]
    c = (b + (rng.random(rows) < 0.3)) % sizes[2]
    return pd.DataFrame({"a": a, "b": b, "c": c, "w": 20.0})


def table_of(frame, keys=KEYS, weight="w", **roles):
    return class_table(frame, KeySpec(keys, weight=weight, **roles))


def counts(frame, keys, table):
    """How many records have the values of these keys that each class has."""
    return table.classes.merge(frame.groupby(keys).size().rename("here").reset_index(), on=keys)["here"].to_numpy()


def test_independence_is_the_product_of_margins():
    frame = sample()
    table = table_of(frame)
    fit = loglinear(table)
    expected = len(frame) * math.prod(counts(frame, [key], table) / len(frame) for key in KEYS)
    np.testing.assert_allclose(fit.expected, expected, rtol=1e-12)
    assert fit.sampling_fraction == pytest.approx(1 / 20)
    assert (fit.interactions, fit.iterations, fit.gap) == ((), 0, 0)


@pytest.mark.parametrize("interactions", [[KEYS], [("c", "b", "a"), ("a", "b")]])
def test_with_all_interactions_the_model_is_the_data(interactions):
    table = table_of(sample())
    np.testing.assert_allclose(loglinear(table, interactions=interactions).expected, table.f_k, rtol=1e-12)


def test_one_interaction_beside_a_variable_of_its_own():
    frame = sample()
    table = table_of(frame)
    fit = loglinear(table, interactions=[("b", "a")])
    np.testing.assert_allclose(fit.expected, counts(frame, ["a", "b"], table) * counts(frame, ["c"], table) / 400)
    assert fit.interactions == (("a", "b"),)


def test_conditional_independence_has_a_closed_form():
    """With interactions ab and bc, mu_abc = n_ab n_bc / n_b."""
    frame = sample(seed=3)
    table = table_of(frame)
    fit = loglinear(table, interactions=[("a", "b"), ("b", "c")])
    expected = counts(frame, ["a", "b"], table) * counts(frame, ["b", "c"], table) / counts(frame, ["b"], table)
    np.testing.assert_allclose(fit.expected, expected, rtol=1e-9)
    assert fit.iterations == 1


def test_all_pairs_maximise_the_likelihood():
    """Poisson regression on indicators of all main effects and pairs, by scipy's optimiser."""
    cells = np.array(list(itertools.product(range(3), range(3), range(2))))
    counted = np.random.default_rng(11).poisson(6, len(cells)) + 1
    frame = pd.DataFrame(cells, columns=KEYS).loc[np.repeat(np.arange(len(cells)), counted)]
    fit = loglinear(table_of(frame, weight=None), interactions=itertools.combinations(KEYS, 2), sampling_fraction=0.1)
    columns = [np.ones(len(cells))]
    singles = [[(cells[:, j] == value).astype(float) for value in range(1, cells[:, j].max() + 1)] for j in range(3)]
    columns += [one for single in singles for one in single]
    for left, right in itertools.combinations(singles, 2):
        columns += [one * other for one in left for other in right]
    design = np.column_stack(columns)

    def likelihood(beta):
        mu = np.exp(design @ beta)
        return mu.sum() - counted @ (design @ beta), design.T @ (mu - counted)

    start = np.zeros(design.shape[1])
    best = minimize(likelihood, start, jac=True, method="BFGS", options={"gtol": 1e-8, "maxiter": 5000})
    np.testing.assert_allclose(fit.expected, np.exp(design @ best.x), rtol=1e-6)
    assert fit.gap <= loglinear_model.FINISHED


def mean_inverse(f, x):
    """E[1/(f + X)], X Poisson with mean x, by its definition."""
    top = int(x + 12 * math.sqrt(x) + 40)
    return math.fsum(math.exp(n * math.log(x) - x - math.lgamma(n + 1)) / (f + n) for n in range(top))


@given(f=st.one_of(st.integers(1, 60), st.integers(1, 10**6)), x=st.floats(1e-6, 3000))
def test_expected_inverse_by_its_definition(f, x):
    assert _mean_inverse(np.array([float(f)]), np.array([x])) == pytest.approx([mean_inverse(f, x)], rel=1e-10)


@pytest.mark.parametrize("f", [1, 2, 3, 10, 31, 1000, 10**6])
def test_expected_inverse_at_the_ends(f):
    """Up to x = 1e8 by 1/(f + x) E[1 - d + d^2 - d^3 + d^4], d = (X - x)/(f + x): the moments of the Poisson law."""
    x = np.array([1e6, 1e7, 1e8])
    s = f + x
    series = (1 + x / s**2 - x / s**3 + (3 * x**2 + x) / s**4) / s
    np.testing.assert_allclose(_mean_inverse(np.full(3, float(f)), x), series, rtol=1e-12)
    if f == 1:
        np.testing.assert_allclose(_mean_inverse(np.ones(3), x), 1 / x, rtol=1e-12)
    x = np.array([0, 1e-300, 1e-12, 1e300])
    risk = _mean_inverse(np.full(4, float(f)), x)
    np.testing.assert_allclose(risk[:3], 1 / f, rtol=1e-11)
    assert 0 < risk[3] <= 1.01e-300


def test_risks_follow_from_the_expected_counts():
    """Skinner and Holmes (1998): for a sample unique exp(-x) and (1 - exp(-x))/x with x = mu (1 - pi)/pi."""
    table = table_of(sample(rows=40, sizes=(6, 5, 4)))
    fit = loglinear(table, sampling_fraction=0.25)
    x, alone = fit.expected * 3, table.f_k == 1
    assert alone.any() and not alone.all()
    np.testing.assert_allclose(fit.probability_unique, np.where(alone, np.exp(-x), 0))
    np.testing.assert_allclose(fit.risk[alone], (1 - np.exp(-x[alone])) / x[alone])
    np.testing.assert_allclose(fit.risk, [mean_inverse(f, each) for f, each in zip(table.f_k, x)])
    assert fit.tau_1 == pytest.approx(np.exp(-x[alone]).sum())
    assert fit.tau_2 == pytest.approx(((1 - np.exp(-x)) / x)[alone].sum())
    assert fit.tau_1 < fit.tau_2 < alone.sum()


def test_a_sample_that_is_the_population():
    table = table_of(sample().assign(w=1))
    fit = loglinear(table)
    assert fit.sampling_fraction == 1
    np.testing.assert_allclose(fit.risk, 1 / table.f_k, rtol=1e-12)
    assert fit.tau_1 == pytest.approx(table.sample_uniques) == fit.tau_2


def truth_and_model(seed, interactions):
    """Population drawn from a model in which a and b interact: unique in it and in the sample, re-identified, model."""
    rng = np.random.default_rng(seed)
    mean = rng.gamma(0.2, 1, (6, 5))[:, :, None] * rng.gamma(1, 1, 500)
    population = rng.poisson(mean * 20_000 / mean.sum())
    drawn = rng.binomial(population, 0.2)
    alone = drawn == 1
    cells = np.argwhere(drawn > 0)
    frame = pd.DataFrame(np.repeat(cells, drawn[drawn > 0], axis=0), columns=KEYS)
    fit = loglinear(table_of(frame, weight=None), interactions=interactions, sampling_fraction=0.2)
    return (population[alone] == 1).sum(), (1 / population[alone]).sum(), fit.tau_1, fit.tau_2


def test_the_model_finds_the_risk_of_a_population_drawn_from_it():
    """On the mean of twenty populations within a twentieth; estimated margins of small counts leave a small bias."""
    unique, found, tau_1, tau_2 = np.mean([truth_and_model(seed, [("a", "b")]) for seed in range(20)], axis=0)
    assert tau_1 == pytest.approx(unique, rel=0.05)
    assert tau_2 == pytest.approx(found, rel=0.05)


def test_a_model_without_the_interaction_says_too_much():
    """Skinner and Shlomo (2008): a model that fits too little overstates the risk, one that fits all understates it."""
    truth, _, model, _ = truth_and_model(1, [])
    assert model > 1.2 * truth
    truth, _, model, _ = truth_and_model(1, [KEYS])
    assert model < 0.8 * truth


FRACTIONS = np.array([0.02, 0.32])


def two_regions(seed):
    """A population of two regions, sampled with very different fractions: it, its sample, the records of the sample."""
    rng = np.random.default_rng(seed)
    mean = rng.gamma(1, 1, 12)[:, None] * rng.gamma(1, 1, 120)
    population = np.stack([rng.poisson(mean * size / mean.sum()) for size in (20_000, 8_000)])
    drawn = rng.binomial(population, FRACTIONS[:, None, None])
    frame = pd.DataFrame(np.repeat(np.argwhere(drawn), drawn[drawn > 0], axis=0), columns=KEYS)
    return population, drawn, frame.assign(w=1 / FRACTIONS[frame["a"]])


@pytest.mark.parametrize("spread", [0, 0.25])
def test_regions_with_very_different_sampling_fractions(spread):
    """Near the truth on the mean of samples, also where weights vary about those of the design; one fraction is not."""
    rows = []
    for seed in range(12):
        population, drawn, frame = two_regions(seed)
        if spread:
            frame["w"] = 1 + (frame["w"] - 1) * np.random.default_rng(seed).gamma(1 / spread, spread, len(frame))
        table = table_of(frame)
        alone, fit = population[drawn == 1], loglinear(table)
        one = loglinear(table, sampling_fraction=fit.sampling_fraction)
        rows.append(((alone == 1).sum(), (1 / alone).sum(), fit.tau_1, fit.tau_2, one.tau_1))
    unique, found, tau_1, tau_2, of_one_fraction = np.mean(rows, axis=0)
    assert tau_1 == pytest.approx(unique, rel=0.06)
    assert tau_2 == pytest.approx(found, rel=0.04)
    assert of_one_fraction < 0.7 * unique


def test_the_fraction_of_a_class_is_one_over_its_mean_weight():
    """As long as the weights follow from the keys by the terms of the model; F_k of a known population is not used."""
    population, _, frame = two_regions(0)
    table = table_of(frame)
    fit = loglinear(table)
    np.testing.assert_allclose(fit.fractions, FRACTIONS[table.codes[:, 0]], rtol=1e-9)
    np.testing.assert_allclose(fit.fractions, table.f_k / table.F_k, rtol=1e-9)
    assert fit.sampling_fraction == pytest.approx(len(frame) / frame["w"].sum())
    everybody = pd.DataFrame(np.argwhere(population), columns=KEYS).assign(persons=population[population > 0])
    known = loglinear(with_population(table, everybody, count="persons"))
    np.testing.assert_array_equal(known.risk, fit.risk)
    assert loglinear(table, sampling_fraction=0.1).fractions.tolist() == [0.1] * table.n_classes
    np.testing.assert_allclose(loglinear(table_of(sample())).fractions, 1 / 20, rtol=1e-12)
    # In the model of all interactions any weights follow from the keys.
    frame["w"] = np.random.default_rng(2).uniform(1, 9, len(frame))
    table = table_of(frame)
    np.testing.assert_allclose(loglinear(table, interactions=[KEYS]).fractions, table.f_k / table.F_k, rtol=1e-9)


@given(
    rows=st.lists(st.tuples(*[st.integers(0, 2)] * 3, st.sampled_from([1.5, 4, 40])), min_size=1, max_size=40),
    terms=st.sampled_from([[], [("a", "b")], [("a", "b"), ("b", "c")], [KEYS]]),
)
def test_persons_beyond_the_sample_add_up_in_every_margin(rows, terms):
    """Records over their fractions make the sum of the weights, for each value of a key and each that interact."""
    frame = pd.DataFrame(rows, columns=[*KEYS, "w"])
    table = table_of(frame)
    classes = table.classes.assign(persons=table.records / loglinear(table, interactions=terms).fractions)
    for names in [*([key] for key in KEYS), *map(list, terms)]:
        weights = frame.groupby(names)["w"].sum()
        np.testing.assert_allclose(classes.groupby(names)["persons"].sum(), weights, rtol=0.01)


def test_missing_keys():
    frame = sample().astype({"b": "Int64"})
    frame.loc[5, "b"] = pd.NA
    with pytest.raises(DataError, match="row 5: a missing value in column b; .* the policy category"):
        loglinear(table_of(frame))
    table = table_of(frame, missing="category")
    fit = loglinear(table, interactions=[KEYS])
    np.testing.assert_allclose(fit.expected, table.records)
    assert loglinear(table_of(frame.assign(b=pd.NA), missing="category")).expected.min() > 0


def test_only_the_keys_that_interact_need_a_table():
    """Twelve keys of 12 values have 9e12 combinations; without interactions, and with some, that is no matter."""
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(rng.integers(0, 12, (500, 12)), columns=list("abcdefghijkl"))
    table = class_table(frame, list(frame))
    fit = partial(loglinear, table, sampling_fraction=0.1)
    np.testing.assert_allclose(fit(interactions=[("a", "b"), ("c", "d")]).expected.shape, table.n_classes)
    with pytest.raises(OptionError, match="a, b, c, d, e, f, g interact, and have 35,831,808 combinations"):
        fit(interactions=itertools.pairwise("abcdefg"))


def test_a_model_that_does_not_settle(monkeypatch):
    """The zeros in two opposite corners drive the estimate to the edge of the model (Haberman 1974)."""
    cells = [cell for cell in itertools.product((0, 1), repeat=3) if len(set(cell)) > 1] * 5
    table = class_table(pd.DataFrame(cells, columns=KEYS), KEYS)
    fit = partial(loglinear, table, interactions=list(itertools.combinations(KEYS, 2)), sampling_fraction=0.5)
    assert loglinear_model.FINISHED < fit().gap < 0.01
    np.testing.assert_allclose(fit().expected, 5, rtol=1e-3)
    monkeypatch.setattr(loglinear_model, "MOST_ROUNDS", 2)
    with pytest.raises(DataError, match="a, b, c does not settle: after 2 rounds"):
        fit()


@pytest.mark.parametrize(
    ("options", "fault"),
    [({"sampling_fraction": each}, "above 0 and at most 1") for each in (0, -0.1, 1.01, math.nan, math.inf, "x", True)]
    + [
        ({"interactions": each}, "interactions: ")
        for each in ("ab", [("a", "x")], [("a",)], [("a", "a")], ["ab"], [3], 3)
    ]
    + [({"interactions": [("A", "b")]}, "did you mean a?")],
)
def test_bad_arguments(options, fault):
    with pytest.raises(OptionError, match=fault):
        loglinear(table_of(sample()), **options)


def test_a_file_that_is_no_sample():
    with pytest.raises(OptionError, match="needs a sample"):
        loglinear(table_of(sample(), weight=None))
    with pytest.raises(DataError, match="column w add up to less than the records"):
        loglinear(table_of(sample().assign(w=0.5)))
    light = pd.DataFrame({"a": list("xyy"), "w": [0.5, 8, 8]}, index=list("pqr"))
    with pytest.raises(DataError, match="row p: the weights in column w of its class .* 1 of 2 classes"):
        loglinear(table_of(light, keys="a"))
    assert loglinear(table_of(light, keys="a"), sampling_fraction=0.2).sampling_fraction == 0.2
    one = loglinear(table_of(pd.DataFrame({"a": ["x"], "w": [4]}), keys="a"))
    assert one.expected.tolist() == [1]
    assert one.sampling_fraction == 0.25
