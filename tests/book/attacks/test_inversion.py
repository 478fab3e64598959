"""Attacks on local recoding, PRAM and microaggregation, against plain loops."""

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kanon_book.attacks import ends_attack, means_attack, pram_attack
from kanon_lab.errors import DataError
from kanon_lab.methods import microaggregate, mondrian, transition_matrix

ages = st.lists(st.tuples(st.integers(0, 30), st.integers(-5, 5)), min_size=2, max_size=16)


def ends(text):
    """The two ends of a label, or None: 40-49, or -5 to 3."""
    low, _, high = text.replace(" to ", "|").partition("|") if " to " in text else text.partition("-")
    return (int(low), int(high)) if high and low else None


@settings(max_examples=20)
@given(ages, st.integers(1, 4), st.booleans())
def test_ends_that_are_values_are_counted(rows, k, on_grid):
    before = pd.DataFrame(rows, columns=["age", "balance"])
    k = min(k, len(rows))
    grids = {"age": 10, "balance": 4} if on_grid else None
    result = mondrian(before, k_required=k, keys=["age", "balance"], grids=grids)
    labels = [tuple(row) for row in result.frame.itertuples(index=False)]
    expected = []
    for place, name in enumerate(before):
        cells = [(row[place], ends(label[place]), labels.count(label)) for row, label in zip(rows, labels)]
        cells = [cell for cell in cells if cell[1] is not None]
        if cells:
            at = [value in both for value, both, _ in cells]
            right = [sum(value == end for end in both) / 2 for value, both, _ in cells]
            chance = [1 / (both[1] - both[0] + 1) for _, both, _ in cells]
            pairs = [size == 2 and is_end for (_, _, size), is_end in zip(cells, at)]
            expected.append((name, len(cells), *(sum(part) / len(cells) for part in (at, right, chance, pairs))))
    attacked = ends_attack(before, result.frame, ["age", "balance"])
    assert attacked.to_numpy().tolist() == [pytest.approx(row) for row in expected]
    assert result.k_achieved >= k
    if on_grid:
        for name, width in grids.items():
            for value, text in zip(before[name], result.frame[name]):
                low, high = ends(text)
                assert low <= value <= high and low % width == 0 and (high + 1) % width == 0
    elif len(attacked):  # one record at least has each end
        assert (attacked["at_end"] > 0).all()


def test_labels_of_fractions_end_on_the_grid():
    frame = pd.DataFrame({"rate": [0.1, 0.3, 1.6, 2.0]})
    found = mondrian(frame, k_required=2, keys="rate", grids={"rate": 0.1}).frame
    assert found["rate"].tolist() == ["[0.1, 0.4)", "[0.1, 0.4)", "[1.6, 2.1)", "[1.6, 2.1)"]
    attacked = ends_attack(frame, found, "rate").iloc[0]
    assert (attacked["at_end"], attacked["right"]) == (0.5, 0.25) and pd.isna(attacked["chance"])


@settings(max_examples=20)
@given(
    st.lists(st.tuples(*[st.sampled_from("abc")] * 2), min_size=1, max_size=20),
    st.sampled_from([0.4, 0.6, 0.9]),
    st.tuples(*[st.integers(1, 5)] * 3),
)
def test_the_most_probable_true_category_is_guessed(values, keep, known):
    truth, moved = (pd.Series(column) for column in zip(*values))
    law = transition_matrix(list("abc"), keep=keep)
    shares = dict(zip("abc", known, strict=True))

    def guessed(probability):
        return [category for category in "abc" if probability[category] >= max(probability.values()) * (1 - 1e-9)]

    right = chance = 0
    for true, seen in zip(truth, moved):
        behind = guessed({category: shares[category] * law.loc[category, seen] for category in "abc"})
        common = guessed(shares)
        right += (true in behind) / len(behind)
        chance += (true in common) / len(common)
    attacked = pram_attack(truth, moved, law, shares=shares)
    assert attacked["right"] == pytest.approx(right / len(values))
    assert attacked["chance"] == pytest.approx(chance / len(values))
    assert attacked["taken"] == pytest.approx((truth == moved).mean())
    assert pram_attack(truth, moved, law)["cells"] == len(values)


@settings(max_examples=20)
@given(st.lists(st.integers(0, 50), min_size=4, max_size=16).filter(lambda rows: len({*rows}) > 1), st.integers(2, 4))
def test_the_last_member_of_a_group_follows_from_its_mean_and_the_others(values, k):
    frame = pd.DataFrame({"income": values})
    result = microaggregate(frame, "income", k_required=k)
    groups, shown = result.details["groups"], result.frame["income"]
    attacked = means_attack(frame["income"], shown, groups)
    near = []
    for i, value in enumerate(values):
        members = [j for j, group in enumerate(groups) if group == groups[i] and j != i]
        for j in members:
            others = sum(values[each] for each in members if each != j)
            near.append(abs((shown[i] * (len(members) + 1) - others) / 2 - value) <= 0.5 + 1e-9)
    assert attacked["right"] == 1
    assert attacked["chance"] == pytest.approx(
        sum(abs(a - b) <= 0.5 + 1e-9 for a, b in zip(values, shown)) / len(values)
    )
    assert attacked["but_one"] == pytest.approx(sum(near) / len(near))


def test_other_records_are_refused():
    frame = pd.DataFrame({"x": [1, 2, 3]})
    with pytest.raises(DataError, match="the released data: has other records"):
        ends_attack(frame, frame.iloc[::-1], "x")
    with pytest.raises(DataError, match="a category that the matrix does not have"):
        pram_attack(pd.Series(["a", "b"]), pd.Series(["a", "c"]), transition_matrix(["a", "b"], keep=0.8))
