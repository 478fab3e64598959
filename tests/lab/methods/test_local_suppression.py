"""Local suppression to k: what it promises, against plain counting; and published tables."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon_lab.classes import class_table
from kanon_lab.classes.counts import Counts
from kanon_lab.errors import DataError, OptionError
from kanon_lab.methods import local_suppression, protection_claims
from kanon_lab.roles import KeySpec

KEYS = ["a", "b", "c"]
cells = st.sampled_from([0, 1, 2, None])


@st.composite
def files(draw, gaps=True):
    value = cells if gaps else st.sampled_from([0, 1, 2])
    rows = draw(st.lists(st.tuples(value, value, value), min_size=1, max_size=14))
    return pd.DataFrame(rows, columns=KEYS, dtype=object)


def keys_of(frame, keys=KEYS):
    return [tuple(None if pd.isna(value) else value for value in row) for row in frame[keys].itertuples(index=False)]


def compatible(one, other):
    return all(x is None or y is None or x == y for x, y in zip(one, other, strict=True))


def failing(original, released, k, keys=KEYS):
    """The three claims by comparing every record with every other."""
    true, out = keys_of(original, keys), keys_of(released, keys)
    return {
        "compatible": sum(sum(compatible(row, other) for other in out) < k for row in out),
        "own_class": sum(out.count(row) < k for row in out),
        "true_key": sum(sum(compatible(row, other) for other in out) < k for row in true),
    }


@given(
    files(),
    st.integers(1, 4),
    st.sampled_from(["wildcard", "category"]),
    st.permutations([1, 2, 3]) | st.just([1, 1, 1]),
    st.none() | st.integers(0, 2),
)
def test_the_guarantee_of_the_policy_holds_and_claims_are_right(frame, k, policy, ranks, seed):
    k = min(k, len(frame))
    spec = KeySpec(KEYS, missing=policy)
    importance = dict(zip(KEYS, ranks, strict=True))
    result = local_suppression(frame, spec, k_required=k, importance=importance, seed=seed)
    counted = failing(frame, result.frame, k)
    assert result.claims.set_index("claim")["records"].to_dict() == counted
    assert counted["compatible" if policy == "wildcard" else "own_class"] == 0
    if policy == "category":
        assert counted["true_key"] == 0  # a class of k holds k records compatible with each member's true key
    kept = result.frame[KEYS].notna()
    assert (result.frame[KEYS].where(kept) == frame[KEYS].where(kept)).where(kept, True).all(axis=None)
    assert result.total == int((frame[KEYS].notna() & ~kept).sum().sum()) == result.cells["cells"].sum()
    assert result.records_touched == int((frame[KEYS].notna() & ~kept).any(axis=1).sum())


@given(files(), st.integers(2, 4), st.tuples(*[st.integers(1, 3)] * 3))
def test_just_the_records_below_k_lose_a_value(frame, k, ranks):
    k = min(k, len(frame))
    result = local_suppression(frame, KEYS, k_required=k, importance=dict(zip(KEYS, ranks, strict=True)))
    below = class_table(frame, KEYS).f_k_of_records() < k
    lost = (frame[KEYS].notna() & result.frame[KEYS].isna()).any(axis=1)
    assert (lost == below).all()
    assert result.violating == below.sum() == result.records_touched


@given(files(), st.integers(2, 4), st.permutations([1, 2, 3]))
def test_no_value_could_come_back_alone(frame, k, ranks):
    """Where a record lost several values, each is needed by it or by another record."""
    k = min(k, len(frame))
    result = local_suppression(frame, KEYS, k_required=k, importance=dict(zip(KEYS, ranks, strict=True)))
    lost = frame[KEYS].notna() & result.frame[KEYS].isna()
    distinct = len(set(keys_of(frame))) == len(frame)
    for row in frame.index[(lost.sum(axis=1) > 1) & distinct]:
        for key in lost.columns[lost.loc[row]]:
            trial = result.frame.astype(object)
            trial.loc[row, key] = frame.loc[row, key]
            if failing(frame, trial, k)["compatible"] == 0:
                # Given back in parts of an eighth of the file, so a few of many may stay.
                assert (lost.sum(axis=1) > 1).sum() > 8


@given(files(), st.integers(1, 4), st.sampled_from(["wildcard", "category"]), st.randoms(use_true_random=False))
def test_neither_order_nor_index_matters_and_inputs_stay(frame, k, policy, random):
    k, spec = min(k, len(frame)), KeySpec(KEYS, missing=policy)
    before = frame.copy()
    order = random.sample(range(len(frame)), len(frame))
    shuffled = frame.iloc[order].set_axis([f"row {i}" for i in order])
    one = local_suppression(frame, spec, k_required=k).frame
    other = local_suppression(shuffled, spec, k_required=k).frame
    if policy == "wildcard":
        assert keys_of(one.iloc[order]) == keys_of(other)
    # Under category it is the order that says which of records with equal keys lose a value, and not how many.
    before_and_after = [
        sorted(map(str, zip(keys_of(was), keys_of(is_), strict=True))) for was, is_ in [(frame, one), (shuffled, other)]
    ]
    assert before_and_after[0] == before_and_after[1]
    pd.testing.assert_frame_equal(frame, before)


@given(files(), st.integers(2, 3), st.sampled_from(["wildcard", "category"]))
def test_chosen_combinations_are_all_met(frame, k, policy):
    k = min(k, len(frame))
    wanted = [{"size": 2, "k": k}, {"keys": ["a"], "k": min(3, len(frame))}]
    result = local_suppression(frame, KeySpec(KEYS, missing=policy), k_required=k, combinations=wanted)
    claim = "compatible" if policy == "wildcard" else "own_class"
    for pair in itertools.combinations(KEYS, 2):
        assert failing(frame, result.frame, k, list(pair))[claim] == 0
    assert failing(frame, result.frame, min(3, len(frame)), ["a"])[claim] == 0
    assert len(result.claims) == 3 * 4


@given(files(gaps=False), st.sampled_from(["wildcard", "category"]))
def test_within_strata_only_records_of_the_stratum_count(frame, policy):
    frame = pd.concat([frame, frame.head(3), frame.head(3)], ignore_index=True)
    frame["zone"] = ["north" if i % 2 else "south" for i in range(len(frame))]
    k = min(2, frame["zone"].value_counts().min())
    result = local_suppression(frame, KeySpec(KEYS, strata="zone", missing=policy), k_required=k)
    claim = "compatible" if policy == "wildcard" else "own_class"
    for _, rows in frame.groupby("zone").groups.items():
        assert failing(frame.loc[rows], result.frame.loc[rows], k)[claim] == 0
    assert result.frame["zone"].equals(frame["zone"])


def test_an_important_key_stays_where_others_are_enough():
    frame = pd.DataFrame({"sex": ["m", "f"] * 6, "age": [*range(1, 11), 1, 2], "zone": list("xyz") * 4})
    plain = local_suppression(frame, ["sex", "age", "zone"], k_required=2)
    kept = local_suppression(frame, ["sex", "age", "zone"], k_required=2, importance={"age": 1})
    by_variable = kept.cells.set_index("variable")["cells"]
    assert plain.cells.set_index("variable")["cells"]["age"] > by_variable["age"]
    assert by_variable["sex"] + by_variable["zone"] > 0
    # Age goes only where neither zone nor sex, both gone, would do.
    alone = frame.groupby("age")["age"].transform("size") < 2
    assert (kept.frame["age"].isna() <= alone).all()


def test_ghosts_follow_their_key_and_types_stay():
    frame = pd.DataFrame({"age": [1, 1, 1, 7], "age_group": ["0-4"] * 3 + ["5-9"], "sex": ["f"] * 4, "flag": True})
    spec = KeySpec(["age", "sex"], ghost_variables={"age": ["age_group", "flag"]})
    result = local_suppression(frame, spec, k_required=2)
    gone = [False, False, False, True]
    for name in ("age", "age_group", "flag"):
        assert result.frame[name].isna().tolist() == gone
    assert [str(result.frame[name].dtype) for name in ("age", "flag")] == ["Int64", "boolean"]
    assert result.frame["sex"].equals(frame["sex"])
    assert result.cells["role"].tolist() == ["key", "ghost", "ghost", "key"]
    assert result.total == 1


def test_the_guides_tabla_8_4():
    """INE Chile (2023), Tabla 8.4: one suppressed value; who knows the true key still finds exactly one record."""
    frame = pd.DataFrame(
        {
            "sexo": ["mujer", *["hombre"] * 3, *["mujer"] * 3],
            "zona": "rural",
            "educacion": [*["superior"] * 4, *["media"] * 3],
        }
    )
    result = local_suppression(frame, list(frame), k_required=3, importance={"sexo": 1, "zona": 1, "educacion": 2})
    assert result.frame["educacion"].isna().tolist() == [True] + [False] * 6
    assert result.total == 1
    assert class_table(result.frame, list(frame)).f_k_of_records().tolist() == [4, 3, 3, 3, 4, 4, 4]
    assert result.claims.set_index("claim")["records"].to_dict() == {"compatible": 0, "own_class": 1, "true_key": 1}


EIGHT = pd.DataFrame(
    [[1, 2, 5, 1], [1, 2, 1, 1], [1, 2, 1, 1], [3, 3, 1, 5], [4, 3, 1, 4], [4, 3, 1, 1], [6, 2, 1, 5], [1, 2, 5, 1]],
    columns=["Key1", "Key2", "Key3", "Key4"],
)


def test_as_values_of_their_own_tabla_8_4_takes_four_cells():
    """The woman's class is joined by the class that costs least: without sex, she is one of four."""
    rows = [("mujer", "rural", "superior"), *[("hombre", "rural", "superior")] * 3, *[("mujer", "rural", "media")] * 3]
    frame = pd.DataFrame(rows, columns=["sexo", "zona", "educacion"])
    result = local_suppression(frame, KeySpec(list(frame), missing="category"), k_required=3)
    assert result.frame["sexo"].isna().tolist() == [True] * 4 + [False] * 3
    assert result.total == 4


