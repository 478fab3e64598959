"""Population frequencies counted in a known population."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon_lab.classes import class_table, with_population
from kanon_lab.errors import DataError, OptionError
from kanon_lab.roles import KeySpec

values = st.sampled_from(["x", "y", None])


def agree(one, other, policy):
    """Whether two keys match, by the meaning of missing values, in plain Python."""
    if policy == "category":
        return one == other
    return all(a is None or b is None or a == b for a, b in zip(one, other, strict=True))


@pytest.mark.parametrize("policy", ["wildcard", "category"])
@given(st.data())
def test_counts_every_person_that_matches(policy, data):
    persons = data.draw(st.lists(st.tuples(values, values), min_size=1, max_size=12))
    chosen = data.draw(st.lists(st.sampled_from(range(len(persons))), min_size=1, unique=True))
    register = pd.DataFrame(persons, columns=["a", "b"], dtype=object)
    sample = register.iloc[chosen]
    table = with_population(class_table(sample, KeySpec(["a", "b"], missing=policy)), register)
    expected = [sum(agree(persons[i], other, policy) for other in persons) for i in chosen]
    assert table.F_k_of_records().tolist() == expected


def test_cells_with_counts_are_the_same_as_persons():
    register = pd.DataFrame({"a": [1, 1, 1, 2, 3], "b": list("uuvuu")})
    cells = register.value_counts().rename("persons").reset_index()
    table = class_table(register.iloc[[0, 3]], ["a", "b"])
    by_person = with_population(table, register)
    by_cell = with_population(table, cells, count="persons")
    assert by_person.F_k.tolist() == by_cell.F_k.tolist() == [2, 1]
    assert table.F_k.tolist() == [1, 1]  # the first table stays as it was


@pytest.mark.parametrize(
    ("population", "options", "error", "message"),
    [
        ({"a": [2, 2]}, {}, DataError, "row 0: its class has more records than persons"),
        ({"b": [1]}, {}, DataError, "the population: column a is not there"),
        ({"a": [1], "n": [-1]}, {"count": "n"}, DataError, "row 0: column n is not a count of persons"),
        ({"a": [1], "n": ["5"]}, {"count": "n"}, DataError, "column n is not numbers"),
        ({"a": [1], "n": [np.nan]}, {"count": "n"}, DataError, "row 0: column n is not a count of persons"),
        ({"a": [1]}, {"count": "a"}, OptionError, "a is a key variable"),
    ],
)
def test_populations_that_cannot_be_right_are_refused(population, options, error, message):
    table = class_table(pd.DataFrame({"a": [1, 1]}), ["a"])
    with pytest.raises(error, match=message):
        with_population(table, pd.DataFrame(population), **options)


def test_a_missing_key_of_the_population_is_refused_under_the_policy_error():
    table = class_table(pd.DataFrame({"a": [1]}), KeySpec(["a"], missing="error"))
    with pytest.raises(DataError, match="row 1: a missing value in column a"):
        with_population(table, pd.DataFrame({"a": [1, None]}))
