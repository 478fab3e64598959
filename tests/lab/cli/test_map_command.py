"""``kanon-lab map``."""

import json
import re

import pandas as pd
import pytest

from kanon_lab.cli import run
from kanon_lab.recipes import read_recipe, risk_utility_map

RECIPE = """
key_variables: [region, sex, age]
direct_identifiers: [name]
steps:
  - $ages
  - suppress: {k_required: $k}
grid:
  k: [2, 3]
  ages:
    years: null
    tens: {recode: {variable: age, bands: [0, 10, 20, 30, 40, null], closed: left}}
    short: {recode: {variable: age, bands: [0, 5]}}
"""


def a_file():
    return pd.DataFrame(
        {
            "name": [f"SECRET {i}" for i in range(80)],
            "region": [f"SECRET r{i % 3}" for i in range(80)],
            "sex": ["SECRET m" if i * 7 % 5 < 2 else "SECRET f" for i in range(80)],
            "age": [i * 37 % 50 for i in range(80)],
        }
    )


@pytest.fixture
def folder(tmp_path):
    a_file().to_csv(tmp_path / "survey.csv", index=False)
    (tmp_path / "map.yml").write_text(RECIPE)
    return tmp_path


def call(capsys, folder, *args):
    """Exit code, standard output and standard error of one command."""
    code = run(["map", str(folder / "survey.csv"), "--recipe", str(folder / "map.yml"), *map(str, args)])
    out, err = capsys.readouterr()
    return code, out, err


def test_json_holds_the_map_and_the_choice(capsys, folder):
    code, out, err = call(capsys, folder, "--at-most", "0.3", "--workers", "1", "--json")
    result = json.loads(out)
    assert (code, err, result["n"], result["recipes"]) == (0, "", 80, 6)
    settings = {name: value for name, value in read_settings(folder).items() if name != "grid"}
    found = risk_utility_map(a_file(), settings, read_settings(folder)["grid"], workers=1)
    assert result["frontier"][0]["risk"] == pytest.approx(found.frontier()["risk"].iloc[0])
    assert [each["label"] for each in result["frontier"]] == list(found.frontier()["label"])
    assert result["cheapest"]["label"] == found.cheapest(at_most=0.3)["label"]
    assert result["cheapest"]["k"] in (2, 3)
    assert [each["label"] for each in result["failed"]] == ["k=2, ages=short", "k=3, ages=short"]
    assert len(result["points"]) == 6 and result["unmet"] is None
    assert "SECRET" not in out


def read_settings(folder):
    from kanon_lab.recipes.yaml_file import read_yaml

    return read_yaml(folder / "map.yml")


def test_the_chosen_recipe_is_one_that_protect_runs(capsys, folder):
    chosen, out_file = folder / "chosen.yml", folder / "map.csv"
    code, out, err = call(capsys, folder, "--at-most", "0.3", "--write-recipe", chosen, "--out", out_file)
    assert (code, err) == (0, "")
    assert "Recipes that no other recipe beats" in out and "Least loss with global_risk at most 0.3" in out
    assert "2 of which could not be applied" in out and "SECRET" not in out
    table = pd.read_csv(out_file)
    assert list(table["label"])[0] == "k=2, ages=years" and "SECRET" not in out_file.read_text()
    protection = read_recipe(chosen).apply(a_file())
    risks = table.set_index("label")["global_risk"]
    (label,) = [line.split(": risk")[0] for line in out.splitlines() if ": risk " in line and ", loss " in line]
    assert protection.state.measured["global_risk"] == pytest.approx(risks[label])
    assert run(["protect", str(folder / "survey.csv"), "--recipe", str(chosen), "--dry-run"]) == 0


def test_a_risk_that_none_meets_is_exit_code_1_after_the_result(capsys, folder):
    chosen = folder / "chosen.yml"
    code, out, err = call(capsys, folder, "--at-most", "0", "--write-recipe", chosen)
    assert code == 1 and "Recipes that no other recipe beats" in out and not chosen.exists()
    assert err.startswith("kanon-lab: no recipe has global_risk at most 0: the smallest reached is 0.")
    assert err.count("\n") == 1 and "was not written" in err


