"""Recipes: what they take, what they refuse, and that one gives the same bytes again."""

import hashlib

import pandas as pd
import pytest
import yaml

from kanon_lab import load_microdata
from kanon_lab.cli import run
from kanon_lab.data import read_file
from kanon_lab.data.writing import write_microdata
from kanon_lab.errors import DataError, KanonLabError, OptionError, about
from kanon_lab.methods.recode_settings import RECODINGS
from kanon_lab.recipes import STEPS, as_recipe, protect, read_recipe, write_recipe

FULL = """
key_variables: [postcode, age, sex, education]
weight: weight
household: household
sensitive_variables: [diagnosis]
numeric_variables: [income]
direct_identifiers: [birth_date]
missing: category
k_required: 3
risks: [0.02, 0.1]
estimator: exact
indicators:
  rates: {diagnosis: [diabetes], cholesterol: null}
  means: [age, income]
  by: [sex, [sex, education]]
  strata: postcode
  sampling_unit: household
  level: 0.9
language: es
seed: 11
household_level:
  key_variables: [postcode]
  steps:
    - recode: {variable: postcode, hierarchy: {masks: [5, 2, 0]}, level: 1}
    - suppress:
steps:
  - pram: {variables: [education, diagnosis], keep: 0.9}
  - microaggregate: {variables: income, missing: leave}
  - add_noise: {variables: income, method: restricted, strength: 0.2, missing: leave}
  - rank_swap: {variables: [income], window: 0.02, strata: sex}
  - shuffle: {variables: income, given: [sex, age], missing: leave}
  - recode: {variable: age, bands: [0, 15, 30, 45, 60, 75, null]}
  - recode: {variable: education, groups: {university: university}, others: other}
  - top_code: {variable: income, above: 5000, value: 5000}
  - round: {variable: income, base: 100}
  - shuffle_members:
  - suppress: {importance: {sex: 1, postcode: 1, age: 2}, seed: 8}
  - suppress_risk: {threshold: 0.02, variables: [education, age]}
  - shuffle_members: {seed: 5}
  - renumber:
  - remove_variables: {variables: [household]}
  - shuffle_records: {by: household}
"""


@pytest.fixture
def written(tmp_path):
    def _written(text):
        (tmp_path / "recipe.yml").write_bytes(text if isinstance(text, bytes) else text.encode())
        return tmp_path / "recipe.yml"

    return _written


def survey():
    return load_microdata("health-survey")


@pytest.fixture(scope="module")
def full(tmp_path_factory):
    """The recipe of every step, and what it makes of the survey."""
    path = tmp_path_factory.mktemp("full") / "recipe.yml"
    path.write_text(FULL)
    recipe = read_recipe(path)
    return recipe, recipe.apply(survey())


def test_every_setting_and_step_does_something(full):
    assert set(RECODINGS) < set(STEPS)
    recipe, chain = full
    lacking = set(STEPS) - {step.name for step in chain.steps} - {"bottom_code"}
    assert not lacking, f"FULL has no line for {lacking}"
    assert [step.name for step in chain.steps if not step.records_touched] == []
    suppressed, members = (
        [step for step in chain.steps if step.name == name][-1] for name in ("suppress", "shuffle_members")
    )
    assert (recipe.k, recipe.risks, recipe.language) == ((2, 3, 5), (0.02, 0.1), "es")
    assert chain.spec.missing == chain.steps[0].households.spec.missing == "category"
    assert chain.steps[0].households.estimator == "exact"
    assert suppressed.settings["k_required"] == chain.steps[0].households.steps[1].settings["k_required"] == 3
    assert chain.state.measured.violations["category"][3] == 0
    assert members.seed == 5
    assert list(chain.state.measured.above) == [0.02, 0.1]


