"""Columns coded and grouped: whichever way is quickest, the same numbers."""

from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon_lab import columns

# Ranges in which values are grouped by position (few rows of a small range only), by a sort of values with their rows,
# and by a sort of rows.
SIZES = {"few by position": 2**5, "by position": 2**20, "values and rows": 2**40, "rows": 2**62}


@given(size=st.sampled_from(list(SIZES.values())), data=st.data())
def test_values_are_numbered_in_their_order(size, data):
    packed = np.array(data.draw(st.lists(st.integers(0, size - 1), min_size=1, max_size=40)), dtype=np.int64)
    # Some values several times, so that few are distinct too.
    packed = np.tile(packed, data.draw(st.integers(1, 3)))
    given_as = packed.copy()
    group, distinct = columns.grouped(packed, size)
    expected, number = np.unique(packed, return_inverse=True)
    assert (distinct == expected).all() and (group == number).all()
    assert group.dtype == np.int32 and (packed == given_as).all()


@pytest.mark.parametrize("size", SIZES.values(), ids=SIZES)
@pytest.mark.parametrize("values", [30, 300_000])
def test_long_columns_are_numbered_alike(size, values):
    rng = np.random.default_rng(7)
    packed = rng.integers(0, size, values)[rng.integers(0, values, 300_000)]
    group, distinct = columns.grouped(packed, size)
    expected, number = np.unique(packed, return_inverse=True)
    assert (distinct == expected).all() and (group == number).all()


@given(rows=st.integers(1, 60), size=st.sampled_from([1, 7, 60, 2**31 - 1, 2**31, 2**62]), data=st.data())
def test_values_are_tallied_in_their_order(rows, size, data):
    ends = st.sampled_from(sorted({0, size // 2, size - 1}))
    values = data.draw(st.lists(st.one_of(ends, st.integers(0, size - 1)), min_size=rows, max_size=rows))
    distinct, count = columns.tallied(np.array(values, dtype=columns.whole_type(size)), size)
    assert dict(zip(distinct.tolist(), count.tolist(), strict=True)) == Counter(values)
    assert (np.diff(distinct) > 0).all()


WHOLE = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")


@given(dtype=st.sampled_from(WHOLE), data=st.data())
def test_whole_numbers_are_coded_in_their_order(dtype, data):
    ends = np.iinfo(dtype)
    some = st.one_of(st.integers(ends.min, ends.max), st.integers(0, 100), st.integers(ends.max - 100, ends.max))
    column = pd.Series(data.draw(st.lists(some, min_size=1, max_size=20)), dtype=dtype)
    coded = columns.coded(column)
    assert coded.values.tolist() == sorted(set(column.tolist()))
    assert coded.values[coded.codes].tolist() == column.tolist()


@given(rows=st.lists(st.tuples(*[st.integers(-1, 2**40 - 2)] * 3), min_size=1, max_size=20))
def test_packed_columns_sort_as_their_rows(rows):
    packed, size = columns.pack(list(np.array(rows).T), [2**40] * 3)
    assert packed.min() >= 0 and packed.max() < size
    last = [tuple(2**40 if value < 0 else value for value in row) for row in rows]
    assert np.argsort(packed, kind="stable").tolist() == sorted(range(len(rows)), key=last.__getitem__)
    assert len(np.unique(packed)) == len(set(rows))


@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (2, 0)])
def test_rows_of_nothing_are_numbered_too(shape):
    group, some = columns.distinct_rows(np.full(shape, -1, dtype=np.int64))
    assert (group == 0).all() and len(group) == shape[0] and len(some) == min(shape[0], 1)
