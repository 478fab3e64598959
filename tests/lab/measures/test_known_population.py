"""k-map (Sweeney 2002) and delta-presence (Nergiz, Atzori and Clifton 2007) beside plain loops over persons."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kanon_lab
from kanon_lab.errors import DataError, OptionError
from kanon_lab.measures import Population

_CELL = st.sampled_from(["a", "b", None])
_ROWS = st.lists(st.tuples(_CELL, _CELL), min_size=1, max_size=9)


def _matches(record, person, policy):
    return all(x == y or (policy == "wildcard" and None in (x, y)) for x, y in zip(record, person, strict=True))


@given(_ROWS, _ROWS, st.sampled_from(["wildcard", "category"]), st.integers(1, 4))
@settings(max_examples=60)
def test_counts_in_a_population_are_those_of_a_plain_loop(sample, people, policy, k):
    frame, everybody = (pd.DataFrame(rows, columns=["x", "y"], dtype=object) for rows in (sample, people))
    spec = kanon_lab.KeySpec(["x", "y"], missing=policy)
    known = kanon_lab.measure(frame, spec, k=[k], population=Population.of(everybody, ["x", "y"])).population
    F = [sum(_matches(record, person, "wildcard") for person in people) for record in sample]
    f = [sum(_matches(record, other, policy) for other in sample) for record in sample]
    shares = [min(1, f[i] / F[i]) if F[i] else 1 for i in range(len(sample))]
    assert known["k_map"] == min(F)
    assert known["below"] == {str(k): sum(count < k for count in F)}
    assert math.isclose(known["delta_presence"], max(shares))
    assert math.isclose(known["delta_presence_lowest"], min(shares))
    assert math.isclose(known["known_risk"], sum(1 / max(count, 1) for count in F) / len(sample))
    assert known["population_persons"] == len(people)
    absent = [person for person in people if not any(_matches(record, person, "wildcard") for record in sample)]
    assert known["population_absent"] == len(absent)
    assert known["population_short"] == sum(count < sample.count(r) for r, count in zip(sample, F, strict=True))


def test_persons_of_a_panel_are_counted_once_beside_a_population():
    """Ana twice at 30, Ben at 30 and 41; the register has two persons of 30 and one of 41."""
    frame = pd.DataFrame({"id": [*"AABB"], "age": [30, 30, 30, 41]})
    population = Population.of(pd.DataFrame({"age": [30, 30, 41]}), ["age"])
    measured = kanon_lab.measure(frame, kanon_lab.KeySpec(["age"], person="id"), k=[2], population=population)
    assert (measured.population["population_short"], measured.population["below"]) == (0, {"2": 1})
    assert measured.population["known_risk"] == pytest.approx((1 / 2 + 1) / 2)


def test_groups_of_persons_count_as_their_persons():
    frame = pd.DataFrame({"age": [30, 41]})
    groups = pd.DataFrame({"age": ["30", "41", "30", "52"], "persons": [9, 4, 3, 0]})
    known = kanon_lab.measure(frame, "age", population=Population.of(groups, ["age"], count="persons")).population
    assert (known["k_map"], known["population_persons"], known["population_absent"]) == (4, 16, 0)
    assert known["known_risk"] == pytest.approx((1 / 12 + 1 / 4) / 2)


def test_the_example_of_sweeney_is_two_map_and_one_anonymous():
    """Each record is unique in the file, and two persons of the register have its key."""
    frame = pd.DataFrame({"ethnicity": ["Asian", "Black"], "birth": [1964, 1965]})
    register = pd.concat([frame, frame, pd.DataFrame({"ethnicity": ["White"], "birth": [1964]})])
    measured = kanon_lab.measure(frame, ["ethnicity", "birth"], population=Population.of(register, [*frame]))
    assert (measured.k_achieved, measured.population["k_map"]) == (1, 2)
    assert measured.population["delta_presence"] == 0.5


def test_a_file_and_a_population_that_contradict_each_other_say_so():
    frame = pd.DataFrame({"age": [30, 30, 41]})
    measured = kanon_lab.measure(frame, "age", population=Population.of(pd.DataFrame({"age": [30, 52]}), ["age"]))
    assert measured.population["population_short"] == 3
    assert measured.population["k_map"] == 0
    assert [note.key for note in measured.notes if getattr(note, "key", "") == "population_short"]


@pytest.mark.parametrize(
    ("persons", "fault"),
    [([np.nan, 1], "not a count"), ([-1, 1], "not a count"), (["x", "y"], "not numbers"), ([0, 0], "no persons")],
)
def test_counts_that_are_none_are_refused(persons, fault):
    with pytest.raises(DataError, match=fault):
        Population.of(pd.DataFrame({"age": [1, 2], "persons": persons}), ["age"], count="persons")


def test_a_key_is_no_count():
    with pytest.raises(OptionError, match="is a key variable"):
        Population.of(pd.DataFrame({"age": [1, 2]}), ["age"], count="age")


def test_the_health_survey_is_counted_in_the_register_that_it_was_drawn_from():
    keys = ["postcode", "age", "sex"]
    survey, register = kanon_lab.load_microdata("health-survey"), kanon_lab.load_microdata("town-register")
    known = kanon_lab.measure(survey, keys, k=[5], population=Population.of(register, keys)).population
    sizes = register.groupby(keys).size()
    of_record = survey.dropna(subset=keys).merge(sizes.rename("F"), left_on=keys, right_index=True)["F"]
    assert len(of_record) == len(survey)
    assert (known["k_map"], known["below"]) == (of_record.min(), {"5": (of_record < 5).sum()}) == (1, {"5": 876})
    assert known["known_risk"] == pytest.approx((1 / of_record).mean())
    shares = survey.groupby(keys).size() / sizes
    assert (known["delta_presence"], known["delta_presence_lowest"]) == pytest.approx((shares.max(), shares.min()))
    assert known["population_absent"] == sizes[shares.isna()].sum() == 1981
