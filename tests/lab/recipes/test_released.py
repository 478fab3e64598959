"""What the released file says of itself: its columns, what they tell of hidden values, and what it may claim."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kanon_lab import KeySpec, load_microdata
from kanon_lab.recipes import dependent_columns, final_claims, household_disclosure, protect, released_columns
from kanon_lab.recipes.verdict import final_diversity

VALUES = {"region": ["n", "s", None], "age": [1, 2, 30, 31, None], "sex": ["m", "w"]}
KEYS = list(VALUES)


@st.composite
def frames(draw):
    """A small file with gaps, households and labels that are no positions."""
    n = draw(st.integers(3, 12))
    columns = {name: draw(st.lists(st.sampled_from(values), min_size=n, max_size=n)) for name, values in VALUES.items()}
    frame = pd.DataFrame({name: pd.Series(values, dtype=object) for name, values in columns.items()})
    frame["age"] = frame["age"].astype("Int64")
    frame["home"] = draw(st.lists(st.integers(1, 4), min_size=n, max_size=n))
    return frame.set_index(pd.Index(draw(st.permutations(range(100, 100 + n)))))


def plain(frame):
    return [tuple(None if pd.isna(value) else value for value in row) for row in frame.itertuples(index=False)]


def compatible(one, other):
    return all(a is None or b is None or a == b for a, b in zip(one, other, strict=True))


def chain_of(frame, missing="wildcard", k=3):
    chain = protect(frame, KeySpec(KEYS, household="home", missing=missing)).apply("shuffle_members")
    bands = {"variable": "age", "bands": [0, 20, 40], "labels": ["young", "old"]}
    return chain.apply("recode", bands).apply("suppress", {"k_required": k})


@settings(max_examples=10)
@given(frame=frames(), missing=st.sampled_from(["wildcard", "category"]), k=st.integers(2, 4))
def test_claims_of_the_whole_file_are_counted_over_records(frame, missing, k):
    k = min(k, len(frame))
    chain = chain_of(frame, missing, k)
    claims = final_claims(chain, k).set_index("claim")["records"]
    shown = plain(chain.state.working.loc[frame.index, KEYS])
    bands = frame["age"].map(lambda age: "young" if age < 20 else "old", na_action="ignore").astype(object)
    true = plain(frame.assign(age=bands)[KEYS])
    assert claims["compatible"] == sum(sum(compatible(row, other) for other in shown) < k for row in shown)
    assert claims["own_class"] == sum(shown.count(row) < k for row in shown)
    assert claims["true_key"] == sum(sum(compatible(row, other) for other in shown) < k for row in true)
    assert claims["compatible"] == final_claims(chain, k)["records"][0]


@settings(max_examples=10)
@given(frame=frames(), missing=st.sampled_from(["wildcard", "category"]), size=st.integers(1, 3))
def test_claims_of_a_later_suppression_are_about_the_keys_before_the_first(frame, missing, size):
    """Also where a recoding stands between: an intruder knows the recoded value."""
    chain = protect(frame, KeySpec(KEYS, missing=missing)).apply("suppress", {"k_required": min(2, len(frame))})
    recoded = frame.assign(sex=[sex if pd.isna(sex) else "any" for sex in frame["sex"]])
    chain = chain.apply("recode", {"variable": "sex", "groups": {"any": ["m", "w"]}})
    k = min(3, len(frame))
    chain = chain.apply("suppress", {"k_required": k, "combinations": [{"keys": KEYS[::-1]}, {"size": size}]})
    claims = chain.steps[-1].claims
    assert claims["claim"].tolist() == ["compatible", "own_class", "true_key"] * (len(claims) // 3)
    whole = claims[:3].set_index("claim")["records"]
    assert whole.to_dict() == final_claims(chain, k).set_index("claim")["records"].to_dict()
    for keys, part in claims.groupby("keys"):
        names = keys.split(", ")
        shown, true = (plain(each[names]) for each in (chain.frame, recoded))
        failing = part.drop_duplicates("claim").set_index("claim")["records"]
        assert failing["true_key"] == sum(sum(compatible(row, other) for other in shown) < k for row in true)
        assert failing["own_class"] == sum(shown.count(row) < k for row in shown)


def test_no_risk_of_true_keys_is_claimed_after_an_earlier_suppression():
    frame = pd.DataFrame({"a": [1, 1, 1, 2, 2, 3], "b": [1, 1, 2, 2, 2, 1]})
    risky = ("suppress_risk", {"threshold": 0.5, "variables": ["a"], "estimator": "inverse"})
    first = protect(frame, ["a", "b"], estimator="inverse").apply(*risky)
    assert "true_key" in set(first.steps[0].claims["claim"])
    later = protect(frame, ["a", "b"]).apply("suppress", {"k_required": 2}).apply(*risky)
    assert later.steps[1].claims["claim"].tolist() == ["compatible", "own_class"]


@settings(max_examples=10)
@given(frame=frames())
def test_columns_and_members_are_counted_over_cells(frame):
    chain = chain_of(frame)
    released = chain.state.working.loc[frame.index]
    columns = released_columns(chain).set_index("column")
    shown = household_disclosure(chain).set_index("variable")
    for name in KEYS:
        then, now = (dict(zip(frame.index, plain(each[[name]]), strict=True)) for each in (frame, released))
        gone = [label for label in frame.index if then[label] != (None,) and now[label] == (None,)]
        assert columns["cells_suppressed"][name] == len(gone)
        other = [label for label in frame.index if now[label] != (None,) and now[label] != then[label]]
        assert columns["cells_changed"][name] == len(other)
        assert columns["distinct_values"][name] == len({*now.values()} - {(None,)})
        by_another = sum(
            any(
                frame.at[label, "home"] == frame.at[mate, "home"] and then[label] == then[mate] and now[mate] != (None,)
                for mate in frame.index
            )
            for label in gone
        )
        assert (name in shown.index) == bool(gone)
        if gone:
            assert (shown["suppressed"][name], shown["shown"][name]) == (len(gone), by_another)


def test_roles_of_released_columns():
    frame = load_microdata("health-survey")
    roles = KeySpec(
        ["age", "sex"],
        weight="weight",
        household="household",
        sensitive_variables="diagnosis",
        numeric_variables="income",
        strata="sex",
        ghost_variables={"age": "birth_date"},
        direct_identifiers="cholesterol",
    )
    level = {"key_variables": ["postcode"], "steps": []}
    columns = released_columns(protect(frame, roles).apply("household_level", level)).set_index("column")
    assert columns["role"].to_dict() == {
        "postcode": "household key",
        "birth_date": "ghost",
        "age": "key",
        "sex": "key, stratum",
        "education": "no role",
        "household": "household",
        "weight": "weight",
        "diagnosis": "sensitive",
        "income": "numeric",
    }
    assert pd.isna(columns["distinct_values"]["weight"])
    assert columns["distinct_values"]["diagnosis"] == frame["diagnosis"].nunique()


def geography(n=600, seed=0):
    """Persons in homes, each of a town in a region, with a weight by region and one by home, and an age by date."""
    rng = np.random.default_rng(seed)
    home = np.sort(rng.integers(0, n // 3, n))
    town = rng.integers(0, 40, n // 3)[home]
    days = rng.integers(0, 365 * 80, n)
    return pd.DataFrame(
        {
            "region": [f"r{each % 5}" for each in town],
            "town": [f"t{each}" for each in town],
            "age": days // 365,
            "born": days // 30,
            "w": 10.0 + town % 5,
            "home": home,
            "rent": rng.permutation(n // 3)[home] + 0.5,
            "colour": rng.choice(list("abc"), n),
            "id": rng.permutation(n),
        }
    )


def told(frame, steps, **roles):
    chain = protect(frame, KeySpec(["region", "age"], **roles))
    for name, options in steps:
        chain = chain.apply(name, options)
    return chain, {(row.variable, row.column): (row.told, row.cells) for row in dependent_columns(chain).itertuples()}


def test_columns_that_determine_a_hidden_value_are_found_and_no_others():
    frame, all_of = geography(), (600, 600)
    regions = {"variable": "region", "groups": {"north": ["r0", "r1"], "south": ["r2", "r3", "r4"]}}
    hidden = [("recode", regions)]
    chain, found = told(frame, hidden, weight="w", household="home")
    assert found == {("region", "town"): all_of, ("region", "w"): all_of}
    assert any(note.startswith("w (weight, 5 values) reveals the original region in 600 of") for note in chain.notes)
    _, found = told(frame, [("remove_variables", {"variables": ["region", "w"]})], weight="w", household="home")
    assert found == {("region", "town"): all_of}
    _, found = told(frame, [("round", {"variable": "age", "base": 20})], weight="w", household="home")
    assert set(found) == {("age", "born")}
    typo = frame.assign(town=frame["town"].mask(frame.index == 17, "t3"))
    assert ("region", "town") in told(typo, hidden, household="home")[1]
    assert told(frame, [], weight="w", household="home")[1] == {}


def test_what_tells_which_records_are_of_one_removed_household():
    chain, found = told(geography(), [("remove_variables", {"variables": ["home"]})], weight="w", household="home")
    assert {column: count for (_, column), count in found.items() if count[0] > 300} == {"rent": (600, 600)}
    assert found["home", "town"][0] < 200  # a town has five homes: a guess among them
    (note,) = [note for note in chain.notes if "belong to one household" in note]
    assert note.startswith("rent (no role, ")


def test_members_of_the_household_show_what_one_of_them_lost():
    frame = load_microdata("health-survey")
    roles = KeySpec(["postcode", "age", "sex"], weight="weight", household="household")
    chain = protect(frame, roles).apply("recode", {"variable": "age", "bands": [0, 15, 30, 45, 60, 75, None]})
    chain = chain.apply("suppress", {"k_required": 3, "importance": {"sex": 1, "age": 2, "postcode": 3}})
    (row,) = household_disclosure(chain).query("variable == 'postcode'").itertuples()
    assert 0 < row.shown <= row.suppressed
    assert row.shared == 1
    assert any(f"household reveals {row.shown} of {row.suppressed} suppressed values" in note for note in chain.notes)
    removed = chain.apply("remove_variables", {"variables": "household"})
    assert household_disclosure(removed).empty


def test_diversity_is_that_of_the_released_file():
    frame = pd.DataFrame({"a": ["x", "x", "y", "y"], "s": ["flu", "cold", "flu", "flu"], "t": [1, 2, 3, 4]})
    chain = protect(frame, KeySpec("a", sensitive_variables=["s", "t"]))
    assert final_diversity(chain)[0]["s"]["distinct"] == 1
    joined = chain.apply("recode", {"variable": "a", "groups": {"z": ["x", "y"]}})
    joined = joined.apply("remove_variables", {"variables": "t"})
    assert {name: found["distinct"] for name, found in final_diversity(joined)[0].items()} == {"s": 2}
    assert final_diversity(protect(frame, "a")) == ({}, [])


@pytest.mark.parametrize("missing", ["wildcard", "category", "error"])
def test_claims_without_steps(missing):
    frame = pd.DataFrame({"a": [1, 1, 2], "s": [1, 2, 3]})
    claims = final_claims(protect(frame, KeySpec("a", missing=missing, strata="s")), 2)
    assert claims["records"].tolist() == [1, 1, 1]


@pytest.mark.parametrize("step", [{"microaggregate": {"k_required": 3}}, {"add_noise": {"strength": 0.1}}])
def test_perturbed_quantities_have_the_decimals_that_they_came_with(step):
    """Cells such as 910472.6799999999 stood in releases of sums in cents."""
    ((name, settings),) = step.items()
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({"age": [30, 41] * 30, "sum": rng.lognormal(13, 1, 60).round(2), "rate": rng.random(60)})
    settings = {**settings, "variables": ["sum", "rate"]}
    released = protect(frame, ["age"], seed=1).apply(name, settings).frame
    assert all(len(str(value).partition(".")[2]) <= 2 for value in released["sum"])
    assert not released["sum"].equals(frame["sum"])
    assert any(len(str(value)) > 10 for value in released["rate"])
