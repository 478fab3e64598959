"""Losses of quantities, against plain loops over the cells and the statistics module."""

import math
import statistics
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon_lab.errors import DataError, OptionError
from kanon_lab.measures import quantity_loss

CELL = st.one_of(st.sampled_from([0.0, 1.0, None]), st.integers(-50, 50).map(float))
NAMES = ["a", "b", "c"]


@st.composite
def files(draw):
    """Two files of the same records and three variables; each has a value of every variable in the first."""
    rows = draw(st.integers(2, 10))
    grid = st.lists(st.tuples(CELL, CELL, CELL), min_size=rows, max_size=rows)
    before, after = draw(grid), draw(grid)
    weights = draw(st.lists(st.floats(0.5, 9), min_size=rows, max_size=rows))
    before[0] = tuple(3.0 if cell is None else cell for cell in before[0])
    return before, after, weights


def frames(before, after, weights):
    index = [f"r{i}" for i in range(len(before))]
    return [
        pd.DataFrame(rows, columns=NAMES, index=index, dtype=float).assign(w=np.array(weights) + shift)
        for rows, shift in ((before, 0), (after, 1))
    ]


def mean(values):
    values = [value for value in values if value is not None]
    return statistics.fmean(values) if values else math.nan


def variance(values):
    return statistics.variance(values) if len(values) > 1 else 0.0 if values else math.nan


def covariance(rows, i, j):
    """From the records that have both; 0 where one variable does not vary, NaN where there are no two records."""
    known = [(row[i], row[j]) for row in rows if row[i] is not None and row[j] is not None]
    spreads = [variance([row[k] for row in rows if row[k] is not None]) for k in (i, j)]
    if 0 in spreads:
        return 0.0, math.nan
    if len(known) < 2:
        return math.nan, math.nan
    x, y = zip(*known)
    spread = math.sqrt(variance(x) * variance(y))
    return statistics.covariance(x, y), statistics.covariance(x, y) / spread if spread else math.nan


def relative(one, other):
    return None if not one or math.isnan(one) or math.isnan(other) else abs(one - other) / abs(one)


def close(value):
    return pytest.approx(value, rel=1e-9, abs=1e-9, nan_ok=True)


@given(files())
def test_by_plain_loops(both):
    before, after, weights = both
    found = quantity_loss(*frames(before, after, weights), variables=NAMES, weight="w")
    scaled, ratios, means, variances, compared = [], [], [], [], 0
    for j, row in enumerate(found.variables.itertuples()):
        pairs = [(x[j], y[j]) for x, y in zip(before, after)]
        shared = [(x, y) for x, y in pairs if None not in (x, y)]
        known = [[value for value in side if value is not None] for side in zip(*pairs)]
        sd = math.sqrt(variance(known[0]))
        own = [abs(x - y) / (math.sqrt(2) * sd) for x, y in shared] if sd else []
        own_ratios = [abs(x - y) / abs(x) for x, y in shared if x]
        assert (row.variable, row.compared, row.lost) == (NAMES[j], len(shared), len(known[0]) - len(shared))
        assert row.zeros == len(shared) - len(own_ratios)
        assert (row.il1s, row.il1) == (close(mean(own)), close(mean(own_ratios)))
        moments = [(mean(side), math.sqrt(variance(side)), median(side)) for side in known]
        assert (row.mean_before, row.sd_before, row.median_before) == close(moments[0])
        assert (row.mean_after, row.sd_after, row.median_after) == close(moments[1])
        assert row.weighted_mean_before == close(weighted(before, weights, j))
        assert row.weighted_mean_after == close(weighted(after, [w + 1 for w in weights], j))
        scaled, ratios, compared = scaled + own, ratios + own_ratios, compared + len(shared)
        means.append(relative(mean(known[0]), mean(known[1])) if known[1] else None)
        variances.append(relative(variance(known[0]), variance(known[1])) if known[1] else None)
    assert found.compared == compared
    assert (found.il1s, found.il1) == (close(mean(scaled)), close(mean(ratios)))
    assert found.variances == close(mean(variances))
    # A mean of 0 is not always 0 when it is reckoned with floating-point numbers.
    if not any(abs(row.mean_before) < 1e-9 for row in found.variables.itertuples()):
        assert found.means == close(mean(means))
    moved, lost = [], 0
    for (i, j), row in zip(combinations(range(3), 2), found.pairs.itertuples()):
        (cov, r), (cov_after, r_after) = covariance(before, i, j), covariance(after, i, j)
        assert (row.first, row.second) == (NAMES[i], NAMES[j])
        assert (row.covariance_before, row.covariance_after) == (close(cov), close(cov_after))
        assert (row.correlation_before, row.correlation_after) == (close(r), close(r_after))
        moved += [] if math.isnan(r - r_after) else [abs(r - r_after)]
        lost += not math.isnan(r) and math.isnan(r_after)
    assert found.correlations == close(mean(moved))
    assert found.pairs_lost == lost


def median(values):
    return statistics.median(values) if values else math.nan


def weighted(rows, weights, j):
    known = [(row[j], w) for row, w in zip(rows, weights) if row[j] is not None]
    return sum(x * w for x, w in known) / sum(w for _, w in known) if known else math.nan


