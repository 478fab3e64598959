"""Sets of released records that fit a household, against a loop over all sets of records."""

from collections import defaultdict
from itertools import combinations

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from kanon_lab import KeySpec, class_table
from kanon_lab.measures import household_sets, with_household_composition


@st.composite
def files(draw, fewest=0):
    """Household, shared columns and keys of some records; few of them without a household or with another value."""
    n = draw(st.integers(2, 12))
    home = draw(st.lists(st.sampled_from([*range(5), *range(5), *range(fewest, 1)]), min_size=n, max_size=n))
    weight = draw(st.lists(st.integers(0, 5), min_size=6, max_size=6))
    other = draw(st.lists(st.sampled_from([0] * 9 + [1]), min_size=n, max_size=n))
    keys = draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
    return [np.array(part) for part in (home, [(weight[h] + o) % 6 for h, o in zip(home, other, strict=True)], keys)]


def by_loop(home, shared, keys, most):
    groups, homes = defaultdict(list), defaultdict(list)
    for row in range(len(home)):
        groups[shared[row]].append(row)
        homes[home[row]].append(row)

    def keys_of(rows):
        return sorted(keys[row] for row in rows)

    agreeing = {h: rows for h, rows in homes.items() if h >= 0 and len({shared[row] for row in rows}) == 1}
    sets = [0] * (max(home) + 1)
    for h, rows in agreeing.items():
        fit = [part for group in groups.values() for part in combinations(group, len(rows))]
        if groups[shared[rows[0]]] == rows:
            fit = [*agreeing.values()]
        sets[h] = min(most, sum(keys_of(part) == keys_of(rows) for part in fit))
    return sets


@given(files(fewest=-1), st.sampled_from([1, 2, 5, 10**6]))
def test_as_a_loop_over_all_sets_of_records_counts_them(file, most):
    assert household_sets(*file, most=most).tolist() == by_loop(*file, most)


@given(files())
def test_where_each_household_has_a_value_of_its_own_its_composition_decides(file):
    home, _, keys = file
    sets = household_sets(home, home, keys)
    table = class_table(pd.DataFrame({"key": keys, "home": home}), KeySpec("key", household="home"))
    unique = sum(
        sets[h] == 1 and (keys[home == h] == keys[row]).sum() == 1 for row, h in enumerate(home)
    )  # two members with the same keys are not unique in it
    assert unique == with_household_composition(table)["sample_uniques"]


@given(files(), st.integers(2, 3))
def test_coarser_values_leave_no_household_fewer_sets(file, base):
    home, shared, keys = file
    shared = shared[[np.flatnonzero(home == h)[0] for h in home]]  # nobody differs
    fine, coarse = (household_sets(home, code, keys, most=10**6) for code in (shared, shared // base))
    assert (fine <= coarse).all()


@given(files())
def test_outsiders_who_may_be_members_are_more_sets(file):
    home, shared, keys = file
    sets = household_sets(home, shared, keys, most=99, outsiders=np.full(len(home), 3))
    assert set(sets[sets > 0]) <= set(range(4, 100))
