"""Records above a threshold, and three attackers, against the guide's example and plain loops."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon_lab.classes import class_table, with_population
from kanon_lab.errors import DataError, OptionError
from kanon_lab.measures import attacker_risks, file_risk, individual_risk, records_above
from kanon_lab.roles import KeySpec

RISKS = st.lists(st.sampled_from([0, 1e-6, 0.05, 0.1, 0.25, 0.5, 1]), min_size=1, max_size=30)


def test_the_ten_records_of_the_guide():
    """INE Chile (2023), Tabla 7.1 and Bloque 7.11: no record has a risk above .05; risks as in PEERS.md."""
    risk = [0.00542452] * 2 + [0.02509644, 0.01256343, 0.02824728, 0.01256343, 0.02901093, 0.02509644]
    risk += [0.00740383] * 2
    assert records_above(risk, threshold=0.05).records == 0
    above = records_above(risk, threshold=0.02)
    assert (above.kind, above.threshold, above.records, above.share) == ("absolute", 0.02, 4, 0.4)
    assert above.which.tolist() == [False, False, True, False, True, False, True, True, False, False]
    quartile = records_above(risk, quantile=0.75)
    assert (quartile.kind, quartile.threshold) == ("relative", pytest.approx(0.02509644))
    assert np.flatnonzero(quartile.which).tolist() == [4, 6]


@given(risk=RISKS, threshold=st.sampled_from([0, 0.05, 0.07, 0.25, 1]), quantile=st.floats(0, 1))
def test_above_by_plain_loops(risk, threshold, quantile):
    above = records_above(risk, threshold=threshold)
    assert above.records == sum(each > threshold for each in risk) == above.which.sum()
    assert above.share == pytest.approx(above.records / len(risk))
    place = quantile * (len(risk) - 1)
    low, high = sorted(risk)[math.floor(place)], sorted(risk)[math.ceil(place)]
    relative = records_above(risk, quantile=quantile)
    assert relative.threshold == pytest.approx(low + (high - low) * (place - math.floor(place)), abs=1e-12)
    assert relative.records <= len(risk) - 1 - math.floor(place)


def test_no_count_depends_on_the_order_of_the_rows():
    """Weights of 2.7, 8.2 and 9.1 make 20, or a little less by the order of adding up; 1/20 is not above .05."""
    orders = [list(order) for order in itertools.permutations([2.7, 8.2, 9.1])]
    # Not by sum(), which has made up for what is rounded since Python 3.12.
    assert len({a + b + c < 20 for a, b, c in orders}) == 2
    for order in orders:
        table = class_table(pd.DataFrame({"a": "x", "w": order}), KeySpec("a", weight="w"))
        risk = file_risk(table, estimator="inverse").risk
        assert records_above(risk, threshold=0.05).records == 0
        assert attacker_risks(table, threshold=0.05).loc["journalist", "records_above"] == 0
        assert records_above([*risk, 1 / 20 + 1e-16, 0.01, 0.06], quantile=0.5).records == 1
    assert records_above([0.05 * (1 + 1e-8)], threshold=0.05).records == 1
    assert records_above([0, 1e-300, 1], threshold=0).records == 2


@pytest.mark.parametrize(
    ("risk", "options", "fault"),
    [
        ([0.1], {}, "either a threshold or a quantile"),
        ([0.1], {"threshold": 0.1, "quantile": 0.5}, "either a threshold or a quantile"),
        ([0.1], {"threshold": 1.5}, "threshold must be a number from 0 to 1"),
        ([0.1], {"threshold": "0.1"}, "threshold must be"),
        ([0.1], {"threshold": math.nan}, "threshold must be"),
        ([0.1], {"quantile": True}, "quantile must be"),
        ([], {"threshold": 0.1}, "no risk of any record"),
        ([[0.1]], {"threshold": 0.1}, "risk must be an array of numbers in one dimension"),
        (["x"], {"threshold": 0.1}, "risk must be an array of numbers"),
        ([0.1, pd.NA], {"threshold": 0.1}, "risk must be an array of numbers"),
        ([0.1, math.nan], {"threshold": 0.1}, "number from 0 to 1"),
        ([1.1], {"quantile": 0.5}, "number from 0 to 1"),
    ],
)
def test_thresholds_and_risks_that_are_none(risk, options, fault):
    with pytest.raises(OptionError, match=fault):
        records_above(risk, **options)


ROWS = st.lists(
    st.tuples(st.sampled_from(["x", "y", None]), st.integers(0, 2), st.floats(1, 9)), min_size=1, max_size=25
)


@given(rows=ROWS, missing=st.sampled_from(["wildcard", "category"]), threshold=st.sampled_from([0.07, 0.21, 0.6]))
def test_attackers_by_plain_loops(rows, missing, threshold):
    frame = pd.DataFrame(rows, columns=["a", "b", "w"]).astype({"a": object})
    found = attacker_risks(class_table(frame, KeySpec(["a", "b"], weight="w", missing=missing)), threshold=threshold)

    def alike(one, other):
        wild = missing == "wildcard" and None in (one[0], other[0])
        return one[1] == other[1] and (wild or one[0] == other[0])

    friends = [[other for other in rows if alike(one, other)] for one in rows]
    risks = {
        "prosecutor": [1 / len(group) for group in friends],
        "journalist": [1 / math.fsum(other[2] for other in group) for group in friends],
    }
    assert list(found.index) == ["prosecutor", "journalist", "marketer"]
    for attacker, risk in risks.items():
        row = found.loc[attacker]
        assert row["highest"] == pytest.approx(max(risk))
        assert row["mean"] == pytest.approx(math.fsum(risk) / len(rows))
        assert row["records_above"] == sum(each > threshold for each in risk)
        assert row["share_above"] == pytest.approx(row["records_above"] / len(rows))
    assert found.loc["marketer", "mean"] == found.loc["journalist", "mean"]
    assert found.loc["marketer", ["highest", "records_above", "share_above"]].isna().all()


def test_the_marketer_by_trial():
    """Each record of the file is linked at random to a person of its class: the share of right links is the mean."""
    rng = np.random.default_rng(17)
    population = pd.DataFrame({"a": rng.choice(40, 2000, p=rng.dirichlet(np.full(40, 0.3)))})
    sample = population.sample(300, random_state=1)
    table = with_population(class_table(sample, "a"), population)
    members = population.groupby("a").indices
    right = [np.mean([rng.choice(members[a]) == person for person, a in sample["a"].items()]) for _ in range(200)]
    expected = attacker_risks(table).loc["marketer", "mean"]
    assert np.mean(right) == pytest.approx(expected, abs=4 * np.std(right) / math.sqrt(200))


def test_under_the_negative_binomial_the_risk_is_larger_than_one_over_F_k():
    frame = pd.DataFrame({"a": list("xxy"), "w": [10.0, 20, 30]})
    table = class_table(frame, KeySpec("a", weight="w"))
    journalist = attacker_risks(table, estimator="exact").loc["journalist"]
    assert journalist["highest"] == pytest.approx(individual_risk([1], [30], estimator="exact")[0])
    assert journalist["mean"] == pytest.approx(file_risk(table, estimator="exact").global_risk)
    assert journalist["mean"] > attacker_risks(table).loc["journalist", "mean"]


def test_without_weights_all_attackers_are_one():
    found = attacker_risks(class_table(pd.DataFrame({"a": list("xxyzz")}), "a"))
    assert found["mean"].tolist() == [0.6] * 3
    assert found.loc["prosecutor", "records_above":].tolist() == [5, 1.0]


def test_bad_arguments_of_attackers():
    table = class_table(pd.DataFrame({"a": [1, 2], "w": [1.0, 0.5]}), KeySpec("a", weight="w"))
    with pytest.raises(DataError, match="row 1: the weights in column w"):
        attacker_risks(table)
    with pytest.raises(OptionError, match="threshold must be"):
        attacker_risks(table, threshold=2)
    with pytest.raises(OptionError, match="estimator must be"):
        attacker_risks(class_table(pd.DataFrame({"a": [1]}), "a"), estimator="best")
