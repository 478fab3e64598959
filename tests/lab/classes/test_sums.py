"""Sums by group against sums of fractions, which are exact, and sums over compatible records against `math.fsum`."""

import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from kanon_lab import KeySpec, class_table
from kanon_lab.classes import table_of_counts
from kanon_lab.classes.sums import Sums, exact_sums, joined_sums, sums_by_group
from kanon_lab.methods.suppression_search import compatible_weights

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


KEYS = st.none() | st.integers(0, 2)
#: Weights whose sums depend on their order, were they rounded at every step.
WEIGHTS = st.integers(10, 10**6).map(lambda tenths: tenths / 10) | st.floats(1e-3, 1e12)
GAPPED = st.lists(st.tuples(KEYS, KEYS, KEYS, WEIGHTS, st.integers(0, 4)), min_size=1, max_size=25)


def gapped(rows):
    frame = pd.DataFrame(rows, columns=["a", "b", "c", "weight", "person"])
    return frame.astype(dict.fromkeys("abc", "Int64"))


def compatible(one, other):
    return all(a is None or b is None or a == b for a, b in zip(one[:3], other[:3], strict=True))


@pytest.mark.parametrize("keys", ["abc", "acb", "bca", "cba"])
@settings(max_examples=20)
@given(rows=GAPPED)
@example(rows=[(1, 1, 0, 1.1, 0), (1, 2, 0, 2.2, 1), (None, None, 0, 3.3, 2), (2, None, 0, 5.5, 3)])
def test_weights_of_compatible_records_are_rounded_once_whatever_the_order_of_keys(keys, rows):
    """Compatible under gaps: REVIEW R49 had 12.100000000000001 for 1.1 + 2.2 + 3.3 + 5.5."""
    found = class_table(gapped(rows), KeySpec(list(keys), weight="weight")).F_k_of_records()
    assert found.tolist() == [math.fsum(b[3] for b in rows if compatible(a, b)) for a in rows]


@pytest.mark.parametrize("keys", ["abc", "cab"])
@settings(max_examples=20)
@given(rows=GAPPED)
def test_weights_of_compatible_persons_are_rounded_once_whatever_the_order_of_keys(keys, rows):
    """Each person once, with the mean weight of the records, which is itself a rounded number."""
    found = class_table(gapped(rows), KeySpec(list(keys), weight="weight", person="person")).F_k_of_records()
    own = {p: [row[3] for row in rows if row[4] == p] for *_, p in rows}
    mean = {p: math.fsum(weights) / len(weights) for p, weights in own.items()}
    assert found.tolist() == [math.fsum(mean[p] for p in {b[4] for b in rows if compatible(a, b)}) for a in rows]


@settings(max_examples=20)
@given(rows=GAPPED, cut=st.integers(0, 25))
def test_parts_of_a_file_have_the_same_compatible_weights(rows, cut):
    """As engines give them: one row a combination and part, with the exact sum of its weights."""
    frame = gapped(rows)
    parts = [part for part in (frame.iloc[:cut], frame.iloc[cut:]) if len(part)]
    sums, counts = [], []
    for part in parts:
        groups = part.groupby(list("abc"), dropna=False, sort=False)
        sums.append(exact_sums(groups.ngroup().to_numpy(), part["weight"].to_numpy(), groups.ngroups))
        counts.append(groups.size().reset_index(name="records"))
    counted = pd.concat(counts, ignore_index=True)
    weights = Sums(*(np.concatenate([getattr(part, name) for part in sums]) for name in ("rounded", "rest")))
    spec = KeySpec(["a", "b", "c"], weight="weight")
    table = table_of_counts(counted[list("abc")], spec, records=counted["records"].to_numpy(), weights=weights)
    whole = class_table(frame, spec)
    assert table.F_k.tolist() == whole.F_k.tolist()


@settings(max_examples=20)
@given(rows=GAPPED, known=GAPPED)
def test_weights_that_a_true_key_meets_are_rounded_once(rows, known):
    codes, asked = (gapped(part)[list("abc")].fillna(-1).to_numpy(dtype=np.int64) for part in (rows, known))
    found = compatible_weights(asked, codes, np.array([row[3] for row in rows]))
    assert found.tolist() == [math.fsum(b[3] for b in rows if compatible(a, b)) for a in known]


def test_nothing_to_add_up_is_nothing():
    assert joined_sums(np.array([0, 1]), np.zeros(2), 2, lambda pieces: pieces).tolist() == [0, 0]
