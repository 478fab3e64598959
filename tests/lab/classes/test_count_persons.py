"""Frequencies that count persons, held to plain loops over small random files."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kanon_lab
from kanon_lab import KeySpec
from kanon_lab.measures import file_risk, with_path
from kanon_lab.methods.suppression import alike_by_claim

_RECORD = st.tuples(
    st.sampled_from([1, 2, 3, None]),
    st.sampled_from([1, 2, None]),
    st.sampled_from(["x", "y", None]),
    st.sampled_from([1.0, 2.0, 3.5]),
    st.sampled_from([1, 2, 3, 4, None]),
)
_FILES = st.lists(_RECORD, min_size=1, max_size=14).map(lambda rows: pd.DataFrame(rows, columns=list("abswp")))


def _persons(file):
    """The person of each record; those without may be one."""
    return ["nobody" if pd.isna(person) else person for person in file["p"]]


def _alike(file, i, j, missing, names="ab"):
    for name in names:
        x, y = file[name][i], file[name][j]
        if missing == "wildcard" and (pd.isna(x) or pd.isna(y)):
            continue
        if not (x == y or (pd.isna(x) and pd.isna(y))):
            return False
    return True


@settings(max_examples=60, deadline=None)
@given(_FILES, st.sampled_from(["wildcard", "category"]))
def test_frequencies_risks_and_values_count_each_person_once(file, missing):
    spec = KeySpec(["a", "b"], weight="w", sensitive_variables="s", person="p", missing=missing)
    table, who, rows = kanon_lab.class_table(file, spec), _persons(file), range(len(file))
    compatible = [[j for j in rows if _alike(file, i, j, missing)] for i in rows]
    f_k = [len({who[j] for j in some}) for some in compatible]
    assert table.f_k_of_records().tolist() == f_k
    weight = {person: np.mean([file["w"][i] for i in rows if who[i] == person]) for person in who}
    F_k = [sum(weight[person] for person in {who[j] for j in some}) for some in compatible]
    assert table.F_k_of_records().tolist() == pytest.approx(F_k)
    for k in (2, 3):
        assert table.violations([k])[k] == len({who[i] for i in rows if f_k[i] < k})
    assert table.sample_uniques == len({who[i] for i in rows if f_k[i] == 1})
    risk = file_risk(table, estimator="inverse")
    largest = [max(1 / F_k[i] for i in rows if who[i] == person) for person in set(who)]
    assert risk.global_risk == pytest.approx(np.mean(largest))
    assert risk.expected_reidentifications == pytest.approx(sum(largest))
    if file["s"].notna().any():
        counts = table.sensitive_counts("s")
        found = {
            (class_, "none" if pd.isna(counts.values[value]) else counts.values[value]): count
            for class_, value, count in zip(counts.class_, counts.value, counts.count, strict=True)
        }
        wanted = {}
        for i in rows:
            for j in compatible[i]:
                value = "none" if pd.isna(file["s"][j]) else file["s"][j]
                if value != "none" or missing == "category":
                    wanted.setdefault((table.class_of_record[i], value), set()).add(who[j])
        assert found == {place: len(persons) for place, persons in wanted.items()}


@settings(max_examples=40, deadline=None)
@given(_FILES)
def test_paths_are_the_classes_of_all_records_of_a_person(file):
    who, paths = _persons(file), {}
    for i, person in enumerate(who):
        paths.setdefault(person, []).append(str([file["a"][i], file["b"][i]]))
    alike = pd.Series([str(sorted(path)) for path in paths.values()]).value_counts()
    table = kanon_lab.class_table(file.astype(object), KeySpec(["a", "b"], person="p"))
    wanted = {"paths": len(alike), "k_achieved": alike.min(), "sample_uniques": (alike == 1).sum()}
    assert with_path(table) == wanted


@settings(max_examples=40, deadline=None)
@given(_FILES, _FILES)
def test_each_claim_counts_the_persons_of_the_released_records(file, other):
    n = min(len(file), len(other))
    known = file[["a", "b"]].iloc[:n].fillna(-1).to_numpy(dtype=np.int64)
    shown = np.where(other[["a"]].iloc[:n].isna().to_numpy(), -1, known)
    person = other["p"].iloc[:n].fillna(9).to_numpy(dtype=np.int64)
    alike = alike_by_claim(known, shown, np.zeros(n, dtype=np.int64), person=person)

    def meets(row, other):
        return ((row == other) | (row < 0) | (other < 0)).all()

    for i in range(n):
        assert alike["true_key"][i] == len({person[j] for j in range(n) if meets(known[i], shown[j])})
        assert alike["compatible"][i] == len({person[j] for j in range(n) if meets(shown[i], shown[j])})
        assert alike["own_class"][i] == len({person[j] for j in range(n) if (shown[i] == shown[j]).all()})
