"""A release held against the limits of an office."""

import json
from collections import Counter

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kanon_lab import KeySpec, class_table
from kanon_lab.errors import OptionError
from kanon_lab.measures import file_risk, with_household_composition
from kanon_lab.methods import CLAIMS
from kanon_lab.recipes import final_claims, protect
from kanon_lab.recipes.plan import as_limits
from kanon_lab.recipes.verdict import decisive_claim, judge

KEYS = ["region", "sex"]
ATTACKS = ["exposed_by_columns", "shown_by_members", "shown_by_neighbours"]
ALWAYS = ["unassigned_columns", "identifiers_found"]


@st.composite
def frames(draw):
    """A small survey with gaps, weights and households."""
    n = draw(st.integers(6, 30))

    def column(values):
        return draw(st.lists(st.sampled_from(values), min_size=n, max_size=n))

    return pd.DataFrame(
        {
            "region": pd.Series(column(["n", "s", "e", None]), dtype=object),
            "sex": column(["m", "w"]),
            "home": column([1, 2, 3, 4, 5]),
            "weight": column([1.5, 4.0, 20.0]),
            "illness": column(["a", "b", "c"]),
        }
    )


def chain_of(frame, missing="wildcard"):
    roles = {"weight": "weight", "household": "home", "sensitive_variables": ["illness"], "missing": missing}
    return protect(frame, KeySpec(KEYS, **roles)).apply("suppress", {"k_required": 2})


@given(frame=frames())
def test_uniques_with_the_composition_of_the_household_as_a_plain_loop_counts_them(frame):
    table = class_table(frame, KeySpec(KEYS, household="home"))
    rows = [tuple("?" if pd.isna(value) else value for value in row) for row in frame[KEYS].itertuples(index=False)]
    homes = {home: tuple(sorted(rows[i] for i in part.index)) for home, part in frame.groupby("home")}
    counts = Counter((row, homes[home]) for row, home in zip(rows, frame["home"], strict=True))
    found = with_household_composition(table)
    assert found["sample_uniques"] == sum(count == 1 for count in counts.values())
    assert (found["classes"], found["k_achieved"]) == (len(counts), min(counts.values()))


@settings(max_examples=15)
@given(frame=frames(), missing=st.sampled_from(["wildcard", "category"]), share=st.floats(0.01, 0.9))
def test_every_limit_is_met_just_where_what_was_measured_keeps_to_it(frame, missing, share):
    chain = chain_of(frame, missing)
    last, table = chain.state.measured, class_table(chain.frame, chain.spec)
    risk = file_risk(table).risk
    limits = {
        "k": 2,
        "compatible": 2,
        "true_key": 2,
        "own_class": 2,
        "global_risk": share,
        "household_risk": share,
        "individual_risk": share,
        "above_risk": {share: 3},
        "key_linkage": share,
        "distinct": 2,
        "entropy": {"illness": 1.5},
        "t_closeness": share,
        "household_uniques": 1,
    }
    judged = judge(chain, as_limits(limits, spec=chain.spec))
    met = judged.verdict.set_index("name")["met"]
    found = judged.verdict.set_index("name")["found"]
    claims = final_claims(chain, 2).set_index("claim")["records"]
    assert met["k"] == (claims[{"wildcard": "true_key", "category": "own_class"}[missing]] == 0)
    assert (met["k"], found["k"] >= 2) == (met[decisive_claim(chain)], met["k"])
    assert {claim: met[claim] for claim in CLAIMS} == (claims == 0).to_dict()
    for name in ("global_risk", "household_risk", "key_linkage"):
        assert (found[name], met[name]) == (last[name], last[name] <= share)
    assert (found["individual_risk"], met["individual_risk"]) == (risk.max(), risk.max() <= share)
    assert found["above_risk"] == (risk > share * (1 + 1e-9)).sum()
    illness = [set(part) for _, part in frame["illness"].groupby(table.class_of_record)]
    if missing == "category":
        assert found["distinct"] == min(map(len, illness))
    assert met["exposed_by_columns"] == (found["exposed_by_columns"] == 0)
    assert judged.met == met.all()
    told = json.loads(json.dumps(judged.to_dict()))
    assert [row["name"] for row in told["limits"]] == [*limits, *ATTACKS, *ALWAYS]
    assert {row["bound"] for row in told["limits"] if row["name"] in ("k", *CLAIMS, "distinct")} == {"at least"}
    assert told["limits"][7]["level"] == share


