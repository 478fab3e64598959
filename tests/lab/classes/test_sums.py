"""Sums by group against sums of fractions, which are exact."""

import math
from fractions import Fraction

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from kanon_lab.classes.sums import Sums, exact_sums, sums_by_group

NUMBERS = st.floats(-1e300, 1e300, allow_subnormal=True) | st.integers(1, 10**6).map(lambda cents: cents / 100)


@given(st.lists(st.tuples(st.integers(0, 3), NUMBERS), max_size=30))
@example([(0, 1.0), (0, 2.0**-53), (0, 2.0**-106)])  # half a unit, and what decides it
@example([(0, 5e-324), (1, 1e300), (0, 1e-300)])
def test_sums_are_exact(rows):
    group = np.array([group for group, _ in rows], dtype=int)
    numbers = np.array([number for _, number in rows], dtype=float)
    found = exact_sums(group, numbers, 4)
    for each in range(4):
        own = [Fraction(float(number)) for number in numbers[group == each]]
        assert found.rounded[each] == float(sum(own))
        assert found.rest[each] == float(sum(own) - Fraction(float(found.rounded[each])))


@given(st.lists(st.tuples(st.integers(0, 2), st.floats(1, 1e6)), min_size=1, max_size=30), st.integers(0, 30))
def test_sums_of_parts_are_those_of_the_whole(rows, cut):
    group, numbers = (np.array(each) for each in zip(*rows, strict=True))
    parts = [exact_sums(group[rows], numbers[rows], 3) for rows in (slice(0, cut), slice(cut, None))]
    both = Sums(*(np.concatenate([getattr(part, name) for part in parts]) for name in ("rounded", "rest")))
    merged = sums_by_group(np.tile(np.arange(3), 2), both, 3)
    whole = exact_sums(group, numbers, 3)
    assert (merged.rounded == whole.rounded).all()
    assert (merged.rest == whole.rest).all()
    assert whole.rounded.tolist() == [math.fsum(numbers[group == each]) for each in range(3)]
