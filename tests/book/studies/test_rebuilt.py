"""Rebuilt cells beside the real ones and beside a guess, against a plain loop; and the embedded town of the study."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kanon_book.studies import beside_guess, improvement
from kanon_book.studies.gil_bellosta import BENALMADENA, national_cells, real_place
from kanon_lab import load_counts
from kanon_lab.errors import OptionError

CELLS = st.integers(2, 6).flatmap(
    lambda n: st.tuples(
        st.lists(st.integers(0, 30), min_size=n, max_size=n).filter(any),
        st.lists(st.integers(0, 30), min_size=n, max_size=n),
        st.permutations(range(1, n + 1)),
    )
)


@settings(max_examples=60, deadline=None)
@given(CELLS)
def test_cells_and_errors_are_those_of_a_plain_loop(cells):
    real, sizes, pyramid = cells
    table = beside_guess(real, sizes, pyramid)
    off = []
    for number, row in enumerate(table.itertuples()):
        smaller = sum(persons < pyramid[number] for persons in pyramid)
        assert (row.rebuilt, row.renamed) == (sorted(sizes)[smaller], sorted(real)[smaller])
        assert abs(row.guess - sum(real) * pyramid[number] / sum(pyramid)) < 1
        assert (row.real_size, row.rebuilt_size) == (sorted(real)[number], sorted(sizes)[number])
        off.append((abs(row.rebuilt - row.real), abs(row.guess - row.real)))
    assert table["guess"].sum() == sum(real) == table["renamed"].sum()
    means = improvement(table)
    assert means["rebuilt"] == pytest.approx(np.mean([rebuilt for rebuilt, _ in off]))
    assert means["exact_guess"] == pytest.approx(np.mean([guess == 0 for _, guess in off]))
    assert means["nearer"] == pytest.approx(np.mean([rebuilt < guess for rebuilt, guess in off]))
    assert means["further"] == pytest.approx(np.mean([rebuilt > guess for rebuilt, guess in off]))


def test_the_sizes_are_named_as_those_of_the_embedded_town():
    counts = load_counts("spain-2010")
    embedded = counts[counts["place"] == BENALMADENA].set_index(["sex", "age_group"])["persons"]
    real = real_place(BENALMADENA)
    pyramid = pd.Series(national_cells(), index=embedded.index)
    table = beside_guess(real.reindex(embedded.index), embedded, pyramid)
    assert table["rebuilt"].tolist() == embedded.tolist()


def test_cells_of_different_numbers_are_refused():
    with pytest.raises(OptionError, match="3, 2, 3 cells"):
        beside_guess([1, 2, 3], [3, 3], [1, 1, 1])