def test_a_recipe_written_and_applied_again_gives_the_same_bytes(full, tmp_path):
    recipe, chain = full
    write_recipe(chain, tmp_path / "again.yml")
    again = read_recipe(tmp_path / "again.yml")
    other = again.apply(survey())
    pd.testing.assert_frame_equal(chain.history, other.history)
    for ending in ("csv", "csv.gz", "parquet", "sav", "dta"):
        for number, each in enumerate((chain, other)):
            write_microdata(each.frame, tmp_path / f"{number}.{ending}")
        one, two = ((tmp_path / f"{number}.{ending}").read_bytes() for number in (0, 1))
        assert hashlib.sha256(one).digest() == hashlib.sha256(two).digest(), ending
    write_recipe(other, tmp_path / "third.yml")
    assert (tmp_path / "third.yml").read_bytes() == (tmp_path / "again.yml").read_bytes()
    seeds = [step["shuffle_members"].get("seed") for step in chain.recipe()["steps"] if "shuffle_members" in step]
    assert None not in seeds and seeds[-1] == 5
    assert as_recipe(chain.recipe()) == again


def test_a_chain_made_step_by_step_is_a_recipe_too():
    chain = protect(survey(), ["age", "sex"], k=[4], risks=[0.5], seed=3)
    chain = chain.apply("round", {"variable": "age", "base": 10}).apply("suppress", {"k_required": 4})
    settings = chain.recipe()
    assert settings == {
        "key_variables": ["age", "sex"],
        "missing": "wildcard",
        "k": [4],
        "risks": [0.5],
        "estimator": "benedetti-franconi",
        "seed": 3,
        "steps": [{"round": {"variable": "age", "base": 10}}, {"suppress": {"k_required": 4}}],
    }
    pd.testing.assert_frame_equal(as_recipe(settings).apply(survey()).history, chain.history)


def test_lists_that_are_one_object_are_written_out(tmp_path):
    shared = ["age"]
    chain = protect(survey(), ["age", "sex", "postcode"])
    chain = chain.apply("suppress_risk", {"threshold": 0.5, "variables": shared})
    chain = chain.apply("suppress_risk", {"threshold": 0.4, "variables": shared})
    write_recipe(chain, tmp_path / "r.yml")
    assert "&" not in (tmp_path / "r.yml").read_text()
    assert len(read_recipe(tmp_path / "r.yml").steps) == 2


def test_a_setting_that_no_recipe_can_hold(tmp_path):
    frame = survey()
    chain = protect(frame, ["age"]).apply(
        "suppress_risk", {"threshold": 0.5, "variables": ["age"], "estimator": "exact"}
    )
    object.__setattr__(chain.steps[0], "settings", {"variables": frame})
    with pytest.raises(OptionError, match="a DataFrame cannot be written"):
        write_recipe(chain, tmp_path / "r.yml")
    assert not (tmp_path / "r.yml").exists()


def test_nothing_is_done_before_every_column_is_there(monkeypatch):
    from kanon_lab.recipes.measured import Baseline

    monkeypatch.setattr(Baseline, "measured", lambda *_, **__: pytest.fail("measured before the recipe was checked"))
    steps = [{"suppress": {"k_required": 3}}, {"round": {"variable": "incom", "base": 10}}]
    recipe = as_recipe({"key_variables": ["age"], "steps": steps})
    with (
        pytest.raises(OptionError, match=r"^survey.csv: .*step 2 \(round\): there is no column incom .*mean income"),
        about("survey.csv"),
    ):
        recipe.apply(survey())
    level = {"key_variables": ["postcode"], "steps": [{"round": {"variable": "incom", "base": 10}}]}
    recipe = as_recipe({"key_variables": ["age"], "household": "household", "household_level": level})
    with pytest.raises(OptionError, match=r"step 1 \(household_level\): .* no column incom"):
        recipe.apply(survey())
    with pytest.raises(DataError, match="column agee is not there; did you mean age"):
        as_recipe({"key_variables": ["agee"]}).apply(survey())
    recipe = as_recipe(
        {"key_variables": ["age"], "direct_identifiers": ["sex"], "steps": [{"round": {"variable": "sex", "base": 10}}]}
    )
    with pytest.raises(OptionError, match="no column sex that is released"):
        recipe.apply(survey())


