"""The JupyterLab explorer of detail without a browser: move the controls, read what it shows."""

import numpy as np
import pandas as pd
import pytest

from kanon_book.figures.detail_explorer import explore_detail
from kanon_lab.digits import percent
from kanon_lab.errors import KanonLabError
from kanon_lab.sample import detail_grid

pytest.importorskip("ipywidgets")

VEGALITE = "application/vnd.vegalite.v5+json"
LEVELS = {
    "place": {"all <p>": {"groups": {"all": [1, 2, 3]}}, "three": None},
    "age": {"years": None, "tens": {"bands": [0, 10, 20, None]}},
}
FRACTIONS = [0.02, 0.1]


@pytest.fixture(scope="module")
def cells():
    rng = np.random.default_rng(7)
    frame = pd.DataFrame({"place": rng.integers(1, 4, 200), "age": rng.integers(0, 40, 200)})
    return frame.assign(persons=np.rint(rng.lognormal(1, 1.5, 200)).astype(int) + 1)


@pytest.fixture(scope="module")
def grid(cells):
    return detail_grid(cells, ["place", "age"], LEVELS, FRACTIONS, persons="persons")


def test_everything_follows_the_controls(grid):
    explorer = explore_detail(grid)
    drawings = []
    explorer.chart.observe(drawings.append, "outputs")
    for place, age, fraction in (("three", "years", 0.02), ("three", "tens", 0.1), ("all <p>", "years", 0.02)):
        for control, words in zip(("level0", "level1", "step"), (place, age, percent(fraction))):
            chosen = dict(explorer.controls[control].options)[words]
            explorer.controls[control].value = chosen
        row = grid.set_index(["place", "age", "fraction"]).loc[place, age, fraction]
        said = [percent(row[name]) for name in ("p_identification", "true_p_identification")]
        detail = f"{place.replace('<p>', '&lt;p&gt;')}, {age}, sample of {percent(fraction)}: "
        assert f"{detail}identified {said[0]}, with true shares {said[1]}." in explorer.sentence.value
        for column in ("p_b", "p_c", "true_p_c", "tangent_p_c", "p_d", "true_p_d", "tangent_p_d"):
            assert f">{percent(row[column])}</td>" in explorer.table.value
        tangent = fraction * row["tangent_p_c"] * row["tangent_p_d"]
        assert f">{percent(tangent)}</td>" in explorer.table.value
        spec = explorer.chart.outputs[0]["data"][VEGALITE]
        assert spec["description"].endswith(f"identified {said[0]}, with true shares {said[1]}.")
    assert len(drawings) == 7  # no control draws twice, and none that stays


def test_it_begins_where_it_is_asked_to(cells, grid):
    made = explore_detail(cells, ["place", "age"], LEVELS, FRACTIONS, persons="persons", fraction=0.02, age="tens")
    assert [control.label for control in made.controls.values()] == ["all <p>", "tens", "2%"]
    assert made.sentence.value == explore_detail(grid, fraction=0.02, age="tens").sentence.value
    assert [label for label, _ in made.controls["step"].options] == ["2%", "10%"]
    assert "application/vnd.jupyter.widget-view+json" in made._repr_mimebundle_()


def test_variables_may_have_the_names_of_arguments(cells):
    named = cells.rename(columns={"place": "spec", "age": "grid"})
    levels = {"spec": {1: None, 2: "remove"}, "grid": LEVELS["age"]}
    made = explore_detail(named, ["spec", "grid"], levels, FRACTIONS, persons="persons", grid="tens", spec=2)
    assert made.sentence.value.count("2, tens, sample of") == 1
    made.controls["level0"].value = 0
    assert made.sentence.value.count("1, tens, sample of") == 1


@pytest.mark.parametrize("options", [{"fraction": 0.5}, {"age": "days"}, {"job": "any"}])
def test_a_start_that_cannot_be_is_refused(grid, options):
    with pytest.raises(KanonLabError) as error:
        explore_detail(grid, **options)
    assert "\n" not in str(error.value)
