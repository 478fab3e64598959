"""What a report may show of values: pools that no subtraction opens, quantiles of many records, settings."""

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from kanon_lab.report.safe import counted, named_grid, pooled, safe_quantiles, shown_settings, told_label

LEAST = 10


@given(st.lists(st.integers(1, 40), min_size=1, max_size=12), st.integers(1, 8))
def test_no_pool_tells_the_count_of_a_rare_category(counts, most):
    given_counts = pd.Series(counts, index=[f"c{i}" for i in range(len(counts))])
    found = pooled(given_counts, least=LEAST, most=most)
    assert len(found.shown) <= most and (found.shown >= LEAST).all()
    assert len(found.shown) + found.categories == len(counts)
    assert all(given_counts[name] == count for name, count in found.shown.items())
    rest = sum(counts) - int(found.shown.sum())
    if found.categories:  # what is known by subtraction is of two categories and of many records, or there is no other
        alone = found.categories == 1 or rest < LEAST
        assert not alone or not len(found.shown)
        assert found.records == (None if alone else rest)


def test_a_rare_category_takes_the_next_one_into_the_pool():
    found = pooled(pd.Series({"a": 500, "b": 30, "c": 3}), least=LEAST)
    assert dict(found.shown) == {"a": 500} and (found.categories, found.records) == (2, 33)
    alone = pooled(pd.Series({"a": 3}), least=LEAST)
    assert (len(alone.shown), alone.categories, alone.records) == (0, 1, None)


@given(st.integers(0, 2000), st.integers(0, 2**32))
def test_no_quantile_depends_on_an_extreme_or_on_one_record(size, seed):
    values = np.random.default_rng(seed).normal(1000, 100, size)
    found = safe_quantiles(values, least=LEAST)
    if size:
        spiked = values.copy()
        for place, spike in ((values.argmax(), 9e15), (values.argmin(), -9e15)):
            spiked[place] = spike
        assert safe_quantiles(spiked, least=LEAST) == found
    for share, quantile in found.items():
        assert min(share, 1 - share) * size >= 2 * LEAST
        assert abs(quantile - np.quantile(values, share)) < 120
    assert (0.5 in found) == (size >= 4 * LEAST)


def test_settings_are_shown_without_categories_and_folders():
    given_settings = {
        "steps": [{"recode": {"variable": "ill", "groups": {"other": ["rare one"]}, "others": "keep"}}],
        "hierarchies": [{"file": "folder/me/ages.csv"}, {"file": "C:\\me\\ages.csv"}],
        "indicators": {"rates": {"ill": ["rare one"]}},
        "missing_codes": {"ill": ["rare one", 777], "b": 777},
        "na": ["rare"],
        "seed": 3,
    }
    shown = shown_settings(given_settings)
    assert "rare" not in str(shown) and "me" not in str(shown["hierarchies"])
    assert shown["steps"] == [{"recode": {"variable": "ill", "groups": "(1)", "others": "keep"}}]
    assert shown["indicators"] == {"rates": ["ill"]} and "seed" not in shown  # who has it takes draws back
    assert shown["missing_codes"] == {"ill": "(2)", "b": "(1)"} and shown["na"] == "(1)"


def test_a_grid_is_shown_without_what_may_be_categories():
    """Attack: a grid of groups, or of texts within groups, came out as labels of the map."""
    steps = [{"recode": {"variable": "job", "groups": "$g"}}, {"recode": {"variable": "ill", "groups": {"a": ["$v"]}}}]
    steps += [{"suppress": {"k_required": "$k"}}, {"recode": {"variable": "age", "width": "$w"}}, "$s"]
    grid = {
        "g": [{"other": ["rare"], "c": ["cook"]}, {"x": {"clergy": ["rare"]}}],
        "v": ["rare", "cook"],
        "k": [2, {"strict": 9}],
        "w": {"ten": 10},
        "s": [{"suppress": {"k_required": 2}}, None],
    }
    labels = {name: list(each) for name, each in named_grid({"steps": steps, "grid": grid}).items()}
    assert labels == {
        "g": ["setting 1", "x"],
        "v": ["setting 1", "setting 2"],
        "k": ["2", "strict"],
        "w": ["ten"],
        "s": ["setting 1", "setting 2"],
    }
    shown = shown_settings({"language": "es", "steps": steps, "map": {"grid": grid}})
    assert "rare" not in str(shown) and shown["map"]["grid"]["v"] == ["ajuste 1", "ajuste 2"]
    long = {"steps": [{"suppress": {"k_required": "$k"}}], "grid": {"k": {"x" * 70: 2, "x" * 71: 3}}}
    assert named_grid(long) == {"k": {"setting 1": 2, "setting 2": 3}}  # no recipe is lost to a label


@given(st.integers(0, 10**6))
def test_counts_are_told_in_fives(records):
    assert counted(records) % 5 == 0 and abs(counted(records) - records) <= 2


def test_a_label_is_short_and_does_what_it_shows():
    label = told_label("\u202eabc" + "L" * 10_000)
    assert len(label) <= 60 and label.startswith("\\u202eabc")
