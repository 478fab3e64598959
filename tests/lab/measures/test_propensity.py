"""Propensity scores: their algebra for a single variable, their null, and files that a model tells apart for sure."""

import math
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon_lab.errors import DataError, MissingPackageError, OptionError
from kanon_lab.measures import propensity


@given(st.lists(st.tuples(st.integers(20, 60), st.integers(20, 60)), min_size=1, max_size=5))
def test_one_categorical_variable_by_hand(counts):
    """A logistic model of one variable fits the released share of each of its categories."""
    before, after = ([f"c{i}" for i, pair in enumerate(counts) for _ in range(pair[side])] for side in (0, 1))
    n = len(before) + len(after)
    c = len(after) / n
    expected = sum((a + b) * (b / (a + b) - c) ** 2 for a, b in counts) / n
    found = propensity(pd.DataFrame({"x": before}), pd.DataFrame({"x": after}), variables="x")
    assert found.pmse == pytest.approx(expected, rel=1e-5, abs=1e-9)
    assert (found.records, found.released_share, found.parameters) == (n, c, len(counts))
    assert found.expected == pytest.approx((len(counts) - 1) * (1 - c) ** 2 * c / n)
    assert found.converged


def people(n, seed=0):
    rng = np.random.default_rng(seed)
    age = rng.integers(0, 100, n).astype(float)
    frame = pd.DataFrame({"age": age, "sex": rng.integers(1, 3, n), "town": rng.choice(list("abcde"), n)})
    frame["income"] = 1e6 * np.exp(rng.normal(size=n)) + 1e4 * age
    frame.loc[rng.random(n) < 0.1, "town"] = None
    return frame


NAMES = ["age", "sex", "town", "income"]


@pytest.mark.parametrize("model", ["logistic", "tree"])
def test_a_file_released_as_it_is(model):
    frame = people(500)
    found = propensity(frame, frame, variables=NAMES, model=model, repeats=2)
    assert found.numeric == ("age", "income")
    assert found.pmse == pytest.approx(0, abs=1e-20)
    assert found.ratio == pytest.approx(0, abs=1e-12)
    assert found.told_apart == 0


@pytest.mark.parametrize("model", ["logistic", "tree"])
def test_bands_are_told_apart_for_sure_without_a_warning(model):
    frame = people(1000)
    bands = frame.assign(town=frame["town"].map({"a": "a-b", "b": "a-b"}).fillna("other"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = propensity(frame, bands, variables=NAMES, model=model, repeats=0)
    assert found.pmse == pytest.approx(0.25, abs=1e-4)
    assert found.told_apart == 1
    assert found.converged
    # A removed variable is missing everywhere.
    removed = propensity(frame, frame.drop(columns="income"), variables=NAMES, model=model, repeats=0)
    assert removed.pmse == pytest.approx(0.25, abs=1e-4)


def test_some_records_are_told_apart():
    frame = pd.DataFrame({"x": ["a", "b"] * 200})
    half = frame.assign(x=["a", "new"] * 200)
    found = propensity(frame, half, variables="x")
    # The categories b and new have 200 records each of one file only, a has 200 of each.
    assert found.pmse == pytest.approx(0.125, abs=1e-6)
    assert found.told_apart == 0.5


def test_new_samples_of_a_file_have_a_ratio_about_1():
    """The null of Snoke et al. (2018): released records drawn from what was fitted to the original, here itself."""
    frame = people(1000)
    found = [propensity(frame, frame.sample(1000, replace=True, random_state=i), variables=NAMES) for i in range(40)]
    ratios = [each.ratio for each in found]
    assert {each.parameters - 1 for each in found} == {8}
    # The ratio has variance 2 / 8.
    assert np.mean(ratios) == pytest.approx(1, abs=4 * math.sqrt(2 / 8 / 40))


@pytest.mark.parametrize("share", [1, 3])
def test_permutations_mean_what_the_formula_means(share):
    frame, other = people(600), people(600 * share, seed=1)
    formula = propensity(frame, other, variables=NAMES)
    permuted = propensity(frame, other, variables=NAMES, repeats=100, seed=3)
    assert (formula.null, permuted.null) == ("formula", "permutation")
    assert permuted.pmse == formula.pmse
    # Both are of a chi-squared law with 8 degrees of freedom: standard error 5% of the mean, 7% of the deviation.
    assert permuted.expected == pytest.approx(formula.expected, rel=0.2)
    assert permuted.sd == pytest.approx(formula.sd, rel=0.35)
    assert permuted.ratio == permuted.pmse / permuted.expected
    assert permuted.standardised == (permuted.pmse - permuted.expected) / permuted.sd


def test_seed_gives_the_same_and_another_seed_another():
    frame, other = people(300), people(300, seed=1)

    def found(seed):
        return propensity(frame, other, variables=NAMES, model="tree", repeats=3, seed=seed)

    assert found(1) == found(1)
    assert found(1).expected != found(2).expected
    assert math.isnan(propensity(frame, other, variables=NAMES, repeats=1).sd)


def test_a_tree_sees_what_main_effects_do_not():
    rng = np.random.default_rng(0)
    x = np.array([0, 1] * 1000)
    together, apart = pd.DataFrame({"x": x, "y": x}), pd.DataFrame({"x": x, "y": 1 - x})
    assert propensity(together, apart, variables=["x", "y"]).pmse == pytest.approx(0, abs=1e-12)
    tree = propensity(together, apart, variables=["x", "y"], model="tree")
    assert tree.pmse == pytest.approx(0.25)
    # A spread that is twice as wide about the same mean.
    one, wide = pd.DataFrame({"x": rng.normal(size=2000)}), pd.DataFrame({"x": 2 * rng.normal(size=2000)})
    assert propensity(one, wide, variables="x").ratio < 10
    assert propensity(one, wide, variables="x", model="tree").standardised > 10


def test_columns_that_follow_from_others_are_no_parameters():
    frame = people(400)
    twice = [one.assign(rent=one["income"] * 0.2, place=one["town"], none=1) for one in (frame, people(400, seed=1))]
    plain = propensity(*twice, variables=NAMES)
    more = propensity(*twice, variables=[*NAMES, "rent", "place", "none"])
    assert more.parameters == plain.parameters
    assert more.pmse == pytest.approx(plain.pmse, rel=1e-6)
    nothing = propensity(*twice, variables="none")
    assert (nothing.parameters, nothing.pmse) == (1, 0)
    assert math.isnan(nothing.ratio)


def test_rare_categories_are_one():
    rng = np.random.default_rng(0)
    files = [pd.DataFrame({"x": [f"{i}{rng.integers(0, 3) if i > 9 else ''}" for i in range(60)] * 15}) for _ in "ab"]
    # Ten categories with 30 records, and fifty others.
    assert propensity(*files, variables="x").parameters <= 101
    few = [one.iloc[:60] for one in files]
    assert propensity(*few, variables="x").parameters == 1


def test_missing_quantities_have_an_indicator():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=400)})
    released = frame.mask(rng.random((400, 1)) < 0.25)
    found = propensity(frame, released, variables="x")
    assert found.parameters == 3
    missing = released["x"].isna().mean()
    # All gaps are released ones, and the other records have about the same values.
    p = (1 - missing) / (2 - missing)
    assert found.pmse == pytest.approx((missing * 0.25 + (2 - missing) * (p - 0.5) ** 2) / 2, rel=0.05)


