"""The law of one cell: against enumeration, exact fractions, and its own invariants."""

from fractions import Fraction
from itertools import product
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kanon_lab.errors import OptionError
from kanon_lab.population import (
    KRange,
    covariance_in_ranges,
    parse_ranges,
    persons_by_k,
    persons_in_ranges,
    variance_in_ranges,
)

PARTITIONS = st.lists(st.integers(1, 60), min_size=0, max_size=5, unique=True).map(
    lambda cuts: _partition(sorted(cuts))
)
PERIODS = st.one_of(
    st.integers(1, 2000),
    st.lists(st.floats(0.01, 1), min_size=1, max_size=6).map(lambda w: np.array(w) / np.sum(w)),
)


def _partition(cuts):
    """Ranges that cover every k once, cut after each of the given numbers."""
    ends = [*cuts, None]
    starts = [1, *(c + 1 for c in cuts)]
    return tuple(KRange(a, b) for a, b in zip(starts, ends, strict=True))


def _enumerate(n, probabilities, ranges):
    """Mean and covariance of the persons per range over every assignment of n persons to periods."""
    mean = np.zeros(len(ranges))
    second = np.zeros((len(ranges), len(ranges)))
    for births in product(range(len(probabilities)), repeat=n):
        chance = np.prod([probabilities[b] for b in births]) if n else 1.0
        k = np.bincount(births, minlength=len(probabilities)) if n else np.zeros(1, int)
        persons = np.array([k[(k >= r.k_from) & (k <= (r.k_to or n))].sum() for r in ranges])
        mean += chance * persons
        second += chance * np.outer(persons, persons)
    return mean, second - np.outer(mean, mean)


@given(
    n=st.integers(0, 6),
    weights=st.lists(st.integers(1, 5), min_size=1, max_size=4),
    ranges=PARTITIONS,
)
def test_mean_and_covariance_equal_enumeration(n, weights, ranges):
    probabilities = np.array(weights) / np.sum(weights)
    mean, covariance = _enumerate(n, probabilities, ranges)
    cell = np.array([n])
    np.testing.assert_allclose(persons_in_ranges(cell, probabilities, ranges)[0], mean, atol=1e-12)
    np.testing.assert_allclose(covariance_in_ranges(cell, probabilities, ranges)[0], covariance, atol=1e-11)
    np.testing.assert_allclose(variance_in_ranges(cell, probabilities, ranges)[0], np.diag(covariance), atol=1e-11)


@given(cells=st.lists(st.integers(0, 10**6), min_size=1, max_size=5), periods=PERIODS, ranges=PARTITIONS)
def test_persons_over_all_k_sum_to_n(cells, periods, ranges):
    n = np.array(cells)
    np.testing.assert_allclose(persons_in_ranges(n, periods, ranges).sum(axis=1), n, rtol=1e-11)


@given(n=st.integers(1, 400), periods=PERIODS)
def test_ranges_are_sums_of_single_k(n, periods):
    by_k = persons_by_k(np.array([n]), periods, n)[0]
    np.testing.assert_allclose(by_k.sum(), n, rtol=1e-11)
    ranges = parse_ranges("1,2,3-7,8-40,41+")
    expected = [by_k[r.k_from - 1 : r.k_to].sum() for r in ranges]
    np.testing.assert_allclose(persons_in_ranges(np.array([n]), periods, ranges)[0], expected, rtol=1e-9, atol=1e-12)


@given(
    n=st.integers(0, 5000),
    weights=st.lists(st.floats(0.01, 1), min_size=2, max_size=8),
    merge=st.data(),
)
def test_merging_periods_never_lowers_the_chance_of_a_larger_k(n, weights, merge):
    fine = np.array(weights) / np.sum(weights)
    labels = merge.draw(st.lists(st.integers(0, 3), min_size=fine.size, max_size=fine.size))
    coarse = np.bincount(labels, weights=fine)
    above = tuple(KRange(m + 1, None) for m in (1, 2, 3, 5, 10, 100, 1000))
    cell = np.array([n])
    gain = persons_in_ranges(cell, coarse / coarse.sum(), above) - persons_in_ranges(cell, fine, above)
    assert (gain >= -1e-9 * max(n, 1)).all()


def test_merging_periods_can_raise_the_count_at_exactly_two():
    two = (KRange(2, 2),)
    n = np.array([100])
    assert persons_in_ranges(n, 60, two) > persons_in_ranges(n, 1826, two)


@given(n=st.integers(0, 3000), periods=st.integers(1, 400), ranges=PARTITIONS)
def test_equal_probabilities_give_the_scalar_form(n, periods, ranges):
    cell, equal = np.array([n]), np.full(periods, 1 / periods)
    for measure in (persons_in_ranges, variance_in_ranges):
        np.testing.assert_allclose(
            measure(cell, equal, ranges), measure(cell, periods, ranges), rtol=1e-8, atol=1e-9 * max(n, 1)
        )


