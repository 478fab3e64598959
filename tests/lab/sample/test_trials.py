"""Samples drawn from a known population, and what the estimators make of them."""

import math

import numpy as np
import pandas as pd
import pytest

from kanon_lab.errors import DataError, OptionError
from kanon_lab.sample import TRIAL_METHODS, expected_study, study_trials
from kanon_lab.sample.curve import size_counts
from kanon_lab.sample.scenarios import _Drawing

CELLS = 30_000


@pytest.fixture(scope="module")
def population():
    """Cells with gamma-distributed chances; one column tells them apart, a second one splits off a tenth of them."""
    rng = np.random.default_rng(11)
    persons = rng.poisson(rng.gamma(0.3, 1 / 0.3, CELLS) * 4)
    frame = pd.DataFrame({"cell": np.arange(CELLS), "tenth": np.arange(CELLS) % 10 == 0, "persons": persons})
    return frame[frame["persons"] > 0]


def trials(frame, **options):
    options = {"fractions": [0.05, 0.2], "samples": 8, "seed": 1, **options}
    return study_trials(frame, "cell", persons="persons", **options)


def test_truth_bias_and_what_each_method_is_worth(population):
    found = trials(population, cells=CELLS)
    truth = expected_study(population["persons"].to_numpy(), [0.05, 0.2])
    of_method = found.set_index(["fraction", "method"])
    assert of_method.index.tolist() == [(f, method) for f in (0.05, 0.2) for method in TRIAL_METHODS]
    for name in ("p_c", "p_d"):
        true = of_method[f"true_{name}"].unstack("method")
        assert (true.to_numpy() == truth[[f"true_{name}"]].to_numpy()).all()
        np.testing.assert_allclose(found[f"bias_{name}"], found[name] - found[f"true_{name}"])
        error = of_method[f"bias_{name}"] / of_method[f"true_{name}"]
        assert (error.xs("poisson-gamma-ml", level="method").abs() < 0.1).all()
        assert (error.xs("subsample", level="method") > 0.3).all()
        spread = of_method[f"sd_{name}"].unstack("method")
        assert (spread["one subsample"] > spread["subsample"]).all()
    # What the study finds on average is what it finds in expectation, up to the bias of ratios.
    study = of_method["p_d"].unstack("method")
    np.testing.assert_allclose(study["subsample"], truth["p_d"], rtol=0.05)
    np.testing.assert_allclose(study["one subsample"], truth["p_d"], rtol=0.1)
    assert (found["failures"] == 0).all()
    assert set(found["samples"]) == {8}
    assert set(found["seed"]) == {1}


def test_a_seed_and_what_its_samples_do_not_depend_on(population):
    found = trials(population)
    pd.testing.assert_frame_equal(found, trials(population.sample(frac=1, random_state=2)))
    alone = trials(population, fractions=[0.2, 0.2], methods=["pitman", "one subsample"])
    assert alone["method"].tolist() == ["pitman", "one subsample"]
    same = found[found["fraction"] == 0.2].set_index("method").loc[["pitman", "one subsample"]].reset_index()
    pd.testing.assert_frame_equal(alone, same[alone.columns])
    other = trials(population, seed=2)
    assert (other["p_d"] != found["p_d"]).all()


def test_recoding_a_population_makes_fewer_uniques(population):
    as_it_is = trials(population, methods="tangent")
    recoded = trials(population, methods="tangent", recode={"cell": {"bands": [*range(0, CELLS + 1, 3)]}})
    assert (recoded["true_p_c"] < as_it_is["true_p_c"]).all()
    assert (recoded["p_c"] < as_it_is["p_c"]).all()


def test_samples_without_an_estimate_are_counted_and_left_out(population):
    none = trials(population, fractions=[1e-9], samples=3)
    assert (none["failures"] == 1).all()
    assert none[["p_c", "p_d", "bias_p_c", "sd_p_d"]].isna().all(axis=None)
    assert none["true_p_d"].notna().all()
    few = trials(population, fractions=[1e-5], samples=30).set_index("method")
    assert 0 < few["failures"]["subsample"] < 0.8
    assert few["p_d"]["subsample"] == pytest.approx(1)
    assert few["failures"]["pitman"] > few["failures"]["subsample"]
    one = trials(population, fractions=[0.2], samples=1)
    assert one[["sd_p_c", "sd_p_d"]].isna().all(axis=None)


def test_drawn_class_sizes_have_the_binomial_law():
    """Small classes are drawn together and large ones one by one; means within four standard errors."""
    sizes = np.repeat([1, 2, 3, 64, 65, 100], [400, 200, 100, 30, 30, 20])
    f, repeats = 0.03, 400
    draw, rng = _Drawing(size_counts(sizes), f), np.random.default_rng(8)
    totals = np.zeros(101)
    for _ in range(repeats):
        sample = draw.sample(rng)
        assert (sample.size > 0).all()
        assert (np.diff(sample.size) > 0).all()
        totals[sample.size.astype(int)] += sample.classes
    for k in range(1, 9):
        expected = sum(math.comb(int(size), k) * f**k * (1 - f) ** (int(size) - k) for size in sizes)
        assert totals[k] / repeats == pytest.approx(expected, abs=4 * math.sqrt(expected / repeats))


def test_a_progress_bar_only_on_request(population, capsys):
    trials(population, fractions=[0.2], samples=2)
    assert capsys.readouterr().err == ""


def test_trials_that_are_refused(population):
    with pytest.raises(OptionError, match="below 1, not 1"):
        trials(population, fractions=[1])
    with pytest.raises(OptionError, match="samples must be a whole number"):
        trials(population, samples=0)
    with pytest.raises(OptionError, match="seed must be"):
        trials(population, seed=-1)
    with pytest.raises(OptionError, match="methods: guess is not one of one subsample"):
        trials(population, methods=["guess"])
    with pytest.raises(OptionError, match="methods: name at least one"):
        trials(population, methods=None)
    with pytest.raises(OptionError, match="samples must be a whole number from 1 to 100,000"):
        trials(population, samples=10**30)
    with pytest.raises(OptionError, match="cells must be"):
        trials(population, cells=7)
    with pytest.raises(DataError, match="column cells is not there"):
        study_trials(population, ["cells"], fractions=[0.1], seed=1)
