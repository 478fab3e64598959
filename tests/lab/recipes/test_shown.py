"""What members of a household, or neighbours in the file, show of suppressed keys, and who falls below k by it."""

from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon_lab import KeySpec, protect
from kanon_lab.recipes import judge, shown
from kanon_lab.recipes.plan import as_limits
from kanon_lab.recipes.shown import guessed_by_members

KEYS = ["zone", "age", "sex"]
# The zone is suppressed first.
SUPPRESS = {"k_required": 3, "importance": {"age": 1, "sex": 2, "zone": 3}}


def shown_by_members(chain, k):
    return shown.shown_by_members(chain, k).records


def shown_by_neighbours(chain, k):
    return shown.shown_by_neighbours(chain, k).records


def survey(households=150, seed=1, people=3):
    """Households that share their zone, in no order."""
    rng = np.random.default_rng(seed)
    zone = rng.choice(["north", "south", "east", "west"], households, p=[0.4, 0.3, 0.2, 0.1])
    home = np.repeat(np.arange(households), people)
    n = len(home)
    frame = pd.DataFrame({"zone": zone[home], "age": rng.integers(20, 60, n), "sex": rng.choice(["m", "w"], n)})
    frame = frame.assign(home=home, income=1000 + 7 * home)
    return frame.sample(frac=1, random_state=seed).reset_index(drop=True)


def chain_of(frame, *steps, household="home", claim="true_key", **roles):
    chain = protect(frame, KeySpec(KEYS, household=household, **roles)).apply("suppress", {**SUPPRESS, "claim": claim})
    for step in steps:
        chain = chain.apply(*step)
    return chain


def rows_of(frame):
    return [tuple(None if pd.isna(value) else value for value in row) for row in frame[KEYS].itertuples(index=False)]


def alike(one, other):
    return all(x is None or y is None or x == y for x, y in zip(one, other, strict=True))


def below(true, shown, k):
    """Whether each record has fewer than k compatible released ones, as shown and for its true key."""
    times = Counter(shown)
    counts = {row: sum(n for other, n in times.items() if alike(row, other)) for row in {*shown, *true}}
    return [[counts[row] < k for row in rows] for rows in (shown, true)]


@pytest.mark.parametrize("claim", ["compatible", "true_key", "own_class"])
def test_members_are_counted_as_a_plain_loop_counts_them(claim):
    frame = survey()
    chain = chain_of(frame, claim=claim)
    filled = chain.frame.copy()
    for _, members in filled.groupby("home"):
        known = members["zone"].dropna().unique()
        if len(known) == 1:
            filled.loc[members.index, "zone"] = known[0]
    true, before, after = rows_of(frame), rows_of(chain.frame), rows_of(filled)
    were, are = below(true, before, 3), below(true, after, 3)
    expected = sum(any(is_ and not was for is_, was in zip(*pair)) for pair in zip(zip(*are), zip(*were)))
    assert shown_by_members(chain, 3) == expected > (20 if claim != "own_class" else 0)
    row = judge(chain, as_limits({"k": 3}, spec=chain.spec)).verdict.set_index("name").loc["shown_by_members"]
    assert (row.met, row.found, row.records) == (False, expected, expected)


