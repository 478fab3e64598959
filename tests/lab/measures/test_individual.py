"""Individual risk: printed and computed numbers, the definition, quadrature, and hard corners."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad

from kanon_lab.errors import DataError, OptionError
from kanon_lab.measures import ESTIMATORS, individual_risk


def negative_binomial_mean(f, F):
    """E[1/F_k | f_k] by its definition: the sum over h of 1/h times the chance that the population has h."""
    p = f / F
    chance, h, total, left = p**f, f, 0.0, 1.0
    while left > 1e-13 and h < 10**6:
        total += chance / h
        left -= chance
        h += 1
        chance *= (1 - p) * (h - 1) / (h - f)
    return total


# f_k, F_k, risk. Computed by sdcMicro 5.8 (PEERS.md): eight records, then INE Chile (2023), Tabla 7.1.
PRINTED = [
    (2, 110, 0.01714426),
    (2, 84.5, 0.02204233),
    (1, 17, 0.17707583),
    (1, 541, 0.01165448),
    (1, 8, 0.29706308),
    (1, 5, 0.40235948),
    (2, 360, 0.00542452),
    (1, 215, 0.02509644),
    (2, 152, 0.01256343),
    (1, 186, 0.02824728),
    (1, 180, 0.02901093),
    (2, 262, 0.00740383),
]


@pytest.mark.parametrize("f_k, F_k, risk", PRINTED)
@pytest.mark.parametrize("estimator", ["benedetti-franconi", "exact"])
def test_numbers_of_sdcmicro(f_k, F_k, risk, estimator):
    assert individual_risk([f_k], [F_k], estimator=estimator) == pytest.approx([risk], abs=5e-9)


@given(f=st.integers(1, 60), times=st.floats(1, 40))
def test_exact_risk_is_the_mean_of_one_over_f_k(f, times):
    risk = individual_risk([f], [f * times], estimator="exact")
    assert risk == pytest.approx([negative_binomial_mean(f, f * times)], rel=1e-8)


@pytest.mark.parametrize("estimator", ["benedetti-franconi", "exact"])
@pytest.mark.parametrize("F", [3.9, 10, 500, 1e12])
def test_closed_forms_up_to_three(F, estimator):
    """Benedetti and Franconi (1998), for f_k of 1, 2 and 3; the approximation takes over at 3."""
    risk = individual_risk([1, 2, 3], [F, F, F], estimator=estimator)
    closed = []
    for f in (1, 2, 3):
        p = f / F
        q = 1 - p
        forms = {1: -math.log(p), 2: (p * math.log(p) + q) / q, 3: (q * (3 * q - 2) / 2 - p**2 * math.log(p)) / q**2}
        closed.append(p / q * forms[f])
    np.testing.assert_allclose(risk[:2], closed[:2], rtol=1e-9)
    if estimator == "exact":
        assert risk[2] == pytest.approx(closed[2], rel=1e-8)


def by_quadrature(f, F):
    """E[1/F_k] as the integral of E[s^F_k]/s, s = exp(-t/f): that of exp(-t) (p / (1 - q exp(-t/f)))^f / f."""
    p = f / F
    q = (F - f) / F

    def integrand(t):
        return math.exp(-t + f * math.log(p / (p - q * math.expm1(-t / f)))) / f

    # For p near 0 most of it lies at t of the order of p f, far from 0 in logarithms only.
    return quad(lambda u: integrand(math.exp(u)) * math.exp(u), -60, 8, epsabs=0, epsrel=1e-11, limit=500)[0]


@pytest.mark.parametrize("f", [1, 2, 3, 4, 10, 31, 32, 107, 176, 1000, 10**6])
@pytest.mark.parametrize("F_over_f", [1 + 1e-9, 1.001, 1.9, 2, 2.1, 30, 1e4, 1e12])
def test_exact_risk_by_quadrature(f, F_over_f):
    """Also where sdcMicro 5.8 gives NaN, from f_k of about 176 (PEERS.md)."""
    risk = individual_risk([f], [f * F_over_f], estimator="exact")
    assert risk == pytest.approx([by_quadrature(f, f * F_over_f)], rel=1e-9)


def test_approximation_from_three_on():
    """Franconi and Polettini (2004): p / (f - (1 - p))."""
    assert individual_risk([3, 10], [30, 1000]) == pytest.approx([0.1 / 2.1, 0.01 / 9.01])


@settings(max_examples=120)
@given(f=st.integers(1, 10**6), times=st.floats(1, 1e300), estimator=st.sampled_from(sorted(ESTIMATORS)))
def test_every_risk_is_finite_and_a_probability(f, times, estimator):
    (risk,) = individual_risk([f], [f * times], estimator=estimator)
    assert 0 < risk <= 1 / f * (1 + 1e-12)
    # The mean of 1/F_k is at least 1 over the mean of F_k.
    assert risk >= 1 / (f * times) * (1 - 1e-9)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_a_class_of_which_all_are_in_the_file(estimator):
    f = np.array([1, 2, 3, 31, 32, 107, 176, 10**6])
    np.testing.assert_allclose(individual_risk(f, f, estimator=estimator), 1 / f, rtol=1e-14)
    # Hardly more in the population: where closed forms cancel, the risk must not jump.
    near = individual_risk(f, f * (1 + 1e-9), estimator=estimator)
    np.testing.assert_allclose(near, 1 / f, rtol=1e-8)


@pytest.mark.parametrize("f", [2, 3, 5, 31, 32, 33, 200])
def test_the_ways_to_the_exact_risk_meet(f):
    """Across p = 1/2, and from few to many, the risk goes on smoothly."""
    F = 2 * f * (1 + np.array([-1e-9, 0, 1e-9]))
    risk = individual_risk([f] * 3, F, estimator="exact")
    np.testing.assert_allclose(risk, risk[1], rtol=1e-8)
    assert (np.diff(individual_risk([f] * 500, np.geomspace(f, 1e4 * f, 500), estimator="exact")) < 0).all()


@pytest.mark.parametrize(
    "f_k, F_k, fault",
    [([1, 3], [5, 2], "1 of 2 classes, first number 1.*less than the records"), ([0], [1], "below 1")]
    + [([1], [F], "not finite") for F in (math.inf, math.nan)],
)
def test_impossible_frequencies_are_refused(f_k, F_k, fault):
    with pytest.raises(DataError, match=fault):
        individual_risk(f_k, F_k)


def test_rounding_of_sums_of_weights_is_no_fault():
    assert individual_risk([3], [3 - 1e-12]) == pytest.approx([1 / 3])


def test_unknown_estimator_or_lengths():
    with pytest.raises(OptionError, match="estimator must be one of"):
        individual_risk([1], [1], estimator="mean")
    with pytest.raises(OptionError, match="estimator must be one of"):
        individual_risk([1], [1], estimator=["exact"])
    with pytest.raises(OptionError, match="same length"):
        individual_risk([1, 2], [1])
    with pytest.raises(OptionError, match="F_k must be an array of numbers in one dimension"):
        individual_risk([1], ["many"])
