"""What is found with some of the key variables."""

import numpy as np
import pandas as pd
import pytest

from kanon_lab.classes import class_table, key_grid
from kanon_lab.errors import OptionError
from kanon_lab.roles import KeySpec


@pytest.mark.parametrize("missing", ["wildcard", "category"])
def test_every_subset_is_the_table_of_its_keys(missing):
    rng = np.random.default_rng(2)
    frame = pd.DataFrame({name: rng.integers(0, 3, 80).astype(float) for name in "abc"})
    frame = frame.mask(rng.random(frame.shape) < 0.1)
    grid = key_grid(frame, KeySpec(list("abc"), missing=missing), k_max=9)
    assert grid["keys"].tolist() == [*[(x,) for x in "abc"], ("a", "b"), ("a", "c"), ("b", "c"), ("a", "b", "c")]
    for row in grid.itertuples():
        table = class_table(frame, KeySpec(row.keys, missing=missing))
        assert (row.n, row.classes, row.k_achieved) == (80, table.n_classes, table.k_achieved)
        below = table.violations(range(2, 11))
        assert grid.loc[row.Index, list(range(1, 10))].tolist() == list(below.values())


def test_more_keys_make_nobody_less_alone():
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({name: rng.integers(0, 4, 200) for name in "abcd"})
    grid = key_grid(frame, KeySpec(list("abcd"))).set_index("keys")
    for keys in grid.index:
        for fewer in (tuple(name for name in keys if name != left) for left in keys if len(keys) > 1):
            assert grid.at[fewer, 1] <= grid.at[keys, 1]


def test_too_many_subsets_are_refused():
    frame = pd.DataFrame([[1] * 13], columns=[f"k{j}" for j in range(13)])
    with pytest.raises(OptionError, match="13 key variables have too many subsets"):
        key_grid(frame, KeySpec(list(frame)))
    for k_max in (0, 10**9, 1.5, "3"):
        with pytest.raises(OptionError, match="k_max must be a whole number from 1 to 1,000"):
            key_grid(frame, KeySpec("k0"), k_max=k_max)