@pytest.mark.parametrize(
    ("settings", "fault"),
    [
        ({}, "key_variables is not given"),
        ({"key_variables": None}, "key_variables is not given"),
        ({"key_variables": []}, "no key variables"),
        ({"key_variables": [2019]}, "key_variables must be names of columns"),
        ({"key_variables": [True]}, "yes or no in quotes"),
        ({"key_variables": {"a": 1}}, "key_variables must be"),
        ({"key_variable": ["age"]}, "unknown setting key_variable; did you mean key_variables?"),
        ({"keys": ["age"]}, "r.yml: unknown setting keys; did you mean key_variables?"),
        ({"sensitive": "diagnosis"}, "did you mean sensitive_variables?"),
        ({"identifiers": "diagnosis"}, "did you mean direct_identifiers?"),
        ({"key_variables": "age, sex"}, r"r.yml: key_variables: is one text; write a list.*\[age, sex\]"),
        ({"direct_identifiers": "income,sex"}, r"direct_identifiers: is one text; write a list"),
        ({"weight": "wieght"}, "^survey.csv: r.yml: column wieght"),
        ({"steps": [{"recode": None, "variable": "age", "width": 5}]}, "settings are beside recode; indent them"),
        ({7: "age"}, r"unknown setting \(number \d+\); there are"),
        ({"weight": ["weight"]}, "weight must be one name"),
        ({"weight": 3}, "weight must be one name"),
        ({"missing": "drop"}, "missing must be one of"),
        ({"ghost_variables": ["age"]}, "ghost_variables"),
        ({"ghost_variables": {"age": 5}}, "ghost_variables must be"),
        ({"ghost_variables": {"sex": ["a"]}}, "sex is not a key variable"),
        ({"direct_identifiers": ["age"]}, "age is a direct identifier and"),
        ({"k_required": 0}, "k_required must be a whole number"),
        ({"k_required": "3"}, "k_required must be a whole number"),
        ({"k": [2, "x"]}, "k must be a whole number"),
        ({"risks": [2]}, "risks must be"),
        ({"thresholds": [2]}, r"unknown setting \(number \d+\); "),
        ({"limits": {"a": 1}}, r"limits: there is no limit of this name \(number 1\)"),
        ({"estimator": "guess"}, "estimator must be"),
        ({"language": "fr"}, "language must be one of en, es, ca"),
        ({"language": ["en"]}, "language must be"),
        ({"seed": -1}, "seed must be"),
        ({"seed": 1.5}, "seed must be"),
        ({"steps": "suppress"}, "steps must be a list"),
        ({"steps": {"suppress": {}}}, "steps must be a list"),
        ({"steps": ["suppress"]}, "step 1: must have settings after its name; without any, write suppress: {}"),
        ({"steps": ["suppress 3"]}, "step 1: must be one name with its settings"),
        ({"steps": [{"suppress": {"k_required": 3}, "round": {}}]}, "step 1: must be one name.*a - of its own"),
        ({"steps": [{}]}, "step 1: must be one name"),
        ({"steps": [None]}, "step 1: must be one name"),
        (
            {"steps": [{"suppress": {"k_required": 3}}, {"supress": {}}]},
            "step 2: there is no step 'supress'; did you mean",
        ),
        ({"steps": [{"round": 5}]}, r"step 1 \(round\): its settings must be"),
        ({"steps": [{"round": {"base": 5}}]}, r"step 1 \(round\): variable is not given"),
        ({"steps": [{"recode": {"variable": "age", "bands": [0, 20]}}]}, r"step 1 \(recode\).*column age.*row 2"),
        ({"steps": [{"suppress": {}}]}, "k_required is not given"),
        ({"steps": [{"suppress": {"k_required": 10**6}}]}, r"step 1 \(suppress\)"),
        ({"household_level": {"key_variables": ["age"]}}, "needs a household"),
        (
            {
                "household": "household",
                "household_level": {"key_variables": ["postcode"]},
                "steps": [{"round": {"variable": "age", "base": 5}}, {"round": {"variable": "aeg", "base": 5}}],
            },
            r"r.yml: step 3 \(round; number 2 under steps\): .*no column aeg",
        ),
        (
            {"household": "household", "household_level": {"key_variables": ["postcode"]}, "steps": [{"rond": {}}]},
            r"step 2 \(number 1 under steps\): there is no step 'rond'; did you mean round\?",
        ),
        ({"household_level": ["age"]}, "household_level: must be a mapping"),
        ({"household_level": {}}, "household_level: key_variables is not given"),
        ({"household_level": {"key_variables": ["age"], "step": []}}, "household_level: unknown setting step"),
        (
            {"household_level": {"key_variables": ["a"], "steps": [{"x": {}}]}},
            "household_level: step 1: there is no step",
        ),
    ],
)
def test_recipes_that_cannot_be_are_refused_in_one_line(settings, fault):
    settings = {"key_variables": ["age"], **settings} if settings else settings
    with pytest.raises(KanonLabError, match=fault) as caught, about("survey.csv"):
        as_recipe(settings, name="r.yml").apply(read_file("health-survey"))
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 500


