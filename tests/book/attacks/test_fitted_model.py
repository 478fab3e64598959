"""Probabilities of a fitted model beside the truth: formulas by hand, pairs one by one, and a population that fits."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kanon_book.attacks import calibration, order_by_model, uniqueness_attack
from kanon_lab.errors import DataError

ATTACKED = st.lists(st.tuples(st.sampled_from([0.0, 0.2, 0.5, 0.9, 1.0]), st.booleans()), min_size=2, max_size=12)


@settings(max_examples=60, deadline=None)
@given(ATTACKED)
def test_order_is_the_share_of_pairs_in_order(rows):
    attacked = pd.DataFrame(rows, columns=["probability", "is_unique"])
    pairs = [(p > q) + (p == q) / 2 for p, so in rows if so for q, other in rows if not other]
    expected = np.mean(pairs) if pairs else np.nan
    assert order_by_model(attacked) == pytest.approx(expected, nan_ok=True)


@settings(max_examples=60, deadline=None)
@given(ATTACKED)
def test_intervals_hold_each_record_once(rows):
    attacked = pd.DataFrame(rows, columns=["probability", "is_unique"])
    table = calibration(attacked, [0, 0.2, 0.9, 1])
    inside = [
        [r for r in rows if low <= r[0] < high or r[0] == high == 1] for low, high in ((0, 0.2), (0.2, 0.9), (0.9, 1))
    ]
    assert table["records"].tolist() == [len(part) for part in inside]
    for row, part in zip(table.itertuples(), inside, strict=True):
        assert row.unique == pytest.approx(np.mean([so for _, so in part]) if part else np.nan, nan_ok=True)


def drawn(seed, independent):
    """Persons with four keys, independent of each other or not, and a tenth of them."""
    rng = np.random.default_rng(seed)
    weights = 1 / np.arange(1, 31) ** 1.3
    keys = {name: rng.choice(30, 20_000, p=weights / weights.sum()) for name in "abc"}
    keys["d"] = rng.choice(6, 20_000) if independent else (keys["a"] + rng.choice(2, 20_000)) % 6
    people = pd.DataFrame(keys)
    return people, people[rng.random(len(people)) < 0.1]


def test_a_model_that_is_true_is_right_as_often_as_it_says():
    """Keys that are independent: the model without interactions holds."""
    people, sample = drawn(1, independent=True)
    attacked = uniqueness_attack(sample, people.value_counts(list("abcd")), list("abcd"), fraction=0.1)
    share = attacked["is_unique"].mean()
    error = np.sqrt(share * (1 - share) / len(attacked))
    assert abs(attacked["probability"].mean() - share) < 4 * error
    assert order_by_model(attacked) > 0.7


def test_the_probability_is_that_nobody_outside_the_sample_has_the_keys():
    people, sample = drawn(2, independent=False)
    attacked = uniqueness_attack(sample, people.value_counts(list("abcd")), list("abcd"), fraction=0.1)
    shares = [sample[name].map(sample[name].value_counts()) / len(sample) for name in "abcd"]
    share = np.prod(shares, axis=0)
    alone = ~sample.duplicated(list("abcd"), keep=False)
    outside = len(sample) * 9  # persons for each nine tenths
    assert sorted(np.exp(-outside * share[alone])) == pytest.approx(sorted(attacked["probability"]))


def test_a_sample_of_another_population_is_refused():
    people = pd.DataFrame({"sex": list("fm"), "age": [1, 2]})
    with pytest.raises(DataError, match="draw the sample from it"):
        uniqueness_attack(people, people.iloc[:1].value_counts(["sex", "age"]), ["sex", "age"], fraction=0.5)
