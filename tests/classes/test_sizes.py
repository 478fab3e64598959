"""Records by the size of their class, against counting by hand."""

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kanon_lab.classes import class_table
from kanon_lab.classes.sizes import size_ranges
from kanon_lab.errors import OptionError
from kanon_lab.keys import KeySpec
from kanon_lab.population import KRange

KEYS = st.lists(st.sampled_from("aaabbc"), min_size=1, max_size=40)


@given(KEYS)
@settings(deadline=None, max_examples=60)
def test_every_record_and_class_is_counted_once(keys):
    found = size_ranges(class_table(pd.DataFrame({"key": keys}), "key"))
    sizes = [keys.count(key) for key in keys]
    for row in found.itertuples():
        last = row.size_to if pd.notna(row.size_to) else len(keys)
        assert row.records == sum(row.size_from <= size <= last for size in sizes)
        assert row.classes == len({key for key in keys if row.size_from <= keys.count(key) <= last})
        assert row.share == row.records / len(keys)
    assert found["records"].sum() == len(keys)


def test_labels_and_open_ends():
    found = size_ranges(class_table(pd.DataFrame({"key": list("aab")}), "key"), ranges="1,2-3,4+")
    assert found["label"].tolist() == ["1", "2-3", "4+"]
    assert found["size_from"].tolist() == [1, 2, 4]
    assert found["size_to"].isna().tolist() == [False, False, True]
    assert found["records"].tolist() == [1, 2, 0]


def test_patterns_have_the_size_of_what_is_compatible():
    frame = pd.DataFrame({"key": ["a", "a", None]})
    table = class_table(frame, KeySpec("key", missing="wildcard"))
    assert size_ranges(table, ranges=[KRange(3, None)])["records"].tolist() == [3]


def test_ranges_that_are_none_are_refused():
    with pytest.raises(OptionError, match="'0-x' is not a range"):
        size_ranges(class_table(pd.DataFrame({"key": ["a"]}), "key"), ranges="0-x")
