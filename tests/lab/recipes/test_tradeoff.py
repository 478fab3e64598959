"""The frontier and the cheapest recipe, against the definition applied to every pair."""

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon_lab.errors import DataError, OptionError
from kanon_lab.recipes import MEASURES, cheapest, frontier, measure_of, protect, risk_and_loss
from kanon_lab.recipes.tradeoff import is_measure
from kanon_lab.roles import KeySpec

# Few different numbers, so that ties of every kind occur.
AXIS = st.sampled_from([0.0, 0.1, 0.25, 0.5, 1.0, None])
POINTS = st.lists(st.tuples(AXIS, AXIS, st.booleans()), min_size=1, max_size=12)


def as_points(rows):
    risk, kept, failed = zip(*rows)
    return pd.DataFrame(
        {
            "label": [f"r{i}" for i in range(len(rows))],
            "repeats": 1,
            "error": ["no" if each else None for each in failed],
            "global_risk": pd.Series([None if bad else each for each, bad in zip(risk, failed)], dtype=float),
            "equal_cells": pd.Series([None if bad else each for each, bad in zip(kept, failed)], dtype=float),
        }
    )


def comparable(rows):
    return {i: (risk, 1 - kept) for i, (risk, kept, bad) in enumerate(rows) if not bad and None not in (risk, kept)}


def beaten(one, other):
    return other[0] <= one[0] and other[1] <= one[1] and other != one


@given(POINTS)
def test_the_frontier_holds_exactly_those_that_no_other_beats(rows):
    points, known = as_points(rows), comparable(rows)
    if not known:
        with pytest.raises(DataError, match="no recipe of the map"):
            frontier(points, loss="equal_cells")
        return
    found = frontier(points, loss="equal_cells")
    wanted = {i for i, one in known.items() if not any(beaten(one, other) for other in known.values())}
    assert set(found.index) == wanted
    assert found["risk"].is_monotonic_increasing and found["loss"].is_monotonic_decreasing


@given(POINTS, st.sampled_from([0.0, 0.1, 0.2, 0.25, 0.7, 1.0]))
def test_the_cheapest_is_the_least_loss_among_those_that_meet_the_risk(rows, at_most):
    points, known = as_points(rows), comparable(rows)
    if not known:
        return
    met = [(loss, risk, i) for i, (risk, loss) in known.items() if risk <= at_most]
    if not met:
        least = min(risk for risk, _ in known.values())
        with pytest.raises(OptionError, match=f"the smallest reached is {least:.6g}, by r"):
            cheapest(points, at_most=at_most, loss="equal_cells")
        return
    found = cheapest(points, at_most=at_most, loss="equal_cells")
    assert (found["loss"], found["risk"], found.name) == min(met)


def test_the_last_digits_of_a_sum_do_not_beat():
    points = as_points([(0.1 + 0.2, 0.5, False), (0.3, 0.5, False)])
    assert list(frontier(points, loss="equal_cells")["label"]) == ["r0", "r1"]


def test_the_cost_of_what_is_kept_is_the_rest():
    found = risk_and_loss(as_points([(0.1, 0.75, False)]), loss="equal_cells").iloc[0]
    assert (found["risk"], found["loss"], found["equal_cells"]) == (0.1, 0.25, 0.75)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"risk": "globl_risk"}, "did you mean global_risk"),
        ({"risk": "equal_cells"}, "equal_cells is not a risk; choose one of "),
        ({"risk": "k_achieved"}, "the map has no k_achieved; there are global_risk"),
        ({"risk": "household_uniques"}, "the map has no household_uniques; there are global_risk"),
        ({"loss": "global_risk"}, "global_risk is not a loss of utility"),
        ({"loss": "granularity"}, "the map has no granularity; there are equal_cells"),
        ({"risk": "key_linkage"}, "the map has no key_linkage; there are global_risk"),
        ({"risk": None}, "there is no measure None"),
    ],
)
def test_measures_that_are_none_are_refused(options, words):
    with pytest.raises(OptionError, match=words):
        frontier(as_points([(0.1, 0.75, False)]), **{"loss": "equal_cells", **options})


@pytest.mark.parametrize("at_most", [-0.1, 1.1, "0.1", None, True, float("nan")])
def test_a_required_share_is_from_0_to_1(at_most):
    with pytest.raises(OptionError, match="at_most must be a share from 0 to 1"):
        cheapest(as_points([(0.1, 0.75, False)]), at_most=at_most, loss="equal_cells")


def test_families_of_measures_have_their_number_in_their_words():
    assert measure_of("violations_12_wildcard").label.startswith("records below k = 12 ")
    assert measure_of("above_0.05").label == "records with a risk above 0.05"
    for name in ("violations_#_wildcard", "violations_x_wildcard", "above_", "above_0.05_other"):
        with pytest.raises(OptionError):
            measure_of(name)


def test_every_measure_of_a_protection_is_one_or_a_size():
    frame = pd.DataFrame({"a": [1, 1, 2, 3], "h": [1, 1, 2, 2], "x": [1.0, 2.0, 4.0, 8.0]})
    row = protect(frame, KeySpec("a", household="h", numeric_variables="x")).state.measured.row()
    told = {name for name in row if is_measure(name)}
    sizes = {"classes", "estimator", "with_household_size_classes", "with_household_size_k_achieved"}
    assert set(row) - told == sizes | {"indicators_compared", "distinct_a"}
    families = {name for name in MEASURES if "#" in name}
    without = {name for name, row in MEASURES.items() if row.needs == "population"}
    assert {name for name, row in MEASURES.items() if row.is_shown("state")} - families - without <= told
