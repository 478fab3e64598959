"""SUDA against the definition, tried on every set of keys of every record, and against scores printed elsewhere."""

from itertools import chain, combinations
from math import factorial, prod

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kanon_lab.classes import class_table, with_population
from kanon_lab.errors import DataError, OptionError
from kanon_lab.measures import suda
from kanon_lab.roles import KeySpec

VALUES = st.sampled_from([1, 2, 3, None])


@st.composite
def files(draw):
    keys = draw(st.integers(1, 5))
    rows = draw(st.lists(st.tuples(*[VALUES] * keys), min_size=1, max_size=14))
    return [list(row) for row in rows]


def frame_of(rows):
    rows = [list(row) for row in rows]
    return pd.DataFrame(rows, columns=[f"key{j}" for j in range(len(rows[0]))], dtype=object)


def measured(rows, missing="wildcard", **options):
    frame = frame_of(rows)
    return suda(class_table(frame, KeySpec(list(frame), missing=missing)), **options)


def subsets(keys, most):
    return chain.from_iterable(combinations(range(keys), size) for size in range(1, most + 1))


def oracle(rows, missing, most):
    """The minimal sample uniques of each record, by looking at all sets of its keys."""

    def alike(one, other):
        return one == other or (missing == "wildcard" and (one is None or other is None))

    def alone(at, subset):
        known = missing == "category" or all(rows[at][j] is not None for j in subset)
        others = (rows[i] for i in range(len(rows)) if i != at)
        return known and not any(all(alike(rows[at][j], other[j]) for j in subset) for other in others)

    keys = len(rows[0])
    return [
        [
            subset
            for subset in subsets(keys, most)
            if alone(at, subset) and not any(alone(at, part) for part in subsets_within(subset))
        ]
        for at in range(len(rows))
    ]


def subsets_within(subset):
    return chain.from_iterable(combinations(subset, size) for size in range(1, len(subset)))


@given(rows=files(), missing=st.sampled_from(["wildcard", "category"]), size=st.integers(1, 5))
@example(rows=[[1, None], [1, 2], [2, 2]], missing="wildcard", size=2)
@example(rows=[[1, 2, 3]], missing="wildcard", size=3)
@example(rows=[[None, None]], missing="wildcard", size=2)
def test_every_set_of_keys_of_every_record(rows, missing, size):
    keys = len(rows[0])
    size = min(size, keys)
    result = measured(rows, missing, max_size=size)
    expected = oracle(rows, missing, size)
    weight = {s: prod(keys - i for i in range(s, min(size, keys - 1) + 1)) for s in range(1, keys + 1)}
    scores = [sum(weight[len(subset)] for subset in found) for found in expected]
    assert result.records["score"].tolist() == scores
    assert result.records["msus"].tolist() == [len(found) for found in expected]
    assert result.records["smallest"].tolist() == [min(map(len, found), default=0) for found in expected]
    counts = {}
    for subset in chain.from_iterable(expected):
        counts[subset] = counts.get(subset, 0) + 1
    ordered = sorted(counts, key=lambda subset: (len(subset), subset))
    names = [f"key{j}" for j in range(keys)]
    assert result.msus["variables"].tolist() == [tuple(names[j] for j in subset) for subset in ordered]
    assert result.msus["size"].tolist() == [len(subset) for subset in ordered]
    assert result.msus["records"].tolist() == [counts[subset] for subset in ordered]
    with_key = [[sum(weight[len(s)] for s in found if j in s) for j in range(keys)] for found in expected]
    shares = [[part / (score or 1) for part in parts] for parts, score in zip(with_key, scores)]
    np.testing.assert_allclose(result.contributions, np.array(shares).reshape(len(rows), keys))
    np.testing.assert_allclose(result.variables["contribution"], np.sum(with_key, axis=0) / (sum(scores) or 1))
    assert result.variables["msus"].tolist() == [sum(n for s, n in counts.items() if j in s) for j in range(keys)]


@given(rows=files(), missing=st.sampled_from(["wildcard", "category"]), fraction=st.floats(0.001, 1))
def test_dis_and_the_scores_made_of_it(rows, missing, fraction):
    frame = frame_of(rows)
    table = class_table(frame, KeySpec(list(frame), missing=missing))
    result = suda(table, sampling_fraction=fraction)
    f_k = table.f_k_of_records().tolist()
    uniques, in_pairs = f_k.count(1), f_k.count(2)
    assert result.sampling_fraction == fraction
    if uniques + in_pairs == 0:
        assert np.isnan(result.dis)
    elif uniques == 0:
        assert result.dis == 0 or fraction == 1
    else:
        assert result.dis == pytest.approx(1 / (1 + in_pairs / uniques * (1 - fraction) / fraction))
    score, dis_score = (result.records[name].to_numpy() for name in ("score", "dis_score"))
    scored = score > 0
    assert (dis_score[~scored] == 0).all()
    if scored.any():
        assert 1 / np.mean(1 / dis_score[scored]) == pytest.approx(result.dis)
        order = np.argsort(score[scored], kind="stable")
        assert (np.diff(dis_score[scored][order]) >= -1e-12).all()


@given(rows=files(), data=st.data())
def test_neither_the_order_of_rows_nor_that_of_keys_matters(rows, data):
    frame = frame_of(rows)
    other = frame.sample(frac=1, random_state=data.draw(st.integers(0, 9)))
    keys = data.draw(st.permutations(list(frame)))
    one, two = suda(class_table(frame, list(frame))), suda(class_table(other, keys))
    pd.testing.assert_frame_equal(one.records, two.records.loc[frame.index])
    pd.testing.assert_frame_equal(one.contributions, two.contributions.loc[frame.index, list(frame)])


