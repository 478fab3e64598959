"""Discernibility and average class size, against loops over pairs of records."""

from fractions import Fraction

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon_lab.classes import class_table
from kanon_lab.errors import OptionError
from kanon_lab.measures import average_class_size, discernibility
from kanon_lab.roles import KeySpec

RECORDS = st.lists(st.tuples(st.sampled_from([1, 2, None]), st.sampled_from(["x", "y", "z", None])), min_size=1)


def table_of(records, missing="wildcard"):
    frame = pd.DataFrame(records, columns=["a", "b"], dtype=object)
    return class_table(frame, KeySpec(["a", "b"], missing=missing))


@given(RECORDS, st.sampled_from(["wildcard", "category"]), st.integers(0, 5), st.integers(1, 4))
def test_by_plain_loops(records, missing, suppressed, k):
    def alike(one, other):
        return all(x == y or (missing == "wildcard" and None in (x, y)) for x, y in zip(one, other))

    f = [sum(alike(one, other) for other in records) for one in records]
    table = table_of(records, missing)
    n = len(records) + suppressed
    assert discernibility(table, suppressed=suppressed) == sum(f) + suppressed * n
    expected = Fraction(len(records), k) / sum(Fraction(1, each) for each in f)
    assert average_class_size(table, k_required=k) == pytest.approx(float(expected), rel=1e-12)


def test_extremes():
    unique, alike = table_of([(i, "x") for i in range(7)]), table_of([(1, "x")] * 7)
    assert (discernibility(unique), discernibility(alike)) == (7, 49)
    assert (average_class_size(unique), average_class_size(alike)) == (1, 7)
    assert average_class_size(alike, k_required=7) == 1
    # All but one record removed: it stays, each of the others may be any of seven.
    assert discernibility(table_of([(1, "x")]), suppressed=6) == 1 + 6 * 7


@pytest.mark.parametrize("suppressed", [-1, 1.5, True, "1"])
def test_suppressed_must_be_a_number_of_records(suppressed):
    with pytest.raises(OptionError, match="suppressed must be a whole number of records"):
        discernibility(table_of([(1, "x")]), suppressed=suppressed)


def test_k_required_must_be_a_number():
    with pytest.raises(OptionError, match="k_required must be a whole number"):
        average_class_size(table_of([(1, "x")]), k_required=0)
