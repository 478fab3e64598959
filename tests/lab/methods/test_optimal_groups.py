"""Groups of one variable that lose the least, against all there are."""

from fractions import Fraction
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kanon_lab.methods import grouping


def squares(values):
    values = [Fraction(value) for value in values]
    mean = sum(values) / len(values)
    return sum((value - mean) ** 2 for value in values)


def lost(values, group):
    return sum(squares([v for v, g in zip(values, group) if g == each]) for each in set(group))


def all_partitions(records):
    """Every partition of records into groups, not of neighbours only."""
    if not records:
        yield []
        return
    first, rest = records[0], records[1:]
    for partition in all_partitions(rest):
        yield [[first], *partition]
        for i, group in enumerate(partition):
            yield [*partition[:i], [first, *group], *partition[i + 1 :]]


def least_of_runs(values, k):
    """Least loss of partitions of the sorted values into runs of k or more, of any length."""
    values = sorted(map(Fraction, values))
    best = [Fraction(0)]
    for end in range(1, len(values) + 1):
        ways = [best[s] + squares(values[s:end]) for s in range(end - k + 1) if best[s] is not None]
        best.append(min(ways, default=None))
    return best[-1]


@given(st.lists(st.integers(-20, 20) | st.sampled_from([0.1, 1e6]), min_size=2, max_size=7), st.integers(2, 4))
def test_no_partition_loses_less(values, k):
    k = min(k, len(values))
    found = grouping.optimal(np.array(values, dtype=float), k)
    assert np.bincount(found).min() >= k
    candidates = [p for p in all_partitions(list(range(len(values)))) if min(map(len, p)) >= k]
    least = min(sum(squares([values[i] for i in group]) for group in partition) for partition in candidates)
    assert float(lost(values, found.tolist())) == pytest.approx(float(least), rel=1e-12, abs=1e-12)


@given(
    st.lists(st.integers(0, 9) | st.floats(-1e6, 1e6).map(lambda x: round(x, 2)), min_size=2, max_size=45),
    st.integers(2, 9),
    st.sampled_from([1, 40, 2**20]),
)
@example([5] * 9, 2, 1)
def test_longer_files_in_pieces(values, k, at_a_time):
    k, told = min(k, len(values)), []
    with patch.object(grouping, "_AT_A_TIME", at_a_time):
        found = grouping.optimal(np.array(values, dtype=float), k, tell=told.append)
    sizes = np.bincount(found)
    assert sizes.min() >= k and sizes.max() < 2 * k
    assert sum(told) == len(values)
    assert float(lost(values, found.tolist())) == pytest.approx(float(least_of_runs(values, k)), rel=1e-9, abs=1e-12)
    order = np.argsort(values, kind="stable")
    assert (np.diff(found[order]) >= 0).all()


@pytest.mark.parametrize("scale", [1e-150, 1, 1e150])
def test_groups_do_not_depend_on_the_unit(scale):
    values = np.random.default_rng(4).lognormal(size=500)
    expected = grouping.optimal(values, 3)
    np.testing.assert_array_equal(grouping.optimal(values * scale, 3), expected)
    near = grouping.optimal(np.arange(9.0).repeat(3) * 1e-3 + 1e9, 3)
    np.testing.assert_array_equal(near, np.arange(9).repeat(3))
