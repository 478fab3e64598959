"""Losses that do not see a step, against the measures of each state, and what the map says of them."""

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kanon_lab.cli import run
from kanon_lab.recipes import MEASURES, protect, risk_utility_map
from kanon_lab.recipes.tradeoff import blind_spot, unseen_steps
from kanon_lab.roles import KeySpec

RNG = np.random.default_rng(5)
FRAME = pd.DataFrame(
    {
        "age": RNG.integers(0, 60, 120),
        "town": RNG.choice(list("abc"), 120),
        "sex": RNG.choice(["f", "m"], 120),
        "income": RNG.normal(100, 20, 120).round(1),
        "free": np.arange(120),
    }
)
KEYS = ["age", "town", "sex"]
STEPS = {
    "one": ("recode", {"variable": "age", "bands": [0, None], "closed": "left"}),
    "ten": ("recode", {"variable": "age", "width": 10}),
    "drop": ("remove_variables", {"variables": ["town"]}),
    "suppress": ("suppress", {"k_required": 2}),
    "noise": ("add_noise", {"variables": ["income"], "strength": 0.5}),
    "free": ("remove_variables", {"variables": ["free"]}),
}
BY_STEP = {  # what its definition says of each loss: the first steps that cannot move it
    "table_distance": {"one", "ten", "drop", "noise"},
    "known_cells": {"one", "ten", "noise"},
    "non_uniform_entropy": {"noise"},
    "il1s": {"one", "ten", "drop", "suppress"},
}
KEYS_AND_INCOME = KeySpec(KEYS, numeric_variables=["income"])
MAP = {
    "key_variables": KEYS,
    "steps": [{"recode": {"variable": "age", "bands": "$age", "closed": "left"}}],
    "grid": {"age": {"ten": [0, 10, 20, 30, 40, 50, None], "one": [0, None]}},
}


@given(st.lists(st.sampled_from(list(STEPS)), min_size=1, max_size=3, unique=True))
@settings(max_examples=12)
def test_a_loss_sees_a_step_where_its_cost_rises(names):
    if "one" in names and "ten" in names:
        names.remove("one")  # bands are no numbers
    done = protect(FRAME, KEYS_AND_INCOME)
    for name in names:
        done = done.apply(*STEPS[name])
    found, rows = unseen_steps(done), [done.start.measured.row(), *(step.state.measured.row() for step in done.steps)]
    for loss, unseen in found.items():
        wanted = []
        for place, (name, step) in enumerate(zip(names, done.steps, strict=True)):
            touched = [
                each
                for each in (*KEYS, "income")
                if each in step.removed or step.changed.get(each) or step.suppressed.get(each)
            ]
            one, two = rows[place].get(loss), rows[place + 1].get(loss)
            known = one is not None and two is not None
            cost = (one - two if MEASURES[loss].kept else two - one) if known else 0
            if touched and not cost > 1e-12:
                wanted.append(f"{place + 1} ({step.name} {', '.join(touched)})")
            if touched and not place and name in BY_STEP.get(loss, ()):
                assert f"{place + 1} ({step.name} {', '.join(touched)})" in unseen
        assert list(unseen) == wanted
        assert all("free" not in text for text in unseen)


def test_a_key_of_one_value_is_never_free_without_a_word():
    found = risk_utility_map(FRAME, MAP, workers=1, progress=False)
    one = found.points.set_index("label").loc["age=one"]
    for loss in (name for name in MEASURES if MEASURES[name].kind == "loss" and "#" not in name):
        if loss in one and one[loss] == one[loss] and MEASURES[loss].cost(one[loss]) == 0:
            assert f"{loss} does not see step 1 (recode age) of age=one; its cost" in found.caution("age=one", loss)
    assert found.caution("age=one") is None


def test_where_no_measure_sees_a_step_that_is_said():
    recipe = pd.Series({"label": "x", "il1s": 0.0})
    everywhere = dict.fromkeys(MEASURES, ("1 (recode ill)",))
    assert blind_spot(recipe, everywhere, "il1s").endswith("1 (recode ill) of x; no measure here does")


@pytest.fixture()
def files(tmp_path):
    FRAME.to_csv(tmp_path / "survey.csv", index=False)
    (tmp_path / "map.yml").write_text(json.dumps(MAP))
    return [str(tmp_path / "survey.csv"), "--recipe", str(tmp_path / "map.yml")]


def test_the_command_says_what_its_loss_does_not_see(files, capsys):
    assert run(["map", *files, "--loss", "table_distance", "--at-most", "1"]) == 0
    out = capsys.readouterr().out
    assert "caution: table_distance does not see step 1 (recode age) of age=one; its cost by" in out
    assert "(caution: table_distance does not see every step of 1 of these recipes; non_uniform_entropy does)" in out
    assert run(["map", *files, "--loss", "table_distance", "--at-most", "1", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert len(result["cautions"]) == 1 and result["frontier"][0]["unseen"] == ["1 (recode age)"]
    assert run(["map", *files, "--at-most", "1"]) == 0
    assert "caution" not in capsys.readouterr().out
