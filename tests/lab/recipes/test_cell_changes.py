"""Which cells two states of a file differ in, whatever the types of their columns."""

import datetime
from decimal import Decimal

import pandas as pd
import pytest

from kanon_lab.recipes.measured import changes, same_values


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ([34, 5], ["34", "05"], [True, False]),
        ([1.0, 2.5], [1, 2], [True, False]),
        (pd.array([1, None, None], dtype="Int64"), ["1", None, "x"], [True, True, False]),
        ([Decimal("1.5"), None], [1.5, 1], [True, False]),
        ([True, False], ["True", 0], [True, False]),
        (pd.Categorical(["a", "b"], categories=["b", "a", "c"]), ["a", "c"], [True, False]),
        ([datetime.date(2001, 2, 3)] * 2, ["2001-02-03", "2001-02"], [True, False]),
        ([None, None], [None, float("nan")], [True, True]),
    ],
)
def test_cells_are_the_same_where_their_texts_are(one, other, same):
    one, other = (pd.Series(values, dtype=None if hasattr(values, "dtype") else object) for values in (one, other))
    assert same_values(one, other).tolist() == same
    assert same_values(other, one).tolist() == same


def test_changes_by_column_and_record():
    before = pd.DataFrame({"a": [1, 2, None, 4], "b": list("wxyz"), "c": [1, 1, None, 1]}, index=list("pqrs"))
    after = pd.DataFrame({"a": ["1", None, "3", "x"], "b": list("wxyz")}, index=list("pqrs"))
    done = changes(before, after)
    assert done.changed == {"a": 2, "b": 0, "c": 0}
    assert done.suppressed == {"a": 1, "b": 0, "c": 3}
    assert done.touched.tolist() == [True] * 4
    moved = changes(before, before.loc[list("qprs")])
    assert (moved.changed, moved.suppressed) == (dict.fromkeys("abc", 0), dict.fromkeys("abc", 0))
    assert moved.touched.tolist() == [True, True, False, False]
