"""Two levels: a file of households out of persons and back, and the step that protects it."""

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kanon_lab import KeySpec, class_table, load_microdata
from kanon_lab.errors import DataError, OptionError
from kanon_lab.recipes import as_recipe, household_file, merge_households, protect, read_recipe, write_recipe

CELL = st.one_of(st.none(), st.sampled_from(["a", "b", 1, 2.5]))


@given(data=st.data(), persons=st.lists(st.sampled_from(["h1", "h2", "h3", 4, 5]), min_size=1, max_size=12))
def test_out_and_back_is_the_same_file(data, persons):
    values = {home: (data.draw(CELL), data.draw(CELL)) for home in dict.fromkeys(persons)}
    frame = pd.DataFrame(
        {
            "home": persons,
            "income": pd.Series([values[home][0] for home in persons], dtype=object),
            "region": pd.Series([values[home][1] for home in persons], dtype=object),
            "age": range(len(persons)),
        },
        index=[f"r{i}" for i in range(len(persons))],
    )
    copy = frame.copy()
    homes = household_file(frame, "home", ["region", "income"])
    assert homes["home"].tolist() == list(values)
    assert homes.index.tolist() == [f"r{persons.index(home)}" for home in values]
    assert list(homes.columns) == ["home", "region", "income"]
    pd.testing.assert_frame_equal(merge_households(frame, homes.iloc[::-1], "home"), frame, check_dtype=False)
    marked = homes.assign(region=[f"new {home}" for home in homes["home"]])
    merged = merge_households(frame, marked, "home")
    assert merged["region"].tolist() == [f"new {home}" for home in persons]
    pd.testing.assert_frame_equal(merged.drop(columns="region"), frame.drop(columns="region"), check_dtype=False)
    pd.testing.assert_frame_equal(frame, copy)


@settings(max_examples=25)
@given(homes=st.lists(st.integers(1, 3), min_size=2, max_size=8), other=st.data())
def test_a_variable_that_differs_within_a_household_is_refused(homes, other):
    values = [other.draw(CELL) for _ in homes]
    first = dict(reversed(list(zip(homes, values, strict=True))))
    differ = [i for i, (home, value) in enumerate(zip(homes, values, strict=True)) if value != first[home]]
    frame = pd.DataFrame({"home": homes, "region": pd.Series(values, dtype=object)}).add_prefix("row", axis=0)
    if not differ:
        assert len(household_file(frame, "home", ["region"])) == len(first)
        return
    with pytest.raises(DataError, match=rf"column region: row row{differ[0]}\b.*not the value that others") as caught:
        household_file(frame, "home", ["region"])
    assert "'a'" not in str(caught.value)


def test_faulty_files_of_households():
    frame = pd.DataFrame({"home": [1, 1, 2], "region": ["a", "a", "b"]})
    homes = household_file(frame, "home", ["region"])
    with pytest.raises(DataError, match="1 households of the persons have no record and 0 records have no persons"):
        merge_households(frame, homes.iloc[:1], "home")
    with pytest.raises(DataError, match="0 households of the persons have no record and 1 records have no persons"):
        merge_households(frame.iloc[:2], homes, "home")
    with pytest.raises(DataError, match="row 0: the household has two records"):
        merge_households(frame, homes.iloc[[0, 1, 0]], "home")
    with pytest.raises(DataError, match="column home: row 1: no household"):
        household_file(frame.assign(home=[1, None, 2]), "home", ["region"])
    with pytest.raises(DataError, match="column hoem"):
        household_file(frame, "hoem", ["region"])


LEVEL = {
    "key_variables": ["region", "rooms"],
    "weight": "hw",
    "steps": [
        {"top_code": {"variable": "rooms", "above": 4, "value": 4}},
        {"suppress": {"k_required": 3}},
    ],
}


def survey(households=60):
    """Households of 1-4 persons in no order, with a region, rooms, a weight; persons with age and sex."""
    numbers = pd.Series(range(households)).repeat([1 + i % 4 for i in range(households)]).sample(frac=1, random_state=3)
    frame = pd.DataFrame({"home": numbers.to_numpy()})
    frame["region"] = [f"r{home % 7}" for home in frame["home"]]
    frame["rooms"] = [home * 7919 % 9 for home in frame["home"]]
    frame["hw"] = [2.0 + home % 3 for home in frame["home"]]
    frame["age"] = [10 * (i % 8) for i in range(len(frame))]
    return frame.add_prefix("p", axis=0)


