"""The grid of the explorer: each combination recoded by hand, counted, and put through the study."""

from itertools import product

import numpy as np
import pandas as pd
import pytest

from kanon_lab.errors import OptionError
from kanon_lab.sample import detail_grid, expected_study

LEVELS = {
    "place": {"one": {"groups": {"all": [1, 2, 3]}}, "three": None},
    "age": {"years": None, "tens": {"bands": [0, 10, 20, None]}},
}
RECODED = {("place", "one"): lambda v: 0, ("age", "tens"): lambda v: min(v // 10, 2)}


@pytest.fixture(scope="module")
def cells():
    rng = np.random.default_rng(11)
    frame = pd.DataFrame(
        {"place": rng.integers(1, 4, 300), "age": rng.integers(0, 40, 300), "sex": rng.choice([1, 6], 300)}
    )
    return frame.assign(persons=rng.integers(1, 4, 300))


def test_each_combination_is_the_study_of_its_own_classes(cells):
    fractions = [0.1, 0.5]
    before = cells.copy()
    grid = detail_grid(cells, ["place", "age", "sex"], LEVELS, fractions, persons="persons", p_a=0.2)
    pd.testing.assert_frame_equal(cells, before)
    assert len(grid) == 8
    assert list(dict.fromkeys(zip(grid["place"], grid["age"], strict=True))) == list(product(*LEVELS.values()))
    for place, age in product(*LEVELS.values()):
        persons = {}
        for row in cells.itertuples():
            key = (
                RECODED.get(("place", place), lambda v: v)(row.place),
                RECODED.get(("age", age), lambda v: v)(row.age),
                row.sex,
            )
            persons[key] = persons.get(key, 0) + row.persons
        expected = expected_study(np.array(list(persons.values())), fractions, p_a=0.2)
        found = grid[(grid["place"] == place) & (grid["age"] == age)].drop(columns=["place", "age"])
        pd.testing.assert_frame_equal(found.reset_index(drop=True), expected)


@pytest.mark.parametrize(
    ("levels", "message"),
    [
        ({}, "levels: give a mapping of key variable"),
        ({"job": {"all": None}}, "job is not a key variable"),
        ({"age": {}}, "levels of age: give a mapping of label"),
        ({"age": {"5": {"variable": "place", "width": 5}}}, "age: a level must be settings of recode without variable"),
    ],
)
def test_levels_that_are_none_are_refused(cells, levels, message):
    with pytest.raises(OptionError, match=message):
        detail_grid(cells, ["place", "age"], levels, [0.1])


@pytest.mark.parametrize("name", ["fraction", "n1", "true_p_c"])
def test_a_variable_with_the_name_of_a_result_is_refused(cells, name):
    with pytest.raises(OptionError, match=f"levels: {name} is the name of a result too"):
        detail_grid(cells.rename(columns={"age": name}), ["place", name], {name: {"as it is": None}}, [0.1])


def test_one_fraction_stands_by_itself_and_none_is_refused(cells):
    grid = detail_grid(cells, ["place", "age"], {"age": {1: None, 0: "remove"}}, 0.1)
    assert grid["age"].tolist() == [1, 0]
    pd.testing.assert_frame_equal(
        grid[grid["age"] == 0].drop(columns="age").reset_index(drop=True),
        expected_study(cells["place"].value_counts().to_numpy(), [0.1]),
    )
    with pytest.raises(OptionError, match="a sampling fraction must be a number from 1e-9 to below 1, not None"):
        detail_grid(cells, ["place", "age"], {"age": {"as it is": None}}, None)
