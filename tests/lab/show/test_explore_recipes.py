"""The JupyterLab explorer of recipes without a browser: move the controls, read what it shows."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from kanon_lab.errors import KanonLabError
from kanon_lab.recipes import risk_utility_map
from kanon_lab.recipes.tradeoff import risk_steps
from kanon_lab.show import explore_recipes

pytest.importorskip("ipywidgets")

VEGALITE = "application/vnd.vegalite.v5+json"
RECIPE = {"key_variables": ["sex", "age"], "steps": ["$ages", "$pram", {"suppress": {"k_required": "$k"}}]}
TENS = {"recode": {"variable": "age", "bands": [*range(0, 40, 10), None], "closed": "left"}}
GRID = {"ages": {"years": None, "10 <y>": TENS}, "k": [2, 4, 6], "pram": {"no": None}}


@pytest.fixture(scope="module")
def survey():
    rng = np.random.default_rng(5)
    return pd.DataFrame({"age": rng.integers(0, 40, 200), "sex": rng.choice(["f", "m"], 200)})


@pytest.fixture(scope="module")
def found(survey):
    return risk_utility_map(survey, RECIPE, GRID, workers=1)


@pytest.fixture
def explorer(found):
    return explore_recipes(found, at_most=0.2)


def chosen(explorer):
    spec = explorer.chart.outputs[0]["data"][VEGALITE]
    number = next(param["value"] for param in spec["params"] if param["name"] == "chosen")
    return None if number < 0 else spec["data"]["values"][number]["label"]


def test_everything_follows_the_required_risk(explorer, found):
    slider = explorer.controls["limit"]
    for at_most in risk_steps(found.points["global_risk"].max()):
        slider.value = 100 * at_most
        if at_most < found.frontier()["risk"].min():
            assert "the smallest reached is" in explorer.sentence.value
            assert chosen(explorer) is None and explorer.more.value == ""
            continue
        best = found.cheapest(at_most=at_most)
        assert chosen(explorer) == best["label"]
        assert best["label"].replace("<y>", "&lt;y&gt;") in explorer.sentence.value
        assert f"{100 * best['loss']:.4g}%" in explorer.sentence.value
        assert f"k_required: {best['k']}" in explorer.more.value
        assert 'aria-current="true"' in explorer.table.value
    assert slider.value == slider.max and slider.value / 100 >= found.points["global_risk"].max()


def test_another_measure_brings_its_own_slider(explorer, found):
    drawings = []
    explorer.chart.observe(drawings.append, "outputs")
    explorer.controls["risk"].value = "violations_5_category"
    assert len(drawings) == 1
    largest = found.points["violations_5_category"].max()
    slider = explorer.controls["limit"]
    assert slider.max >= largest > slider.max - slider.step
    assert slider.description == "records below k = 5 (missing: a value), at most"
    best = found.cheapest(at_most=slider.value, risk="violations_5_category")
    assert chosen(explorer) == best["label"]
    at_most = slider.value
    explorer.controls["loss"].value = "equal_cells"
    assert slider.value == at_most
    assert "key cells changed or missing" in explorer.sentence.value


def test_measures_that_no_recipe_has_together_leave_it_usable(found):
    lacking = found.points.assign(il1s=0.1, key_linkage=float("nan"))
    lacking.loc[0, ["key_linkage", "il1s"]] = [0.5, None]
    explorer = explore_recipes(replace(found, points=lacking), risk="key_linkage", at_most=0.6)
    explorer.controls["loss"].value = "il1s"
    assert "no recipe of the map has both" in explorer.sentence.value
    assert (explorer.chart.outputs, explorer.more.value, explorer.controls["limit"].disabled) == ((), "", True)
    explorer.controls["loss"].value = "equal_cells"
    assert chosen(explorer) == lacking["label"][0] and not explorer.controls["limit"].disabled


def test_it_begins_where_it_is_asked_to(survey, found):
    made = explore_recipes(survey, RECIPE, GRID, workers=1, loss="equal_cells", at_most=0.05)
    assert made.values["limit"] == pytest.approx(5, abs=0.2) and made.values["loss"] == "equal_cells"
    assert chosen(made) == found.cheapest(at_most=made.values["limit"] / 100, loss="equal_cells")["label"]
    assert "application/vnd.jupyter.widget-view+json" in made._repr_mimebundle_()


def test_perturbed_keys_are_noted(survey):
    grid = {**GRID, "pram": {"yes": {"pram": {"variables": ["sex"], "keep": 0.8}}}, "k": [2]}
    assert "takes perturbed keys for true ones" in explore_recipes(survey, RECIPE, grid, workers=1).sentence.value


@pytest.mark.parametrize("options", [{"risk": "granularity"}, {"loss": "il1s"}, {"at_most": 7}, {"at_most": "x"}])
def test_a_start_that_cannot_be_is_refused(found, options):
    with pytest.raises(KanonLabError) as error:
        explore_recipes(found, **options)
    assert "\n" not in str(error.value)
