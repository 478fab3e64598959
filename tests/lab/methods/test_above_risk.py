"""Suppression in records whose individual risk is above a threshold."""

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kanon_lab.classes import class_table
from kanon_lab.errors import OptionError
from kanon_lab.measures import file_risk, individual_risk
from kanon_lab.methods import suppress_above_risk
from kanon_lab.roles import KeySpec

SPEC = KeySpec(["a", "b"], weight="w")


@settings(max_examples=15)
@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(1, 50)), min_size=1, max_size=20),
    st.floats(0.01, 1),
    st.sampled_from([["a"], ["b", "a"]]),
)
def test_a_record_loses_a_variable_only_while_it_is_above(rows, threshold, variables):
    frame = pd.DataFrame(rows, columns=["a", "b", "w"])
    current = frame.astype({"a": "Int64", "b": "Int64"})
    above = threshold * (1 + 1e-9)  # as records_above has it
    for name in variables:
        risk = file_risk(class_table(current, SPEC)).risk
        current[name] = current[name].mask(risk > above)
    result = suppress_above_risk(frame, SPEC, threshold=threshold, variables=variables)
    pd.testing.assert_frame_equal(result.frame, current, check_dtype=False)
    left = int((file_risk(class_table(current, SPEC)).risk > above).sum())
    own = int((file_risk(class_table(current, KeySpec(["a", "b"], weight="w", missing="category"))).risk > above).sum())
    released = [tuple(None if pd.isna(x) else x for x in row) for row in current[["a", "b"]].itertuples(index=False)]
    true = 0
    for a, b, _ in rows:
        fits = [i for i, (x, y) in enumerate(released) if x in (None, a) and y in (None, b)]
        F = float(sum(rows[i][2] for i in fits))
        true += individual_risk([len(fits)], [F])[0] > above
    assert result.claims["records"].tolist() == [left, own, true]
    assert result.violating == int((file_risk(class_table(frame, SPEC)).risk > above).sum())


def test_a_ghost_of_another_key_is_no_hindrance():
    frame = pd.DataFrame({"a": [1, 2], "b": [1, 1], "w": [3, 4], "g": ["x", "y"]})
    spec = KeySpec(["a", "b"], weight="w", ghost_variables={"a": "g"})
    result = suppress_above_risk(frame, spec, threshold=0.01, variables="b")
    assert result.frame["b"].isna().all()
    assert result.frame["g"].notna().all()


def test_weights_below_one_are_no_hindrance_where_the_policy_allows_them():
    frame = pd.DataFrame({"a": [None, 1, 1, 2], "b": [1] * 4, "w": [0.5, 9, 9, 9]})
    assert suppress_above_risk(frame, SPEC, threshold=0.3, variables="a").claims["records"].tolist()[1] >= 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"threshold": 1.5, "variables": "a"}, "threshold must be a number from 0 to 1"),
        ({"threshold": 0.1, "variables": "w"}, "variables: w is not a key variable"),
        ({"threshold": 0.1, "variables": []}, "no key variables"),
        ({"threshold": 0.1, "variables": "a", "estimator": "guess"}, "estimator must be one of"),
    ],
)
def test_bad_options_are_refused(options, message):
    with pytest.raises(OptionError, match=message):
        suppress_above_risk(pd.DataFrame({"a": [1, 2], "b": [1, 1], "w": [3, 4]}), SPEC, **options)
