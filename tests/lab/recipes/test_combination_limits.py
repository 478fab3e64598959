"""Limits on combinations of keys, against plain loops."""

from itertools import combinations

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon_lab import KeySpec
from kanon_lab.errors import OptionError
from kanon_lab.recipes import judge, protect
from kanon_lab.recipes.plan import as_limits
from kanon_lab.report import as_config

KEYS = ("zone", "sex", "work")


@st.composite
def frames(draw):
    n = draw(st.integers(2, 16))
    values = {"zone": ["n", "s", None], "sex": ["m", "w"], "work": ["a", "b", "c", None], "weight": [1.5, 4.0, 20.0]}
    columns = {name: draw(st.lists(st.sampled_from(of), min_size=n, max_size=n)) for name, of in values.items()}
    return pd.DataFrame({name: pd.Series(column, dtype=object) for name, column in columns.items()})


def alike(frame, keys, missing):
    """For each record, those that it may be alike with by these keys."""
    gap = {"wildcard": "any", "category": "?"}[missing]
    rows = frame[list(keys)].where(frame[list(keys)].notna(), gap).to_numpy().tolist()
    may = [[all(a == b or "any" in (a, b) for a, b in zip(r, s, strict=True)) for s in rows] for r in rows]
    return [[number for number, same in enumerate(row) if same] for row in may]


@given(frame=frames(), missing=st.sampled_from(["wildcard", "category"]), size=st.integers(1, 3), k=st.integers(1, 5))
def test_each_set_of_keys_is_counted(frame, missing, size, k):
    frame["weight"] = frame["weight"].astype(float)
    spec = KeySpec(KEYS, weight="weight", missing=missing)
    limits = [{"size": size, "at_least": k}, {"keys": ["work", "sex"], "persons": 7 * k}]
    judged = judge(protect(frame, spec), as_limits({"combinations": limits}, spec=spec))
    records, persons = judged.to_dict()["limits"][:2]
    of_sets = [[len(same) for same in alike(frame, keys, missing)] for keys in combinations(KEYS, size)]
    assert records["value"] == min(map(min, of_sets))
    assert records["records"] == max(sum(count < k for count in counts) for counts in of_sets)
    assert records["met"] == (records["value"] >= k)
    weights = [sum(frame["weight"].iloc[same]) for same in alike(frame, ["work", "sex"], missing)]
    assert (persons["value"], persons["records"]) == (int(min(weights)), sum(w < 7 * k for w in weights))
    assert persons["variable"] == "work, sex (estimated persons)"


@given(frame=frames(), k=st.integers(2, 3))
def test_where_keys_are_suppressed_an_intruder_knows_the_true_ones(frame, k):
    frame["weight"] = frame["weight"].astype(float)
    spec, keys = KeySpec(KEYS, weight="weight"), ["zone", "sex"]
    chain = protect(frame, spec).apply("suppress_risk", {"threshold": 0.3, "variables": keys[:1]})
    limits = [{"keys": keys, "at_least": k}, {"keys": keys, "persons": 9}]
    records, persons = judge(chain, as_limits({"combinations": limits}, spec=spec)).to_dict()["limits"][:2]
    true, shown = (data[keys].where(data[keys].notna(), "any").to_numpy().tolist() for data in (frame, chain.frame))
    may = [[all(a == b or "any" in (a, b) for a, b in zip(t, s, strict=True)) for s in shown] for t in true]
    counts = [sum(row) for row in may]
    weights = [sum(frame["weight"][row]) for row in may]
    assert (records["value"], records["records"]) == (min(counts), sum(count < k for count in counts))
    assert (persons["value"], persons["records"]) == (int(min(weights)), sum(weight < 9 for weight in weights))


def test_a_key_that_is_not_released_is_left_out():
    frame = pd.DataFrame({"zone": [*"nns"], "sex": [*"mmm"]})
    chain = protect(frame, KeySpec(["zone", "sex"])).apply("remove_variables", {"variables": "zone"})
    limits = as_limits({"combinations": [{"keys": "zone", "at_least": 2}, {"size": 1, "at_least": 2}]}, spec=chain.spec)
    row, *_ = judge(chain, limits).to_dict()["limits"]
    assert (row["variable"], row["value"], row["met"], row["columns"]) == ("any 1 of the keys", 3, True, ["sex"])


@pytest.mark.parametrize(
    ("entries", "fault"),
    [
        ({"size": 2}, "limits: combinations must be a list, such as"),
        ([{"size": 2}], "limits: combinations: 1: write keys or size, and at_least or persons"),
        (
            [{"size": 1, "at_least": 3}, {"size": 4, "persons": 3}],
            "limits: combinations: 2: size must be a whole number",
        ),
        (
            [{"keys": ["zone", "sez"], "at_least": 3}],
            "limits: combinations: 1: keys: sez is not a key variable; did you",
        ),
        ([{"keys": [], "at_least": 3}], "limits: combinations: 1: keys: name at least one key variable"),
        ([{"keys": "sex", "at_least": 0}], "limits: combinations: 1: at_least must be a whole number from 1 on"),
        ([{"keys": "sex", "persons": "x"}], "limits: combinations: 1: persons must be a whole number from 1 on"),
        ([3], "limits: combinations: 1: write keys or size"),
    ],
)
def test_every_fault_is_one_line(entries, fault):
    with pytest.raises(OptionError) as caught:
        as_config({"key_variables": list(KEYS), "limits": {"combinations": entries}}, name="r.yml")
    assert str(caught.value).startswith(f"r.yml: {fault}")
    assert "\n" not in str(caught.value)
