"""The linkage attack against a loop over all pairs, and what it must say of a tiny example."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from kanon_lab.errors import DataError, OptionError
from kanon_lab.measures import linkage_attack

PERSON = st.tuples(st.sampled_from([1, 2, 3, None]), st.sampled_from(["a", "b", None]))
RECORD = st.tuples(PERSON, st.sampled_from(["flu", "cold", "burn", None]))


@settings(max_examples=40)
@given(
    people=st.lists(PERSON, min_size=1, max_size=12),
    records=st.lists(RECORD, min_size=1, max_size=12),
    missing=st.sampled_from(["wildcard", "category"]),
    seed=st.integers(0, 99),
)
def test_attack_by_plain_loops(people, records, missing, seed):
    assume(all(any(key[j] is not None for key, _ in records) for j in (0, 1)))
    rng = np.random.default_rng(seed)
    register = pd.DataFrame(people, columns=["x", "y"], dtype=object).set_axis(rng.permutation(len(people)) * 2)
    register["name"] = [f"person {i}" for i in range(len(people))]
    released = pd.DataFrame([key for key, _ in records], columns=["x", "y"], dtype=object)
    released["s"] = pd.Series([value for _, value in records], dtype=object)
    released.index = rng.permutation(len(records)) + 100
    # Some records belong to nobody in the register.
    owner = rng.permutation(len(people) + len(records))[: len(records)]
    truth = pd.Series([f"person {i}" for i in owner], index=released.index).sample(frac=1, random_state=seed)
    result = linkage_attack(
        register, released, ["x", "y"], identity="name", sensitive="s", truth=truth, missing=missing
    )

    def match(one, other):
        wild = missing == "wildcard"
        return all(a == b or (wild and (a is None or b is None)) for a, b in zip(one, other))

    for i, person in enumerate(people):
        found = [j for j, (key, _) in enumerate(records) if match(person, key)]
        row = result.persons.iloc[i]
        said = [records[j][1] for j in found]
        values = {value for value in said if value is not None}
        assert row["name"] == f"person {i}"
        assert row["records"] == len(found)
        assert row["record"] == (released.index[found[0]] if len(found) == 1 else None)
        assert row["values"] == len(values)
        assert row["unknown"] == said.count(None)
        assert row["value"] == (values.copy().pop() if len(values) == 1 else None)
        assert row["learned"] == (len(values) == 1 and None not in said)
        assert row["right"] == (len(found) == 1 and owner[found[0]] == i)
        own = [value for (_, value), o in zip(records, owner) if o == i]
        assert row["learned_right"] == (bool(row["learned"]) and own == [*values])
    for j, (key, _) in enumerate(records):
        assert result.records["persons"].iloc[j] == sum(match(person, key) for person in people)
    assert result.persons.index.equals(register.index)
    assert result.records.index.equals(released.index)


def test_what_an_intruder_learns():
    register = pd.DataFrame({"name": ["Ada", "Bel", "Cai", "Dot"], "age": [30, 40, 40, 50]})
    released = pd.DataFrame({"age": [30, 40, 40], "illness": ["flu", "burn", "burn"]}, index=["r1", "r2", "r3"])
    result = linkage_attack(
        register,
        released,
        "age",
        identity="name",
        sensitive="illness",
        truth=pd.Series(["Ada", "Cai", "Eve"], index=["r1", "r2", "r3"]),
    )
    assert result.summary["persons"].to_dict() == {
        "register": 4,
        "compatible": 3,
        "unique": 1,
        "one_to_one": 1,
        "learned": 3,
        "learned_from_several": 2,
        "right": 1,
        "learned_right": 2,
    }
    assert result.summary["share"]["unique"] == 0.25
    assert result.persons["record"].tolist() == ["r1", None, None, None]
    assert result.persons["value"].tolist() == ["flu", "burn", "burn", None]
    # Bel and Cai are alike to the intruder; neither is named beside a record.
    assert result.records["persons"].tolist() == [1, 2, 2]


def test_without_sensitive_variable_identity_or_truth():
    register = pd.DataFrame({"age": [30, 40]}, index=["p", "q"])
    released = pd.DataFrame({"age": [30, 30]})
    result = linkage_attack(register, released, ["age"])
    assert list(result.persons) == ["records", "record"]
    assert result.persons["records"].to_dict() == {"p": 2, "q": 0}
    assert result.summary.index.tolist() == ["register", "compatible", "unique", "one_to_one"]
    truth = pd.Series(["q"], index=[0])
    right = linkage_attack(register, released[:1].assign(age=40), ["age"], truth=truth)
    assert right.persons["right"].tolist() == [False, True]


def test_a_table_with_everything_suppressed_matches_everybody():
    register = pd.DataFrame({"age": [30, 40], "sex": ["w", "m"]})
    released = pd.DataFrame({"age": [None, None], "sex": [None, None]})
    assert linkage_attack(register, released, ["age", "sex"]).persons["records"].tolist() == [2, 2]


def test_tables_are_not_changed():
    register = pd.DataFrame({"age": pd.Categorical([30, 40])})
    released = pd.DataFrame({"age": [30.0, np.nan]})
    before = register.copy(), released.copy()
    assert linkage_attack(register, released, ["age"]).persons["records"].tolist() == [2, 1]
    pd.testing.assert_frame_equal(register, before[0])
    pd.testing.assert_frame_equal(released, before[1])


def test_bad_input_is_one_clear_line():
    register = pd.DataFrame({"age": [30, 41], "name": ["Ada", "Ada"]}, index=["p", "q"])
    text = pd.DataFrame({"age": ["30-39", "40-49"]})
    with pytest.raises(DataError, match="column age .*recode the register") as error:
        linkage_attack(register, text, ["age"])
    assert "30" not in str(error.value)
    numbers = pd.DataFrame({"age": [30, 41]})
    with pytest.raises(DataError, match="the register: column sex"):
        linkage_attack(register, numbers, ["age", "sex"])
    with pytest.raises(DataError, match="the released table: column illness"):
        linkage_attack(register, numbers, ["age"], sensitive="illness")
    with pytest.raises(DataError, match="the released table: has no records"):
        linkage_attack(register, numbers[:0], ["age"])
    with pytest.raises(DataError, match="the released table: row 1: a missing value in column age"):
        linkage_attack(register, pd.DataFrame({"age": [30, None]}), ["age"], missing="error")
    with pytest.raises(DataError, match="an identity occurs twice"):
        linkage_attack(register, numbers, ["age"], identity="name", truth=pd.Series(["Ada", "Bel"]))
    with pytest.raises(OptionError, match="index of the released table"):
        linkage_attack(register, numbers, ["age"], truth=pd.Series(["p"]))
    with pytest.raises(OptionError, match="rename the register's column"):
        linkage_attack(register.rename(columns={"name": "record"}), numbers, ["age"], identity="record")
    with pytest.raises(OptionError, match="key variable and sensitive"):
        linkage_attack(register, numbers, ["age"], sensitive="age")