FRAME = pd.DataFrame({"age": range(20, 60)})


def test_a_limit_on_what_cannot_be_measured_is_not_met_and_one_on_what_is_not_released_does_not_bind():
    frame = pd.DataFrame({"age": range(20, 60), "sex": ["m", "w"] * 20, "illness": ["a", "b", "c", "c"] * 10})
    spec = KeySpec(["age", "sex"], sensitive_variables=["illness"])
    noisy = protect(frame, spec).apply("add_noise", {"variables": "age", "strength": 0.5})
    (row,) = judge(noisy, {"key_linkage": 0.5}).verdict.itertuples()
    assert pd.isna(row.found)
    assert not row.met
    assert judge(noisy, {"key_linkage": 0.5}).to_dict()["limits"][0]["value"] is None
    quantities = protect(frame, KeySpec(["sex"], numeric_variables=["age"]))
    linked = quantities.state.measured["numeric_linkage"]
    assert (
        judge(quantities, {"numeric_linkage": linked}).verdict["met"].all()
        and not judge(quantities, {"numeric_linkage": 0.9 * linked}).met
    )
    gone = protect(frame, spec).apply("remove_variables", {"variables": "illness"})
    assert judge(gone, as_limits({"distinct": 3}, spec=spec)).verdict["name"].tolist() == ALWAYS


def test_limits_that_say_nothing_of_who_can_be_found_are_none_by_themselves():
    """Everybody is unique in this file, and each of these limits is met."""
    frame = pd.DataFrame({"age": range(20, 60), "illness": ["a", "b"] * 20})
    spec = KeySpec(["age"], sensitive_variables=["illness"])
    for limits in ({"distinct": 1}, {"exposed_by_columns": 0}, {"shown_by_neighbours": 0}, {"unassigned_columns": 0}):
        judged = judge(protect(frame, spec), as_limits(limits, spec=spec))
        assert judged.verdict["met"].all()
        assert not judged.met
        assert judge(protect(frame, spec), as_limits({"above_risk": {1: 1}, **limits}, spec=spec)).met


@pytest.mark.parametrize(
    "limits", [{"k": 1}, {"global_risk": 1}, {"true_key": 1}, {"combinations": [{"size": 1, "at_least": 1}]}]
)
def test_a_limit_that_every_file_meets_is_no_limit(limits):
    judged = judge(protect(FRAME, ["age"]), as_limits(limits, spec=KeySpec(["age"])))
    assert judged.verdict["met"].all()
    assert not judged.met


@settings(max_examples=12, deadline=None)
@given(frame=frames(), persons=st.booleans())
def test_diversity_is_that_of_the_records_whom_an_intruder_with_true_keys_meets(frame, persons):
    spec = KeySpec(KEYS, sensitive_variables=["illness"], person="home" if persons else None)
    chain = protect(frame, spec).apply("suppress", {"k_required": 2})
    released = chain.aligned
    true, shown = ([tuple(row) for row in part[KEYS].itertuples(index=False)] for part in (frame, released))

    def alike(one, other):
        return all(pd.isna(x) or pd.isna(y) or x == y for x, y in zip(one, other, strict=True))

    hidden = [any(pd.isna(y) and not pd.isna(x) for x, y in zip(*rows, strict=True)) for rows in zip(true, shown)]
    # Without a hidden key an intruder looks at the released class.
    met = [
        {frame["illness"][j] for j, row in enumerate(shown) if alike(true[i] if hidden[i] else shown[i], row)}
        for i in range(len(frame))
    ]
    judged = judge(chain, as_limits({"k": 2, "distinct": 1}, spec=spec))
    assert judged.verdict.set_index("name").loc["distinct", "found"] == min(map(len, met))
    alone = {frame["home"][i] if persons else i for i, values in enumerate(met) if len(values) == 1}
    cautions = judge(chain, as_limits({"k": 2}, spec=spec)).cautions
    assert sum(caution.count for caution in cautions if caution.key == "homogeneous") == len(alone)


