"""Records linked by true keys and true quantities together, and the caution where no limit counts them."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kanon_lab.recipes import as_recipe, joint_links, judge
from kanon_lab.recipes.joint_links import joint_linkage, released_beside_original

KEYS, QUANTITIES = ["sex", "town"], ["cost", "days"]
NUMBER = st.one_of(st.integers(0, 6), st.none())


@st.composite
def frames(draw):
    n = draw(st.integers(5, 16))
    rows = [(draw(st.sampled_from("mw")), draw(st.sampled_from("abc")), draw(NUMBER), draw(NUMBER)) for _ in range(n)]
    frame = pd.DataFrame(rows, columns=[*KEYS, *QUANTITIES], index=[f"r{i}" for i in range(n)])
    frame[QUANTITIES] = frame[QUANTITIES].astype(float)
    frame.iloc[:3, 2:] = [[0, 1], [4, 5], [2, 2]]
    return frame


def linked(frame, released):
    """Mean over records of the chance that the nearest of those with compatible keys is the right one."""
    deviation, chances = frame[QUANTITIES].std(), []
    for label, true in frame.iterrows():
        far = {}
        for other, shown in released.iterrows():
            if all(pd.isna(shown[key]) or shown[key] == true[key] for key in KEYS):
                squares = [((true[name] - shown[name]) / deviation[name]) ** 2 for name in QUANTITIES]
                known = [square for square in squares if not pd.isna(square)]
                far[other] = math.sqrt(sum(known) / len(known)) if known else math.inf
        nearest = [other for other, apart in far.items() if apart <= min(far.values()) * (1 + 1e-9)]
        chances.append((label in nearest) / max(len(nearest), 1))
    return sum(chances) / len(chances)


def measure_release(chain):
    return joint_linkage(released_beside_original(chain))


@settings(max_examples=30)
@given(frame=frames(), seed=st.integers(0, 99), pram=st.booleans(), groups=st.sampled_from([0, 2, 3]))
def test_links_by_both_are_those_of_a_plain_loop(frame, seed, pram, groups):
    steps = [{"suppress": {"k_required": 2}}, {"shuffle_records": {}}]
    if pram and frame["town"].nunique() > 1:
        steps.insert(0, {"pram": {"variables": ["town"], "keep": 0.6}})
    if groups:
        steps.insert(0, {"microaggregate": {"variables": ["cost"], "k_required": groups, "missing": "leave"}})
    chain = as_recipe({"key_variables": KEYS, "numeric_variables": QUANTITIES, "seed": seed, "steps": steps}).apply(
        frame
    )
    assert measure_release(chain) == pytest.approx(linked(frame, chain.ordered))


def _discharges(n=400, **settings):
    """A file of which each class and each group of costs is safe, and both together are not."""
    rng = np.random.default_rng(4)
    ages, costs = rng.choice(["0-39", "40-64", "65+"], n), np.exp(rng.normal(7, 1, n)).round(2)
    frame = pd.DataFrame({"age": ages, "ward": rng.choice([*"ABCDEFGH"], n), "cost": costs})
    roles = {"key_variables": ["age", "ward"], "numeric_variables": ["cost"]}
    steps = [{"microaggregate": {"variables": ["cost"], "k_required": 10}}, {"shuffle_records": {}}]
    return frame, as_recipe({**roles, "seed": 1, "limits": {"k": 3}, "steps": steps, **settings})


def _judged(**settings):
    frame, recipe = _discharges(**settings)
    return judge(recipe.apply(frame), recipe.limits)


def test_a_caution_names_what_the_quantities_add_to_the_keys():
    judged = _judged()
    (caution,) = (caution for caution in judged.cautions if caution.key == "joint_linkage")
    frame, recipe = _discharges()
    share = measure_release(recipe.apply(frame))
    last = recipe.apply(frame).state.measured
    assert max(last["key_linkage"], last["numeric_linkage"]) < 0.11 and 0.5 < share == caution.text.parts["linked"]
    assert caution.columns == ("cost",) and "knows cost besides the keys" in caution.text


@pytest.mark.parametrize(("limit", "met"), [(0.1, False), (1, True)])
def test_a_limit_takes_the_place_of_the_caution(limit, met):
    judged = _judged(limits={"k": 3, "joint_linkage": limit})
    assert judged.met == met and "joint_linkage" not in [caution.key for caution in judged.cautions]


@pytest.mark.parametrize(
    "change",
    [
        {"numeric_variables": [], "released_as_is": ["cost"]},
        {"key_variables": [], "released_as_is": ["age", "ward"], "limits": {}},
        {"steps": [{"recode": {"variable": "cost", "bands": [0, 500, 2000, None]}}]},
        {"key_variables": ["age", "cost"], "steps": [{"add_noise": {"variables": "cost", "strength": 0.1}}]},
    ],
    ids=["no quantities", "no keys", "bands", "a key with noise"],
)
def test_nothing_is_linked_without_keys_or_quantities(change):
    frame, recipe = _discharges(**change)
    assert measure_release(recipe.apply(frame)) is None
    assert "joint_linkage" not in [caution.key for caution in judge(recipe.apply(frame), recipe.limits).cautions]


def test_fewer_records_are_linked_where_each_meets_many(monkeypatch):
    frame, recipe = _discharges(n=3000)
    chain = recipe.apply(frame)
    whole = measure_release(chain)
    monkeypatch.setattr(joint_links, "_MOST_PAIRS", 1)
    assert measure_release(chain) == pytest.approx(whole, abs=0.1)
