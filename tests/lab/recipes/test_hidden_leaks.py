"""Leaks in disguise: two columns together, gaps, the order, persons under another role, other names of keys."""

import numpy as np
import pandas as pd
import pytest

from kanon_lab import KeySpec, protect
from kanon_lab.recipes import as_recipe, judge
from kanon_lab.recipes.exposure import exposed_by_columns

BANDS = {"variable": "age", "bands": [0, 15, 30, 45, 60, 75, None]}
KEYS = ["commune", "sex", "age"]


@pytest.fixture(scope="module")
def file():
    """900 persons in 60 communes, of which some are small."""
    rng = np.random.default_rng(7)
    commune = 100 + np.minimum(rng.geometric(0.06, 900), 60)
    frame = pd.DataFrame({"commune": commune, "sex": rng.choice([*"fm"], 900), "age": rng.integers(0, 90, 900)})
    return frame.assign(diag=rng.choice(["none", "flu", "other"], 900))


def release(frame, *steps, **settings):
    plan = as_recipe(
        {"key_variables": KEYS, "sensitive_variables": ["diag"], "limits": {"k": 3}, "steps": [*steps]} | settings
    )
    judged = judge(plan.apply(frame), plan.limits)
    return judged.verdict.set_index("name"), judged


@pytest.mark.parametrize("sign", [1, -1])
def test_a_sum_of_two_columns_counts_as_a_copy_does(file, sign):
    rng = np.random.default_rng(1)
    part = rng.integers(0, 40, 900)
    steps = {"recode": BANDS}, {"suppress": {"k_required": 3}}
    both = file.assign(first=file["age"] - sign * part, second=part)
    found, _ = release(both, *steps, released_as_is=["first", "second"])
    copy, _ = release(file.assign(copy=file["age"]), *steps, released_as_is=["copy"])
    assert found.loc["exposed_by_columns", "found"] == pytest.approx(copy.loc["exposed_by_columns", "found"], rel=0.02)
    assert {*found.loc["exposed_by_columns", "columns"]} == {"first", "second"}
    other = file.assign(first=rng.integers(0, 60, 900), second=part)
    assert release(other, *steps, released_as_is=["first", "second"])[0].loc["exposed_by_columns", "met"]


def test_an_empty_cell_hides_no_leak(file):
    small = file["commune"].map(file["commune"].value_counts()) < 15
    shown = file["commune"].astype(str)
    counts = []
    for other in (None, "none"):
        frame = file.assign(x=shown.where(small, other))
        chain = protect(frame, KeySpec(KEYS[:2])).apply("suppress", {"k_required": 15, "importance": {"sex": 1}})
        counts.append(exposed_by_columns(chain, 15).records)
    assert counts[0] == pytest.approx(counts[1], rel=0.03) and counts[0] > 50


@pytest.mark.parametrize("by", [["age"], ["commune", "age"]])
def test_a_sorted_file_tells_what_its_order_tells(file, by):
    frame = file.sort_values(by, ignore_index=True)
    steps = {"recode": BANDS}, {"suppress": {"k_required": 3}}
    found, _ = release(frame, *steps)
    numbered, _ = release(frame.assign(row=range(900)), *steps, released_as_is=["row"])
    assert found.loc["shown_by_neighbours", "found"] == numbered.loc["exposed_by_columns", "found"] > 20
    shuffled, _ = release(frame, *steps, {"shuffle_records": {"seed": 3}})
    assert shuffled.loc["shown_by_neighbours", "met"]


@pytest.mark.parametrize("role", ["removed", "key", "strata"])
def test_persons_are_recognised_under_any_role(role):
    rng = np.random.default_rng(2)
    frame = pd.DataFrame({"pid": np.repeat(np.arange(300), 3), "wave": np.tile([*"abc"], 300)})
    frame = frame.assign(commune=rng.integers(0, 4, 900), sex=rng.choice([*"fm"], 900), age=1, diag="flu")
    settings = {"released_as_is": ["wave"]}
    settings |= {"key": {"key_variables": [*KEYS, "pid"]}, "strata": {"strata": ["pid"]}, "removed": {}}[role]
    steps = [{"remove_variables": {"variables": ["pid"]}}] if role == "removed" else []
    found, _ = release(frame.sample(frac=1, random_state=1), *steps, **settings)
    assert found.loc["repeated_identifiers", "columns"] == ("pid",)


def test_an_earlier_release_that_nothing_links_needs_a_word(file, tmp_path):
    file.iloc[1:].to_csv(tmp_path / "old.csv", index=False)
    coarse, limits = [{"recode": BANDS}, {"suppress": {"k_required": 3}}], {"k": 3, "k_with": 3}
    earlier = {"file": str(tmp_path / "old.csv")}
    found, judged = release(file, *coarse, limits=limits, earlier_release=earlier)
    assert not found.loc["k_with", "met"] and judged.unknown == ["k_with"]
    earlier |= {"same_order": False}
    assert release(file, *coarse, limits=limits, earlier_release=earlier)[0].loc["k_with", "found"] is not None
    file.rename(columns={"commune": "municipality"}).to_csv(tmp_path / "old.csv", index=False)
    _, judged = release(file, *coarse, limits=limits, earlier_release=earlier)
    assert "editions_key_in_one" in {caution.key for caution in judged.cautions}


def test_what_people_know_is_not_released_as_it_is_without_a_word(file):
    _, judged = release(file, key_variables=["diag"], sensitive_variables=[], released_as_is=KEYS)
    (caution,) = [caution for caution in judged.cautions if caution.key == "key_by_name"]
    assert caution.columns == tuple(KEYS)
