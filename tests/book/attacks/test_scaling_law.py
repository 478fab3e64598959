"""The fitted law of two parameters: its formulas beside recursion, and what it forecasts."""

import numpy as np
import pytest

import kanon_lab
from kanon_book.attacks import PitmanYor, extrapolate, fit_pitman_yor


@pytest.mark.parametrize(
    ("d", "theta"), [(0.3, 5.0), (0.8, -0.5), (1e-12, 40.0), (0.05, 5e4), (1e-9, 250.0), (0.9, 1e6)]
)
def test_the_expected_keys_are_those_of_the_recursion(d, theta):
    """The next person has a new key with probability (theta + d keys) / (theta + n)."""
    keys = 0.0
    for n in range(3000):
        keys += (theta + d * keys) / (theta + n) if n else 1.0
    assert PitmanYor(d, theta).keys(3000) == pytest.approx(keys, rel=1e-6)


def _log_chance(sizes, d, theta):
    """Of a partition into keys of such sizes, person by person."""
    total, persons = 0.0, 0
    for keys, size in enumerate(sizes):
        for member in range(size):
            new = theta + keys * d if member == 0 else member - d
            total += np.log(new / (theta + persons)) if persons else 0.0
            persons += 1
    return total


def test_no_other_parameters_make_the_sample_more_likely():
    rng = np.random.default_rng(3)
    sizes = rng.zipf(2.2, 300).clip(max=60)
    fitted = fit_pitman_yor(np.bincount(sizes))
    best = _log_chance(sizes, fitted.discount, fitted.strength)
    for d in np.linspace(0.02, 0.98, 13):
        for theta in (1, 5, 20, 60, 200, 1000):
            assert _log_chance(sizes, d, theta) <= best + 1e-6


def test_where_everybody_has_a_key_of_their_own_everybody_is_forecast_to():
    assert fit_pitman_yor([0, 50]).correctness(10_000) == pytest.approx(1, abs=1e-3)


def test_the_forecast_is_right_in_the_sample_and_too_high_beyond():
    rows = extrapolate(kanon_lab.load_counts("spain-2010"), fractions=[0.1], dates=["day"], seed=1)
    row = rows.iloc[0]
    assert row["fitted"] == pytest.approx(row["in_sample"], abs=1e-4)
    assert row["truth"] == pytest.approx(0.56835, abs=5e-6)
    assert 0.03 < row["error"] < 0.08


@pytest.mark.filterwarnings("error")
def test_a_sample_of_a_single_key_stays_with_it_without_a_warning():
    fitted = fit_pitman_yor([0, 0, 0, 1])
    assert fitted.keys(10) == pytest.approx(1) and fitted.keys(10**6) == pytest.approx(1)
