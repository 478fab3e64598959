"""What other tools get wrong: each defect once, coming out right here.

The tools are pycanon 1.3, sdcMicro 5.8 and anjana, whose defects in the lattice search are cases in tests/lab/methods.
sdcMicro's weightedLLM has no counterpart here.
"""

import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from kanon_lab.classes import class_table
from kanon_lab.measures import diversity, individual_risk, measure
from kanon_lab.roles import KeySpec


def a_file(values, key="x"):
    """One class, or as many as there are keys, with these sensitive values."""
    return pd.DataFrame({"key": key, "s": list(values)})


SPEC = KeySpec("key", sensitive_variables="s")


@pytest.mark.parametrize(("missing", "classes", "k_achieved"), [("wildcard", 3, 3), ("category", 3, 1)])
def test_a_record_with_a_missing_key_stays(missing, classes, k_achieved):
    """pycanon drops it."""
    frame = a_file("abcab", ["x", "x", None, "y", "y"])
    measured = measure(frame, KeySpec("key", missing=missing)).to_dict()
    assert (measured["n"], measured["classes"], measured["k_achieved"]) == (5, classes, k_achieved)


@pytest.mark.parametrize("index", [[3, 2, 1, 0], [7, 7, 7, 7], list("dcab")])
def test_labels_of_the_index_mean_nothing(index):
    """pycanon takes them for positions, and a shuffled file has another l."""
    frame = a_file("aabc", ["x", "x", "y", "y"]).set_axis(index)
    assert diversity(class_table(frame, SPEC), "s").classes["distinct"].tolist() == [1, 2]


def test_entropy_l_is_not_cut_to_a_whole_number():
    """pycanon gives 1."""
    file = diversity(class_table(a_file("aab"), SPEC), "s").file
    assert file["entropy"] == pytest.approx(3 / 2 ** (2 / 3))


def test_recursive_diversity_takes_the_most_frequent_value_first():
    """pycanon sorts the other way.

    Frequencies 3, 1, 1 and c = 2: 3 < 2 (1 + 1) holds, 3 < 2 (1) does not.
    """
    assert diversity(class_table(a_file("aaabc"), SPEC), "s", recursive_c=2).file["recursive"] == 2


def test_a_value_that_a_class_lacks_makes_delta_infinite():
    """pycanon skips it, and finds ln 2."""
    frame = a_file("abaa", ["x", "x", "y", "y"])
    table = class_table(frame, SPEC)
    delta = diversity(table, "s").classes["delta_disclosure"].tolist()
    assert delta == [pytest.approx(math.log(2)), math.inf]


def test_a_category_without_a_record_is_no_class():
    """pycanon counts it, and k is 0."""
    frame = a_file("abab", ["x", "x", "y", "y"])
    frame["key"] = pd.Categorical(frame["key"], categories=["x", "y", "z"])
    frame["s"] = pd.Categorical(frame["s"], categories=["b", "none", "a"])
    measured = measure(frame, SPEC).to_dict()
    assert (measured["k_achieved"], measured["classes"], measured["diversity"]["s"]["distinct"]) == (2, 2, 2)


@pytest.mark.parametrize("f", [100, 175, 176, 177, 1000, 10**6])
@pytest.mark.parametrize("ratio", [1.0, 1.5, 20.0, 5000.0])
def test_the_exact_risk_of_a_large_class_is_a_number(f, ratio):
    """sdcMicro's is NaN from f_k of about 176 on.

    1/F_k is convex, so its expectation is at least 1 / E[F_k] = 1/F; and 1/j <= 1/(j - 1), whose expectation for a
    negative binomial is p/(f - 1).
    """
    (risk,) = individual_risk(np.array([f]), np.array([f * ratio]), estimator="exact")
    assert 1 / (f * ratio) * (1 - 1e-12) <= risk <= 1 / (ratio * (f - 1))


def test_the_exact_risk_at_200_by_exact_arithmetic():
    """The expectation of 1/j, added up in fractions until what is left cannot be seen."""
    f, p = 200, Fraction(4, 5)
    probability, total = p**f, Fraction(0)
    for j in range(f, f + 400):
        total += probability / j
        probability = probability * (1 - p) * j / (j - f + 1)
    (risk,) = individual_risk(np.array([f]), np.array([250.0]), estimator="exact")
    assert risk == pytest.approx(float(total), rel=1e-12)


def test_a_missing_key_can_be_a_category_of_its_own():
    """sdcMicro's documentation promises it for ``alpha = 0``, which does something else."""
    frame = pd.DataFrame({"a": [1, 1, 1, 1, None, None], "b": [1, 1, None, None, 1, None]})
    own = class_table(frame, KeySpec(["a", "b"], missing="category"))
    assert own.f_k_of_records().tolist() == [2, 2, 2, 2, 1, 1]
    wild = class_table(frame, KeySpec(["a", "b"], missing="wildcard"))
    assert wild.f_k_of_records().tolist() == [6, 6, 6, 6, 6, 6]


def test_a_record_that_misses_all_keys_is_compatible_with_all():
    """sdcMicro 5.8.1 does not count it for the others where it misses two keys or more, and gives 2, 2, 3."""
    table = class_table(pd.DataFrame({"a": ["x", "x", None], "b": ["u", "u", None]}), KeySpec(["a", "b"]))
    assert table.f_k_of_records().tolist() == [3, 3, 3]


def test_the_exact_risk_of_two_hundred_records_for_two_thousand_persons():
    """sdcMicro 5.8.1 gives .00170.

    Given f, F has a negative binomial distribution with p = 0.1: E[1/F] is added up term by term here.
    """
    f, p = 200, 0.1
    persons = np.arange(f, 20_000)
    log_chance = [math.lgamma(n) - math.lgamma(f) - math.lgamma(n - f + 1) for n in persons]
    chance = np.exp(np.array(log_chance) + f * math.log(p) + (persons - f) * math.log1p(-p))
    assert chance.sum() == pytest.approx(1)
    (risk,) = individual_risk([f], [f / p], estimator="exact")
    assert risk == pytest.approx(float((chance / persons).sum()), rel=1e-6)