def test_a_column_that_is_equal_in_a_household_stands_for_its_number_and_so_do_several_together():
    chain = chain_of(survey())
    with_number = shown_by_members(chain, 3)
    assert with_number > 20
    hidden = chain.apply("remove_variables", {"variables": "home"})
    assert shown_by_members(hidden, 3) == with_number
    assert shown_by_members(hidden.apply("remove_variables", {"variables": "income"}), 3) == 0
    frame = survey()
    parts = frame.assign(income=frame["home"] // 13, rooms=frame["home"] % 13)
    hidden = chain_of(parts, ("remove_variables", {"variables": "home"}))
    assert shown_by_members(hidden, 3) == with_number
    assert shown_by_members(hidden.apply("remove_variables", {"variables": "rooms"}), 3) == 0


def test_what_is_suppressed_for_whole_households_is_not_shown_by_members():
    frame = survey()
    household = {"key_variables": ["zone", "income"], "steps": [{"recode": {"variable": "income", "width": 5000}}]}
    household["steps"].append({"suppress": {"k_required": 5, "importance": {"income": 1, "zone": 2}}})
    chain = protect(frame, KeySpec(KEYS, household="home")).apply("household_level", household)
    chain = chain.apply("suppress", {**SUPPRESS, "importance": {"zone": 1, "sex": 2, "age": 3}, "claim": "true_key"})
    verdict = judge(chain, as_limits({"k": 3}, spec=chain.spec)).verdict.set_index("name")
    assert verdict.loc["shown_by_members", "met"]


def test_without_shared_variables_members_tell_nothing():
    for seed in range(20):
        frame = survey(40, seed)
        frame["zone"] = np.random.default_rng(seed).permutation(frame["zone"])
        chain = chain_of(frame)
        assert (shown_by_members(chain, 3), shown_by_neighbours(chain, 3)) == (0, 0), seed


@given(st.lists(st.tuples(st.integers(-1, 3), st.integers(-1, 2)), max_size=20))
def test_members_guess_what_all_others_of_the_household_show(pairs):
    home, code = (np.array(part, dtype=np.int64) for part in (zip(*pairs) if pairs else ([], [])))
    for place, guess in enumerate(guessed_by_members(home, code, np.ones(len(code), dtype=np.int64))):
        others = {c for i, (h, c) in enumerate(pairs) if i != place and h == home[place] >= 0 and c >= 0}
        assert guess == (others.pop() if len(others) == 1 else -1)


def test_neighbours_are_counted_where_the_file_is_in_order_until_it_is_shuffled():
    frame = survey().drop(columns=["home", "income"]).sort_values("zone", ignore_index=True)
    chain = chain_of(frame, household=None)
    true, before = rows_of(frame), rows_of(chain.frame)
    zone = chain.frame["zone"]
    ahead, behind = zone.ffill(), zone.bfill()
    after = rows_of(chain.frame.assign(zone=zone.fillna(ahead.where(ahead == behind))))
    were, are = below(true, before, 3), below(true, after, 3)
    lost = zip(zip(*are), zip(*were), true, after)
    expected = sum(any(is_ and not was for is_, was in zip(a, b)) and alike(t, filled) for a, b, t, filled in lost)
    assert shown_by_neighbours(chain, 3) >= expected > 20  # at the border of two zones, half of the records still tell
    assert shown_by_neighbours(chain.apply("shuffle_records"), 3) == 0
    limits = as_limits({"k": 3}, spec=chain.spec)
    verdict = judge(chain, limits).verdict.set_index("name")
    assert [*verdict.index[~verdict["met"]]] == ["shown_by_neighbours"]
    assert verdict.loc["shown_by_neighbours", "columns"] == ("zone",)
    assert judge(chain.apply("shuffle_records"), limits).met


@pytest.mark.parametrize("seed", range(5))  # by chance alone one order in some thousand tells something
def test_an_order_by_something_else_tells_nothing(seed):
    frame = survey(60, seed).drop(columns=["home", "income"])
    other = np.random.default_rng(seed).integers(0, 9, len(frame))
    frame = frame.assign(other=other).sort_values("other", ignore_index=True).drop(columns="other")
    assert shown_by_neighbours(chain_of(frame, household=None), 3) == 0


def test_households_that_stay_together_are_neighbours_without_their_number():
    frame = survey().sort_values("home", ignore_index=True).drop(columns="income")
    chain = chain_of(frame, ("remove_variables", {"variables": "home"}))
    assert (shown_by_members(chain, 3), shown_by_neighbours(chain, 3) > 0) == (0, True)
    assert shown_by_neighbours(chain.apply("shuffle_records", {"by": "household"}), 3) > 0
    assert shown_by_neighbours(chain.apply("shuffle_records"), 3) == 0


def test_a_later_step_takes_true_keys_from_before_an_earlier_suppression():
    frame = survey()
    first = protect(frame, KeySpec(KEYS)).apply("recode", {"variable": "age", "width": 5})
    first = first.apply("suppress", {"k_required": 3, "combinations": [{"keys": ["zone", "age"], "k": 9}]})
    done = first.apply("suppress", {**SUPPRESS, "claim": "true_key"})
    limits = as_limits({"k": 3}, spec=done.spec)
    assert judge(done, limits).verdict.set_index("name").loc["k", "met"]
    assert done.steps[-1].claims.set_index("claim")["records"]["true_key"] == 0


def test_released_keys_of_the_household_level_count_in_the_verdict():
    frame = survey(200).assign(size=3)
    frame["size"] = frame["home"] % 7
    level = {"key_variables": ["size"], "steps": []}
    chain = protect(frame, KeySpec(["zone", "sex"], household="home")).apply("household_level", level)
    chain = chain.apply("remove_variables", {"variables": ["home", "income", "age"]}).apply("shuffle_records")
    judged = judge(chain, as_limits({"k": 20}, spec=chain.spec))
    named = protect(chain.frame, KeySpec(["zone", "sex", "size"]))
    row = judged.verdict.set_index("name").loc["k"]
    counts = named.frame.groupby(["zone", "sex", "size"]).size()
    assert (row.found, row.records) == (counts.min(), counts[counts < 20].sum())
    assert not row.met
    assert judged.claims.set_index("claim")["records"]["own_class"] == row.records
    assert judge(chain.apply("remove_variables", {"variables": "size"}), as_limits({"k": 20}, spec=chain.spec)).met


def test_the_case(shared):
    frame = pd.read_csv(shared("members.csv", folder="cases")).rename(columns={"hh": "home"})
    assert shown_by_members(chain_of(frame, claim="compatible"), 3) > 200
