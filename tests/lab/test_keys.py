"""The roles of the variables of a file."""

import pandas as pd
import pytest

from kanon_lab.errors import DataError, OptionError, about
from kanon_lab.roles import KeySpec, as_spec


def test_names_may_be_a_list_or_one_name():
    spec = KeySpec(
        ["age", "sex"], weight="w", household="h", sensitive_variables="income", numeric_variables=["income"]
    )
    assert spec.key_variables == ("age", "sex")
    assert spec.variables == ("age", "sex", "w", "h", "income")
    assert as_spec("age") == as_spec(["age"]) == KeySpec("age")
    assert as_spec(spec) is spec


@pytest.mark.parametrize(
    "arguments,message",
    [
        ({"key_variables": []}, "no key variables"),
        ({"key_variables": ["a", "a"]}, "a is named twice"),
        ({"key_variables": ["a"], "missing": "drop"}, "missing must be one of wildcard, category, error, not text"),
        ({"key_variables": ["a"], "missing": ["x"]}, "missing must be one of"),
        ({"key_variables": 5}, "key_variables must be names of columns, not 5"),
        ({"key_variables": [["a"]]}, "is not the name of a column"),
        ({"key_variables": ["a"], "weight": ["w"]}, "is not the name of a column"),
        ({"key_variables": ["a"], "weight": "a"}, "a is a key variable and weight"),
        ({"key_variables": ["a"], "household": "a"}, "a is a key variable and household"),
        ({"key_variables": ["a"], "sensitive_variables": ["a"]}, "a is a key variable and sensitive"),
        ({"key_variables": ["a"], "weight": "w", "household": "w"}, "w is the weight and household"),
    ],
)
def test_roles_that_clash_are_refused(arguments, message):
    with pytest.raises(OptionError, match=message):
        KeySpec(**arguments)


def test_a_column_that_is_absent_or_twice_there_is_refused():
    frame = pd.DataFrame([[1, 2, 3]], columns=["region", "age", "age"])
    with pytest.raises(DataError, match="survey: column regoin is not there; did you mean region?"), about("survey"):
        KeySpec("regoin").check(frame)
    with pytest.raises(DataError, match="column age occurs twice"):
        KeySpec("age").check(frame)
    with pytest.raises(DataError, match="has no records"):
        KeySpec("region").check(frame.iloc[:0])
