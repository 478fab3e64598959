"""The JupyterLab explorer of levels without a browser: move the controls, read what it shows."""

import json
import re

import numpy as np
import pandas as pd
import pytest

from kanon_lab.errors import OptionError
from kanon_lab.methods import Hierarchy, lattice_search
from kanon_lab.show import explore_levels

pytest.importorskip("ipywidgets")

VEGALITE = "application/vnd.vegalite.v5+json"
LADDERS = {
    "age": Hierarchy.from_intervals(
        [[0, 10, 20, 30, 40], [0, 20, 40]], closed="left", top="*", level_names=["years", "10 <y>", "20 years", "any"]
    ),
    "sex": Hierarchy.from_mapping({"woman": "*", "man": "*"}, level_names=["as it is", "any"]),
    "town": Hierarchy(()),
}


@pytest.fixture(scope="module")
def survey():
    rng = np.random.default_rng(5)
    ages, sexes = rng.integers(0, 40, 300), rng.choice(["woman", "man"], 300)
    return pd.DataFrame({"age": ages, "sex": sexes, "town": rng.choice(["a", "b"], 300, p=[0.9, 0.1])})


@pytest.fixture
def explorer(survey):
    return explore_levels(survey, LADDERS, k=4, suppression_limit=0.05)


def shown(explorer) -> tuple[int, float]:
    """Records to be removed, in the table, and their per cent, in the sentence."""
    records = re.search(r'aria-current="true">.*?<td[^>]*>([\d,]+)</td>', explorer.table.value)[1]
    share = re.search(r"([\d.]+)% of the records must be removed", explorer.sentence.value)[1]
    return int(records.replace(",", "")), float(share)


def drawn(explorer) -> str:
    """The text in its chart."""
    spec = explorer.chart.outputs[0]["data"][VEGALITE]
    svg = pytest.importorskip("vl_convert").vegalite_to_svg(json.dumps(spec), vl_version="5.8")
    return " ".join(re.findall(r">([^<>]+)<", svg))


def by_hand(survey, levels, k) -> int:
    keys = list(zip(survey["town"], *(LADDERS[n].recode(survey[n], level) for n, level in levels.items())))
    return sum(keys.count(key) < k for key in keys)


def test_the_sentence_follows_every_control(explorer, survey):
    assert shown(explorer)[0] == by_hand(survey, {"age": 0, "sex": 0}, 4)
    explorer.controls["level0"].value = 1
    assert shown(explorer)[0] == by_hand(survey, {"age": 1, "sex": 0}, 4)
    assert "age: 10 &lt;y&gt;, sex: as it is" in explorer.sentence.value
    explorer.controls["k_required"].value = 20
    expected = by_hand(survey, {"age": 1, "sex": 0}, 20)
    assert shown(explorer) == (expected, pytest.approx(expected / 3, abs=0.05))
    assert "over the 5% limit" in drawn(explorer)
    explorer.controls["limit"].value = 20
    assert "within the 20% limit" in drawn(explorer)


@pytest.mark.parametrize(("options", "last"), [({}, 20), ({"k": 25}, 25), ({"k": 3, "k_max": 6}, 6)])
def test_k_reaches_what_is_asked_for(survey, options, last):
    explorer = explore_levels(survey, LADDERS, **options)
    explorer.controls["k_required"].value = 1_000
    assert explorer.controls["k_required"].value == last
    assert shown(explorer)[0] == by_hand(survey, {"age": 0, "sex": 0}, last)


def test_the_button_moves_to_the_optimum(explorer, survey):
    drawings = []
    explorer.chart.observe(drawings.append, "outputs")
    explorer.button.click()
    found = lattice_search(survey, LADDERS, k_required=4, suppression_limit=0.05)
    assert [explorer.values[name] for name in ("level0", "level1")] == [found.levels[name] for name in ("age", "sex")]
    assert shown(explorer)[0] == len(found.suppressed)
    assert "Least discernibility" in explorer.answer.value
    assert len(drawings) == 1
    explorer.controls["k_required"].value = 5
    assert explorer.answer.value == ""


def test_where_no_levels_are_enough_the_button_says_so(survey):
    explorer = explore_levels(survey.head(10), {"sex": LADDERS["sex"]}, k=11)
    explorer.button.click()
    assert "role=" in explorer.answer.value
    assert "Least" not in explorer.answer.value
    assert explorer.values["level0"] == 0


def test_the_table_has_a_row_for_each_step_up(explorer, survey):
    explorer.controls["level1"].value = 1
    rows = re.findall(r'scope="row"[^>]*>([^<]+)</th><td[^>]*>([\d,]+)<', explorer.table.value)
    assert rows == [
        ("as chosen", str(by_hand(survey, {"age": 0, "sex": 1}, 4))),
        ("age: 10 &lt;y&gt;", str(by_hand(survey, {"age": 1, "sex": 1}, 4))),
    ]


def test_one_drawing_replaces_the_other(explorer):
    first = explorer.chart.outputs
    explorer.controls["level0"].value = 2
    (output,) = explorer.chart.outputs
    assert explorer.chart.outputs != first
    values = {param["name"]: param.get("value") for param in output["data"][VEGALITE]["params"]}
    assert (values["k_required"], values["limit"], values["level0"], values["level1"]) == (4, 5, 2, 0)
    assert output["data"][VEGALITE]["$schema"].endswith("v5.json")
    json.dumps(explorer.chart.outputs)  # what goes to the browser


def test_only_variables_with_a_choice_have_a_control(explorer):
    controls = (*explorer.controls.values(), explorer.button)
    assert [control.description for control in controls][2:-1] == ["age", "sex"]
    assert all(control.description for control in controls)
    assert "application/vnd.jupyter.widget-view+json" in explorer._repr_mimebundle_()


def test_the_data_stay_as_they_were(survey):
    before = survey.copy()
    explore_levels(survey, LADDERS).button.click()
    pd.testing.assert_frame_equal(survey, before)


@pytest.mark.parametrize(
    ("start", "message"),
    [
        ({"k": 0}, "k must be a whole number, at least 1, not 0"),
        ({"k": "5"}, "k must be a whole number, at least 1, not '5'"),
        ({"k": 5, "k_max": 4}, "k must be from 1 to 4, not 5"),
        ({"k_max": 1}, "k_max must be a whole number, at least 2, not 1"),
        ({"levels": {"age": 9}}, "no level 9 of age"),
        ({"suppression_limit": 2}, "must be a share from 0 to 1"),
        ({"loss": "beauty"}, "loss must be one of"),
    ],
)
def test_a_start_that_does_not_exist_is_refused(survey, start, message):
    with pytest.raises(OptionError, match=message):
        explore_levels(survey, LADDERS, **start)
