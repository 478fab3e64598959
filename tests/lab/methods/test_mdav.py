"""Groups by maximum distance to the average vector, against the definition record by record."""

from fractions import Fraction
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon_lab.methods import grouping


def by_definition(rows, weights, k, order=None):
    """MDAV in plain Python, in whatever numbers the rows are: floats, or fractions, which are exact."""

    def apart(one, other):
        total = 0 * weights[0]
        for x, y, weight in zip(one, other, weights):
            total += (x - y) * (x - y) * weight
        return total

    def farthest(point):  # max() takes the first, which is the earliest
        return max(left, key=lambda i: apart(rows[i], point))

    def take(i):
        near = sorted(left, key=lambda j: (j != i, apart(rows[j], rows[i])))[:k]
        for j in near:
            group[j] = number
            left.remove(j)

    group, left, number = [None] * len(rows), list(range(len(rows))), 0
    while len(left) >= 2 * k:
        opposite = len(left) >= 3 * k
        centre = [sum(column) / len(left) for column in zip(*(rows[i] for i in left))]
        r = farthest(centre) if order is None else next(i for i in order if i in left)
        take(r)
        number += 1
        if opposite:
            take(farthest(rows[r]))
            number += 1
    return [number if g is None else g for g in group]


def groups(values, k, **options):
    points, weights = grouping.on_grid(np.array(values, dtype=float))
    return grouping.mdav(points, weights, k, **options).tolist(), points.T.tolist(), weights.tolist()


def varied(values):
    return all(len(set(column)) > 1 for column in zip(*values))


TABLES = (
    st.integers(1, 4)
    .flatmap(
        lambda width: st.lists(
            st.lists(st.integers(0, 3) | st.sampled_from([-7, 0.1, 40, 1e6]), min_size=width, max_size=width),
            min_size=2,
            max_size=70,
        )
    )
    .filter(varied)
)


@given(values=TABLES, k=st.integers(2, 6), largest=st.sampled_from([2, 5, 128]), data=st.data())
def test_groups_are_those_of_the_definition_with_many_ties(values, k, largest, data):
    """Blocks of few points, so that there are many."""
    k = min(k, len(values))
    order = data.draw(st.none() | st.permutations(range(len(values))))
    with patch.object(grouping, "_LARGEST", largest):
        options = {} if order is None else {"order": np.array(order)}
        found, rows, weights = groups(values, k, **options)
    assert found == by_definition(rows, weights, k, order)
    sizes = np.bincount(found)
    assert (sizes[:-1] == k).all() and k <= sizes[-1] < 2 * k


@given(st.lists(st.integers(-9, 9), min_size=4, max_size=40).filter(lambda x: len(set(x)) > 1), st.integers(2, 4))
def test_ties_of_whole_numbers_are_exact(values, k):
    """In fractions: neither the grid nor rounding decides which of two equal distances is shorter."""
    rows = [[Fraction(value)] for value in values]
    assert groups([[value] for value in values], k)[0] == by_definition(rows, [Fraction(1)], k)


@pytest.mark.parametrize("seed", range(3))
def test_without_ties_the_grid_changes_nothing(seed):
    values = np.random.default_rng(seed).lognormal(size=(120, 3))
    rows = [[Fraction(x) for x in row] for row in values.tolist()]
    means = [sum(column) / 120 for column in zip(*rows)]
    weights = [120 / sum((x - m) ** 2 for x in column) for column, m in zip(zip(*rows), means)]
    assert groups(values, 3)[0] == by_definition(rows, weights, 3)


@pytest.mark.parametrize("kind", ["skewed", "whole numbers"])
def test_two_thousand_records(kind):
    rng = np.random.default_rng(5)
    values = {
        "skewed": lambda: rng.standard_cauchy(size=(2000, 3)),
        "whole numbers": lambda: rng.integers(0, 6, size=(2000, 3)),
    }[kind]()
    with patch.object(grouping, "_LARGEST", 32):
        found, rows, weights = groups(values, 7)
    assert found == by_definition(rows, weights, 7)


@pytest.mark.parametrize("scale", [1e-270, 1, 1e140])
def test_the_grid(scale):
    values = np.random.default_rng(2).integers(-50, 1000, size=(300, 2)) * scale
    points, weights = grouping.on_grid(values)
    assert (points == np.rint(points)).all()
    assert weights == pytest.approx(1 / points.var(axis=1))
    assert [sum(map(int, row)) for row in points.tolist()] == points.sum(axis=1).tolist()
    factors = 2.0 ** np.rint(np.log2(np.ptp(points, axis=1)) - np.log2(np.ptp(values, axis=0)))
    off = np.abs((points - points[:, :1]) - (values - values[0]).T * factors[:, None])
    # Whole numbers are exact; others are rounded by half a step each.
    assert off.max() <= (0 if scale == 1 else 1)


def test_by_hand():
    """Of 1, 2, 3, 10, 11, 12, 13 with mean 52/7, 1 is farthest; with 8 records in a line, ties go to the earliest."""
    assert groups([[x] for x in (10, 1, 11, 2, 12, 3, 13)], 3)[0] == [1, 0, 1, 0, 1, 0, 1]
    # 0 and 7 are equally far from 3.5: the earlier, 7, begins; 0 is farthest from it.
    assert groups([[x] for x in (7, 0, 1, 2, 3, 4, 5, 6)], 2)[0] == [0, 1, 1, 2, 2, 3, 3, 0]


@pytest.mark.parametrize("kind", ["lognormal", "uniform", "ties"])
@pytest.mark.parametrize("k", [3, 10])
def test_the_way_of_large_files_loses_no_more_than_a_hundredth(monkeypatch, kind, k):
    rng = np.random.default_rng(5)
    draw = {"lognormal": rng.lognormal, "uniform": rng.random, "ties": lambda size: np.round(rng.lognormal(1, 1, size))}
    points, weights = grouping.on_grid(draw[kind](size=(6000, 3)))
    spread = []
    for most in (grouping.MOST_EXACT, 0):
        monkeypatch.setattr(grouping, "MOST_EXACT", most)
        group = grouping.mdav(points, weights, k)
        sizes = np.bincount(group)
        assert k <= sizes.min() and sizes.max() < 2 * k
        means = [np.bincount(group, row) / sizes for row in points]
        apart = [weight * (row - mean[group]) ** 2 for row, mean, weight in zip(points, means, weights, strict=True)]
        spread.append(float(np.sum(apart)))
    assert spread[1] <= 1.01 * spread[0]
