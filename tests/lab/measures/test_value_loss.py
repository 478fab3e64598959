"""Granularity and non-uniform entropy, against loops over the records."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon_lab.errors import DataError, OptionError
from kanon_lab.measures import granularity, non_uniform_entropy

MEASURES = [granularity, non_uniform_entropy]
PAIRS = st.lists(
    st.tuples(st.sampled_from([1, 2, 3, 4, 5, None]), st.sampled_from(["u", "v", "w", "x", None])), min_size=1
)


def columns(pairs):
    index = [f"r{i}" for i in range(len(pairs))]
    return [pd.Series([pair[side] for pair in pairs], index=index, dtype=object) for side in (0, 1)]


def granularity_by_loops(pairs):
    pairs = [pair for pair in pairs if pair[0] is not None]
    values = {before for before, _ in pairs}
    if len(values) < 2:
        return 0.0
    total = 0.0
    for _, after in pairs:
        stands_for = values if after is None else {before for before, other in pairs if other == after}
        total += (len(stands_for) - 1) / (len(values) - 1)
    return total / len(pairs)


def entropy_by_loops(pairs):
    pairs = [pair for pair in pairs if pair[0] is not None]
    lost = most = 0.0
    for before, after in pairs:
        alone = -math.log2(sum(other == before for other, _ in pairs) / len(pairs))
        group = [other for other, label in pairs if label == after]
        lost += alone if after is None else -math.log2(group.count(before) / len(group))
        most += alone
    return lost / most if most else 0.0


@given(PAIRS)
def test_by_plain_loops(pairs):
    assert granularity(*columns(pairs)) == pytest.approx(granularity_by_loops(pairs), abs=1e-12)
    assert non_uniform_entropy(*columns(pairs)) == pytest.approx(entropy_by_loops(pairs), abs=1e-12)


@pytest.mark.parametrize("measure", MEASURES)
@given(pairs=PAIRS, merge=st.dictionaries(st.sampled_from("uvwx"), st.sampled_from(["u", "v", None])))
def test_from_0_to_1_and_never_less_by_coarsening(measure, pairs, merge):
    coarser = [(before, merge.get(after, after)) for before, after in pairs]
    loss = measure(*columns(pairs))
    assert 0 <= loss <= 1
    assert loss <= measure(*columns(coarser)) + 1e-12


@pytest.mark.parametrize("measure", MEASURES)
@given(pairs=PAIRS, seed=st.integers(0, 99))
def test_names_and_order_do_not_matter(measure, pairs, seed):
    renamed = {1: "d", 2: "a", 3: "c", 4: "e", 5: "b", None: None, "u": 0.5, "v": 7, "w": "1-5", "x": ""}
    order = np.random.default_rng(seed).permutation(len(pairs))
    others = [tuple(renamed[value] for value in pairs[i]) for i in order]
    assert measure(*columns(others)) == pytest.approx(measure(*columns(pairs)), abs=1e-12)


@pytest.mark.parametrize("measure", MEASURES)
def test_ends_of_the_scale(measure):
    ages = pd.Series([20, 30, 30, 40, 50])
    assert measure(ages, ages.astype(str)) == 0
    assert measure(ages, ages.map({20: "b", 30: "a", 40: "d", 50: "c"})) == 0
    assert measure(ages, pd.Series(["*"] * 5)) == pytest.approx(1)
    assert measure(ages, pd.Series([None] * 5)) == pytest.approx(1)
    # Nothing can be lost of what says nothing.
    assert measure(pd.Series([1, 1, None]), pd.Series([None, "a", "b"])) == 0
    assert measure(pd.Series([None, None]), pd.Series([None, 1])) == 0


def test_bands_and_suppression_by_hand():
    ages = pd.Series([20, 25, 30, 35])
    bands = pd.Series(["20-29", "20-29", "30-39", None], dtype="category")
    # Sets of 2, 2, 1 and all 4 of 4 ages.
    assert granularity(ages, bands) == pytest.approx((1 / 3 + 1 / 3 + 0 + 1) / 4)
    # 1, 1, 0 and 2 of 2 bits each.
    assert non_uniform_entropy(ages, bands) == pytest.approx(4 / 8)


def test_pram_is_a_conditional_entropy():
    """A symmetric channel of two categories that keeps a value with probability 3/4 leaves 1 - h(1/4) of its bit."""
    truth = pd.Series([0] * 400 + [1] * 400)
    released = pd.Series([0] * 300 + [1] * 100 + [0] * 100 + [1] * 300)
    h = -(0.25 * math.log2(0.25) + 0.75 * math.log2(0.75))
    assert non_uniform_entropy(truth, released) == pytest.approx(h)
    assert granularity(truth, released) == 1


@pytest.mark.parametrize("measure", MEASURES)
def test_what_cannot_be_measured(measure):
    with pytest.raises(DataError, match="its index is not that of the original file"):
        measure(pd.Series([1, 2]), pd.Series([1, 2], index=[1, 0]))
    with pytest.raises(DataError, match="has no records"):
        measure(pd.Series([], dtype=float), pd.Series([], dtype=float))
    with pytest.raises(DataError, match="the released file: column a holds lists"):
        measure(pd.Series([1, 2], name="a"), pd.Series([[1], [2]], name="a"))


@pytest.mark.parametrize("measure", [granularity, non_uniform_entropy])
@pytest.mark.parametrize("other", [None, [1, 2], pd.DataFrame({"x": [1, 2]})])
def test_columns_are_series(measure, other):
    column = pd.Series([1, 2])
    for pair in ((column, other), (other, column)):
        with pytest.raises(OptionError, match="file: give one column as a Series, not"):
            measure(*pair)
