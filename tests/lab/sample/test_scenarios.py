"""Scenarios of detail."""

import numpy as np
import pandas as pd
import pytest

from kanon_lab.errors import DataError, OptionError, about
from kanon_lab.roles import KeySpec
from kanon_lab.sample import scenario_grid, subsample_risk

SPEC = ["region", "age", "sex"]
# The bands of five and ten years do not nest, as in the study: their last ones begin at 65 and at 80.
LEVELS = {
    "region": {"all": {"groups": {"all": [1, 2, 3, 4]}}, "halves": {"groups": {"a": [1, 2], "b": [3, 4]}}, "4": None},
    "age": {
        "1 year": None,
        "5 years": {"bands": [*range(0, 70, 5), None]},
        "10 years": {"bands": [*range(0, 90, 10), None]},
    },
}


def a_sample(records=3000, seed=2):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "region": rng.integers(1, 5, records),
            "age": rng.integers(0, 100, records),
            "sex": rng.choice(["man", "woman"], records),
            "w": rng.choice([2.0, 9.0], records),
        }
    )


def recoded(frame, labels):
    """The same recodings by hand."""
    groups = {"all": 0, "halves": (frame["region"] - 1) // 2, "4": frame["region"]}
    bands = {
        "1 year": frame["age"],
        "5 years": np.minimum(frame["age"] // 5, 13),
        "10 years": np.minimum(frame["age"] // 10, 8),
    }
    return frame.assign(region=groups[labels["region"]], age=bands[labels["age"]])


@pytest.mark.parametrize("scheme", ["bernoulli", "fixed"])
def test_each_scenario_is_the_study_of_the_recoded_file(scheme):
    frame = a_sample()
    options = {"fraction": 0.2, "repeats": 4, "scheme": scheme, "p_a": 0.5, "seed": 6}
    grid = scenario_grid(frame, SPEC, LEVELS, **options)
    assert len(grid.table) == 9
    assert grid.table[["region", "age"]].iloc[1].tolist() == ["all", "5 years"]
    for row, (_, labels) in zip(grid.table.to_dict("records"), grid.table[["region", "age"]].iterrows(), strict=True):
        alone = subsample_risk(recoded(frame, labels), SPEC, **options)
        for name in ("n1", "u1", "n2", "u2", "u", "p_b", "p_c", "p_d", "p_identification"):
            assert row[name] == pytest.approx(getattr(alone, name), nan_ok=True)
        for name in ("u2", "u", "p_identification"):
            assert row[f"{name}_sd"] == pytest.approx(alone.spread.at[name, "sd"], nan_ok=True)
        of_this = grid.draws[(grid.draws[["region", "age"]] == labels).all(axis=1)]
        pd.testing.assert_frame_equal(of_this[alone.draws.columns].reset_index(drop=True), alone.draws)


def test_all_scenarios_see_the_same_records():
    grid = scenario_grid(a_sample(), SPEC, LEVELS, fraction=0.2, repeats=3)
    assert (grid.draws.groupby("repeat")["n2"].nunique() == 1).all()
    # What is unique in a coarse file is unique in any finer one.
    counts = grid.table.set_index(["region", "age"])[["u1", "u2", "u"]]
    for age in LEVELS["age"]:
        assert (counts.loc["all", age] <= counts.loc["halves", age]).all()
        assert (counts.loc["halves", age] <= counts.loc["4", age]).all()


def test_a_variable_may_be_removed():
    frame = a_sample()
    grid = scenario_grid(frame, SPEC, {"age": {"as it is": None, "none": "remove"}}, fraction=0.3)
    assert grid.risks[1].keys == ("region", "sex")
    assert grid.table["u1"].tolist() == [risk.u1 for risk in grid.risks]
    assert grid.risks[1].u1 == subsample_risk(frame, ["region", "sex"], fraction=0.3).u1
    assert grid.notes == (f"age: none: {grid.risks[1].notes[0]}",)


def test_weights_and_missing_keys_are_as_in_the_study_of_one_file():
    frame = a_sample().assign(region=lambda f: f["region"].astype("Int64").mask(f["age"] < 3))
    spec = KeySpec(SPEC, weight="w")
    grid = scenario_grid(frame, spec, {"age": LEVELS["age"]}, repeats=2)
    alone = subsample_risk(frame, spec, repeats=2)
    pd.testing.assert_frame_equal(grid.risks[0].draws, alone.draws)
    assert grid.table["p_b"].tolist() == [alone.p_b] * 3


def test_the_frame_stays_as_it_was_and_labels_of_rows_may_repeat():
    frame = a_sample().set_axis([0, 1, 2] * 1000)
    before = frame.copy(deep=True)
    grid = scenario_grid(frame, SPEC, LEVELS, fraction=0.2)
    pd.testing.assert_frame_equal(frame, before)
    unlabelled = scenario_grid(frame.reset_index(drop=True), SPEC, LEVELS, fraction=0.2)
    pd.testing.assert_frame_equal(grid.table, unlabelled.table)


@pytest.mark.parametrize(
    ("levels", "message"),
    [
        ({}, "levels: give a mapping"),
        (["age"], "levels: give a mapping"),
        ({"agee": {"a": None}}, r"levels: agee is not a key variable; did you mean age\?"),
        ({"w": {"a": None}}, "levels: w is not a key variable"),
        ({"age": {}}, "levels of age: give a mapping of label"),
        ({"age": {None: None}}, "levels of age: give a mapping of label"),
        ({"age": {"5": "drop"}}, "age: a level must be settings"),
        ({"age": {"5": {"variable": "sex", "width": 5}}}, "age: a level must be settings"),
        ({"age": {"5": {"widht": 5}}}, "recode of age: unknown setting widht; did you mean width?"),
        ({name: {"as it is": None, "none": "remove"} for name in SPEC}, "one scenario removes every key variable"),
    ],
)
def test_levels_that_cannot_be_used_are_refused(levels, message):
    with pytest.raises(OptionError, match=message):
        scenario_grid(a_sample(), SPEC, levels, fraction=0.2)


@pytest.mark.parametrize("name", ["u2", "p_identification_sd", "repeat"])
def test_a_variable_with_the_name_of_a_result_is_refused(name):
    frame = a_sample().rename(columns={"age": name})
    with pytest.raises(OptionError, match=f"{name} is the name of a result too"):
        scenario_grid(frame, [name, "sex"], {name: {"as it is": None}}, fraction=0.2)


def test_values_outside_the_groups_and_the_study_s_own_faults_are_refused():
    frame = a_sample()
    with pytest.raises(DataError, match="survey: column region: row"), about("survey"):
        scenario_grid(frame, SPEC, {"region": {"a": {"groups": {"x": [1, 2]}}}}, fraction=0.2)
    with pytest.raises(OptionError, match="repeats must be a whole number from 1 to 100,000"):
        scenario_grid(frame, SPEC, LEVELS, fraction=0.2, repeats=10**30)
    with pytest.raises(OptionError, match="fraction must be"):
        scenario_grid(frame, SPEC, LEVELS, fraction=1)
    with pytest.raises(DataError, match="has 50 records"):
        scenario_grid(frame[:50], SPEC, LEVELS, fraction=0.5)
