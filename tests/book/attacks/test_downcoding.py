"""Files that give the same release, against a loop over every file there is."""

from itertools import product

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kanon_book.attacks import downcoding_attack
from kanon_lab.errors import DataError
from kanon_lab.methods import Hierarchy, local_suppression

AGES = Hierarchy.from_mapping({"1": "few", "2": "few", "3": "many"})
GROUP = {"1": "few", "2": "few", "3": "many"}


def recode(frame):
    """Ages that one record has become a group, or missing where the group has one record."""
    values = frame["age"].tolist()
    groups = [GROUP[value] for value in values]
    labels = [
        value if values.count(value) > 1 else group if groups.count(group) > 1 else None
        for value, group in zip(values, groups)
    ]
    return frame.assign(age=pd.Series(labels, index=frame.index, dtype=object))


def labels_of(values):
    return [None if pd.isna(label) else label for label in recode(pd.DataFrame({"age": values}))["age"]]


@settings(max_examples=12)
@given(st.lists(st.sampled_from("123"), min_size=2, max_size=4))
def test_all_files_with_the_same_release_are_counted(values):
    domain, released = sorted(set(values)), labels_of(values)
    same = [file for file in product(domain, repeat=len(values)) if labels_of(list(file)) == released]
    rows = []
    for place, (value, label) in enumerate(zip(values, released)):
        allowed = [each for each in domain if label in (None, each, GROUP[each])]
        if len(allowed) > 1:
            often = [sum(file[place] == each for file in same) for each in allowed]
            best = [each for each, count in zip(allowed, often) if count == max(often)]
            rows.append((1 / len(allowed), (value in best) / len(best), 0 in often))
    sums = [sum(column) / len(rows) for column in zip(*rows)] or [0, 0, 0]
    expected = dict(
        zip(["records", "chance", "right", "narrowed", "files"], [len(rows), *sums, len(same)], strict=True)
    )
    attacked = downcoding_attack(pd.DataFrame({"age": values}), recode, "age", {"age": AGES})
    assert attacked.to_dict() == pytest.approx(expected)


def test_local_suppression_is_narrowed():
    """With the age of one of the other records, the first two would have stayed complete."""
    frame = pd.DataFrame({"age": [*"123333"], "sex": [*"ffffff"]})
    attacked = downcoding_attack(
        frame, lambda file: local_suppression(file, ["age", "sex"], k_required=2).frame, ["age", "sex"], {}
    )
    assert attacked["narrowed"] == 1 and attacked["right"] > attacked["chance"]


def test_too_many_files_are_refused():
    frame = pd.DataFrame({"age": [str(age) for age in range(20)]})
    with pytest.raises(DataError, match="more than 50,000 files"):
        downcoding_attack(frame, lambda file: file.assign(age=None), "age", {})
