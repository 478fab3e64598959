"""Recipes with placeholders: every combination, and what is refused before any of them is applied."""

import numpy as np
import pytest

from kanon_lab.errors import AbsentFileError, OptionError
from kanon_lab.recipes import grid_candidates
from kanon_lab.recipes.grid import MOST

SUPPRESS = {"suppress": {"k_required": "$k"}}
RECIPE = {"key_variables": ["sex", "age"], "steps": ["$ages", SUPPRESS]}
TEN = {"recode": {"variable": "age", "bands": [0, 10, None], "closed": "left"}}


def settings_of(recipe, grid):
    return {each.label: each.settings for each in grid_candidates(recipe, grid)}


def test_every_combination_is_a_recipe_with_typed_values():
    found = grid_candidates(RECIPE, {"k": [2, 3], "ages": {"as they are": None, "tens": TEN}})
    assert [each.label for each in found] == [
        "k=2, ages=as they are",
        "k=2, ages=tens",
        "k=3, ages=as they are",
        "k=3, ages=tens",
    ]
    assert found[0].settings["steps"] == [{"suppress": {"k_required": 2}}]
    assert found[3].settings["steps"] == [TEN, {"suppress": {"k_required": 3}}]
    assert found[3].parameters == {"k": 3, "ages": "tens"}
    assert RECIPE["steps"] == ["$ages", SUPPRESS]


@pytest.mark.parametrize("values", [(2, 3), range(2, 4), np.array([2, 3])], ids=["tuple", "range", "array"])
def test_values_may_come_as_any_list(values):
    found = grid_candidates({"key_variables": ["sex"], "steps": [SUPPRESS]}, {"k": values})
    assert [each.settings["steps"][0]["suppress"]["k_required"] for each in found] == [2, 3]
    assert all(type(each.parameters["k"]) is int for each in found)


def test_a_placeholder_takes_a_step_several_or_none():
    grid = {"k": [2], "ages": [None, TEN, {"both": [TEN, {"suppress": {"k_required": 5}}]}]}
    steps = [len(each["steps"]) for each in settings_of(RECIPE, grid).values()]
    assert steps == [1, 2, 3]
    assert list(settings_of(RECIPE, grid))[2] == "k=2, ages=both"


def test_values_may_hold_other_placeholders_and_a_null_in_a_list_stays():
    recipe = {"key_variables": ["age"], "steps": ["$first"]}
    bands = {"recode": {"variable": "age", "bands": [0, "$edge", None], "closed": "left"}}
    found = settings_of(recipe, {"first": [{"bands": bands}], "edge": [10, 20]})
    assert found["first=bands, edge=20"]["steps"] == [
        {"recode": {"variable": "age", "bands": [0, 20, None], "closed": "left"}}
    ]


def test_a_doubled_sign_is_the_text_and_a_part_of_a_text_is_no_placeholder():
    recipe = {"key_variables": ["$$k", "in $k", "$5"], "seed": "$k"}
    assert settings_of(recipe, {"k": [1]})["k=1"]["key_variables"] == ["$k", "in $k", "$5"]


def test_several_recipes_by_their_labels():
    one, other = {"key_variables": ["sex"]}, {"key_variables": ["sex"], "steps": [{"suppress": {"k_required": 3}}]}
    assert settings_of({"as it is": one, "three": other}, None) == {"as it is": one, "three": other}
    assert [each.label for each in grid_candidates(one)] == ["the recipe"]


def test_a_doubled_sign_is_the_text_without_a_grid_too():
    recipe = {"key_variables": ["sex"], "weight": "$$w"}
    assert [grid_candidates(each)[0].settings["weight"] for each in (recipe, {"one": recipe})] == ["$w", "$w"]


def test_the_grid_may_stand_in_the_recipe():
    found = grid_candidates({**RECIPE, "grid": {"k": [2], "ages": [None]}})
    assert [each.label for each in found] == ["k=2, ages=none"]
    assert "grid" not in found[0].settings


@pytest.mark.parametrize(
    ("grid", "words"),
    [
        ({"k": [2]}, r"\$ages has no values in the grid"),
        ({"k": [2], "age": [None]}, r"did you mean \$age\?"),
        ({"k": [2], "ages": [None], "more": [1]}, "more does not occur in the recipe"),
        ({"k": [], "ages": [None]}, "k must be a list of values"),
        ({"k": 3, "ages": [None]}, "k must be a list of values"),
        ({"k": "23", "ages": [None]}, "k must be a list of values"),
        ({"k": [2, 2], "ages": [None]}, "k has two values 2"),
        ({"k": range(2, 2 + MOST), "ages": [None, TEN]}, "makes 10,000 recipes"),
        ({"label": [1]}, "label is a column of the map"),
        ({"above_5": [1]}, "above_5 is a column of the map"),
        ({"a b": [1]}, "can be no placeholder"),
        ([2], "grid must be names"),
        ({"k": [2], "ages": [{"remove_variable": {"variables": "sex"}}]}, "recipe k=2, ages=remove_variable: step 1"),
        ({"k": [2], "ages": [TEN, "$k"]}, r"recipe k=2, ages=\$k: step 1: must be one name"),
        ({"k": [2], "ages": ["$ages"]}, r"\$ages has no values"),
    ],
)
def test_what_cannot_be_a_grid_is_refused_in_one_line(grid, words):
    with pytest.raises(OptionError, match=words) as error:
        grid_candidates(RECIPE, grid)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("recipe", [{}, None, [RECIPE], {1: RECIPE, "1": RECIPE}])
def test_what_is_no_recipe_is_refused(recipe):
    with pytest.raises(OptionError):
        grid_candidates(recipe)


def test_two_grids_are_refused():
    with pytest.raises(OptionError, match="a grid of its own"):
        grid_candidates({**RECIPE, "grid": {"k": [2]}}, {"k": [2], "ages": [None]})


def test_files_of_hierarchies_in_values_are_looked_for_beside_the_recipe(tmp_path):
    (tmp_path / "ages.csv").write_text("1;*\n")
    recipe = {"key_variables": ["age"], "steps": [{"recode": {"variable": "age", "hierarchy": "$h", "level": 1}}]}
    (found,) = grid_candidates(recipe, {"h": {"mine": {"file": "ages.csv"}}}, path=tmp_path / "r.yml")
    assert found.settings["steps"][0]["recode"]["hierarchy"]["file"] == str(tmp_path / "ages.csv")
    with pytest.raises(AbsentFileError, match="recipe h=mine: .*is not there"):
        grid_candidates(recipe, {"h": {"mine": {"file": "other.csv"}}}, path=tmp_path / "r.yml")