def test_which_variables_are_quantities():
    frame = people(500)
    as_text = frame.assign(age=frame["age"].astype(str))
    assert propensity(frame, as_text, variables=NAMES).numeric == ("income",)
    assert propensity(frame, frame, variables=NAMES, numeric=[]).numeric == ()
    assert propensity(frame, frame, variables=NAMES, numeric=["income", "sex"]).numeric == ("sex", "income")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"variables": []}, "name at least one variable"),
        ({"variables": "sex", "numeric": "age"}, "numeric names age, which is not one of the variables"),
        ({"variables": "sex", "model": "forest"}, "model must be logistic or tree, not text"),
        ({"variables": "sex", "repeats": -1}, "repeats must be a whole number"),
        ({"variables": "sex", "seed": 2**32}, "seed must be a whole number"),
        ({"variables": "sex", "seed": 0.5}, "seed must be a whole number"),
    ],
)
def test_options_that_cannot_be_used(options, message):
    with pytest.raises(OptionError, match=message):
        propensity(people(50), people(50), **options)


def test_data_that_cannot_be_used():
    frame = people(50)
    with pytest.raises(DataError, match="the original file: column rent is not there"):
        propensity(frame, frame, variables=["rent"])
    with pytest.raises(DataError, match="the released file: has no records"):
        propensity(frame, frame.iloc[:0], variables=NAMES)
    with pytest.raises(DataError, match="the released file: column age: row 0"):
        propensity(frame, frame.assign(age="young"), variables="age", numeric="age")


def test_without_scikit_learn(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn", None)
    for name in [name for name in sys.modules if name.startswith("sklearn.")]:
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingPackageError, match="pip install 'kanon-lab.models.'"):
        propensity(people(50), people(50), variables="sex")


def test_a_frame_is_no_model_and_an_array_without_dimension_no_list():
    frame = pd.DataFrame({"x": range(30)})
    with pytest.raises(OptionError, match="^model must be logistic or tree"):
        propensity(frame, frame, variables="x", model=frame)
    with pytest.raises(OptionError, match="^numeric names"):
        propensity(frame, frame, variables="x", numeric=np.array(5))
