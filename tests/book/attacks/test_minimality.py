"""Guesses of suppressed cells by who knows the algorithm, against plain loops."""

from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kanon_book.attacks import minimality_attack, rerun_attack
from kanon_lab.classes.counts import Counts
from kanon_lab.errors import DataError, OptionError
from kanon_lab.methods import local_suppression
from kanon_lab.roles import KeySpec

KEYS = ["a", "b"]
value = st.sampled_from([0, 1, 2])
files = st.lists(st.tuples(value, value), min_size=3, max_size=12).map(
    lambda rows: pd.DataFrame(rows, columns=KEYS, dtype=object)
)
policies = st.sampled_from(["wildcard", "category"])


def rows_of(frame):
    return [tuple(None if pd.isna(cell) else cell for cell in row) for row in frame[KEYS].itertuples(index=False)]


def table_of(hidden):
    """The table of an attack: for each hidden cell its column, true value, values of the column, and the guesses."""
    rows = []
    for name in [*KEYS, "all"]:
        cells = [cell for cell in hidden if name in (cell[0], "all")]
        if cells or name == "all":
            sums = [
                (1 / values, (true in guesses) / len(guesses), left, left < values, left == 1)
                for _, true, values, guesses, left in cells
            ]
            rows.append((name, len(cells), *(sum(part) / max(len(cells), 1) for part in zip(*sums or [(0,) * 5]))))
    return pd.DataFrame(rows, columns=["variable", "cells", "chance", "right", "candidates", "narrowed", "certain"])


@given(files, st.integers(2, 3), policies)
def test_values_are_ruled_out_where_a_cheaper_suppression_would_have_done(frame, k, policy):
    result = local_suppression(frame, KeySpec(KEYS, missing=policy), k_required=k)
    before, after = rows_of(frame), rows_of(result.frame)
    domain = {name: sorted(set(frame[name])) for name in KEYS}
    order = sorted(KEYS, key=lambda name: -len(domain[name]))
    every = [(), *[(name,) for name in order], tuple(KEYS)]
    whole, hidden = [row for row in after if None not in row], []
    for true, row in zip(before, after, strict=True):
        lost = tuple(name for name, cell in zip(KEYS, row, strict=True) if cell is None)

        def is_possible(key, lost=lost):
            for gone in every[: every.index(lost)]:
                like = tuple(None if name in gone else cell for name, cell in zip(KEYS, key, strict=True))
                if not gone and key in whole:
                    return False
                if gone and policy == "category" and like in after:
                    return False
                if len(gone) == 1 and policy == "wildcard":
                    place = 1 - KEYS.index(gone[0])
                    if sum(other[place] == key[place] for other in whole) >= k - 1:
                        return False
            return True

        keys = list(product(*(domain[name] if name in lost else [cell] for name, cell in zip(KEYS, row, strict=True))))
        left = [key for key in keys if is_possible(key)] or keys
        for name in lost:
            often = [key[KEYS.index(name)] for key in left]
            most = max(map(often.count, often))
            guesses = {cell for cell in often if often.count(cell) == most}
            hidden.append((name, true[KEYS.index(name)], len(domain[name]), guesses, len(set(often))))
    attacked = minimality_attack(frame, result.frame, KeySpec(KEYS, missing=policy), k_required=k)
    pd.testing.assert_frame_equal(attacked, table_of(hidden))


@settings(max_examples=12)
@given(files, st.integers(2, 3), policies)
def test_who_knows_all_else_keeps_the_values_that_give_the_same_release(frame, k, policy):
    spec = KeySpec(KEYS, missing=policy)
    # With counts whole classes move.
    counts = Counts(np.ones(len(frame), dtype=np.int64), None)
    first = rows_of(local_suppression(frame, spec, k_required=k, counts=counts).frame)
    hidden = []
    for place, name in product(range(len(frame)), KEYS):
        if first[place][KEYS.index(name)] is None:
            domain, same = sorted(set(frame[name])), set()
            for cell in domain:
                other = frame.copy()
                other.loc[place, name] = cell
                # The order of keys is that of the file: the intruder knows how many values each has.
                if len(set(other[name])) == len(domain):
                    again = rows_of(local_suppression(other, spec, k_required=k, counts=counts).frame)
                    same |= {cell} if again == first else set()
                else:
                    return
            hidden.append((name, frame.loc[place, name], len(domain), same, len(same)))
    attacked = rerun_attack(frame, spec, k_required=k)
    pd.testing.assert_frame_equal(attacked, table_of(sorted(hidden, key=lambda row: KEYS.index(row[0]))))


def test_totals_of_the_original_file_tell_the_only_hidden_value_of_a_key():
    before = pd.DataFrame({"a": [0, 0, 1, 1, 1, 2], "b": [0, 0, 0, 0, 0, 0]})
    after = before.assign(a=before["a"].where(before.index < 5))
    known = [
        minimality_attack(before, after, ["a", "b"], k_required=2, knows=knows).set_index("variable")["right"]["a"]
        for knows in ("release", "recipe", "totals")
    ]
    assert known == pytest.approx([1 / 3, 1, 1])  # neither 0 nor 1: it would be like a complete record
    more = minimality_attack(before, after, ["a", "b"], k_required=2, drawn=True).set_index("variable")
    assert more.loc["a", "certain"] == 1


def test_a_suppression_with_a_seed_is_attacked_by_other_seeds():
    rows = list(combinations(range(5), 3)) * 2
    frame = pd.DataFrame(rows[:15], columns=["a", "b", "c"])
    one = rerun_attack(frame, ["a", "b", "c"], k_required=2, seed=1, runs=3)
    assert one.equals(rerun_attack(frame, ["a", "b", "c"], k_required=2, seed=1, runs=3))
    assert one["right"].between(0, 1).all()


def test_what_is_no_suppression_of_the_original_is_refused():
    frame = pd.DataFrame({"a": [0, 0, 1], "b": [0, 0, 1]})
    with pytest.raises(DataError, match="column a: row 0 .and 2 more.: a value is not as it was"):
        minimality_attack(frame, frame.assign(a=5), KEYS, k_required=2)
    with pytest.raises(OptionError, match="knows must be one of release, recipe, totals, not 'all'"):
        minimality_attack(frame, frame, KEYS, k_required=2, knows="all")
    assert minimality_attack(frame, frame, KEYS, k_required=1)["cells"].tolist() == [0]
