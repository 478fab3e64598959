"""How much detail a sample may carry: frequencies by area, and small areas."""

from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon_lab.errors import DataError, OptionError
from kanon_lab.sample import area_threshold, frequency_control
from kanon_lab.sample.curve import expected_study, uniqueness_curve

AREAS, VALUES = st.sampled_from(["north", "south", None]), st.sampled_from(["a", "b", "c", None])


def control_by_hand(rows, least):
    """By category: records, areas, areas below, records where it is rarest."""
    cells = Counter((value, area) for area, value in rows if area is not None and value is not None)
    found = {}
    for value in {value for value, _ in cells}:
        counts = [count for (each, _), count in cells.items() if each == value]
        found[value] = (sum(counts), len(counts), sum(count < least for count in counts), min(counts))
    return found


@given(st.lists(st.tuples(AREAS, VALUES), min_size=1, max_size=40), st.integers(1, 6))
def test_frequencies_are_those_counted_by_hand(rows, least):
    frame = pd.DataFrame(rows, columns=["area", "value"], dtype=object)
    before = frame.copy()
    found = frequency_control(frame, "area", ["value"], least=least)
    counted = ["records", "areas", "areas_below", "least_records"]
    assert {row.category: tuple(getattr(row, name) for name in counted) for row in found.itertuples()} == (
        control_by_hand(rows, least)
    )
    for row in found.itertuples():
        assert rows.count((row.least_area, row.category)) == row.least_records
    assert found["least_records"].is_monotonic_increasing
    pd.testing.assert_frame_equal(frame, before)
    backwards = frequency_control(frame.iloc[::-1], "area", ["value"], least=least)
    pd.testing.assert_frame_equal(backwards, found)


def test_variables_keep_their_order_and_a_fraction_adds_persons():
    frame = pd.DataFrame({"area": [1, 1, 2, 2], "x": list("pppq"), "y": [7, 8, 8, 8]})
    found = frequency_control(frame, "area", ["y", "x"], least=2, fraction=0.04)
    assert found["variable"].tolist() == ["y", "y", "x", "x"]
    assert found["category"].tolist() == [7, 8, "q", "p"]
    assert found["areas_below"].tolist() == [1, 1, 1, 1]
    assert found["least_area"].tolist() == [1, 1, 2, 2]
    assert found["least_persons"].tolist() == pytest.approx([25] * 4)


def test_categories_that_nobody_has_are_left_out():
    frame = pd.DataFrame({"area": ["n", "s"], "x": pd.Categorical(["p", None], categories=["p", "q"])})
    found = frequency_control(frame, "area", "x", least=1)
    assert found[["category", "records", "areas"]].values.tolist() == [["p", 1, 1]]


def test_of_many_values_only_pairs_that_occur_are_counted():
    """A table of 60,000 values by 60,000 areas would take 29 GB."""
    frame = pd.DataFrame({"area": range(60_000), "x": range(60_000)})
    found = frequency_control(frame, "area", "x", least=2)
    assert found["category"].tolist() == found["least_area"].tolist() == list(range(60_000))
    assert (found[["records", "areas", "areas_below"]] == 1).all(axis=None)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"variables": []}, OptionError, "variables must name at least one column"),
        ({"variables": ["area"]}, OptionError, "and not that of the area"),
        ({"least": 0}, OptionError, "least must be a whole number from 1 on"),
        ({"fraction": 1}, OptionError, "a sampling fraction must be"),
        ({"fraction": 5e-324}, OptionError, "a sampling fraction must be"),
        ({"frame": {"area": [1]}}, OptionError, "a DataFrame is needed, not dict"),
        ({"frame": pd.DataFrame({"area": [], "x": []})}, DataError, "has no records"),
        ({"area": "aera"}, DataError, "column aera is not there; did you mean area?"),
    ],
)
def test_bad_controls_are_one_line(arguments, error, message):
    frame = pd.DataFrame({"area": [1, 2], "x": ["secret", "secret"]})
    with pytest.raises(error, match=message) as caught:
        frequency_control(**{"frame": frame, "area": "area", "variables": ["x"], "least": 2} | arguments)
    assert "\n" not in str(caught.value)
    assert "secret" not in str(caught.value)


SIZES = st.lists(st.integers(1, 30), min_size=1, max_size=30).map(np.array)


@given(SIZES, st.floats(0.01, 0.9), st.floats(0.05, 1))
def test_a_small_area_is_a_sample_of_the_country(sizes, fraction, part):
    """Sums over persons by hand: a person of a class of F is alone at s with the chance (1 - s)^(F - 1)."""
    whole = int(sizes.sum())

    def alone(s):
        return sum(int(size) * (1 - s) ** (int(size) - 1) for size in sizes) / whole

    row = area_threshold(sizes, populations=[part * whole], fraction=fraction, p_a=0.2).iloc[0]
    in_area, in_sample, in_subsample = (alone(s * part) for s in (1, fraction, fraction**2))
    assert row["records"] == pytest.approx(fraction * part * whole)
    assert row["true_p_c"] == pytest.approx(in_area)
    assert row["true_p_d"] == pytest.approx(in_area / in_sample)
    assert row["p_d"] == pytest.approx(in_sample / in_subsample)
    assert row["p_c"] == pytest.approx(in_sample**2 / in_subsample)
    assert row["p_identification"] == pytest.approx(0.2 * fraction * row["p_c"] * row["p_d"])
    assert row["true_p_identification"] == pytest.approx(0.2 * fraction * in_area**2 / in_sample)


def test_the_whole_country_is_the_study():
    sizes = np.array([1, 1, 1, 2, 3, 3, 8, 20, 200])
    of_country = area_threshold(sizes, populations=[sizes.sum()], fraction=0.04).iloc[0]
    of_study = expected_study(sizes, [0.04]).iloc[0]
    for name in ("p_c", "p_d", "p_identification", "true_p_c", "true_p_d", "true_p_identification"):
        assert of_country[name] == pytest.approx(of_study[name])


def test_an_area_of_simulated_persons():
    """Thin a country of 300 classes 4,000 times: the mean share of uniques is that of the formula."""
    rng = np.random.default_rng(1996)
    sizes = rng.geometric(0.05, 300)
    area = rng.binomial(sizes, 0.1, size=(4000, 300))
    share = (area == 1).sum() / area.sum()
    found = area_threshold(sizes, populations=[0.1 * sizes.sum()], fraction=0.04)
    assert found["true_p_c"].item() == pytest.approx(share, rel=0.01)
    assert found["true_p_c"].item() == uniqueness_curve(sizes, [0.1])["share"].item()


def test_a_smaller_area_has_more_uniques():
    found = area_threshold(np.repeat([1, 3, 50], [10, 40, 30]), populations=[1630, 800, 160, 16], fraction=0.04)
    assert found["true_p_c"].is_monotonic_increasing
    assert found["sample_uniques"].is_monotonic_increasing


@pytest.mark.parametrize("populations", [[], [0], [-1], [11], [np.nan], [[5]], ["many"]])
def test_populations_that_are_none(populations):
    with pytest.raises(OptionError, match="populations must be"):
        area_threshold(np.array([1, 4, 5]), populations=populations, fraction=0.04)
