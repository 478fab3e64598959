"""Persons with several records: suppression, the path attack, and identifiers that repeat without the role."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kanon_lab import KeySpec, class_table, measures, protect
from kanon_lab.engines import count_frame
from kanon_lab.errors import OptionError
from kanon_lab.measures import with_path
from kanon_lab.methods import local_suppression, suppress_above_risk
from kanon_lab.recipes import as_recipe, judge, risk_utility_map

KEYS = ["year", "zone", "work"]


@pytest.fixture(scope="module")
def panel():
    """Persons asked in six years, as in the case of the review: 150 of them, whose paths are all different."""
    rng = np.random.default_rng(1)
    frame = {"id": np.repeat(np.arange(150), 6), "year": np.tile(np.arange(2015, 2021), 150)}
    return pd.DataFrame(frame | {"zone": rng.choice([*"NSEW"], 900), "work": rng.choice(["yes", "no"], 900)})


def verdict(panel, **settings):
    plan = as_recipe({"key_variables": KEYS, "limits": {"k": 3}, **settings})
    judged = judge(plan.apply(panel), plan.limits)
    return judged.verdict.set_index("name"), judged


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.tuples(*[st.integers(0, 2)] * 3, st.integers(0, 5)), min_size=6, max_size=25),
    st.sampled_from(["wildcard", "category"]),
    st.sampled_from([None, "compatible", "true_key", "own_class"]),
    st.integers(2, 3),
)
def test_suppression_reaches_k_in_persons(rows, missing, claim, k):
    file = pd.DataFrame(rows, columns=[*"abcp"])
    if file["p"].nunique() < k:
        return
    spec = KeySpec([*"abc"], person="p", missing=missing)
    result = local_suppression(file, spec, k_required=k, claim=claim)
    reached = claim or ("compatible" if missing == "wildcard" else "own_class")
    assert result.claims.set_index("claim")["records"][reached] == 0
    if claim is None:
        assert class_table(result.frame, spec).k_achieved >= k
    shown = result.frame[[*"abc"]]
    assert (shown.isna() | (shown == file[[*"abc"]])).all(axis=None)


def test_a_risk_is_that_of_persons(panel):
    spec = KeySpec(KEYS, person="id")
    result = suppress_above_risk(panel, spec, threshold=0.07, variables=["year"])
    table = class_table(result.frame, spec)
    above = table.units_in(1 / table.f_k > 0.07)
    assert result.claims.set_index("claim")["records"]["compatible"] == above


def test_a_person_that_is_shown_needs_a_word_on_paths(panel):
    kept, _ = verdict(panel, person="id")
    assert not kept["met"]["person_uniques"] and not kept["met"]["identifiers_found"]
    assert kept["found"]["person_uniques"] == 150
    renumbered, _ = verdict(panel, person="id", steps=[{"renumber": {}}], limits={"k": 3, "person_uniques": 150})
    assert renumbered["met"].all()


def test_without_the_person_the_order_must_not_tell_it(panel):
    removed = {"remove_variables": {"variables": ["id"]}}
    ordered, _ = verdict(panel, person="id", steps=[removed])
    assert ordered["found"]["person_uniques"] == 150
    shuffled, judged = verdict(panel, person="id", steps=[removed, {"shuffle_records": {"seed": 5}}])
    assert judged.met and shuffled["found"]["person_uniques"] == 0


@pytest.mark.parametrize("role", ["direct_identifiers", "released_as_is"])
def test_an_identifier_that_repeats_without_the_role_is_not_met(panel, role):
    found, judged = verdict(panel, **{role: ["id"]})
    assert found["columns"]["repeated_identifiers"] == ("id",) and not judged.met
    _, judged = verdict(panel, **{role: ["id"]}, limits={"k": 3, "repeated_identifiers": None})
    assert judged.met


@pytest.mark.parametrize(("persons", "waves"), [(40, 2), (30, 2), (12, 240)])
def test_small_and_long_panels_are_recognised(persons, waves):
    rng = np.random.default_rng(6)
    frame = pd.DataFrame({"id": np.repeat(np.arange(persons), waves), "year": np.tile(np.arange(waves), persons)})
    frame = frame.assign(zone=rng.choice([*"NS"], len(frame)), work=rng.choice(["yes", "no"], len(frame)))
    roles = {"key_variables": ["zone", "work"], "released_as_is": ["id", "year"]}
    found, judged = verdict(frame.sample(frac=1, random_state=1), **roles)
    assert "id" in found["columns"]["repeated_identifiers"] and not judged.met


def test_names_dates_and_what_members_share_do_not_repeat(panel):
    rng = np.random.default_rng(2)
    many = panel.assign(
        born=pd.Timestamp("1950-01-01") + pd.to_timedelta(rng.integers(0, 200, 900), unit="D"),
        name=[f"name {i}" for i in rng.integers(0, 5000, 900)],
        home=np.arange(900) // 3,
        phone=np.arange(900) // 3 + 600_000,
        tenure=rng.choice([*"abc"], 900),
    ).drop(columns="id")
    roles = {"household": "home", "direct_identifiers": ["born", "name", "phone"], "released_as_is": ["tenure"]}
    found, _ = verdict(many, **roles)
    assert "repeated_identifiers" not in found.index


def test_hidden_keys_that_other_records_of_the_person_show_are_counted():
    rng = np.random.default_rng(4)
    zone = rng.choice([*"ABCDEFGH"], 120)
    frame = pd.DataFrame(
        {"id": np.repeat(np.arange(120), 4), "zone": np.repeat(zone, 4), "age": rng.integers(0, 8, 480)}
    )
    chain = protect(frame, KeySpec(["zone", "age"], person="id")).apply("suppress", {"k_required": 5})
    found = judge(chain, {"k": 5, "shown_by_records": 0}).verdict.set_index("name")["found"]
    assert found["shown_by_records"] > 0
    gone = chain.apply("remove_variables", {"variables": ["id"]})
    assert judge(gone, {"k": 5, "shown_by_records": 0}).verdict.set_index("name")["found"]["shown_by_records"] == 0


def test_the_map_counts_persons(panel):
    recipe = {"key_variables": KEYS, "person": "id", "limits": {"k": 12, "person_uniques": 150}, "seed": 1}
    steps = [{"suppress": {"k_required": "$k", "claim": "true_key"}}, {"renumber": {}}]
    mapped = risk_utility_map(panel, {**recipe, "steps": steps}, {"k": [12, 14]}, workers=1)
    assert mapped.points["k_achieved"].tolist()[1] >= 14
    assert mapped.points["global_risk"].is_monotonic_decreasing and not mapped.unjudged


def test_a_person_has_no_other_role():
    for other in ({"weight": "id"}, {"household": "id"}, {"direct_identifiers": "id"}, {"strata": "id"}):
        with pytest.raises(OptionError, match="id is .*: give it one of the two roles"):
            KeySpec(KEYS, person="id", **other)


def test_counts_give_the_same_as_records(panel):
    rng = np.random.default_rng(6)
    some = panel.assign(zone=panel["zone"].where(rng.random(900) > 0.1), w=rng.integers(1, 9, 900) / 4 + 1)
    spec = KeySpec(["zone", "work"], person="id", weight="w", sensitive_variables="year")
    records, counts = class_table(some, spec), count_frame(some, spec).table()
    assert counts.f_k.tolist() == records.f_k.tolist() and counts.F_k.tolist() == pytest.approx(records.F_k.tolist())
    assert counts.n_units == 150 and counts.violations([120]) == records.violations([120])
    assert with_path(counts) == with_path(records)
    assert counts.sensitive_counts("year").count.tolist() == records.sensitive_counts("year").count.tolist()


@pytest.mark.parametrize("method", ["suda", "loglinear"])
def test_what_counts_records_refuses_a_person(panel, method):
    table = class_table(panel, KeySpec(KEYS, person="id"))
    with pytest.raises(OptionError, match="counts records, and id names persons; use one record of each person"):
        getattr(measures, method)(table, sampling_fraction=0.1)