def test_nothing_of_a_suppressed_value_stays():
    frame = pd.DataFrame({0: [7_777_777, *[1] * 9], "b": pd.Categorical(["rare", *["x"] * 9])})
    result = local_suppression(frame, [0, "b"], k_required=2, importance={0: 1})
    assert list(result.frame["b"].cat.categories) == ["x"]
    result = local_suppression(frame, [0], k_required=2)
    assert 7_777_777 not in result.frame[0].array._data


def test_a_ghost_goes_wherever_its_key_is_missing():
    frame = pd.DataFrame({"region": [None, *["n"] * 5], "town": ["rare", *["c"] * 5]})
    result = local_suppression(frame, KeySpec("region", ghost_variables={"region": "town"}), k_required=3)
    assert result.frame["town"].isna().tolist() == [True] + [False] * 5


def test_too_many_combinations_are_refused_before_they_are_listed():
    frame = pd.DataFrame(np.ones((3, 40), dtype=int)).add_prefix("v")
    with pytest.raises(OptionError, match="more than 5,000 sets of keys"):
        local_suppression(frame, list(frame), k_required=2, combinations=[{"size": 20}])


# INE Chile (2023), Tabla 7.1.
TABLA_7_1 = pd.DataFrame(
    {
        "area": [*["urbano"] * 4, "rural", *["urbano"] * 5],
        "genero": [*["f"] * 3, "m", "f", "m", "f", "m", "f", "f"],
        "educacion": ["si", "si", "pi", "sc", "sc", "sc", "pc", "ps", "si", "si"],
        "trabajo": ["o", "o", "n", "o", "d", "o", "n", "d", "n", "n"],
    }
)


