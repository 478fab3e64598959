"""Distances between tables, against dictionaries of their cells, and Cramér's V against scipy."""

import math
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon_lab.errors import DataError, OptionError
from kanon_lab.measures import table_distances

ROWS = st.lists(
    st.tuples(
        st.sampled_from([1, 2, 3, None]),
        st.sampled_from(["a", "b", None]),
        st.sampled_from(["p", "q"]),
        st.floats(1, 9),
    ),
    min_size=1,
    max_size=25,
)
NAMES = ["x", "y", "z"]


def frame_of(rows):
    return pd.DataFrame(rows, columns=[*NAMES, "w"]).astype({"x": object, "y": object})


def shares(rows, columns, weighted):
    """Share of each cell, a missing value being one more category."""
    cells = {}
    for row in rows:
        cell = tuple(row[j] for j in columns)
        cells[cell] = cells.get(cell, 0) + (row[3] if weighted else 1)
    total = sum(cells.values())
    return {cell: weight / total for cell, weight in cells.items()}


def cramers_v(cells):
    rows, columns = ({cell[side] for cell in cells} for side in (0, 1))
    if min(len(rows), len(columns)) == 1:
        return 0.0
    chi2 = 0.0
    for row in rows:
        for column in columns:
            p_row = sum(p for cell, p in cells.items() if cell[0] == row)
            p_column = sum(p for cell, p in cells.items() if cell[1] == column)
            chi2 += (cells.get((row, column), 0) - p_row * p_column) ** 2 / (p_row * p_column)
    return math.sqrt(chi2 / (min(len(rows), len(columns)) - 1))


@given(ROWS, ROWS, st.booleans())
def test_by_plain_loops(before, after, weighted):
    weight = "w" if weighted else None
    found = table_distances(frame_of(before), frame_of(after), variables=NAMES, weight=weight, ways=(1, 2, 3))
    wanted = [columns for way in (1, 2, 3) for columns in combinations(range(3), way)]
    assert list(found["variables"]) == [tuple(NAMES[j] for j in columns) for columns in wanted]
    for columns, row in zip(wanted, found.itertuples()):
        p, q = shares(before, columns, weighted), shares(after, columns, weighted)
        cells = p.keys() | q.keys()
        affinity = sum(math.sqrt(p.get(cell, 0) * q.get(cell, 0)) for cell in cells)
        assert row.cells == len(cells)
        assert row.hellinger**2 == pytest.approx(1 - affinity, abs=1e-12)
        assert row.total_variation == pytest.approx(
            sum(abs(p.get(cell, 0) - q.get(cell, 0)) for cell in cells) / 2, abs=1e-12
        )
        assert 0 <= row.hellinger <= 1 and 0 <= row.total_variation <= 1
        # Two distances bound each other.
        assert row.hellinger**2 - 1e-12 <= row.total_variation <= row.hellinger * math.sqrt(2) + 1e-12
        for v, cells in ((row.cramers_v_before, p), (row.cramers_v_after, q)):
            assert math.isnan(v) if len(columns) != 2 else v**2 == pytest.approx(cramers_v(cells) ** 2, abs=1e-9)


def test_v_as_scipy_gives_it():
    from scipy.stats.contingency import association, crosstab

    rng = np.random.default_rng(5)
    frame = pd.DataFrame({"x": rng.integers(0, 4, 500), "y": rng.integers(0, 3, 500)})
    frame["y"] = frame["y"].where(rng.random(500) < 0.5, frame["x"] % 3)
    (row,) = table_distances(frame, frame, variables=["x", "y"], ways=2).itertuples()
    assert row.cramers_v_before == row.cramers_v_after
    assert row.cramers_v_before == pytest.approx(association(crosstab(frame["x"], frame["y"]).count, "cramer"))
    assert row.hellinger == row.total_variation == 0


def test_what_became_of_a_variable():
    original = pd.DataFrame({"sex": [1, 2, 1, 2], "town": ["a", "b", "c", "d"]})
    as_text = original.assign(sex=["2", "1", "2", "1"])
    bands = original.assign(town=["a or b", "a or b", "c or d", "c or d"])
    half = original.assign(town=["a", "b", None, None])

    def distance(released, name):
        return table_distances(original, released, variables=name, ways=1)["total_variation"].item()

    assert distance(as_text, "sex") == 0
    assert distance(bands, "town") == distance(original.drop(columns="town"), "town") == 1
    assert distance(half, "town") == 0.5
    # One category is associated with nothing.
    both = table_distances(original, original.assign(sex=1), variables=["sex", "town"], ways=[2])
    assert both[["cramers_v_before", "cramers_v_after"]].iloc[0].tolist() == [1, 0]


def test_files_of_different_length_and_order():
    one = pd.DataFrame({"x": [1, 1, 2], "w": [1.0, 1.0, 2.0]})
    other = pd.DataFrame({"x": [2, 1], "w": [5.0, 5.0]}, index=["b", "a"])
    found = table_distances(one, other, variables="x", weight="w", ways=1)
    assert found["hellinger"].item() == found["total_variation"].item() == 0


def test_large_tables_are_not_dense():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.integers(0, 60_000, (60_000, 3)), columns=NAMES)
    # A dense table of 60 thousand by 60 thousand cells would not fit into memory.
    found = table_distances(frame, frame.sample(frac=1, random_state=1), variables=NAMES)
    assert found["hellinger"].max() < 1e-6


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"variables": []}, "name at least one variable"),
        ({"variables": ["x", "x"]}, "x is named twice"),
        ({"variables": None}, "variables must be names of columns"),
        ({"variables": "x", "ways": 2}, "there is no table of more"),
        ({"variables": "x", "ways": []}, "there is no table of more"),
        ({"variables": "x", "ways": [0]}, "ways must be a whole number from 1 on"),
    ],
)
def test_options_that_cannot_be_used(options, message):
    frame = frame_of([(1, "a", "p", 1.0)])
    with pytest.raises(OptionError, match=message):
        table_distances(frame, frame, **options)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, 0], "the released file: column w: row 1: a weight that is not above 0"),
        ([1, None], "row 1: a missing weight"),
        (["1", "threescore"], "column w"),
    ],
)
def test_weights_that_cannot_be_used(weights, message):
    frame = pd.DataFrame({"x": [1, 2], "w": [1.0, 2.0]})
    with pytest.raises(DataError, match=message) as caught:
        table_distances(frame, frame.assign(w=weights), variables="x", weight="w")
    assert "threescore" not in str(caught.value)


def test_data_that_cannot_be_used():
    frame = pd.DataFrame({"x": [1, 2]})
    with pytest.raises(DataError, match="the original file: column y is not there"):
        table_distances(frame, frame, variables=["x", "y"])
    with pytest.raises(DataError, match="the released file: has no records"):
        table_distances(frame, frame.iloc[:0], variables="x", ways=1)


def test_weight_ways_and_files_of_another_kind_in_one_line():
    frame = pd.DataFrame({"x": ["a", "b"], "w": 1.0})
    with pytest.raises(OptionError, match="^weight must be the name of one column, not"):
        table_distances(frame, frame, variables="x", weight=frame)
    with pytest.raises(OptionError, match="^ways must be"):
        table_distances(frame, frame, variables="x", ways=np.array(1))
    with pytest.raises(OptionError, match="^the original file must be a DataFrame, not NoneType"):
        table_distances(None, frame, variables="x")