@settings(max_examples=4)
@given(n=st.integers(0, 300), weights=st.lists(st.floats(0.05, 1), min_size=4, max_size=12, unique=True))
def test_many_distinct_probabilities_agree_with_one_pair_at_a_time(n, weights):
    """One cell is summed over all pairs at once, many cells pair by pair: two ways to one variance."""
    probabilities = np.array(weights) / np.sum(weights)
    ranges = parse_ranges("1,2-4,5+")
    alone = covariance_in_ranges(np.array([n]), probabilities, ranges)[0]
    among_others = covariance_in_ranges(np.full(200, n), probabilities, ranges)[0]
    np.testing.assert_allclose(alone, among_others, rtol=1e-9, atol=1e-9 * max(n, 1))


@pytest.mark.parametrize("n,periods", [(1, 5), (2, 1), (36, 60), (700, 1826), (5000, 1826), (300, 5)])
def test_formula_1_in_exact_fractions(n, periods):
    """Gil Bellosta (2011), formula (1): k C(n, k) N^(1-n) (N-1)^(n-k)."""
    k_max = min(n, 120)
    exact = [
        float(Fraction(k * comb(n, k) * (periods - 1) ** (n - k), periods ** (n - 1))) for k in range(1, k_max + 1)
    ]
    np.testing.assert_allclose(persons_by_k(np.array([n]), periods, k_max)[0], exact, rtol=1e-11)


def test_million_persons_and_k_of_a_hundred_thousand():
    n, k, periods = 10**6, 10**5, 10
    exact = k * comb(n, k) * (periods - 1) ** (n - k) * 10**9 // periods ** (n - 1) / 10**9
    computed = persons_by_k(np.array([n]), periods, k, k)[0, 0]
    assert computed == pytest.approx(exact, rel=1e-9)
    around = parse_ranges(f"1-{k - 1},{k},{k + 1}+")
    assert persons_in_ranges(np.array([n]), periods, around).sum() == pytest.approx(n, rel=1e-12)
    assert np.isfinite(variance_in_ranges(np.array([n]), periods, around)).all()


@given(
    cells=st.lists(st.integers(0, 20000), min_size=1, max_size=4),
    periods=st.integers(1, 2000),
    ranges=PARTITIONS,
)
def test_covariance_is_that_of_a_fixed_total(cells, periods, ranges):
    n = np.array(cells)
    covariance = covariance_in_ranges(n, periods, ranges)
    scale = np.maximum(np.abs(covariance).max(axis=(1, 2)), 1e-6)[:, None]
    np.testing.assert_allclose(covariance.sum(axis=2) / scale, 0, atol=1e-7)
    np.testing.assert_allclose(covariance, covariance.transpose(0, 2, 1))
    for matrix in covariance:
        assert np.linalg.eigvalsh(matrix).min() >= -1e-6 * max(np.abs(matrix).max(), 1e-6)


@given(n=st.integers(0, 10**6), periods=st.integers(1, 2000), cut=st.integers(1, 500))
def test_open_range_varies_as_its_complement(n, periods, cut):
    cell = np.array([n])
    closed, opened = variance_in_ranges(cell, periods, (KRange(1, cut), KRange(cut + 1, None)))[0]
    assert opened == pytest.approx(closed, rel=1e-6, abs=1e-9)


def test_the_order_of_cells_does_not_matter():
    n = np.random.default_rng(5).integers(0, 30000, 300)
    ranges = parse_ranges("1,2-5,6-50,51+")
    order = np.random.default_rng(6).permutation(n.size)
    # Cells share windows of summation with their neighbours in size: that may touch the last digits only.
    together = variance_in_ranges(n, 60, ranges)
    np.testing.assert_allclose(variance_in_ranges(n[order], 60, ranges), together[order], rtol=1e-12)
    alone = np.array([variance_in_ranges(n[i : i + 1], 60, ranges)[0] for i in range(20)])
    np.testing.assert_allclose(alone, together[:20], rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize(
    "periods",
    [0, -1, 2.5, float("nan"), "day", ["a"], [[1.0]], [[0.5], [0.25, 0.25]], [0.5, 0.6], [-0.5, 1.5], [np.nan, 1]],
)
def test_impossible_periods_are_refused(periods):
    with pytest.raises(OptionError):
        persons_by_k(np.array([3]), periods, 2)


@pytest.mark.parametrize("cells", [[-1], [1.5], [[1, 2]], ["3"], np.array([2**63 + 5], dtype="uint64")])
def test_impossible_cells_are_refused(cells):
    with pytest.raises(OptionError):
        persons_by_k(np.array(cells), 60, 2)
