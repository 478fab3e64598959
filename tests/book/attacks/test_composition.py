"""The classes of a person in two releases, against sets built in a plain loop."""

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kanon_book.attacks import composition_attack
from kanon_lab.errors import OptionError

RELEASE = st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from(["x", "y", None])), min_size=10, max_size=10)


def of_persons(labels, ill, persons):
    frame = pd.DataFrame(labels, columns=["age", "place"]).assign(ill=ill)
    return frame.iloc[sorted(persons)]


@settings(max_examples=60, deadline=None)
@given(
    RELEASE,
    RELEASE,
    st.lists(st.sampled_from(["no", "flu", "cold"]), min_size=10, max_size=10),
    st.sets(st.integers(0, 9), min_size=6),
    st.sets(st.integers(0, 9), min_size=6),
)
def test_values_left_are_those_of_a_plain_loop(first, second, ill, in_old, in_new):
    old, new = of_persons(first, ill, in_old), of_persons(second, ill, in_new)
    both = in_old & in_new
    left = {"old": [], "new": [], "both": []}
    for person in sorted(both):
        seen = []
        for labels, inside in ((first, in_old), (second, in_new)):
            seen.append({ill[other] for other in inside if labels[other] == labels[person]})
        for name, values in zip(left, (*seen, seen[0] & seen[1]), strict=True):
            left[name].append((len(values), ill[person]))
    common = old["ill"].mode()[0]
    table = composition_attack(old, new, ["age", "place"], "ill")
    for name, persons in left.items():
        row = table.loc[name]
        assert row["values"] == pytest.approx(sum(size for size, _ in persons) / len(both))
        assert row["determined"] == sum(size == 1 for size, _ in persons)
        assert row["uncommon"] == sum(size == 1 and value != common for size, value in persons)
    for name, labels, inside in (("old", first, in_old), ("new", second, in_new)):
        classes = [[other for other in inside if labels[other] == label] for label in {labels[i] for i in inside}]
        assert table.loc[name, ["classes", "k"]].tolist() == [len(classes), min(map(len, classes))]
        assert table.loc[name, "least_values"] == min(len({ill[i] for i in members}) for members in classes)


def test_two_releases_need_a_person_in_both():
    old, new = pd.DataFrame({"age": ["a"], "ill": ["no"]}), pd.DataFrame({"age": ["a"], "ill": ["no"]}, index=[7])
    with pytest.raises(OptionError, match="no person is in both"):
        composition_attack(old, new, "age", "ill")