def test_a_file_released_as_it_is_has_lost_nothing():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(5, 2, (50, 3)), columns=NAMES)
    frame.iloc[3, 1] = np.nan
    found = quantity_loss(frame, frame)
    losses = "il1s il1 means variances covariances correlations eigenvalues lost pairs_lost".split()
    assert [getattr(found, name) for name in losses] == [0] * len(losses)
    assert found.compared == 149
    assert found.variables["weighted_mean_before"].isna().all()


def test_il1s_of_two_cells_by_hand():
    """(1 - 2) / (sqrt(2) sd) with sd = sqrt(2), and 0: half each."""
    found = quantity_loss(pd.DataFrame({"x": [1, 3]}), pd.DataFrame({"x": [2, 3]}))
    assert found.il1s == pytest.approx(0.25)
    assert found.il1 == pytest.approx(0.5)


def test_eigenvalues_of_two_variables():
    """With correlation r they are 1 + r and 1 - r, so that losing all of it costs r / (1 + r) + r / (1 - r)."""
    before = pd.DataFrame({"x": [1.0, 1, -1, -1, 2, -2], "y": [1.0, -1, 1, -1, 3, -3]})
    r = statistics.correlation(before["x"], before["y"])
    after = pd.DataFrame({"x": [10.0, 10, -10, -10, 0, 0], "y": [1.0, -1, 1, -1, 0, 0]})
    found = quantity_loss(before, after)
    assert found.eigenvalues == pytest.approx(r / (1 + r) + r / (1 - r))
    assert found.correlations == pytest.approx(r)


def test_eigenvalues_of_many_variables_do_not_depend_on_units():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(200, 4)) @ rng.normal(size=(4, 4))
    y = x + rng.normal(size=x.shape)
    before, after = (np.linalg.eigvalsh(np.corrcoef(side.T))[::-1] for side in (x, y))
    expected = (abs(before - after) / before).sum()
    units = np.array([1, 1e-6, 1e6, -3])
    for scale in (1, units):
        found = quantity_loss(*(pd.DataFrame(side * scale + 1).add_prefix("v") for side in (x, y)))
        assert found.eigenvalues == pytest.approx(expected, rel=1e-6)


def test_what_is_not_defined_is_said_to_be_missing():
    before = pd.DataFrame({"x": [1.0, 2, 3, 4], "y": [2.0, 1, 4, 3], "same": [5.0] * 4})
    flat = quantity_loss(before, before.assign(x=0.1))
    assert math.isnan(flat.eigenvalues)
    assert math.isnan(flat.correlations)
    assert flat.pairs_lost == 1
    assert flat.variances == pytest.approx(0.5)
    assert math.isnan(flat.variables["il1s"][2])
    # Two variables that follow from each other have an eigenvalue of 0.
    follows = before.assign(y=2 * before["x"])
    assert math.isnan(quantity_loss(follows, before).eigenvalues)


@pytest.mark.parametrize("gone", [lambda frame: frame.drop(columns="x"), lambda frame: frame.assign(x=None)])
def test_a_variable_that_was_removed_has_lost_every_value(gone):
    before = pd.DataFrame({"x": [1.0, 2, 3], "y": [2.0, 4, 3]})
    found = quantity_loss(before, gone(before))
    assert (found.compared, found.lost, found.pairs_lost) == (3, 3, 1)
    assert found.il1s == found.means == 0
    assert found.variables.iloc[0, 6:].notna().tolist() == [True, False, False, False, True, False, True, False]


def test_large_numbers_and_other_types():
    big = pd.DataFrame({"x": [1e140, 2e140, 4e140], "y": [1e140, 3e140, 2e140]})
    found = quantity_loss(big, big * 2)
    assert found.correlations == pytest.approx(0, abs=1e-12)
    assert found.covariances == found.variances == pytest.approx(3)
    whole = pd.DataFrame({"x": pd.array([1, 2, None, 4], dtype="Int64"), "y": [1, 2, 3, 4]})
    assert quantity_loss(whole, whole.astype(float)).compared == 7


def test_data_that_cannot_be_used():
    frame = pd.DataFrame({"x": [1.0, 2, 3], "t": ["a", "b", "c"], "w": [1.0, 0, 2]})
    with pytest.raises(DataError, match="the original file: column t: row 0"):
        quantity_loss(frame, frame, variables=["x", "t"])
    with pytest.raises(DataError, match="the released file: column x: row 0"):
        quantity_loss(frame, frame.assign(x="1-3"), variables="x")
    with pytest.raises(DataError, match="the original file: column v is not there"):
        quantity_loss(frame, frame, variables="v")
    with pytest.raises(DataError, match="its index is not that of the original file"):
        quantity_loss(frame, frame.iloc[:2], variables="x")
    with pytest.raises(DataError, match="column w: row 1: a weight that is not above 0"):
        quantity_loss(frame, frame, variables="x", weight="w")
    with pytest.raises(OptionError, match="name at least one variable"):
        quantity_loss(frame, frame, variables=[])


@pytest.mark.parametrize("names", [5, np.array("x")])
def test_variables_and_weight_are_names_and_files_frames(names):
    frame = pd.DataFrame({"x": [1.0, 2.0, 4.0], "w": 1.0})
    with pytest.raises(OptionError, match="^variables must be names of columns, not"):
        quantity_loss(frame, frame, variables=names)
    with pytest.raises(OptionError, match="^weight must be the name of one column, not"):
        quantity_loss(frame, frame, weight=frame)
    with pytest.raises(OptionError, match="^the released file must be a DataFrame, not NoneType"):
        quantity_loss(frame, None)
