"""True keys, and who is linked by them, whatever the steps did."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from kanon_lab.columns import as_text
from kanon_lab.recipes import final_claims, protect
from kanon_lab.roles import KeySpec

KEYS = ["sex", "age"]
BANDS = {"variable": "age", "bands": [0, 20, 40], "labels": ["young", "old"]}


@st.composite
def frames(draw):
    n = draw(st.integers(4, 14))
    rows = [(draw(st.sampled_from("mw")), draw(st.integers(0, 39)), draw(st.sampled_from("abc"))) for _ in range(n)]
    return pd.DataFrame(rows, columns=[*KEYS, "town"], index=[f"r{i}" for i in range(n)])


def plain(frame):
    return [tuple(None if pd.isna(value) else str(value) for value in row) for row in frame.itertuples(index=False)]


def compatible(one, other):
    return all(a is None or b is None or a == b for a, b in zip(one, other, strict=True))


def linked(true, shown):
    """Mean over records of the chance that one of the compatible records, chosen at random, is the right one."""
    chances = []
    for i, row in enumerate(true):
        met = [j for j, other in enumerate(shown) if compatible(row, other)]
        chances.append(1 / len(met) if i in met else 0)
    return sum(chances) / len(chances)


@settings(max_examples=10)
@given(
    frame=frames(),
    seed=st.integers(0, 99),
    order=st.permutations(["recode", "suppress", "pram"]),
)
def test_links_are_counted_with_the_true_keys_as_the_release_codes_them(frame, seed, order):
    steps = {"recode": BANDS, "suppress": {"k_required": 2}, "pram": {"variables": ["town"], "keep": 0.5}}
    chain = protect(frame, KeySpec([*KEYS, "town"]), seed=seed)
    for name in order:
        assume(name != "pram" or chain.frame["town"].nunique() > 1)
        chain = chain.apply(name, steps[name])
    true = frame.assign(age=np.where(frame["age"] < 20, "young", "old"))
    assert chain.state.measured["key_linkage"] == pytest.approx(linked(plain(true), plain(chain.frame)))


def test_without_steps_a_right_link_is_as_likely_as_one_in_a_class():
    frame = pd.DataFrame({"a": [1, 1, 1, 2, 2, 3], "b": [1, 1, 1, 2, 2, 3]})
    assert protect(frame, KeySpec(["a", "b"])).state.measured["key_linkage"] == pytest.approx(3 / 6)


def test_pram_lowers_the_links_and_not_the_truth():
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"a": rng.integers(0, 9, 400), "b": rng.integers(0, 9, 400)})
    before = protect(frame, KeySpec(["a", "b"]))
    after = before.apply("pram", {"variables": ["a", "b"], "keep": 0.3}, seed=1)
    assert after.state.measured["key_linkage"] < before.state.measured["key_linkage"] / 2
    assert after.state.measured["equal_cells"] < 0.6
    true, shown = plain(frame), plain(after.frame)
    met = [sum(compatible(row, other) for other in shown) for row in true]
    claims = final_claims(after, 3).set_index("claim")["records"]
    assert claims["true_key"] == sum(each < 3 for each in met)
    assert any("treat the released values as true" in note for note in after.notes)
    assert after.undo().state.measured == before.state.measured


def test_perturbed_and_then_recoded_keys_keep_their_own_truth():
    frame = pd.DataFrame({"town": list("abcd") * 25, "age": range(100)})
    chain = protect(frame, KeySpec(["town"])).apply("pram", {"variables": ["town"], "keep": 0.4}, seed=2)
    chain = chain.apply("recode", {"variable": "town", "groups": {"x": ["a", "b"], "y": ["c", "d"]}})
    true = frame["town"].map({"a": "x", "b": "x", "c": "y", "d": "y"}).to_frame()
    assert plain(true) != plain(chain.frame[["town"]])
    assert chain.state.measured["key_linkage"] == pytest.approx(linked(plain(true), plain(chain.frame[["town"]])))


@pytest.mark.parametrize(
    ("step", "settings"),
    [("recode", {"variable": "age", "width": 10, "whole": False}), ("round", {"variable": "age", "base": 5})],
)
def test_true_quantities_are_recoded_as_those_with_noise_are(step, settings):
    """Also where noise left none of the true numbers among those shown."""
    rng = np.random.default_rng(7)
    frame = pd.DataFrame({"age": rng.integers(18, 90, 500), "sex": rng.choice(["m", "w"], 500)})
    noisy = protect(frame, KeySpec(["age", "sex"])).apply("add_noise", {"variables": "age", "strength": 0.02}, seed=1)
    assert noisy.state.measured["key_linkage"] is None
    assert noisy.state.measured["non_uniform_entropy"] is None
    assert any("perturbed as a quantity" in note for note in noisy.notes)
    chain = noisy.apply(step, settings)
    true = protect(frame, KeySpec(["age", "sex"])).apply(step, settings).frame
    texts = (each.assign(age=[as_text(age) for age in each["age"]]) for each in (true, chain.frame))
    found = linked(*map(plain, texts))
    assert 0 < found == pytest.approx(chain.state.measured["key_linkage"])


def test_truth_of_a_household_level_holds_for_its_members():
    frame = pd.DataFrame({"home": np.repeat(range(30), 2), "town": np.repeat(list("abc") * 10, 2), "age": range(60)})
    spec = KeySpec(["town"], household="home")
    inner = {
        "key_variables": ["town"],
        "steps": [
            {"recode": {"variable": "town", "groups": {"x": ["a", "b"], "y": ["c"]}}},
            {"pram": {"variables": ["town"], "keep": 0.3}},
        ],
    }
    chain = protect(frame, spec).apply("household_level", inner, seed=5)
    true = frame["town"].map({"a": "x", "b": "x", "c": "y"}).to_frame()
    shown = plain(chain.frame[["town"]])
    assert plain(true) != shown
    assert chain.state.measured["key_linkage"] == pytest.approx(linked(plain(true), shown))


def test_what_is_no_key_of_the_household_level_is_recoded_with_it_too():
    frame = pd.DataFrame({"home": np.repeat(range(30), 2), "town": np.repeat(list("abc") * 10, 2)})
    frame["kind"] = np.repeat(["x", "y"], 30)
    groups = {"variable": "town", "groups": {"ab": ["a", "b"], "c": "c"}}
    inner = {"key_variables": ["kind"], "steps": [{"recode": groups}]}
    chain = protect(frame, KeySpec(["town", "kind"], household="home")).apply("household_level", inner)
    by_person = protect(frame, KeySpec(["town", "kind"], household="home")).apply("recode", groups)
    assert by_person.state.measured["key_linkage"] > 0
    assert chain.state.measured["key_linkage"] == pytest.approx(by_person.state.measured["key_linkage"])


def test_a_suppressed_value_beyond_a_limit_is_shown_as_the_mean_of_those_that_are_left():
    frame = pd.DataFrame({"income": [1] * 10 + [2] * 10 + [30] * 4 + [40, 60], "town": list("ab") * 13})
    chain = protect(frame, KeySpec(["income", "town"], missing="category"))
    chain = chain.apply("suppress", {"k_required": 2, "importance": {"income": 2, "town": 1}})
    # 40 and 60, and a record of the same town beside each: no town is lost.
    assert chain.frame["income"].isna().sum() == 4 and chain.frame["town"].notna().all()
    assert chain.frame["income"].iloc[-2:].isna().all()
    left = chain.frame["income"].dropna()
    mean = float(left[left > 1].mean())
    chain = chain.apply("top_code", {"variable": "income", "above": 1, "value": "mean"})
    shown = chain.frame["income"].dropna()
    assert set(shown) == {1, mean}
    assert set(chain.state.truth.values["income"].iloc[-2:]) == {mean}
