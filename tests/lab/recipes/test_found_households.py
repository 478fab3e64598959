"""Households that are found in a release without their ID, by columns that members share."""

from collections import Counter, defaultdict
from math import comb, prod

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kanon_lab import KeySpec, protect
from kanon_lab.recipes.found_households import _outsiders, found_households, shared_columns
from kanon_lab.recipes.verdict import judge

KEYS = ["province", "sex", "age"]
SHUFFLED = {"by": "record", "seed": 4}


@pytest.fixture(scope="module")
def survey():
    """300 households, each with its own weight: the case in which a weight rounded to 10 said 0."""
    rng = np.random.default_rng(8)
    home = np.repeat(np.arange(300), rng.choice([1, 2, 3, 4], 300))
    columns = {"home": home, "weight": rng.gamma(4, 100, 300)[home] + 301, "province": rng.integers(0, 3, 300)[home]}
    n = len(home)
    return pd.DataFrame(
        columns | {"sex": rng.choice([*"fm"], n), "age": rng.integers(0, 4, n), "ill": rng.integers(0, 3, n)}
    )


def released(survey, base, *steps, missing="category"):
    chain = protect(survey, KeySpec(KEYS, household="home", weight="weight", missing=missing), seed=1)
    for name, options in steps:
        chain = chain.apply(name, options)
    chain = chain.apply("remove_variables", {"variables": ["home", *([] if base else ["weight"])]})
    chain = chain.apply("round", {"variable": "weight", "base": base}) if base else chain
    return chain.apply("shuffle_records", SHUFFLED)


def attacked(chain, survey):
    """Records that a plain attack finds for sure: in groups of released records that share a weight."""
    frame = chain.frame.assign(home=survey["home"].loc[chain.state.working.index].to_numpy())
    frame["key"] = [*zip(*(frame[key] for key in KEYS), strict=True)]
    groups = {weight: Counter(part["key"]) for weight, part in frame.groupby("weight")}
    homes = {home: Counter(part["key"]) for home, part in frame.groupby("home")}
    weights, places = frame.groupby("home")["weight"].first(), frame.groupby(["weight", "province"]).size()
    alike, records = Counter(frozenset(keys.items()) for keys in homes.values()), 0
    for home, keys in homes.items():
        province = next(iter(keys))[0]
        if places[weights[home], province] == keys.total():
            sets = alike[frozenset(keys.items())]
        else:
            sets = 0
            for group in groups.values():
                sets += prod(comb(group[key], members) for key, members in keys.items())
        records += sum(members == 1 for members in keys.values()) if sets == 1 else 0
    return records


def test_rounding_a_weight_leaves_fewer_households_to_be_found_and_none_without_it(survey):
    found = {}
    for base in (1, 5, 10, 50, 100, None):
        chain = released(survey, base)
        (row,) = judge(chain, {"household_uniques": 0}).verdict.query("name == 'household_uniques'").itertuples()
        found[base], columns = row.found, row.columns
        assert row.met == (row.found == 0)
        assert columns == (("weight",) if base else ())
        assert row.found == (attacked(chain, survey) if base else 0)
    assert [*found.values()] == sorted(found.values(), reverse=True)
    assert found[5] > found[10] > found[50] > 0


def test_households_among_few_sets_are_a_caution(survey):
    chain = released(survey, 10)
    found = found_households(chain, 5)
    cautions = {c.key: c for c in judge(chain, {"k": 5}).cautions}
    assert (cautions["household_composition"].count, cautions["household_few"].count) == (found.records, found.few)
    assert cautions["household_few"].columns == ("weight",) and found.few > 0
    assert "household_few" not in {c.key for c in judge(chain, {"k": 5, "household_uniques": 0}).cautions}


def test_a_column_in_which_some_households_differ_counts_beside_one_that_all_share(survey):
    alone = found_households(released(survey, 50), 2).records
    rng = np.random.default_rng(2)
    tenure = rng.integers(0, 4, 300)[survey["home"]]
    some = np.where(rng.random(len(survey)) < 0.03, 9, tenure)
    both = found_households(released(survey.assign(tenure=some), 50), 2)
    whole = found_households(released(survey.assign(tenure=tenure), 50), 2)
    assert both.columns == ("weight", "tenure") and alone < both.records < whole.records


def test_group_means_of_an_income_that_split_some_households_still_find_others(survey):
    income = np.random.default_rng(3).lognormal(7.6, 0.5, 300)[survey["home"]]
    found = {}
    for k in (3, 10, 40):
        grouped = ("microaggregate", {"variables": ["income"], "k_required": k})
        found[k] = found_households(released(survey.assign(income=income), 50, grouped), 2)
    alone = found_households(released(survey, 50), 2).records
    assert all("income" in each.columns and each.records > alone for each in found.values())


def test_suppressed_keys_that_may_be_anybodys_hide_a_household(survey):
    hidden = ("suppress", {"k_required": 12, "importance": {"age": 1, "sex": 2, "province": 3}})
    found = {
        missing: found_households(released(survey, 50, hidden, missing=missing), 2)
        for missing in ("category", "wildcard")
    }
    assert found["wildcard"].records <= found["category"].records


@pytest.mark.parametrize("seed", range(5))
def test_columns_that_have_nothing_to_do_with_households_find_none(survey, seed):
    rng = np.random.default_rng(seed)
    n = len(survey)
    columns = {"rare": rng.random(n) < 0.02, "code": rng.integers(0, 400, n), "income": rng.normal(size=n)}
    chain = released(survey.assign(**columns, constant=1), None)
    assert found_households(chain, 3) == (0, 0, ())


def test_few_households_share_by_luck():
    home = np.repeat(np.arange(10), 2)
    assert shared_columns(home, {"a": home % 2, "b": home, "c": np.zeros(20, int)}) == ["b"]


@settings(max_examples=50)
@given(st.lists(st.tuples(*[st.integers(-1, 2)] * 4, st.integers(0, 1), st.integers(-1, 3)), min_size=1, max_size=12))
def test_outsiders_as_a_plain_loop_counts_them(rows):
    table = np.array(rows)
    true, shown, shared, home = table[:, :2], table[:, 2:4], table[:, 4], table[:, 5]
    counts = defaultdict(int)
    for i in range(len(rows)):
        for j in range(len(rows)):
            fits = all(a == b or a < 0 or b < 0 for a, b in zip(true[i], shown[j], strict=True))
            counts[i] += shared[i] == shared[j] and fits and (home[i] != home[j] or home[i] < 0)
    outside = _outsiders(home, shared, true, shown)
    assert [outside[i] for i in range(len(rows)) if home[i] >= 0] == [counts[i] for i in counts if home[i] >= 0]
