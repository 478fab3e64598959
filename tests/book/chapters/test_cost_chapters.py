"""The guide from Chile, perturbation to choosing: what its notebooks recorded, and other parameters."""

import re
from pathlib import Path

import numpy as np
import pytest

from kanon_lab.cli import run as run_command
from kanon_lab.data import load_microdata, read_microdata
from kanon_lab.recipes import as_recipe

ROOT = Path(__file__).resolve().parents[3]
CHOOSING = (ROOT / "book" / "choosing.md").read_text()


def test_recorded_perturbations(book):
    """What the chapter says of each attack; the arithmetic of the spinner by hand."""
    results = book["perturbation"]
    # 10 of 100 ill, truth with 0.8: 8 + 18 = 26 are seen, and (26 - 20) / 0.6 = 10.
    assert results["seen-ill"] == pytest.approx(8 + 18)
    assert results["seen-truly"] == pytest.approx(8 / 26)
    assert results["back"] == pytest.approx(10)
    told = results["told"].set_index("diagnosis")
    assert (told["truly so (%)"] - told["truly so, measured (%)"]).abs().max() < 6
    # The page says that the first file's estimate is below zero, and the mean of all above.
    assert results["rare-first"] < 0 < results["rare-back"] < results["rare-error"]
    assert told.loc[results["rare"], "worked back, first file (%)"] == round(100 * results["rare-first"], 1)
    rules = results["rules"].set_index("rule")
    assert rules["stays (%)"].iloc[1:].tolist() == rules["truly so (%)"].iloc[1:].tolist()
    assert rules["seen (%)"].iloc[1:].tolist() == [round(100 * results["rare-share"], 1)] * 2
    assert results["links-right"] == pytest.approx(results["formula-right"], rel=0.1)
    assert results["links-wrong"] == pytest.approx(results["formula-wrong"], rel=0.15)
    assert results["alone-before"] > results["links-right"] < results["links-guess"] < results["guess-before"]
    assert results["links-guess"] < results["persons"] / 2
    assert results["impossible"] > 50 > results["impossible-within"] == 0


def test_recorded_perturbations_of_quantities(book):
    """Where the chapter says that a mean is kept exactly, and that no more than one link in k is right."""
    results = book["perturbation"]
    groups = results["groups"].set_index("groups")
    together, single = groups.loc["together"], groups.loc["each by itself"]
    assert (together["right links (%)"] <= together["1/k (%)"] + 1e-9).all()
    assert (single["right links (%)"] > 3 * together["right links (%)"].where(together["k"] > 2, 0).to_numpy()).all()
    assert results["noise-outlying"] > 2 * results["noise-linked"]
    assert results["strong-additive"] > results["strong-outliers"]
    by_noise = results["by-noise"].set_index("strength")
    assert results["strong-additive"] == pytest.approx(by_noise["of the 15 largest (%)"][0.5] / 100, abs=1e-3)
    assert results["slope-kept"] == pytest.approx(results["slope-expected"], rel=0.05)
    assert results["slope-expected"] == pytest.approx(1 / (1 + 0.5**2))
    averaged = results["averaged"]
    assert averaged["right links (%)"].is_monotonic_increasing
    noise = averaged["noise left (sd)"] * np.sqrt(averaged["releases"])
    assert noise.to_numpy() == pytest.approx(0.1, rel=0.1)
    assert results["seed-linked"] == pytest.approx(results["linked-before"])
    assert results["person-averaged"] < 0.6 * results["person-noise"]
    measured = results["measured"].set_index("method")
    kept = measured["mean moved (%)"].round(9) == 0
    assert kept.tolist() == [True, True, True, False, False, True, False, True, True]
    assert measured.loc["grouped, k = 3", "of the 15 largest (%)"] > 100 / 3
    noise = results["explorer"].set_index("method").loc["noise", "of the 15 largest (%)"]
    assert noise.min() > 10  # no strength of the explorer hides the largest
    assert results["swap-intersected"] > results["swap-linked"]
    assert measured.iloc[1:]["IL1s"].idxmax() == measured.iloc[1:]["right links (%)"].idxmin() == "shuffling"
    assert measured.iloc[1:]["IL1s"].idxmin() == measured.iloc[1:]["right links (%)"].idxmax()
    assert abs(results["beside-blind"]) < 0.05 < results["beside-swapped"] < results["beside-true"] - 0.1