def test_files_of_hierarchies_are_beside_the_recipe(written, tmp_path, monkeypatch):
    settings = "{variable: sex, hierarchy: {file: ladders/sex.csv}, level: 1}"
    path = written(f"key_variables: [sex, age]\nsteps:\n- recode: {settings}\n")
    with pytest.raises(DataError, match=f"ladders/sex.csv is not there; it was looked for in {tmp_path}"):
        read_recipe(path)
    (tmp_path / "ladders").mkdir()
    (tmp_path / "other").mkdir()
    lines = [f"{sex},*" for sex in survey()["sex"].unique()]
    (tmp_path / "ladders" / "sex.csv").write_text("\n".join(["sex,all", *lines]))
    again = tmp_path / "other" / "again.yml"
    for folder, name in ((tmp_path, "recipe.yml"), (tmp_path / "other", "../recipe.yml")):
        monkeypatch.chdir(folder)
        chain = read_recipe(name).apply(survey())
        assert set(chain.frame["sex"]) == {"*"}
        write_recipe(chain, again)
        assert "file: ../ladders/sex.csv" in again.read_text()
        monkeypatch.chdir(tmp_path / "ladders")
        assert read_recipe("../other/again.yml").apply(survey()).frame.equals(chain.frame)
    write_recipe(read_recipe(path).apply(survey()), again)
    assert f"file: {tmp_path}/ladders/sex.csv" in again.read_text()


def test_the_recipe_of_the_design_is_one():
    text = """
key_variables: [region, sex, age]
weight: weight
direct_identifiers: [name]
steps:
  - recode: {variable: age, bands: [0, 15, 30, 45, 60, 75], closed: left}
  - suppress: {k_required: 3, importance: {sex: 1, region: 2, age: 3}}
"""
    frame = pd.DataFrame({"region": list("nnss") * 6, "sex": list("mw") * 12, "age": range(0, 72, 3), "weight": 2.0})
    frame["name"] = [f"N{i}" for i in range(24)]
    chain = as_recipe(yaml.safe_load(text)).apply(frame)
    assert chain.state.measured.violations["wildcard"][3] == 0
    assert list(chain.frame.columns) == ["region", "sex", "age", "weight"]


def test_the_output_never_replaces_a_hierarchy_file(written, tmp_path, monkeypatch, capsys):
    ladder, text = tmp_path / "ladder.csv", "sex,all\n" + "".join(f"{sex},*\n" for sex in survey()["sex"].unique())
    ladder.write_text(text)
    survey().to_csv(tmp_path / "in.csv", index=False)
    path = written(
        "key_variables: [sex, age]\nsteps:\n- recode: {variable: sex, hierarchy: {file: ladder.csv}, level: 1}\n"
    )
    monkeypatch.chdir(tmp_path)
    for out in ("ladder.csv", str(ladder)):
        assert run(["protect", "in.csv", "--recipe", str(path), "--out", out, "--overwrite"]) == 2
        assert "the output path is equal to the hierarchy file of the recipe" in capsys.readouterr().err
        assert ladder.read_text() == text


def test_the_configuration_of_a_report_is_a_recipe_too():
    recipe = as_recipe(
        {"key_variables": ["age"], "title": "A file", "map": {"grid": {}}, "na": ["?"], "limits": {"k": 3}}
    )
    assert recipe == as_recipe({"key_variables": ["age"], "na": ["?"], "limits": {"k": 3}})
    assert recipe.reading == {"na": ("?",)}
    assert recipe.notes == ("title, map: of a report (kanon-lab report), and not used here",)
    with pytest.raises(OptionError, match="na must be texts"):
        as_recipe({"key_variables": ["age"], "na": [9]})
