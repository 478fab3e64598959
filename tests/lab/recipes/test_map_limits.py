"""The map by the limits of an office, against `judge` of each recipe alone."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kanon_lab.errors import OptionError
from kanon_lab.measures.registry import LIMITS
from kanon_lab.recipes import MEASURES, as_recipe, cheapest, frontier, judge, map_limits, risk_utility_map, verdict

RECIPE = {
    "key_variables": ["sex", "age", "town"],
    "household": "home",
    "sensitive_variables": ["ill", "job"],
    "numeric_variables": ["income"],
    "released_as_is": ["note"],
    "seed": 7,
    "limits": {"k": 3, "global_risk": 0.3, "distinct": {"ill": 2}, "above_risk": {0.2: 40, 0.5: 20}},
    "steps": ["$region", {"recode": {"variable": "age", "width": "$w"}}, {"suppress": {"k_required": "$k"}}],
}
REGION = {"none": None, "gone": {"remove_variables": {"variables": ["region"]}}}
COSTLY = {name for name in LIMITS if LIMITS[name].taken_from == "release"}
GRID = {"region": REGION, "w": [10, 40], "k": [2, 3]}


@pytest.fixture(scope="module")
def survey():
    rng, n = np.random.default_rng(3), 120
    frame = {"sex": rng.choice(["f", "m"], n), "age": rng.integers(0, 40, n), "town": rng.choice([*"abcd"], n)}
    frame |= {"home": np.arange(n) // 3, "income": rng.normal(100, 20, n).round(), "note": "x"}
    frame |= {"ill": rng.choice([*"yn"], n), "job": rng.choice([*"pqr"], n)}
    return pd.DataFrame(frame).assign(region=lambda frame: frame["town"].map({"a": 1, "b": 1, "c": 2, "d": 2}))


def recipe(**more):
    return {**RECIPE, "released_as_is": ["note", "region"], **more}


@pytest.fixture(scope="module")
def found(survey):
    removed = {**RECIPE, "steps": RECIPE["steps"]}
    return risk_utility_map(survey, removed, GRID, workers=1, progress=False)


def alone(found, label, survey):
    one = as_recipe(found.recipes[label])
    return judge(one.apply(survey), one.limits, k_required=one.k_required)


def test_every_recipe_is_judged_as_its_release_is(found, survey):
    assert {*found.points["met"]} == {True, False}
    for row in found.points.itertuples():
        judged = alone(found, row.label, survey)
        rows = found.verdicts[found.verdicts["label"] == row.label]
        own = judged.verdict
        cheap_met = own.loc[~own["name"].isin(COSTLY), "met"].all()
        wanted = own if cheap_met else own[~own["name"].isin(COSTLY)]
        shown = sorted(map(tuple, rows[["name", "level", "found", "met"]].astype(str).to_numpy().tolist()))
        assert shown == sorted(map(tuple, wanted[["name", "level", "found", "met"]].astype(str).to_numpy().tolist()))
        assert row.met == judged.met
        missed = {name.split(" (")[0] for name in (row.unmet or "").split(", ") if name}
        assert missed == {*wanted.loc[~wanted["met"], "name"]}


def test_what_is_recommended_meets_every_limit(found):
    best = found.cheapest(at_most=1.0)
    assert best["met"] and best["loss"] == pytest.approx(found.points[found.points["met"]]["non_uniform_entropy"].min())
    assert found.frontier()["met"].all() and found.none_meets is None and found.unjudged == ()
    table = found.limits.set_index("name")
    assert table.loc["k", "recipes"] < table.loc["k", "judged"] == len(found.points)
    assert table.loc["unassigned_columns", "judged"] < len(found.points)
    assert table.loc["global_risk", "nearest"] == found.points["global_risk"].min()


def test_where_none_meets_the_limits_it_says_which_and_how_near(survey):
    limits = {"k": 3, "global_risk": 0.001}
    found = risk_utility_map(survey, recipe(limits=limits), {**GRID, "region": [None]}, workers=1)
    least = found.points.loc[found.points["global_risk"].idxmin()]
    with pytest.raises(OptionError, match=r"no recipe meets every limit: global_risk: at most 0.1% is wanted") as error:
        found.cheapest(at_most=1.0)
    assert f"({least['label']})" in str(error.value) and ": k:" not in str(error.value)
    assert {"exposed_by_columns", "unassigned_columns"} <= {*found.unjudged} <= COSTLY and not found.points["met"].any()
    assert len(found.frontier()) and not found.frontier()["met"].any()
    either = {"k": 3, "global_risk": float(found.points["global_risk"].max())}
    low = risk_utility_map(survey, recipe(limits=either), {"region": [None], "w": [10], "k": [2]}, workers=1)
    assert "k: at least 3 is wanted, the best 1" in low.none_meets


def test_what_needs_a_search_waits_for_the_others(survey, monkeypatch):
    searched = []
    search = verdict.exposed_by_columns
    monkeypatch.setattr(verdict, "exposed_by_columns", lambda *args: searched.append(1) or search(*args))
    found = risk_utility_map(survey, RECIPE, GRID, workers=1)
    cheap = found.verdicts[~found.verdicts["name"].isin(COSTLY)]
    assert len(searched) == cheap.groupby("label")["met"].all().sum() < len(found.points)


def test_another_process_takes_an_axis_that_only_limits_need(survey):
    one, other = (
        risk_utility_map(
            survey, RECIPE, {**GRID, "region": [None], "w": [10]}, workers=workers, risk="exposed_by_columns"
        ).points
        for workers in (1, 2)
    )
    pd.testing.assert_frame_equal(one, other)
    assert other["exposed_by_columns"].notna().all()


def test_without_limits_nothing_is_judged(survey):
    free = recipe(limits={})
    found = risk_utility_map(survey, free, GRID, workers=1)
    assert found.points["met"].isna().all() and found.none_meets is None and not len(found.verdicts)
    assert found.points["unmet"].isna().all() and not len(found.limits) and found.own is None
    assert found.cheapest(at_most=1.0)["label"] in {*found.points["label"]}


def test_of_several_seeds_each_must_meet_the_limits(survey):
    steps = [{"pram": {"variables": ["sex"], "keep": 0.5}}, {"recode": {"variable": "age", "width": 40}}]
    tried = recipe(steps=steps, limits={"k": 8})
    found = risk_utility_map(survey, tried, repeats=6, workers=1)
    by_seed = found.verdicts[found.verdicts["name"] == "k"]["met"]
    assert len(by_seed) == 6 and found.points["met"].iloc[0] == found.verdicts["met"].all()


def test_ones_own_recipe_is_marked_or_tried_besides(found, survey):
    label = found.points["label"].iloc[3]
    same = risk_utility_map(survey, RECIPE, GRID, workers=1, own=found.recipes[label])
    assert same.own == label and len(same.points) == len(found.points)
    pd.testing.assert_frame_equal(same.points.drop(columns="own"), found.points.drop(columns="own"))
    steps = [{"recode": {"variable": "age", "width": 20}}, {"suppress": {"k_required": 3}}]
    more = risk_utility_map(survey, RECIPE, GRID, workers=1, own=recipe(steps=steps))
    assert more.own == map_limits.OWN and len(more.points) == len(found.points) + 1
    assert more.points["k"].tolist() == [*found.points["k"], None] and more.own_point()["met"] in (True, False)
    assert found.own_point() is None


@pytest.mark.parametrize("name", LIMITS)
def test_every_limit_may_be_the_risk(found, survey, name, tmp_path):
    if name == "k_with":
        return  # it needs what this recipe has not, and is tried where that is
    if LIMITS[name].levels:
        assert "above_#" in MEASURES
        return
    if LIMITS[name].needs == "person" or LIMITS[name].limit.quiet:  # no person is named, and no identifier repeats
        return
    axis = LIMITS[name].name
    limits = {
        "household_uniques": 99,
        "t_closeness": 1,
        "entropy": 1,
        "distinct": 1,
        "inferred": 1,
        "inferred_own": 1,
        "individual_risk": 1,
        "k": 2,
    }
    limits |= {"combinations": [{"size": 2, "at_least": 3}], "numeric_linkage": 1, "global_risk": 1}
    limits |= {"compatible": 1, "true_key": 1, "own_class": 1}
    limits |= {"k_map": 1, "delta_presence": 1}
    survey.sample(400, replace=True, random_state=1).to_csv(tmp_path / "people.csv", index=False)
    limits |= {"key_linkage": 1, "joint_linkage": 1, "household_risk": 1, "exposed_by_columns": 99}
    # By itself where it can be asked for; with all others where these bring it.
    tried = recipe(limits={name: limits[name]} if name in limits else limits)
    tried["population"] = str(tmp_path / "people.csv")
    mapped = risk_utility_map(survey, tried, {"region": [None], "w": [10, 40], "k": [2]}, workers=1, risk=axis)
    rows = mapped.frontier(risk=axis, loss="granularity")
    assert len(rows)
    one = as_recipe(mapped.recipes[rows["label"].iloc[0]])
    judged = judge(one.apply(survey), {name: one.limits[name]}).verdict["found"].astype(float)
    least = LIMITS[name].limit.bound == "at least"
    assert rows["risk"].iloc[0] == pytest.approx(1 / judged.min() if least else judged.max())


COSTS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4), st.sampled_from([True, False, None])), min_size=1)


@settings(max_examples=30)
@given(COSTS)
def test_frontier_and_choice_are_of_those_that_meet_the_limits(costs):
    rows = [(f"{n}", None, risk / 10, loss / 10, met) for n, (risk, loss, met) in enumerate(costs)]
    points = pd.DataFrame(rows, columns=["label", "error", "global_risk", "granularity", "met"])
    points["met"] = points["met"].astype("boolean")
    meet = points[points["met"].fillna(False)]
    pool = meet if len(meet) else points
    plain = [
        row.label
        for row in pool.itertuples()
        if not any(
            other.global_risk <= row.global_risk
            and other.granularity <= row.granularity
            and (other.global_risk, other.granularity) != (row.global_risk, row.granularity)
            for other in pool.itertuples()
        )
    ]
    assert {*frontier(points, loss="granularity")["label"]} == {*plain}
    if not len(meet) and points["met"].notna().any():
        with pytest.raises(OptionError, match="no recipe meets every limit"):
            cheapest(points, at_most=1.0, loss="granularity")
    else:
        assert cheapest(points, at_most=1.0, loss="granularity")["granularity"] == pool["granularity"].min()
