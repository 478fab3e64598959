"""Hierarchies from the settings of a notebook or a configuration file."""

import pandas as pd
import pytest

from kanon_lab.errors import OptionError
from kanon_lab.methods.recode_settings import hierarchies


def test_each_kind_is_made(tmp_path):
    path = tmp_path / "work.csv"
    path.write_text("value,sector,any\nbaker,crafts,*\nnurse,care,*\n")
    made = hierarchies(
        {
            "postcode": {"masks": [5, 2, 0]},
            "age": {"widths": [5, 10], "from": 0, "to": 100, "top": "*"},
            "income": {"bands": [[0, 1000, None]], "level_names": ["euros", "low or high"]},
            "sex": {"mapping": {"woman": "*", "man": "*"}},
            "birth": {"dates": ["year"]},
            "work": {"file": str(path)},
        }
    )
    values = {"postcode": "37003", "age": 37, "income": 4000, "sex": "man", "birth": "1983-02-28", "work": "nurse"}
    tops = {name: [made[name].recode(pd.Series([values[name]]), level)[0] for level in (1,)] for name in values}
    assert tops == {
        "postcode": ["37***"],
        "age": ["35-39"],
        "income": ["1000+"],
        "sex": ["*"],
        "birth": ["1983"],
        "work": ["care"],
    }
    assert made["age"].height == 3
    assert made["income"].level_names == ("euros", "low or high")


@pytest.mark.parametrize(
    "setting,message",
    [
        ({}, "hierarchy of age: give one of masks, bands"),
        ({"masks": [2, 1], "bands": [[0, 1]]}, "hierarchy of age: give one of"),
        ([5, 2], "hierarchy of age: must be settings, such as"),
        ({"bands": [[0, 1]], "close": "left"}, "hierarchy of age: unknown setting close; did you mean closed?"),
        ({"masks": [1_000_000_000, 2]}, "keep: 1000000000 is more than the 1,000 characters"),
        ({"masks": [2, 5]}, "hierarchy of age: keep: give falling numbers"),
        ({"widths": [7], "from": 0, "to": 100}, "hierarchy of age: bands of 7 do not fill 0 to 100"),
        ({"widths": [10], "to": 100}, "hierarchy of age: from is not given; widths need both ends"),
        ({"widths": [10], "from": 0}, "hierarchy of age: to is not given; widths need both ends"),
        ({"widths": [10], "from": [0], "to": 10}, "hierarchy of age: start must be a number"),
        ({"bands": 5}, r"hierarchy of age: bands must be a list, one entry per level, such as \[\[0, 15"),
        ({"masks": 2}, r"hierarchy of age: masks must be a list, one entry per level, such as \[5, 2, 0\]"),
        ({"mapping": 5}, "hierarchy of age: mapping or one of its settings is of the wrong kind"),
        ({"mapping": {1: "no"}, "nested": "no"}, "hierarchy of age: nested must be true or false, not text"),
        ({"file": "a.csv", "header": "yes"}, "hierarchy of age: header must be true or false"),
        ({"mapping": {1: True}}, "hierarchy of age: value 1 of the hierarchy: a label is neither text"),
        ({"mapping": {1: 1.1}}, "hierarchy of age: value 1 of the hierarchy: a label is neither text"),
        ({"bands": [[0, 1]], "top": ["*"]}, "hierarchy of age: top must be text"),
        ({"bands": [[0, 1]], "level_names": "ab"}, "hierarchy of age: level_names must be a list"),
        ({"widths": [1], "from": 0, "to": 10**7}, "are more than 10,000; make them wider"),
    ],
)
def test_other_settings_are_refused(setting, message):
    with pytest.raises(OptionError, match=message):
        hierarchies({"age": setting})


def test_settings_must_be_a_mapping():
    with pytest.raises(OptionError, match="give a mapping of variable to settings"):
        hierarchies([1])