def test_households_are_protected_as_a_file_of_their_own_and_merged_back():
    frame, roles = survey(), KeySpec(["region", "rooms", "age"], household="home", weight="hw")
    chain = protect(frame, roles, seed=5).apply("household_level", LEVEL)
    (step,), inner = chain.steps, chain.steps[0].households
    assert len(inner.original) == 60
    assert [each.name for each in inner.steps] == ["top_code", "suppress"]
    assert class_table(inner.frame, KeySpec(["region", "rooms"])).violations([3]) == {3: 0}
    assert chain.frame.index.equals(frame.index)
    assert chain.frame["age"].equals(frame["age"])
    assert (chain.frame.groupby("home", dropna=False)[["region", "rooms"]].nunique(dropna=False) == 1).all(axis=None)
    by_home = inner.frame.set_index("home")
    for name in ("region", "rooms"):
        same = chain.frame[name].reset_index(drop=True).equals(by_home[name].loc[frame["home"]].reset_index(drop=True))
        assert same
        assert step.suppressed[name] == int((frame[name].notna() & chain.frame[name].isna()).sum())
    assert sum(step.suppressed.values()) > sum(inner.steps[1].suppressed.values()) > 0
    assert inner.seed == step.seed
    again = protect(frame, roles, seed=5).apply("household_level", LEVEL)
    pd.testing.assert_frame_equal(chain.frame, again.frame)
    persons = chain.apply("suppress", {"k_required": 2})
    assert persons.state.measured.violations["wildcard"][2] == 0


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"key_variables": ["age"]}, "column age: row p.*not the value that others of the same household have"),
        ({"key_variables": ["regoin"]}, "no column regoin that is released; did you mean region?"),
        ({"household": "home"}, "unknown setting household"),
        ({"direct_identifiers": ["home"]}, "unknown setting direct_identifiers"),
        ({"steps": [{"shuffle_members": {}}]}, "needs a household"),
        ({"steps": [{"round": {"variable": "rooms", "base": "x"}}]}, r"step 1 \(household_level\): step 1 \(round\)"),
        ({"steps": "none"}, "steps must be a list"),
        ({"household_level": LEVEL}, r"^step 1 .*: household_level is inside household_level"),
        (
            {"steps": [{"household_level": LEVEL}]},
            r"\(household_level\): household_level is inside household_level",
        ),
    ],
)
def test_household_levels_that_cannot_be(change, fault):
    chain = protect(survey(), KeySpec(["region", "age"], household="home"))
    with pytest.raises((OptionError, DataError), match=fault):
        chain.apply("household_level", {**LEVEL, **change})


def test_levels_in_levels_are_refused_before_they_are_read():
    level = LEVEL
    for _ in range(400):
        level = {"key_variables": ["region"], "steps": [{"household_level": level}]}
    for inside in ({"household_level": level}, {"steps": [{"household_level": level}]}):
        with pytest.raises(OptionError, match="household_level is inside household_level") as caught:
            as_recipe({"key_variables": ["region"], "household": "home", **inside})
        assert len(str(caught.value)) < 200
    with pytest.raises(OptionError, match="nested too deeply"):
        protect(survey(), KeySpec("region", household="home")).apply("household_level", level)


@pytest.mark.parametrize("step", [{"suppress": {"k_required": 20}}, {"remove_variables": {"variables": ["region"]}}])
def test_ghosts_of_persons_go_with_a_key_that_the_household_level_loses(step):
    frame = survey()
    frame["muni"] = [f"{region}-{i}" for i, region in enumerate(frame["region"])]  # other ones within a household
    frame["street"] = frame["muni"]
    roles = KeySpec(["region", "age"], household="home", ghost_variables={"region": ["muni", "street"]})
    level = {"key_variables": ["region", "rooms"], "steps": [step]}
    chain = protect(frame, roles).apply("household_level", level)
    if "suppress" in step:
        lost = chain.frame["region"].isna()
        assert lost.any()
        assert (chain.frame[["muni", "street"]].isna().all(axis=1) == lost).all()
        assert chain.steps[0].suppressed["muni"] == lost.sum()
    else:
        assert not {"region", "muni", "street"} & set(chain.frame)


def test_ghosts_stay_where_the_household_level_loses_nothing():
    frame = survey().assign(muni="m")
    frame.loc["p0", "region"] = None
    frame["region"] = frame["region"].where(frame["home"] != frame.at["p0", "home"])
    roles = KeySpec(["region", "age"], household="home", ghost_variables={"region": ["muni"]})
    chain = protect(frame, roles).apply("household_level", {"key_variables": ["region"], "steps": []})
    assert chain.frame["muni"].equals(frame["muni"])


def test_what_the_household_level_removes_is_not_released():
    level = {"key_variables": ["region", "rooms"], "steps": [{"remove_variables": {"variables": ["rooms"]}}]}
    chain = protect(survey(), KeySpec(["region", "rooms", "age"], household="home")).apply("household_level", level)
    assert "rooms" not in chain.frame
    assert chain.state.measured.distinct_values["rooms"] == 0


def test_the_survey_of_the_package_has_households():
    frame = load_microdata("health-survey")
    homes = household_file(frame, "household", ["postcode"])
    assert len(homes) == frame["household"].nunique()
    pd.testing.assert_frame_equal(merge_households(frame, homes, "household"), frame)


def test_households_take_the_weight_of_their_persons_unless_it_differs_or_is_said(tmp_path):
    level = {name: value for name, value in LEVEL.items() if name != "weight"}
    roles = KeySpec(["region", "rooms", "age"], household="home", weight="hw")
    frame = survey()
    shared = protect(frame, roles).apply("household_level", level)
    assert shared.steps[0].households.spec.weight == "hw"
    given = protect(frame, roles).apply("household_level", LEVEL)
    pd.testing.assert_frame_equal(shared.steps[0].households.history, given.steps[0].households.history)
    assert not any("every weight is 1" in note for note in shared.notes)
    none = protect(frame, roles).apply("household_level", {**level, "weight": None})
    differs = frame.assign(hw=frame["hw"] + (frame["age"] > 30))
    differing = protect(differs, roles).apply("household_level", level)
    for chain, its in ((none, frame), (differing, differs)):
        assert chain.steps[0].households.spec.weight is None
        assert any(note.startswith("household_level: no weight") for note in chain.notes)
        write_recipe(chain, tmp_path / "r.yml")
        again = read_recipe(tmp_path / "r.yml").apply(its)
        assert again.steps[0].households.spec.weight is None
        pd.testing.assert_frame_equal(again.history, chain.history)
