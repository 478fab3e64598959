"""Robust distances, and the records that stay too close for how far out they are."""

import builtins
import math
import statistics

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2
from sklearn.covariance import MinCovDet

from kanon_lab.errors import DataError, MissingPackageError, OptionError
from kanon_lab.measures import outliers, robust_disclosure


def quantities(rows=120, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(rows, 2)) @ [[1, 0.8], [0, 0.6]], columns=["a", "b"])
    frame.loc[:2] = [[9, -9], [0, 12], [-15, 3]]
    return frame * [1000, 1] + [5, 5]


FILE = quantities()


def test_distances_are_those_of_the_minimum_covariance_determinant():
    """As scikit-learn gives them for the data as they are; the distance does not depend on units."""
    result = outliers(FILE, seed=3)
    expected = np.sqrt(MinCovDet(random_state=3).fit(FILE).mahalanobis(FILE))
    np.testing.assert_allclose(result.distances, expected, rtol=1e-6)
    assert result.threshold == pytest.approx(math.sqrt(chi2.ppf(0.975, 2)))
    assert result.which.tolist() == (expected > result.threshold).tolist()
    assert result.which[:3].all() and result.records < 20
    assert result.share == pytest.approx(result.records / len(FILE))
    moved = outliers(FILE * [0.001, -7] + [3, 4], seed=3)
    np.testing.assert_allclose(moved.distances, result.distances, rtol=1e-6)


@settings(max_examples=12)
@given(
    noise=st.sampled_from([0.01, 0.1, 0.5]),
    width=st.sampled_from([0.001, 0.01, 0.1]),
    near=st.sampled_from([0.01, 0.1, 0.5]),
    neighbours=st.integers(1, 3),
    gaps=st.booleans(),
)
def test_rmdid_record_by_record(noise, width, near, neighbours, gaps):
    rng = np.random.default_rng(1)
    before = FILE[:60].copy()
    after = before + rng.normal(size=before.shape) * before.std().to_numpy() * noise
    after.loc[30:40] = after.loc[30].to_numpy()  # equal records hide each other
    if gaps:
        before = before.mask(rng.random(before.shape) < 0.1)
        after = after.mask(rng.random(after.shape) < 0.1)
    result = robust_disclosure(before, after, width=width, near=near, neighbours=neighbours, seed=2)
    sds = [statistics.stdev(before[name].dropna()) for name in "ab"]
    x, y = [[[v / sd for v, sd in zip(row, sds)] for row in rows.to_numpy().tolist()] for rows in (before, after)]
    distance = result.records["distance"].tolist()
    assert [math.isnan(d) for d in distance] == before.isna().any(axis=1).tolist()
    first = [any(abs(p - q) <= width * d**2 for p, q in zip(*row)) for *row, d in zip(x, y, distance)]
    crowd = [sum(math.dist(one, other) <= near for other in y) - (not np.isnan(one).any()) for one in y]
    second = [one and number < neighbours for one, number in zip(first, crowd)]
    assert result.records["rmdid1"].tolist() == first
    assert result.records["rmdid2"].tolist() == second
    measured = sum(not math.isnan(d) for d in distance)
    assert (result.rmdid1, result.rmdid2) == (sum(first) / measured, sum(second) / measured)


def test_an_outlier_has_to_move_further():
    moved = FILE + FILE.std().to_numpy() * [0.3, -0.3]
    result = robust_disclosure(FILE, moved)
    assert result.records["rmdid1"][:3].all()
    assert result.rmdid1 < 0.1
    unchanged = robust_disclosure(FILE, FILE)
    assert unchanged.rmdid1 == 1
    with_constant = robust_disclosure(FILE.assign(c=4), moved.assign(c=4))
    assert with_constant.variables == ("a", "b")
    pd.testing.assert_frame_equal(with_constant.records, result.records)


def test_large_files_are_drawn_from_and_the_seed_says_how(monkeypatch):
    monkeypatch.setattr("kanon_lab.measures.quantities._MOST_FITTED", 500)
    frame = pd.DataFrame(np.random.default_rng(6).normal(size=(3000, 2)), columns=["a", "b"])
    one, again, other = (outliers(frame, seed=seed) for seed in (1, 1, 2))
    assert one.distances.equals(again.distances) and not one.distances.equals(other.distances)
    assert one.seed == 1
    # A normal distribution has this share of outliers by construction of the threshold.
    assert one.share == pytest.approx(0.025, abs=0.015)


@pytest.mark.parametrize(
    ("frame", "fault"),
    [
        (
            pd.DataFrame({"a": [0.0] * 60 + list(range(40)), "b": np.arange(100.0) ** 2}),
            "column a: half of the records",
        ),
        (pd.DataFrame({"a": np.arange(50.0), "b": 2 * np.arange(50.0)}), "some of the columns a, b follow from each"),
        (pd.DataFrame({"a": [3.5] * 9}), "every value of each variable is the same"),
        (pd.DataFrame({"a": [3.5, 4]}), "robust distances need 4 records that have all variables, and there are 2"),
        (pd.DataFrame({"a": ["3.5", "4"]}), "column a: row 0 .*text"),
    ],
)
def test_files_without_a_robust_spread(frame, fault):
    for measure in (outliers, lambda frame: robust_disclosure(frame, frame)):
        with pytest.raises(DataError, match=fault) as error:
            measure(frame)
        assert "3.5" not in str(error.value)


def test_options_that_cannot_be():
    for option, value in {"width": 0, "near": -1, "neighbours": 0, "seed": -1}.items():
        with pytest.raises(OptionError, match=f"{option} must be"):
            robust_disclosure(FILE, FILE, **{option: value})
    for option, value in {"quantile": 97.5, "seed": 1.5}.items():
        with pytest.raises(OptionError, match=f"{option} must be"):
            outliers(FILE, **{option: value})


def test_without_scikit_learn(monkeypatch):
    real = builtins.__import__

    def absent(name, *args, **options):
        if name.startswith("sklearn"):
            raise ImportError(name)
        return real(name, *args, **options)

    monkeypatch.setattr(builtins, "__import__", absent)
    with pytest.raises(MissingPackageError, match="pip install 'kanon-lab.models.'"):
        outliers(FILE)