@pytest.mark.slow
def test_the_notebook_of_perturbation_on_a_users_file(run, shops):
    own = {"quantities": {"size": "size"}, "beside": "", "bases": {"size": [1, 20]}, "household": "", "weight": ""}
    keys = {"key_variables": ["area", "owner"], "recoding": [], "moved": ["owner"], "moved_strata": ["area"]}
    steps = {"keeps": [0.7], "strengths": [0.1, 1.0], "windows": [0.1, 0.5], "group_sizes": [2, 4], "k_required": 4}
    results = run("perturbation", file=str(shops), sensitive="fined", repeats=3, **own, **keys, **steps)
    frame = read_microdata(shops)
    assert results["units"] == results["persons"] == len(frame) == 300
    assert results["guess-before"] == pytest.approx(frame.groupby(["area", "owner"], dropna=False).ngroups)
    assert results["alone-before"] == results["links-right"] == 0
    assert results["belief"] is None
    assert results["mdav-linked"] <= 1 / 4
    assert len(results["explorer"]) == 4 * 2 + 1
    assert "slope-kept" not in results
    assert "person-noise" not in results


def test_the_recipe_of_the_chapter_of_quantities_runs_as_printed(tmp_path, monkeypatch):
    page = (ROOT / "book" / "quantities.md").read_text()
    (recipe,) = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
    (command,) = re.findall(r"^kanon-lab (protect .*)$", page, re.MULTILINE)
    monkeypatch.chdir(tmp_path)
    Path("recipe.yml").write_text(recipe)
    assert run_command(command.split()) == 0
    released, survey = read_microdata("released.csv"), load_microdata("health-survey")
    incomes = survey.groupby("household")["income"].first()
    shared = released["income"].groupby(survey["household"].to_numpy()).agg(["nunique", "first"])
    assert shared["nunique"].max() == 1
    assert shared["first"].value_counts().min() >= 5
    assert shared["first"].mean() == pytest.approx(incomes.mean())


def test_recorded_costs(book):
    """What the chapter says of the design, of what is lost, and of the small files that fool each measure."""
    results = book["cost"]
    errors = results["errors"].set_index("indicator")
    ratio = [
        float(row["drawn again"].rstrip("%").replace(",", ""))
        / float(row["by the design"].rstrip("%").replace(",", ""))
        for _, row in errors.iterrows()
    ]
    assert ratio == pytest.approx([1] * len(ratio), abs=0.2)
    assert results["narrow"] > results["wide"] > 0
    assert results["mean-worth"] < results["mean-units"] < results["mean-records"]
    assert results["lost"] == results["lost-groups"].set_index("group").loc["postcode", "lost"] > 0
    assert results["lost-overlap-after"] > results["lost-overlap-before"]
    assert results["overlap-all"] == pytest.approx(
        results["overlap-mean"] * results["compared"] / (results["compared"] + results["lost"])
    )
    assert results["user-width"] < 0.7
    assert results["il-shifted"] == results["il-mixed"] and results["il-mixed-mean"] == 0 < results["il-shifted-mean"]
    assert (results["bowl-correlations"], results["bowl-eigenvalues"], results["xor-most"]) == (0, 0, 0)
    assert (results["xor-three"], results["swap-entropy"], results["dealt-ratio"]) == (1, 0, 0)
    assert results["classes-dealt"] < results["classes-before"]
    assert (results["unasked-overlap"], results["unasked-lost"]) == (1, 0)
    best = results["best"].set_index("measure")
    assert (best.loc["tables", "cheapest"], best.loc["average class", "cheapest"]) == ("PRAM", "shuffling")
    assert best.loc["IL1s", "not seen"] == "recoding, suppression, PRAM"
    assert best.loc["information lost", "not seen"] == "rank swapping, shuffling"
    assert best.loc["overlap of the indicators left", "not seen"] == "recoding"
    assert results["asked"] == results["narrow"] + results["wide"] + results["no-ratio"]
    price = results["history-cost"].set_index("after")["information lost (%)"]
    assert price["pram"] == price["suppress"] > price["recode age"]
    assert 0 < results["never-after"] < results["never-upper"]
    assert results["never-units"] > 0
    empty = results["methods"].set_index("method")["linked by their keys (%)"].isna()
    assert list(empty.index[empty]) == ["rank swapping", "shuffling"]


def test_recorded_choices(book):
    """What the chapter says of the chosen recipe, of a risk that takes perturbed keys for true, and of seeds."""
    results = book["choosing"]
    assert results["recipes"] == 54
    assert results["failed"] == 0
    assert results["answers-different"] > 1
    assert results["emptied"] == "age" and results["emptied-share"] > 0.5
    assert results["blind-global-last"] > results["blind-global-first"]
    assert results["blind-key-last"] < results["blind-key-first"]
    # Whatever the seeds: by either list, its own best is better than any seed, and than the best by the other list.
    assert results["seeds-listed"] < 0
    assert results["seeds-other"] < min(0, results["seeds-unlisted"])
    assert results["undefined"] == 0
    assert results["prices"].iloc[0, 1:].eq("-").all()
    # With the age on the list, what had won is no longer cheapest, and another key pays.
    again = results["again"].set_index("suppress")
    assert list(again.index) == ["age first", "postcode first"]
    assert again.loc["age first", "risk"] == results["chosen-risk"]
    assert again.loc["age first", "no age (%)"] == pytest.approx(100 * results["emptied-share"])
    assert again.loc["postcode first", "loss"] == results["again-loss"] < again.loc["age first", "loss"]
    assert results["again-emptied"] == "postcode" and results["again-emptied-share"] > 0.5


