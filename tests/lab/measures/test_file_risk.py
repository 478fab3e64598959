"""Risk of a file against loops over its records, and the two printed examples."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon_lab.classes import class_table
from kanon_lab.errors import DataError, OptionError
from kanon_lab.measures import file_risk, individual_risk
from kanon_lab.roles import KeySpec


def test_eight_records_of_sdcmicro():
    """PEERS.md, eight records with keys Key1-Key4: risks computed by sdcMicro 5.8."""
    rows = ["1251", "1211", "1211", "3315", "4314", "4311", "6215", "1251"]
    frame = pd.DataFrame([list(row) for row in rows], columns=list("abcd"))
    frame["w"] = [18, 45.5, 39, 17, 541, 8, 5, 92]
    risk = file_risk(class_table(frame, KeySpec(list("abcd"), weight="w")))
    printed = [0.01714426, 0.02204233, 0.02204233, 0.17707583, 0.01165448, 0.29706308, 0.40235948, 0.01714426]
    np.testing.assert_allclose(risk.risk, printed, atol=5e-9)
    assert risk.global_risk == pytest.approx(np.mean(printed), abs=1e-8)
    assert risk.expected_reidentifications == pytest.approx(sum(printed), abs=1e-7)
    assert risk.sum_population_frequency == 2 * 110 + 2 * 84.5 + 17 + 541 + 8 + 5
    assert risk.household_risk is None
    assert risk.expected_household_reidentifications is None


def test_ten_records_of_the_guide():
    """INE Chile (2023), Tabla 7.1; R1 is printed as 0.01582, the mean of these risks."""
    rows = "ufio ufio ufpn umso rfsd umso ufPn umtd ufin ufin".split()
    frame = pd.DataFrame([list(row) for row in rows], columns=["area", "sex", "education", "work"])
    frame["w"] = [180, 180, 215, 76, 186, 76, 180, 215, 186, 76]
    spec = KeySpec(["area", "sex", "education", "work"], weight="w")
    result = file_risk(class_table(frame, spec))
    a, b, c, d, e, f = 0.00542452, 0.02509644, 0.01256343, 0.02824728, 0.02901093, 0.00740383
    np.testing.assert_allclose(result.risk, [a, a, b, c, d, c, e, b, f, f], atol=5e-9)
    assert result.global_risk == pytest.approx(0.01582, abs=5e-6)
    inverse = file_risk(class_table(frame, spec), estimator="inverse")
    assert inverse.global_risk == pytest.approx(0.00466, abs=5e-6)


RECORDS = st.lists(
    st.tuples(st.sampled_from([1, 2, None]), st.sampled_from(["a", "b", None]), st.floats(1, 50), st.integers(0, 4)),
    min_size=1,
    max_size=25,
)


@given(rows=RECORDS, missing=st.sampled_from(["wildcard", "category"]))
def test_a_file_by_plain_loops(rows, missing):
    frame = pd.DataFrame(rows, columns=["x", "y", "w", "home"]).astype({"x": object, "y": object})
    result = file_risk(class_table(frame, KeySpec(["x", "y"], weight="w", household="home", missing=missing)))

    def alike(one, other):
        pairs = list(zip(one[:2], other[:2]))
        return all(a == b or (missing == "wildcard" and (a is None or b is None)) for a, b in pairs)

    f_k = [sum(alike(one, other) for other in rows) for one in rows]
    F_k = [sum(other[2] for other in rows if alike(one, other)) for one in rows]
    risks = individual_risk(f_k, F_k).tolist()
    np.testing.assert_allclose(result.risk, risks, rtol=1e-9)
    assert result.sum_population_frequency == pytest.approx(sum(F_k))
    assert result.global_risk == pytest.approx(sum(risks) / len(rows))
    homes = {}
    for (*_, home), risk in zip(rows, risks):
        homes[home] = 1 - (1 - homes.get(home, 0)) * (1 - risk)
    assert result.household_risk == pytest.approx(sum(homes[home] for *_, home in rows) / len(rows))
    assert result.expected_household_reidentifications == pytest.approx(sum(homes.values()))


def test_without_weights_the_risk_is_one_over_f_k():
    result = file_risk(class_table(pd.DataFrame({"x": [1, 1, 2]}), "x"))
    assert result.risk.tolist() == [0.5, 0.5, 1]


def test_weights_that_stand_for_less_than_the_records():
    frame = pd.DataFrame({"x": [1, 2, 2], "w": [1.0, 0.7, 1.2]}, index=["p", "q", "r"])
    with pytest.raises(DataError, match="row q: the weights in column w of its class .* 1 of 2 classes") as error:
        file_risk(class_table(frame, KeySpec("x", weight="w")))
    assert "0.7" not in str(error.value)
    with pytest.raises(OptionError, match="estimator"):
        file_risk(class_table(frame[:1], "x"), estimator="best")
