"""Records by the size of their class and by what is compatible with them, against counting by hand."""

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon_lab.classes import by_meaning, class_table, size_ranges
from kanon_lab.errors import OptionError
from kanon_lab.population import KRange
from kanon_lab.roles import KeySpec

RECORDS = st.lists(st.tuples(st.sampled_from(["a", "b", None]), st.sampled_from(["x", None])), min_size=1, max_size=40)


def compatible(one, other) -> bool:
    return all(a is None or b is None or a == b for a, b in zip(one, other, strict=True))


@given(RECORDS, st.sampled_from(["wildcard", "category"]))
def test_every_record_is_counted_once_in_each_column(records, missing):
    frame = pd.DataFrame(records, columns=["p", "q"], dtype=object)
    found = size_ranges(class_table(frame, KeySpec(("p", "q"), missing=missing)))
    own = [records.count(each) for each in records]
    alike = own if missing == "category" else [sum(compatible(each, other) for other in records) for each in records]
    for row in found.itertuples():
        last = row.size_to if pd.notna(row.size_to) else len(records)
        assert row.records == sum(row.size_from <= size <= last for size in own)
        assert row.classes == len({each for each in records if row.size_from <= records.count(each) <= last})
        assert row.classes * row.size_from <= row.records <= row.classes * last
        assert row.compatible == sum(row.size_from <= size <= last for size in alike)
        assert (row.share, row.compatible_share) == (row.records / len(records), row.compatible / len(records))
    assert found["records"].sum() == found["compatible"].sum() == len(records)


@given(RECORDS)
def test_a_chart_gets_each_meaning_as_a_version_where_they_differ(records):
    frame = pd.DataFrame(records, columns=["p", "q"], dtype=object)
    sizes = size_ranges(class_table(frame, KeySpec(("p", "q"), missing="wildcard")))
    found = by_meaning(sizes.assign(version="after"), own="own", compatible="any")
    parts = {name: part["records"].tolist() for name, part in found.groupby("version", sort=False)}
    same = sizes["records"].equals(sizes["compatible"])
    own = sizes["records"].tolist()
    assert parts == ({"after": own} if same else {"after: own": own, "after: any": sizes["compatible"].tolist()})


def test_labels_and_open_ends():
    found = size_ranges(class_table(pd.DataFrame({"key": list("aab")}), "key"), ranges="1,2-3,4+")
    assert found["label"].tolist() == ["1", "2-3", "4+"]
    assert found["size_from"].tolist() == [1, 2, 4]
    assert found["size_to"].isna().tolist() == [False, False, True]
    assert found["records"].tolist() == [1, 2, 0]


def test_a_class_of_its_own_may_have_more_compatible_records():
    frame = pd.DataFrame({"key": ["a", "a", None]})
    table = class_table(frame, KeySpec("key", missing="wildcard"))
    found = size_ranges(table, ranges=[KRange(1, 1), KRange(2, 2), KRange(3, None)])
    assert found[["classes", "records", "compatible"]].to_numpy().tolist() == [[1, 1, 0], [1, 2, 0], [0, 0, 3]]


def test_ranges_that_are_none_are_refused():
    with pytest.raises(OptionError, match="'0-x' is not a range"):
        size_ranges(class_table(pd.DataFrame({"key": ["a"]}), "key"), ranges="0-x")
