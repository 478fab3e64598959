"""What JupyterLab draws is the specification of a page, with other controls; its sentence is the alternative text's."""

import json
import re
from html import unescape

import pandas as pd
import pytest
from cases import others_slow

from kanon_book.figures.detail_explorer import detail_explorer, explore_detail
from kanon_book.figures.maps import area_map, explore_areas
from kanon_book.figures.town import explore_town, town_explorer
from kanon_book.studies import shares_by_area
from kanon_lab import show
from kanon_lab.classes import key_grid
from kanon_lab.methods import Hierarchy, level_grid
from kanon_lab.population.places import explorer_grid
from kanon_lab.roles import KeySpec
from kanon_lab.sample import detail_grid

pytest.importorskip("ipywidgets")

SURVEY = pd.DataFrame({"place": [1, 1, 2, 2, 3, 3, 3], "age": [11, 14, 11, 25, 26, 38, 39]})
LADDERS = {"age": Hierarchy.from_intervals([[0, 10, 20, 30, 40], [0, 20, 40]], closed="left", top="*")}
COUNTS = pd.DataFrame({"place": ["42001"] * 3, "name": "Place", "province": "42", "persons": [3, 50, 900]})
LEVELS = {"age": {"years": None, "tens": {"bands": [0, 10, 20, 30, 40]}}}


def of_counts():
    grid = explorer_grid(COUNTS, whole="Everywhere")
    return show.explore(COUNTS, whole="Everywhere"), {"k": 7, "dates": "year"}, show.explorer(grid, k=7, dates="year")


def of_keys():
    grid = key_grid(SURVEY, KeySpec(["place", "age"]), k_max=20)
    moves = {"k_class": 3, "knows0": False}
    return show.explore_keys(SURVEY, ["place", "age"]), moves, show.key_explorer(grid, k=3, known=["age"])


def of_levels():
    grid, names = level_grid(SURVEY, LADDERS, k_max=19), {"age": LADDERS["age"].level_names}
    there = show.level_explorer(grid, names, k=3, levels={"age": 2}, suppression_limit=0.125)
    return show.explore_levels(SURVEY, LADDERS), {"k_required": 3, "limit": 12.5, "level0": 2}, there


def of_detail():
    grid = detail_grid(SURVEY, ["age"], LEVELS, [0.1, 0.5, 0.8])
    return explore_detail(grid), {"level0": 1, "step": 2}, detail_explorer(grid, fraction=0.8, age="tens")


def of_town():
    frame = pd.DataFrame({"population": [20_000, 30_000], "day": [0.7, 0.6], "year": [0.2, 0.1]})
    return explore_town(frame), {"town": 1, "dates": "year"}, town_explorer(frame, population=30_000, dates="year")


def of_areas():
    shares = shares_by_area(COUNTS.assign(sex="men", age_group="0-4"), ks=[1, 5])
    moves = {"k": 5, "dates": "month", "known": "country"}
    return explore_areas(shares, "spain"), moves, area_map(shares, "spain", **moves)


CASES = {
    "explore_areas": of_areas,
    "explore": of_counts,
    "explore_keys": of_keys,
    "explore_levels": of_levels,
    "explore_detail": of_detail,
    "explore_town": of_town,
}


def test_every_explorer_has_its_case():
    # The explorer of recipes draws a chart of its own: test_explore_recipes.py.
    assert {name for name in show.__all__ if name.startswith("explore")} <= {*CASES, "explorer", "explore_recipes"}


@pytest.mark.parametrize("case", CASES.values())
def test_it_is_that_of_the_page_at_the_same_place(case):
    explorer, moves, chart = case()
    for name, value in moves.items():
        explorer.controls[name].value = value
    spec, page = explorer.chart.outputs[0]["data"]["application/vnd.vegalite.v5+json"], chart.to_dict()
    assert [each for each in spec["params"] if "bind" in each] == []
    values = {each["name"]: each.get("value") for each in page["params"]}
    assert {each["name"]: each.get("value") for each in spec["params"]} == values
    assert spec["title"] == page["title"]
    assert spec["description"].split()[-8:] == page["description"].split()[-8:]
    sentence = unescape(re.sub(r"<[^>]+>", "", explorer.sentence.value))
    assert f"{page['usermeta']['live']['description'][-20:]} {sentence}" in spec["description"]
    assert [{**layer, "data": None} for layer in spec["layer"]] == [{**layer, "data": None} for layer in page["layer"]]
    shown = [row for row in page["data"]["values"] if row.get("place", "all") == values.get("place", "all")]
    assert case in (of_areas, of_detail) or spec["data"]["values"] == shown


@pytest.mark.parametrize("place", others_slow([3, 0, *range(6, 20, 3)]))
def test_both_say_the_same_share_at_each_place_of_the_slider(place):
    vl_convert = pytest.importorskip("vl_convert")
    explorer, page = show.explore(COUNTS), show.explorer(explorer_grid(COUNTS)).to_dict()
    control, slider = explorer.controls["k"], next(each for each in page["params"] if each["name"] == "step")
    assert slider["bind"]["max"] == len(control.options) - 1 == 19
    slider["value"] = control.index = place
    svg = vl_convert.vegalite_to_svg(json.dumps(page), vl_version="5.8")
    drawn = float(re.search(r"([\d.]+)% (?:are alone|in a group of \d+ or fewer)", svg)[1])
    said = float(re.search(r"At k = \d+, by month, in Spain: ([\d.]+)%", explorer.sentence.value)[1])
    assert drawn == pytest.approx(said, rel=0.006, abs=0.001)
    if place:
        assert f"in a group of {page['usermeta']['labels']['step'][place]} or fewer" in svg
    else:
        assert "are alone (k = 1)" in svg
    assert f"At k = {control.value}, " in explorer.sentence.value
