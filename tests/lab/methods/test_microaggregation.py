"""Microaggregation of a file: what it keeps, in strata, with missing values, from a robust start; what it refuses."""

import math
import statistics
from collections import Counter, defaultdict

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon_lab.errors import DataError, OptionError
from kanon_lab.measures import outliers
from kanon_lab.methods import KEEPS, microaggregate, quantities

METHODS = [(method, centre) for method in ("mdav", "optimal") for centre in ("mean", "median")]


def make(rows, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "income": np.round(rng.lognormal(10, 1, rows), 2),
            "age": rng.integers(0, 90, rows),
            "rent": rng.normal(size=rows),
            "region": rng.choice(["north", "south"], rows, p=[0.3, 0.7]),
        },
        index=np.arange(rows) * 3 + 5,
    )
    return frame.assign(rent=frame["rent"] + 0.3 * frame["age"])


FILE = make(90)
QUANTITIES = ["income", "age", "rent"]


def members(result, name):
    """Lists of positions by group, in the groups of a variable."""
    groups = result.details["groups"]
    groups = groups if groups.ndim == 1 else groups[:, list(result.variables).index(name)]
    found = defaultdict(list)
    for row, group in enumerate(groups.tolist()):
        found[group].append(row)
    return found


FILES = st.lists(
    st.tuples(
        st.integers(0, 5) | st.sampled_from([0.1, 1e6, -3.7]), st.floats(-1e3, 1e3), st.sampled_from(["x", "y", "z"])
    ),
    min_size=6,
    max_size=40,
).map(lambda rows: pd.DataFrame(rows, columns=["a", "b", "s"]))


@given(FILES, st.integers(2, 4), st.sampled_from(METHODS), st.booleans())
def test_every_promise(frame, k, method_and_centre, stratified):
    method, centre = method_and_centre
    smallest = min(Counter(frame["s"]).values()) if stratified else len(frame)
    if min(frame["a"].nunique(), frame["b"].nunique()) == 1 or smallest < k:
        return
    strata = ["s"] if stratified else []
    before = frame.copy()
    result = microaggregate(frame, ["a", "b"], k_required=k, method=method, centre=centre, strata=strata)
    pd.testing.assert_frame_equal(frame, before)
    assert result.frame["s"].equals(frame["s"])
    promised = {keep.what for keep in result.keeps}
    assert result.keeps == KEEPS["microaggregate"][method if centre == "mean" else f"{method}, median"]
    assert {keep.how for keep in result.keeps} == {"exactly"}
    places = [frame.index[frame["s"] == s] for s in set(frame["s"])] if stratified else [frame.index]
    shared = Counter(map(tuple, result.frame[["a", "b"]].to_numpy().tolist()))
    assert ("means" in promised) == (centre == "mean") and "group size" in promised
    for name in ("a", "b"):
        old, new = frame[name].to_numpy(dtype=float), result.frame[name].to_numpy()
        if "means" in promised:
            for place in places:
                rows = frame.index.get_indexer(place)
                scale = math.fsum(abs(old[rows]))
                assert abs(math.fsum(new[rows]) - math.fsum(old[rows])) <= 1e-13 * scale + 1e-300
        for group, rows in members(result, name).items():
            assert group >= 0 and k <= len(rows) < 2 * k
            assert frame["s"].iloc[rows].nunique() == 1 or not stratified
            middle = statistics.fmean(old[rows]) if centre == "mean" else statistics.median(old[rows])
            assert len(set(new[rows])) == 1
            assert new[rows[0]] == pytest.approx(middle, rel=1e-12, abs=1e-12)
            assert min(old[rows]) <= new[rows[0]] <= max(old[rows])
        assert min(Counter(new.tolist()).values()) >= k
        if "order" in promised:
            for place in places:
                rows = frame.index.get_indexer(place)
                in_order = rows[np.argsort(old[rows], kind="stable")]
                assert (np.diff(new[in_order]) >= 0).all()
    if method == "mdav":
        assert min(shared.values()) >= k