@pytest.mark.slow
def test_the_notebook_of_costs_on_a_users_file(run, shops):
    roles = {"key_variables": ["area", "size", "owner"], "numeric_variables": ["size"], "missing": "category"}
    asked = {"rates": {"fined": None}, "means": ["size"], "by": ["area", "owner"]}
    steps = [{"recode": {"variable": "size", "width": 20}}, {"pram": {"variables": ["fined"], "keep": 0.9}}]
    methods = {
        "swapping": [{"rank_swap": {"variables": ["size"]}}],
        "removal": [{"remove_variables": {"variables": ["owner"]}}],
    }
    own = {"roles": roles, "indicators": asked, "household_steps": [], "steps": steps, "methods": methods}
    results = run("cost", file=str(shops), repeats=20, **own)
    frame = read_microdata(shops)
    assert results["records"] == 300
    assert results["mean-units"] == results["mean-records"] == 300
    assert results["lost"] == 1 + frame["area"].nunique() + frame["owner"].nunique()  # the size is bands now
    assert len(results["users"]) == 3
    assert results["methods"]["lost"].tolist() == [0, 0, 3 * 2]


@pytest.mark.slow
def test_the_notebook_of_choices_on_a_users_file(run, shops):
    recipe = {
        "key_variables": ["area", "size", "owner"],
        "missing": "category",
        "indicators": {"rates": ["fined"], "by": ["area"]},
        "steps": ["$noise", {"recode": {"variable": "size", "width": "$width"}}],
    }
    grid = {
        "width": [10, 30],
        "noise": {"none": None, "swapped": {"rank_swap": {"variables": ["size"], "window": 0.2}}},
    }
    asked = {"losses": ["non_uniform_entropy", "average_class_size"], "loss": "non_uniform_entropy", "required": 0.9}
    unlisted = {"rates": ["owner"]}
    own = {"recipe": recipe, "grid": grid, "perturbing": "noise", "unlisted": unlisted}
    own |= {"listed_again": ["area", "owner"], "prepared": [], "grid_again": grid, "compared_again": "noise"}
    results = run("choosing", file=str(shops), repeats=2, seeds=4, best_of=2, other_required=[0.0], **own, **asked)
    assert results["recipes"] == 4
    assert results["prices"].iloc[0, 1] == "-"
    assert results["blind-key-last"] < results["blind-key-first"]
    assert len(results["frontier"]) == results["frontier-size"]
    assert results["again"]["noise"].tolist() == ["none", "swapped"]
    plain = run(
        "choosing",
        file=str(shops),
        grid={"width": [10, 30]},
        perturbing="",
        seeds=2,
        repeats=1,
        **asked,
        recipe=recipe | {"steps": recipe["steps"][1:]},
        unlisted=unlisted,
    )
    assert "seeds" not in plain and "again" not in plain


@pytest.fixture
def grid(tmp_path, monkeypatch):
    """The printed grid, in a file of the working folder."""
    monkeypatch.chdir(tmp_path)
    (grid,) = re.findall(r"```yaml\n(.*?)```", CHOOSING, re.DOTALL)
    Path("grid.yml").write_text(grid)
    return grid


@pytest.mark.slow  # the printed Python makes the same map
def test_the_command_of_the_chapter_on_choosing_runs_as_printed(grid):
    (command,) = re.findall(r"^kanon-lab (map .*)$", CHOOSING, re.MULTILINE)
    assert run_command(command.split()) == 0


def test_the_recipes_of_the_chapters_on_cost_run_as_printed(grid):
    """The grid and both pieces of Python; the indicators as a setting of a recipe."""
    import yaml

    cost = (ROOT / "book" / "cost.md").read_text()
    (code,) = re.findall(r"```python\n(.*?)```", CHOOSING, re.DOTALL)
    names = {}
    exec(code, names)
    assert len(names["found"].points) == 6
    assert names["found"].points["error"].isna().all()
    (code,) = re.findall(r"```python\n(.*?)```", cost, re.DOTALL)
    exec(code, names)
    assert len(names["before"]) == len(names["after"]) == 3
    (wanted,) = re.findall(r"```yaml\n(.*?)```", cost, re.DOTALL)
    recipe = yaml.safe_load(grid) | {"steps": []} | yaml.safe_load(wanted)
    del recipe["grid"]
    applied = as_recipe(recipe).apply(names["survey"])
    assert applied.history["indicators_lost"].tolist() == [0]