def test_classes_of_one_value_and_household_ids_as_they_came_are_cautions_until_something_is_done():
    frame = pd.DataFrame({"age": [1, 1, 1, 2, 2, 2], "illness": [*"aaabca"], "home": [7, 7, 8, 8, 9, 9]})
    spec = KeySpec(["age"], sensitive_variables=["illness"], household="home")
    chain = protect(frame, spec)

    def counted(chain, limits):
        cautions = judge(chain, as_limits(limits, spec=spec)).cautions
        return {c.key: c.count for c in cautions if c.key in ("homogeneous", "household_values")}

    assert counted(chain, {"k": 3}) == {"homogeneous": 3, "household_values": None}
    assert counted(chain.apply("renumber"), {"k": 3, "distinct": 1}) == {}
    assert counted(chain.apply("renumber"), {"k": 3}) == {"homogeneous": 3}
    gone = chain.apply("remove_variables", {"variables": ["home", "illness"]})
    assert counted(gone, {"k": 3}) == {}


def test_a_column_of_which_nobody_has_said_anything_is_not_met():
    frame = pd.DataFrame({"sex": ["m", "w"] * 9, "mail": [f"by {n % 5}" for n in range(18)], "year": 2019, "flat": "a"})
    spec = KeySpec(["sex"], released_as_is=["year"])
    chain, limits = protect(frame, spec), as_limits({"k": 2}, spec=spec)
    judged = judge(chain, limits)
    (row,) = [row for row in judged.to_dict()["limits"] if row["columns"]]
    assert (row["name"], row["value"], row["met"], row["columns"]) == ("unassigned_columns", 2, False, ["mail", "flat"])
    assert not judged.met
    assert judge(chain.apply("remove_variables", {"variables": ["mail", "flat"]}), limits).met
    assert judge(protect(frame, KeySpec(["sex"], released_as_is=["year", "mail", "flat"])), limits).met
    assert judge(chain, as_limits({"k": 2, "unassigned_columns": 2}, spec=spec)).met
    for twice in ({"released_as_is": ["sex"]}, {"released_as_is": ["mail"], "direct_identifiers": ["mail"]}):
        with pytest.raises(OptionError, match="and listed under released_as_is: give it one of the two roles"):
            KeySpec(["sex"], **twice)


def test_without_a_k_columns_do_not_bind_but_are_cautioned_of():
    age = [n % 9 for n in range(200)]
    frame = pd.DataFrame({"age": age, "sex": ["m"] * 200, "decade": [2 * each + 50 for each in age]})
    frame.loc[0, ["age", "decade"]] = [30, 110]
    chain = protect(frame, KeySpec(["age", "sex"])).apply("recode", {"variable": "age", "width": 50})
    judged = judge(chain, {})
    assert not judged.met  # no limit was set
    assert {each.key: each.count for each in judged.cautions} == {"exposed": 1}
    assert judge(chain, {"k": 2}).met
    assert not judge(chain, as_limits({}, spec=chain.spec, k_required=2)).met
    assert not judge(chain, as_limits({"true_key": 2}, spec=chain.spec)).met
    assert judge(chain, {"true_key": 4, "compatible": 3}).k == 4
    assert judge(chain, {"k": 2, "exposed_by_columns": 1}).met


@pytest.mark.parametrize("missing", ["wildcard", "category"])
def test_cautions_count_what_no_limit_counts(missing):
    rows = [("n", "m", 1), ("n", "m", 1), ("s", "w", 2), ("s", "w", 3), ("e", "w", 4), ("n", "w", 5), ("n", "w", 6)]
    frame = pd.DataFrame(rows, columns=[*KEYS, "home"])
    chain = protect(frame, KeySpec(KEYS, household="home", missing=missing)).apply("suppress", {"k_required": 2})
    cautions = {each.key: each for each in judge(chain, {"k": 2}).cautions}
    claims = final_claims(chain, 2).set_index("claim")["records"]
    assert ("own_class" in cautions) == (claims["own_class"] > claims["compatible"])
    assert "true_key" not in cautions  # the limit on k counts it
    without = {each.key for each in judge(chain, {}, k_required=2).cautions}
    assert ("true_key" in without) == (claims["true_key"] > claims["compatible"])
    assert not {each.key for each in judge(chain, {"own_class": 2, "household_uniques": 9}).cautions} & {
        "own_class",
        "household_size",
        "household_composition",
    }
    unique = chain.state.measured.with_household_size["sample_uniques"]
    assert ("household_size" in cautions) == (unique > 0)
    assert all("\n" not in each.text for each in cautions.values())
