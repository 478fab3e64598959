"""The map against recipes applied one by one, whatever is shared and whoever does the work."""

import signal
import subprocess
import sys
import time
from importlib import import_module

import numpy as np
import pandas as pd
import pytest
from processes import PATIENCE, hear_signals

from kanon_lab.errors import DataError, OptionError, about
from kanon_lab.recipes import Protection, as_recipe, risk_utility_map


@pytest.fixture(scope="module")
def survey():
    rng = np.random.default_rng(3)
    frame = {"sex": rng.choice(["f", "m"], 90), "age": rng.integers(0, 40, 90), "town": rng.choice(list("abc"), 90)}
    return pd.DataFrame(frame | {"home": np.arange(90) // 3, "income": rng.normal(100, 20, 90).round(1)})


AGES = {name: {"recode": {"variable": "age", "bands": [*range(0, 40, n), None], "closed": "left"}}
        for name, n in (("tens", 10), ("twenties", 20))}  # fmt: skip
RECIPE = {
    "key_variables": ["sex", "age", "town"],
    "household": "home",
    "numeric_variables": ["income"],
    "seed": 7,
    "limits": {"k": 2, "unassigned_columns": None},
    "steps": ["$ages", "$mix", {"suppress": {"k_required": "$k"}}],
}
MIX = {"none": None, "noise": {"add_noise": {"variables": ["income"], "strength": 0.3}}}
GRID = {"ages": {"years": None, "tens": AGES["tens"]}, "mix": MIX, "k": [2, 4]}


@pytest.fixture(scope="module")
def found(survey):
    return risk_utility_map(survey, RECIPE, GRID, repeats=3, workers=1, progress=False)


def last_row(settings, survey):
    row = as_recipe(settings).apply(survey).state.measured.row()
    return pd.Series({name: value for name, value in row.items() if not isinstance(value, str)}, dtype=float)


def test_every_recipe_and_seed_measures_what_it_does_alone(found, survey):
    assert len(found.points) == 8 and list(found.points["label"]) == list(found.recipes)
    for _, run in found.runs.iterrows():
        alone = last_row({**found.recipes[run["label"]], "seed": run["seed"]}, survey)
        pd.testing.assert_series_equal(run[alone.index].astype(float), alone, check_names=False, rtol=0, atol=0)


def test_points_are_means_and_spread_is_over_the_seeds(found):
    points, spread = found.points.set_index("label"), found.spread.set_index("label")
    runs = found.runs.set_index("label")
    noisy, plain = "ages=tens, mix=noise, k=2", "ages=tens, mix=none, k=2"
    assert list(runs.loc[noisy, "seed"]) == [7, 8, 9] and runs.loc[plain, "seed"] == 7
    values = runs.loc[noisy, "il1s"].to_numpy(dtype=float)
    assert points.loc[noisy, "il1s"] == pytest.approx(values.mean()) and len(set(values)) == 3
    assert spread.loc[noisy, "il1s"] == pytest.approx(values.std(ddof=1))
    assert (points.loc[noisy, "repeats"], points.loc[plain, "repeats"]) == (3, 1)
    assert spread.loc[plain, "il1s"] == 0
    worst = found.worst.set_index("label")
    assert worst.loc[noisy, "il1s"] == values.max()
    assert worst.loc[plain, "il1s"] == points.loc[plain, "il1s"]


def test_the_worst_of_what_is_kept_is_the_least(survey):
    recipe = {"key_variables": ["sex", "age"], "steps": [{"pram": {"variables": ["sex"], "keep": 0.7}}]}
    found = risk_utility_map(survey, recipe, repeats=4, workers=1)
    runs = found.runs["equal_cells"]
    assert found.worst["equal_cells"].iloc[0] == runs.min() < found.points["equal_cells"].iloc[0]
    mean, worst = (found.frontier(loss="equal_cells", repeats=each)["loss"].iloc[0] for each in ("mean", "worst"))
    assert worst > mean
    assert found.perturbing and "key_linkage" in found.notes()[0] and not found.notes("key_linkage")
    with pytest.raises(OptionError, match="repeats must be mean or worst"):
        found.frontier(repeats="median")


def test_one_seed_has_no_spread_and_a_note(survey):
    found = risk_utility_map(survey, RECIPE, {**GRID, "k": [2], "ages": [None]}, workers=1)
    assert list(found.spread["il1s"].isna()) == [False, True]
    assert any("one seed was tried" in note for note in found.notes())


def test_two_processes_measure_the_same(found, survey):
    other = risk_utility_map(survey, RECIPE, GRID, repeats=3, workers=2, progress=False)
    for name in ("points", "spread", "runs", "verdicts"):
        pd.testing.assert_frame_equal(getattr(found, name), getattr(other, name))


def test_first_steps_are_done_once(survey, monkeypatch):
    applied = []
    apply = Protection.apply

    def counting(self, name, settings=None, **options):
        applied.append(name)
        return apply(self, name, settings, **options)

    monkeypatch.setattr(Protection, "apply", counting)
    grid = {"k": [2, 4], "ages": AGES, "mix": {"none": None, "noise": {"shuffle_members": {}}}}
    risk_utility_map(survey, RECIPE, grid, repeats=2, workers=1)
    # Twice ages; of each, twice suppression, and for two seeds the mixing, with two suppressions.
    assert {name: applied.count(name) for name in set(applied)} == {
        "recode": 2,
        "shuffle_members": 4,
        "suppress": 2 * (2 + 2 * 2),
    }


def test_a_step_with_a_seed_of_its_own_is_not_repeated(survey):
    steps = [{"shuffle_members": {"seed": 5}}]
    found = risk_utility_map(survey, {**RECIPE, "steps": steps}, repeats=3, workers=1)
    assert list(found.points["repeats"]) == [1]


def test_a_household_level_varies_only_where_a_step_of_it_does(survey):
    level = {"key_variables": ["town"], "steps": "$inner"}
    inner = {"plain": [{"suppress": {"k_required": 2}}], "pram": [{"pram": {"variables": ["town"]}}]}
    homes = survey.assign(town=survey["home"].mod(3).map(dict(enumerate("abc"))))
    found = risk_utility_map(
        homes, {**RECIPE, "steps": [], "household_level": level}, {"inner": inner}, repeats=2, workers=1
    )
    assert list(found.points["repeats"]) == [1, 2] and found.points["error"].isna().all()


def test_what_cannot_be_applied_is_a_row_with_its_error(survey):
    bad = {"recode": {"variable": "age", "bands": [0, 5]}}
    grid = {"ages": {"tens": AGES["tens"], "short": bad, "absent": {"remove_variables": {"variables": "nothing"}}},
            "mix": MIX, "k": [2]}  # fmt: skip
    found = risk_utility_map(survey, RECIPE, grid, workers=1)
    errors = found.points.set_index("ages")["error"]
    assert errors["tens"].isna().all()
    assert errors["short"].str.startswith("step 1 (recode): column age").all()
    assert errors["absent"].str.contains("there is no column nothing").all()
    assert found.points.loc[found.points["error"].notna(), "global_risk"].isna().all()
    assert set(found.frontier()["ages"]) == {"tens"}
    with (
        pytest.raises(DataError, match="survey.csv: no recipe of the map could be applied; the first says: column no"),
        about("survey.csv"),
    ):
        risk_utility_map(survey, {"key_variables": ["no"]}, workers=1).frontier()


def test_equal_settings_of_another_type_are_not_shared(survey):
    recipe = {
        "key_variables": ["age"],
        "steps": [{"recode": {"variable": "age", "groups": {"one": "$age"}, "others": "keep"}}],
    }
    found = risk_utility_map(survey, recipe, {"age": {"whole": 1, "truth": True}}, workers=1)
    assert list(found.points["error"].notna()) == [False, True]


@pytest.mark.parametrize("options", [{"repeats": 0}, {"repeats": True}, {"workers": 0}, {"workers": 1.5}])
def test_numbers_that_cannot_be_are_refused(survey, options):
    with pytest.raises(OptionError, match="must be a whole number from 1 on"):
        risk_utility_map(survey, RECIPE, GRID, **options)


def test_too_many_seeds_are_refused(survey):
    with pytest.raises(OptionError, match="recipes and seeds are too many"):
        risk_utility_map(survey, RECIPE, GRID, repeats=10_000)


def test_by_default_processes_begin_when_it_takes_longer(found, survey, monkeypatch):
    given = []

    def shared_out(maker, data, tasks, workers):
        given.append((len(tasks), workers))
        walk = maker(*data)
        for task in tasks:
            yield task, walk.measure(task)

    running = import_module("kanon_lab.recipes.risk_map")
    monkeypatch.setattr(running, "shared_out", shared_out)
    monkeypatch.setattr(running, "processors", lambda: 2)
    monkeypatch.setattr(running, "_PATIENCE", 0.0)
    late = risk_utility_map(survey, RECIPE, GRID, repeats=3)
    pd.testing.assert_frame_equal(late.points, found.points)
    assert given == [(len(found.runs) - 1, 2)]


SLEEPERS = """
import time
from kanon_lab.recipes.processes import shared_out

print("begun", flush=True)
list(shared_out(time.sleep, (600,), [1, 2], 2))
"""


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="signals of this kind are of other systems")
def test_an_interrupt_leaves_no_process_behind(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SLEEPERS)
    started = subprocess.Popen(
        [sys.executable, script],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=hear_signals,
    )
    assert started.stdout.readline() == "begun\n"
    time.sleep(1.0)
    started.send_signal(signal.SIGINT)
    out, err = started.communicate(timeout=PATIENCE)  # ends only when no process holds the pipes any more
    assert out == "" and err.count("Traceback") == 1 and err.rstrip().endswith("KeyboardInterrupt")
