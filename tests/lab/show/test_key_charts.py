"""The explorer of what an intruder knows: its words are evaluated by Vega and compared with loops over the records."""

import html
import json
from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from kanon_lab import show
from kanon_lab.classes import key_grid
from kanon_lab.digits import percent
from kanon_lab.errors import OptionError
from kanon_lab.roles import KeySpec
from kanon_lab.show.keys import _up_to

KEYS = ("place", "sex", "age <&>")


@pytest.fixture(scope="module")
def survey():
    rng = np.random.default_rng(2)
    return pd.DataFrame({name: rng.integers(0, top, 120) for name, top in zip(KEYS, (9, 2, 30))})


@pytest.fixture(scope="module")
def grid(survey):
    return key_grid(survey, KeySpec(KEYS), k_max=10)


def records_by_hand(survey, known, k):
    values = list(map(tuple, survey[list(known)].to_numpy().tolist()))
    return sum(values.count(value) <= k for value in values)


def drawn(chart) -> str:
    svg = pytest.importorskip("vl_convert").vegalite_to_svg(json.dumps(chart.to_dict()), vl_version="5.20")
    return html.unescape(svg)


@pytest.mark.parametrize("known", [set_ for size in (1, 2, 3) for set_ in combinations(KEYS, size)])
@pytest.mark.parametrize("k", [1, 7])
def test_the_words_are_the_counts(survey, grid, known, k):
    text = drawn(show.key_explorer(grid, k=k, known=known))
    records, all_records = (records_by_hand(survey, names, k) for names in (known, KEYS))
    assert (f"{records} of 120 records ({percent(records / 120)})" if records else "none of 120 records") in text
    verb = "are" if records > 1 else "is"
    assert (f">{verb} alone (k = 1)<" if k == 1 else f">{verb} in a class of 7 or fewer<") in text
    assert (f"with all key variables: {percent(all_records / 120)}" in text) == (known != KEYS)


@pytest.mark.parametrize(
    ("sizes", "words"), [([2, 2], "none of 4 records"), ([1, 3], "1 of 4 records"), ([1, 1], "2 of 2 records")]
)
def test_none_and_one_are_singular(sizes, words):
    frame = pd.DataFrame({"place": np.repeat(range(len(sizes)), sizes)})
    text = drawn(show.key_explorer(key_grid(frame, KeySpec("place"), k_max=2)))
    assert words in text
    assert ("is alone" in text) == (sizes != [1, 1])


def test_who_knows_nothing_is_told_so_in_words(grid):
    chart = show.key_explorer(grid, known=[])
    text = drawn(chart)
    assert "Nothing is known:" in text
    assert "all 120 records look alike" in text
    assert chart.to_dict()["description"].endswith("At k = 1, known nothing: 0%.")


def test_knowing_nothing_of_a_small_file_leaves_one_small_group(survey):
    small = key_grid(survey.head(3), KeySpec(KEYS), k_max=5)
    assert _up_to(small, ()).tolist() == [0, 0, 3, 3, 3]


def test_controls_are_a_box_for_each_key_and_a_slider(grid):
    params = {param["name"]: param for param in show.key_explorer(grid, known=["sex"]).to_dict()["params"]}
    assert [params[f"knows{i}"]["value"] for i in range(3)] == [False, True, False]
    assert "place" in params["knows0"]["bind"]["name"]
    assert (params["k_class"]["bind"]["min"], params["k_class"]["bind"]["max"]) == (1, 10)


def test_one_key_is_enough(survey):
    one = key_grid(survey, KeySpec("place"), k_max=12)
    assert f"{records_by_hand(survey, ['place'], 12)} of 120 records" in drawn(show.key_explorer(one, k=12))


def test_it_tells_a_page_its_result(grid):
    spec = show.key_explorer(grid).to_dict()
    told = spec["usermeta"]["live"]
    assert told["signal"] in {param["name"] for param in spec["params"]}
    assert spec["description"].startswith(told["description"])


def test_it_carries_one_row_a_set(grid):
    rows = show.key_explorer(grid).to_dict()["data"]["values"]
    assert sorted(row["set"] for row in rows) == list(range(8))
    assert rows[-1]["set"] == 7


@pytest.mark.parametrize(
    ("options", "message"),
    [({"k": 11}, "k must be from 1 to 10, not 11"), ({"known": ["shoe"]}, "shoe is not a key variable")],
)
def test_a_start_that_does_not_exist_is_refused(grid, options, message):
    with pytest.raises(OptionError, match=message):
        show.key_explorer(grid, **options)


def test_a_frame_that_is_no_grid_is_refused(survey):
    with pytest.raises(OptionError, match="needs the column 'keys'"):
        show.key_explorer(survey)