@pytest.mark.parametrize(("method", "centre"), METHODS)
def test_details(method, centre):
    """The loss is of the groups, whatever stands for their values; each variable counts alike."""
    result = microaggregate(FILE, QUANTITIES, k_required=4, method=method, centre=centre, strata="region")
    assert (result.method, result.variables, result.strata, result.seed) == (
        method,
        tuple(QUANTITIES),
        ("region",),
        None,
    )
    shares, sizes = [], Counter()
    for name in QUANTITIES:
        values = FILE[name].tolist()
        total = sum((x - statistics.fmean(values)) ** 2 for x in values)
        within = 0.0
        for rows in members(result, name).values():
            some = [values[row] for row in rows]
            within += sum((x - statistics.fmean(some)) ** 2 for x in some)
            sizes[len(rows)] += 1
        shares.append(within / total)
    assert result.details["loss"] == pytest.approx(statistics.fmean(shares))
    times = len(QUANTITIES) if method == "mdav" else 1
    expected = [(size, count // times) for size, count in sorted(sizes.items())]
    assert list(result.details["sizes"].itertuples(index=False, name=None)) == expected
    changed = [(name, int((result.frame[name] != FILE[name]).sum())) for name in QUANTITIES]
    assert list(result.cells[["variable", "cells"]].itertuples(index=False, name=None)) == changed


def test_optimal_loses_no_more_than_mdav_and_one_group_loses_all():
    for k in (2, 3, 10):
        losses = [
            microaggregate(FILE, "income", k_required=k, method=method).details["loss"]
            for method in ("optimal", "mdav")
        ]
        assert losses[0] <= losses[1] * (1 + 1e-12)
    whole = microaggregate(FILE, QUANTITIES, k_required=len(FILE))
    assert whole.details["loss"] == pytest.approx(1)
    assert whole.frame["age"].tolist() == pytest.approx([FILE["age"].mean()] * len(FILE))


def test_a_file_in_groups_of_equal_records_stays_as_it_is():
    values = np.repeat(np.random.default_rng(3).normal(size=(20, 2)) + 0.1, 3, axis=0)
    frame = pd.DataFrame(values, columns=["a", "b"]).sample(frac=1, random_state=1)
    for method, centre in METHODS:
        result = microaggregate(frame, ["a", "b"], method=method, centre=centre)
        pd.testing.assert_frame_equal(result.frame, frame)
        assert result.details["loss"] == 0 and result.cells["cells"].tolist() == [0, 0]


@pytest.mark.parametrize("kind", ["float64", "Float64"])
def test_records_without_values_are_left_alone(kind):
    gaps = FILE[QUANTITIES].astype(kind)
    gaps.iloc[[0, 40, 41]] = np.nan if kind == "float64" else pd.NA
    for method in ("mdav", "optimal"):
        result = microaggregate(gaps, QUANTITIES, method=method, missing="leave")
        alone = microaggregate(gaps.dropna(), QUANTITIES, method=method)
        pd.testing.assert_frame_equal(result.frame.dropna(), alone.frame)
        assert result.frame.isna().equals(gaps.isna())
        groups = result.details["groups"]
        assert (np.flatnonzero(groups.reshape(len(FILE), -1)[:, 0] < 0) == [0, 40, 41]).all()
        np.testing.assert_array_equal(np.delete(groups, [0, 40, 41], axis=0), alone.details["groups"])


def test_a_robust_start_begins_with_the_farthest_outlier():
    """Off the line on which the others lie, but in the midst of each variable: only the robust distance sees it."""
    rng = np.random.default_rng(8)
    x = rng.normal(size=200)
    frame = pd.DataFrame({"x": x, "y": x + 0.05 * rng.normal(size=200)})
    frame.loc[77] = [1.2, -1.2]
    for rows in (slice(0, 77), slice(78, 200)):
        assert frame["x"][rows].max() > 1.2 and frame["x"][rows].min() < -1.2
    plain, robust = (microaggregate(frame, ["x", "y"], start=start, seed=4) for start in ("mean", "robust"))
    assert plain.details["groups"][77] != 0 and robust.details["groups"][77] == 0
    assert (plain.seed, robust.seed) == (None, 4)
    assert np.bincount(robust.details["groups"]).min() >= 3
    # After the group of the outlier comes that of the record opposite; then the next by robust distance.
    distance = outliers(frame, seed=4).distances[robust.details["groups"] > 1]
    assert robust.details["groups"][distance.idxmax()] == 2
    again = microaggregate(frame, ["x", "y"], start="robust", seed=4)
    pd.testing.assert_frame_equal(again.frame, robust.frame)


@pytest.mark.parametrize(
    ("options", "kind", "fault"),
    [
        ({"k_required": 1}, OptionError, "k_required must be 2 or more"),
        ({"k_required": 2.5}, OptionError, "k_required must be a whole number"),
        ({"k_required": True}, OptionError, "k_required must be a whole number"),
        ({"k_required": 91}, OptionError, "k_required is 91, and 90 records have values"),
        ({"k_required": 30, "strata": "region"}, DataError, "1 of 2 strata have fewer than 30 records.*smallest 18"),
        ({"method": "mdva"}, OptionError, "method must be mdav or optimal"),
        ({"centre": "mode"}, OptionError, "centre must be mean or median"),
        ({"start": "middle"}, OptionError, "start must be mean or robust"),
        ({"start": "robust", "method": "optimal"}, OptionError, "start: robust is of the method mdav"),
        ({"missing": "drop"}, OptionError, "missing must be"),
        ({"seed": -1}, OptionError, "seed must be"),
        ({"strata": "regoin"}, DataError, "column regoin is not there; did you mean region"),
        ({"variables": []}, OptionError, "variables: name at least one"),
        ({"variables": ["income", "region"]}, DataError, "column region: row 5 .*text"),
        ({"variables": ["income", "same"]}, DataError, "column same has the same value"),
        ({"variables": ["income", "gap"]}, DataError, "column gap: row 11: a missing value"),
        ({"variables": ["income", "gap"], "missing": "leave"}, DataError, "column gap: row 11: a missing value"),
    ],
)
def test_what_is_refused(options, kind, fault):
    frame = FILE.assign(same=7.25, gap=FILE["rent"].mask(FILE.index == 11))
    with pytest.raises(kind, match=fault) as error:
        microaggregate(frame, **{"variables": QUANTITIES, **options})
    assert "\n" not in str(error.value)
    assert "north" not in str(error.value) and "7.25" not in str(error.value)


def test_interruption_leaves_nothing_behind(monkeypatch):
    def interrupted(*args, tell, **options):
        tell(3)
        raise KeyboardInterrupt

    before = FILE.copy()
    monkeypatch.setattr(quantities, "mdav", interrupted)
    with pytest.raises(KeyboardInterrupt):
        microaggregate(FILE, QUANTITIES)
    pd.testing.assert_frame_equal(FILE, before)


def test_most_medians_of_threes_are_true_values():
    frame = pd.DataFrame(np.random.default_rng(3).lognormal(size=(300, 2)), columns=["x", "y"])
    for centre, least, most in (("median", 0.7, 1), ("mean", 0, 0)):
        after = microaggregate(frame, ["x", "y"], centre=centre).frame
        shares = [after[name].isin(frame[name]).mean() for name in after]
        assert least <= min(shares) and max(shares) <= most