@pytest.mark.parametrize(("frame", "k", "cells"), [(EIGHT, 2, 4), (TABLA_7_1, 2, 6), (TABLA_7_1, 3, 11)])
def test_no_more_cells_than_sdcmicro(frame, k, cells):
    """sdcMicro 5.8 suppresses as many."""
    result = local_suppression(frame, list(frame), k_required=k)
    assert result.total <= cells
    assert failing(frame, result.frame, k, list(frame))["compatible"] == 0


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"k_required": 9}, OptionError, "k_required is 9, and there are 8 records"),
        ({"k_required": 0}, OptionError, "k_required must be a whole number from 1 on"),
        ({"k_required": 2.5}, OptionError, "k_required must be a whole number"),
        ({"k_required": 2, "importance": {"Key9": 1}}, OptionError, "Key9 is not a key variable; did you mean Key"),
        ({"k_required": 2, "importance": {"Key1": 0}}, OptionError, "importance of Key1 must be a whole number"),
        ({"k_required": 2, "importance": [1, 2]}, OptionError, "importance must be a mapping"),
        ({"k_required": 2, "combinations": [{"size": 5}]}, OptionError, "size must be a whole number from 1 to 4"),
        ({"k_required": 2, "combinations": [{"keys": ["x"]}]}, OptionError, "combinations: x is not a key variable"),
        ({"k_required": 2, "combinations": [{"keys": ["Key1"], "size": 2}]}, OptionError, "either keys or size"),
        ({"k_required": 2, "combinations": []}, OptionError, "combinations must be a list"),
        ({"k_required": 2, "combinations": [{"size": 1, "k": 10}]}, OptionError, "k_required is 10"),
    ],
)
def test_bad_options_are_refused(arguments, error, message):
    with pytest.raises(error, match=message):
        local_suppression(EIGHT, list(EIGHT), **arguments)


