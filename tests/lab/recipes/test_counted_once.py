"""What is counted once, or by cells of equal records, is what single records give."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kanon_lab.methods.perturbation import _as_list
from kanon_lab.recipes import final_claims, protect
from kanon_lab.recipes.guessing import _evidence, _Pairs
from kanon_lab.recipes.state import final_counts


@given(st.integers(0, 10_000), st.sampled_from([2, 30, 400]), st.sampled_from([1, 3, 40]))
@settings(max_examples=40, deadline=None)
def test_members_one_after_the_other_give_what_they_give_in_any_order(seed, n, homes):
    rng = np.random.default_rng(seed)
    home = np.sort(rng.integers(0, homes, n))
    column, target = rng.integers(0, 9, n), rng.integers(0, 4, n)
    seen = (column + target + home) % 3  # the same for members with the same pair
    order = rng.permutation(n)
    pairs, mixed = _Pairs(column, target, home), _Pairs(column[order], target[order], home[order])
    assert (pairs.times == mixed.times).all()
    assert len({*zip(pairs.pair, home)}) == pairs.times.sum()
    assert (pairs.guesses()[order] == mixed.guesses()).all()
    assert _evidence(pairs, seen) == _evidence(mixed, seen[order])


@pytest.mark.parametrize("kind", ["i1", "u2", "i8", "f4", "f8", ">f8", "Int64", "str", "category", "object"])
def test_a_column_is_written_as_its_list(kind):
    column = pd.Series([3, 0, 3, 7, 0]).astype(kind)
    if kind in ("f4", "f8", ">f8"):
        column = pd.Series(np.array([0.1, -0.0, 0.0, np.nan, np.inf, 0.1], dtype=kind))
    assert _as_list(column) == repr(column.to_list())
    assert _as_list(column[::-1]) == repr(column.to_list()[::-1])


@pytest.mark.parametrize("steps", [[], [("suppress", {"k_required": 3})], [("pram", {"variables": ["a"]})]])
def test_claims_of_known_counts_are_the_claims(steps):
    rng = np.random.default_rng(4)
    chain = protect(pd.DataFrame({"a": rng.integers(0, 6, 90), "b": rng.integers(0, 5, 90)}), ["a", "b"], seed=2)
    for name, options in steps:
        chain = chain.apply(name, options)
    pd.testing.assert_frame_equal(final_claims(chain, 3), final_claims(chain, 3, final_counts(chain)))