EIGHT = ["1251", "1211", "1211", "3315", "4314", "4311", "6215", "1251"]
GUIDE = "ufio ufio ufpn umso rfsd umso ufPn umtd ufin ufin".split()


def test_eight_records_of_sdcmicro():
    """PEERS.md: SUDA scores computed by sdcMicro 5.8."""
    assert measured(EIGHT).records["score"].tolist() == [0, 0, 0, 8, 6, 4, 8, 0]


def test_ten_records_of_the_guide():
    """INE Chile (2023), Tabla 7.1; SUDA scores computed by sdcMicro 5.8 (PEERS.md)."""
    assert measured(GUIDE).records["score"].tolist() == [0, 0, 6, 0, 12, 0, 6, 10, 0, 0]


def test_contributions_reported_to_sdcmicro():
    """Issues 275 and 356 of sdcTools/sdcMicro, whose answers are computed by hand."""
    result = measured([[2, 0, 0], [1, 3, 6], [1, 0, 0]])
    assert result.records["score"].tolist() == [2, 4, 2]
    assert result.variables["contribution"].tolist() == [0.5, 0.375, 0.375]
    result = measured(["AXP", "BXQ", "AYQ", "CZR", "BYR", "AXP", "BZQ"])
    assert result.records["score"].tolist() == [0, 2, 3, 3, 3, 0, 2]
    np.testing.assert_allclose(result.variables["contribution"], [0.6153846, 0.6923077, 0.5384615], atol=5e-8)


def test_dis_suda_by_hand():
    """The formula written out for Tabla 7.1: 4 unique records, 6 in pairs, 4 keys."""
    result = measured(GUIDE, sampling_fraction=0.01)
    assert result.dis == pytest.approx(0.04 / (0.04 + 6 * 0.99))
    power = {score: score**1.2 for score in (6, 10, 12)}
    total = 2 / power[6] + 1 / power[10] + 1 / power[12]
    for score, dis in zip(result.records["score"], result.records["dis_score"]):
        expected = 1 / (1 + (4 / result.dis - 4) / (power[score] * total)) if score else 0
        assert dis == pytest.approx(expected)


def test_the_sampling_fraction_is_that_of_the_weights():
    """Records over the sum of their weights, also where gaps or a known population make F_k another number."""
    frame = frame_of(["11", "12", ["1", None], "22"]).assign(w=[2.0, 4, 6, 8])
    table = class_table(frame, KeySpec(["key0", "key1"], weight="w"))
    assert table.F_k.sum() > 20
    assert suda(table).sampling_fraction == 0.2
    known = with_population(table, pd.concat([frame] * 7))
    assert suda(known).sampling_fraction == 0.2
    assert suda(known).dis == suda(table, sampling_fraction=0.2).dis != suda(table, sampling_fraction=0.1).dis
    assert suda(known, sampling_fraction=0.3).sampling_fraction == 0.3
    assert measured(GUIDE).sampling_fraction == 0.1
    with pytest.raises(DataError, match="column w add up to less than the records"):
        suda(class_table(frame.assign(w=0.5), KeySpec(["key0", "key1"], weight="w")))


def test_a_larger_file_has_the_scores_of_the_definition():
    rng = np.random.default_rng(5)
    rows = np.column_stack([rng.integers(0, values, 120) for values in (2, 3, 5, 9, 14, 20)]).tolist()
    result = measured(rows, max_size=4)
    expected = [sum(prod(6 - i for i in range(len(s), 5)) for s in found) for found in oracle(rows, "category", 4)]
    assert result.records["score"].tolist() == expected
    assert result.max_size == 4
    assert (result.records.loc[result.records["score"] == 0, "smallest"] == 0).all()


def test_a_record_that_is_unique_on_all_keys_only_has_the_score_1():
    result = measured(["00", "01", "10", "11"])
    assert result.records["score"].tolist() == [1, 1, 1, 1]
    assert measured(["00", "01", "10", "11"], max_size=1).records["score"].tolist() == [0, 0, 0, 0]


def test_keys_of_many_values_and_other_names():
    frame = pd.DataFrame({"score": np.arange(3000) % 2999, 7: np.arange(3000) % 1500}, index=np.arange(3000) + 10)
    result = suda(class_table(frame, ["score", 7]))
    assert (result.records["score"] > 0).sum() == 3000
    assert list(result.contributions) == ["score", 7]
    assert result.records.index.equals(frame.index)
    # Only the first and the last record share their first key; no record is alone on the second.
    assert result.msus["records"].tolist() == [2998, 2]


def test_twenty_keys_and_more():
    rng = np.random.default_rng(7)
    rows = rng.integers(0, 3, (60, 24)).tolist()
    result = measured(rows, max_size=2)
    assert result.records["smallest"].max() <= 2
    with pytest.raises(OptionError, match="24 key variables have too many subsets of up to 24 .* at most 7"):
        measured(rows)
    twelve = measured([row[:12] for row in rows])
    assert twelve.records["score"].max() <= factorial(12) * 2**12
    assert (twelve.records["score"] > 0).all()


@pytest.mark.parametrize("size", [0, 3, 1.5, True, "two"])
def test_sizes_that_cannot_be(size):
    with pytest.raises(OptionError, match="max_size"):
        measured(["12", "21"], max_size=size)


@pytest.mark.parametrize("fraction", [0, -0.1, 1.01, float("nan"), "some", True])
def test_sampling_fractions_that_cannot_be(fraction):
    with pytest.raises(OptionError, match="sampling_fraction must be a number above 0 and at most 1"):
        measured(["12", "21"], sampling_fraction=fraction)