def test_a_fault_of_the_grid_is_said_before_the_file_is_read(capsys, folder):
    (folder / "map.yml").write_text(RECIPE.replace("$k", "$kk"))
    code = run(["map", "absent.csv", "--recipe", str(folder / "map.yml")])
    assert code == 2 and "did you mean $k?" in capsys.readouterr().err


def test_what_is_there_is_not_replaced_unasked_and_inputs_never(capsys, folder):
    there = folder / "map.csv"
    there.write_text("mine")
    code, _, err = call(capsys, folder, "--out", there)
    assert code == 2 and "--overwrite" in err and there.read_text() == "mine"
    assert call(capsys, folder, "--out", there, "--overwrite")[0] == 0
    code, _, err = call(capsys, folder, "--out", folder / "survey.csv", "--overwrite")
    assert code == 2 and "is equal to the input" in err
    code, _, err = call(capsys, folder, "--at-most", "1", "--write-recipe", folder / "map.yml", "--overwrite")
    assert code == 2 and "is equal to the recipe" in err and "grid" in (folder / "map.yml").read_text()


LIMITED = RECIPE.replace("steps:", "limits: {k: 3, global_risk: 0.3}\nsteps:")


def test_only_recipes_that_meet_every_limit_are_recommended(capsys, folder):
    (folder / "map.yml").write_text(LIMITED)
    chosen = folder / "chosen.yml"
    code, out, err = call(capsys, folder, "--write-recipe", chosen)
    assert (code, err) == (0, "") and "SECRET" not in out
    assert re.search(r"k +at least 3 +\d of 4", out) and re.search(r"\n\d of 6 recipes meet every limit", out)
    assert "Least loss with every limit met\nk=" in out
    assert run(["protect", str(folder / "survey.csv"), "--recipe", str(chosen), "--dry-run", "--fail"]) == 0
    capsys.readouterr()
    code, out, _ = call(capsys, folder, "--json")
    result = json.loads(out)
    assert code == 0 and result["met"] > 0 and result["cheapest"]["met"] is True and result["own"] is None
    assert [row["met"] for row in result["points"]].count(True) == result["met"]
    assert {row["unmet"] for row in result["points"] if row["met"] is False} == {"k"}
    assert {row["name"] for row in result["limits"]} >= {"k", "global_risk", "exposed_by_columns"}


def test_a_limit_that_none_meets_is_named_with_the_best(capsys, folder):
    (folder / "map.yml").write_text(LIMITED.replace("0.3", "0.0001"))
    code, out, err = call(capsys, folder)
    assert (code, err) == (0, "") and "no recipe meets every limit: global_risk: at most 0.01% is wanted" in out
    assert "(not judged, because no recipe meets all the other limits: exposed_by_columns" in out
    assert "Least loss" not in out
    code, out, err = call(capsys, folder, "--write-recipe", folder / "chosen.yml")
    assert code == 1 and err.startswith("kanon-lab: no recipe meets every limit") and err.count("\n") == 1
    assert not (folder / "chosen.yml").exists()


def test_a_configuration_of_a_report_has_its_own_recipe_marked(capsys, folder):
    steps = (
        "  - recode: {variable: age, bands: [0, 10, 20, 30, 40, null], closed: left}\n  - suppress: {k_required: $k}\n"
    )
    own = steps.replace("$k", "3")
    text = (
        LIMITED[: LIMITED.index("steps:")]
        + f"steps:\n{own}map:\n  grid: {{k: [2, 3]}}\n  risk: key_linkage\n  steps:\n"
    )
    (folder / "map.yml").write_text(text + steps.replace("  -", "    -"))
    code, out, err = call(capsys, folder)
    assert (code, err) == (0, "") and "your recipe (k=3): risk " in out and "risk: key_linkage" in out
    assert json.loads(call(capsys, folder, "--json")[1])["own"]["label"] == "k=3"
    (folder / "map.yml").write_text(text.replace("k_required: 3", "k_required: 5") + steps.replace("  -", "    -"))
    assert "your recipe: risk " in call(capsys, folder, "--risk", "exposed_by_columns")[1]


def test_a_recipe_to_write_needs_something_to_meet(capsys, folder):
    code, _, err = call(capsys, folder, "--write-recipe", folder / "chosen.yml")
    assert code == 2 and "--write-recipe needs limits in the recipe, or --at-most" in err