def test_bad_strata_and_the_policy_error_are_refused():
    frame = EIGHT.assign(zone=["n"] * 7 + ["s"])
    with pytest.raises(DataError, match="1 of 2 strata have fewer than 2 records, the smallest 1"):
        local_suppression(frame, KeySpec(list(EIGHT), strata="zone"), k_required=2)
    with pytest.raises(DataError, match="column zone: row 7: no stratum"):
        frame["zone"] = ["n"] * 7 + [None]
        local_suppression(frame, KeySpec(list(EIGHT), strata="zone"), k_required=2)
    with pytest.raises(OptionError, match="missing: suppressed values are missing"):
        local_suppression(EIGHT, KeySpec(list(EIGHT), missing="error"), k_required=2)


@pytest.mark.parametrize("policy", ["wildcard", "category"])
def test_keys_without_values_and_with_one_value_are_fine(policy):
    frame = pd.DataFrame({"a": [np.nan] * 4, "b": ["x"] * 4, "c": [1, 2, 3, 4]})
    result = local_suppression(frame, KeySpec(KEYS, missing=policy), k_required=2)
    assert failing(frame, result.frame, 2)["compatible" if policy == "wildcard" else "own_class"] == 0


def test_claims_need_the_same_records_and_values():
    released = EIGHT.astype(object).mask(EIGHT == 5)
    claims = protection_claims(EIGHT, released, list(EIGHT), k_required=2)
    assert claims.set_index("claim")["records"].to_dict() == failing(EIGHT, released, 2, list(EIGHT))
    with pytest.raises(DataError, match="column Key1: row 4 .*a value is not as it was"):
        protection_claims(EIGHT, EIGHT.replace({"Key1": {4: 7}}), list(EIGHT), k_required=2)
    with pytest.raises(DataError, match="has other records"):
        protection_claims(EIGHT, EIGHT.iloc[::-1], list(EIGHT), k_required=2)


@given(files(), st.integers(1, 4), st.sampled_from(["wildcard", "category"]), st.permutations([1, 1, 2]), st.booleans())
def test_a_claim_that_is_asked_for_holds_whatever_the_policy(frame, k, policy, ranks, apart):
    k = min(k, len(frame))
    spec, importance = KeySpec(KEYS, missing=policy), dict(zip(KEYS, ranks, strict=True))
    combinations = [{"keys": ["a", "b"]}, {"size": 1}] if apart else None
    for claim in ("compatible", "true_key", "own_class"):
        options = {"k_required": k, "importance": importance, "combinations": combinations, "claim": claim}
        result = local_suppression(frame, spec, **options)
        held = {*result.claims.loc[result.claims["records"] == 0, "claim"]}
        assert {"compatible", claim} <= held
        for columns in [["a", "b"], ["a"], ["b"], ["c"]] if apart else [KEYS]:
            assert failing(frame, result.frame, k, columns)[claim] == 0
        kept = result.frame[KEYS].notna()
        assert (result.frame[KEYS].where(kept) == frame[KEYS].where(kept)).where(kept, True).all(axis=None)


def test_true_keys_cost_few_cells_more_and_take_them_from_the_least_important_key():
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"a": rng.integers(0, 9, 400), "b": rng.integers(0, 7, 400), "c": rng.integers(0, 4, 400)})
    found = {}
    for claim in (None, "compatible", "true_key", "own_class"):
        result = local_suppression(frame, KEYS, k_required=3, importance={"a": 1, "b": 2}, claim=claim)
        found[claim] = result.cells.set_index("variable")["cells"]
    assert found[None].equals(found["compatible"])
    assert found["compatible"].sum() < found["true_key"].sum() < 1.2 * found["own_class"].sum()
    more = found["true_key"] - found["compatible"]
    assert more["c"] > 0 and more["a"] == 0
    with pytest.raises(OptionError, match="claim must be one of compatible, own_class, true_key, not 'k'"):
        local_suppression(frame, KEYS, k_required=3, claim="k")


def test_true_keys_are_sought_within_strata_and_for_counts_as_for_records():
    rng = np.random.default_rng(4)
    frame = pd.DataFrame({"a": rng.integers(0, 5, 200), "b": rng.integers(0, 6, 200), "s": rng.integers(0, 2, 200)})
    spec = KeySpec(["a", "b"], strata="s")
    result = local_suppression(frame, spec, k_required=4, claim="true_key")
    parts = [frame["s"] == stratum for stratum in (0, 1)]
    assert [failing(frame[part], result.frame[part], 4, ["a", "b"])["true_key"] for part in parts] == [0, 0]
    rows = frame.value_counts().rename("n").reset_index()
    counted = local_suppression(
        rows, spec, k_required=4, claim="true_key", counts=Counts(rows["n"].to_numpy().astype(np.int64), None)
    )
    assert counted.cells.equals(result.cells)
    assert counted.claims.equals(result.claims)
