"""The explorer of levels: its words are evaluated by Vega and compared with loops over the records."""

import html
import json
import re

import numpy as np
import pandas as pd
import pytest

from kanon_lab import show
from kanon_lab.digits import percent
from kanon_lab.errors import OptionError
from kanon_lab.methods import Hierarchy, lattice_search, level_grid

LADDERS = {
    "age": Hierarchy.from_intervals(
        [[0, 10, 20, 30, 40], [0, 20, 40]], closed="left", top="*", level_names=["years", "10 years", "20 years", "any"]
    ),
    "sex": Hierarchy.from_mapping({"woman": "*", "man": "*"}, level_names=['as it "is"', "any"]),
}
NAMES = {name: ladder.level_names for name, ladder in LADDERS.items()}


@pytest.fixture(scope="module")
def survey():
    rng = np.random.default_rng(5)
    return pd.DataFrame({"age": rng.integers(0, 40, 300), "sex": rng.choice(["woman", "man"], 300)})


@pytest.fixture(scope="module")
def grid(survey):
    return level_grid(survey, LADDERS, k_max=12)


def removed_by_hand(survey, levels, k):
    keys = list(zip(*(LADDERS[name].recode(survey[name], level) for name, level in levels.items())))
    return sum(keys.count(key) < k for key in keys), len(set(keys)), min(map(keys.count, keys))


def drawn(chart) -> str:
    svg = pytest.importorskip("vl_convert").vegalite_to_svg(json.dumps(chart.to_dict()), vl_version="5.20")
    return html.unescape(svg)


@pytest.mark.parametrize(
    ("age", "sex", "k", "limit"), [(0, 0, 5, 0.0), (1, 0, 13, 0.0), (0, 1, 8, 0.5), (2, 1, 1, 0.1), (3, 0, 2, 0.0)]
)
def test_the_words_are_the_counts(survey, grid, age, sex, k, limit):
    levels = {"age": age, "sex": sex}
    text = drawn(show.level_explorer(grid, NAMES, levels=levels, k=k, suppression_limit=limit))
    removed, classes, achieved = removed_by_hand(survey, levels, k)
    count = f"{removed} of 300 records ({percent(removed / 300)})" if removed else "none of 300 records"
    verdict = "within" if removed <= 300 * limit and removed < 300 else "over"
    assert f"k = {k}: {count}" in text
    assert f"must be removed: {verdict} the {100 * limit:g}% limit" in text
    assert f"{classes} class{'es' * (classes > 1)}, {300 / classes:.1f} records on average" in text
    assert f"smallest class: {achieved} record{'s' * (achieved > 1)}<" in text
    for name, level in levels.items():
        assert f"{name}: {NAMES[name][level]}" in text


def test_the_limit_is_that_of_the_lattice_search(survey, grid):
    for limit in (0.0, 0.05, 0.29, 1.0):
        found = lattice_search(survey, LADDERS, k_required=9, suppression_limit=limit).nodes
        description = show.nodes(grid, k_required=9, suppression_limit=limit).to_dict()["description"]
        assert f" {found['satisfied'].sum()} of them stay within that limit." in description


def test_each_node_stands_where_the_grid_has_it(grid):
    spec = show.level_explorer(grid, NAMES).to_dict()
    rows = spec["data"]["values"]
    assert [row["levels"] for row in rows] == grid[["age", "sex"]].to_numpy().tolist()
    np.testing.assert_allclose([row["x"] for row in rows], grid["age"] / 6 + grid["sex"] / 2, atol=5e-5)
    assert [row["up_to"] for row in rows] == grid[list(range(1, 13))].to_numpy().tolist()


def test_controls_show_level_names_and_reach_every_state(grid):
    params = {param["name"]: param for param in show.level_explorer(grid, NAMES).to_dict()["params"]}
    assert params["level0"]["bind"]["labels"] == list(NAMES["age"])
    assert params["level1"]["bind"]["options"] == [0, 1]
    assert (params["k_required"]["bind"]["min"], params["k_required"]["bind"]["max"]) == (1, 13)


def test_it_tells_a_page_its_result(grid):
    spec = show.level_explorer(grid, NAMES, levels={"age": 1}).to_dict()
    told = spec["usermeta"]["live"]
    assert told["signal"] in {param["name"] for param in spec["params"]}
    assert spec["description"].startswith(told["description"])
    assert re.search(r" [\d.]+% of the records must be removed with age: 10 years, sex: as it ", spec["description"])


def test_two_figures_of_one_grid_have_different_names(grid):
    one, other = (
        chart.to_dict()["description"]
        for chart in (show.level_explorer(grid, NAMES), show.nodes(grid, NAMES, k_required=5))
    )
    assert one.split(",")[0] != other.split(",")[0]


def test_shares_end_at_the_whole_file(grid):
    for chosen in (None, {"age": 1}):
        layers = show.nodes(grid, NAMES, k_required=5, chosen=chosen).to_dict()["layer"]
        assert {tuple(y["scale"]["domain"]) for layer in layers if "scale" in (y := layer["encoding"]["y"])} == {(0, 1)}


def test_nodes_without_names_and_without_a_chosen_one(grid):
    spec = show.nodes(grid, k_required=5).to_dict()
    assert "diamond" not in json.dumps(spec)
    assert "level 3" in json.dumps(spec)


def test_five_hundred_nodes_stay_small(grid):
    levels = pd.MultiIndex.from_product([range(8), range(8), range(8)], names=list("abc")).to_frame(index=False)
    counts = dict.fromkeys(range(1, 21), 9999)
    big = levels.assign(n=10_000, n_classes=7, k_achieved=1, discernibility=1, weighted_level=0.5, **{"x": 0})
    big = pd.concat([big.drop(columns="x"), pd.DataFrame(counts, index=big.index)], axis=1)
    names = {name: [f"level number {i}" for i in range(8)] for name in "abc"}
    assert len(json.dumps(show.level_explorer(big, names).to_dict())) < 150_000


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"k": 0}, "k must be from 1 to 13, not 0"),
        ({"k": 14}, "k must be from 1 to 13, not 14"),
        ({"suppression_limit": 5}, "must be a share from 0 to 1, not 5"),
        ({"levels": {"age": 4}}, "no level 4 of age"),
        ({"levels": {"height": 0}}, "no level 0 of height"),
    ],
)
def test_a_start_that_does_not_exist_is_refused(grid, options, message):
    with pytest.raises(OptionError, match=message):
        show.level_explorer(grid, NAMES, **options)


def test_a_frame_that_is_no_grid_is_refused(grid, survey):
    with pytest.raises(OptionError, match="needs the column 'n'"):
        show.nodes(survey, k_required=2)
    with pytest.raises(OptionError, match="age has 4 levels in the grid, and 2 names"):
        show.nodes(grid, {"age": ["a", "b"]}, k_required=2)
    with pytest.raises(OptionError, match="nothing to choose"):
        show.nodes(grid[(grid["age"] == 0) & (grid["sex"] == 0)], k_required=2)
