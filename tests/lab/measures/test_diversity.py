"""Diversity against plain loops, hand-computed values, and the wrong answers of other tools."""

import math
from functools import partial
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest
from diversity_oracle import (
    alpha,
    beta,
    classes_of,
    delta,
    distinct,
    enhanced_beta_holds,
    entropy,
    equal,
    file_of,
    ordered,
    recursive,
)
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from kanon_lab.classes import ValueCounts, class_table
from kanon_lab.errors import DataError, OptionError
from kanon_lab.measures import Bands, alpha_k, diversity, p_sensitivity, sensitive_values
from kanon_lab.measures.class_values import (
    beta_likeness,
    delta_disclosure,
    distinct_l,
    enhanced_beta_likeness,
    entropy_l,
    equal_distance,
    largest_share,
    ordered_distance,
    recursive_l,
)
from kanon_lab.roles import KeySpec

KEY = st.sampled_from([1, 2, 3, None])
RECORDS = st.lists(st.tuples(KEY, KEY, st.sampled_from(["a", "b", "c", "d", None])), min_size=1, max_size=30)
POLICY = st.sampled_from(["wildcard", "category"])


def table_of(rows, missing="wildcard", index=None):
    frame = pd.DataFrame(rows, columns=["x", "y", "s"], dtype=object).set_axis(
        range(len(rows)) if index is None else index
    )
    return class_table(frame, KeySpec(["x", "y"], sensitive_variables=["s"], missing=missing))


def one_key(classes, missing="wildcard"):
    """A table from the sensitive values of each class, written as text: {1: "aab", 2: "cc"}."""
    return table_of([(key, 0, value) for key, values in classes.items() for value in values], missing)


@settings(max_examples=40)
@given(rows=RECORDS, missing=POLICY, c=st.sampled_from([0.5, 1, 2, 3.7]), seed=st.integers(0, 99))
def test_every_measure_agrees_with_plain_loops(rows, missing, c, seed):
    assume(any(value is not None for *_, value in rows))
    index = np.random.default_rng(seed).permutation(len(rows)) * 3
    table = table_of(rows, missing, index)
    result = diversity(table, "s", recursive_c=c, distance="ordered")
    keys, values = [row[:2] for row in rows], [row[2] for row in rows]
    classes, file = classes_of(keys, values, missing), file_of(values, missing)
    order = sorted([value for value in file if value is not None]) + [None] * (None in file)
    t_equal = diversity(table, "s").classes["t_closeness"]
    worst = {name: [] for name in result.file}
    for key, class_ in zip(keys, table.class_of_record):
        counter, row = classes[key], result.classes.loc[class_]
        assert row["known"] == sum(counter.values())
        if not counter:
            assert row.drop(["records", "known"]).isna().all()
            continue
        expected = {
            "distinct": distinct(counter),
            "entropy": entropy(counter),
            "recursive": recursive(counter, c),
            "alpha": alpha(counter),
            "t_closeness": ordered(counter, file, order),
            "delta_disclosure": delta(counter, file),
            "beta_likeness": beta(counter, file),
        }
        for name, value in expected.items():
            assert row[name] == pytest.approx(value, rel=1e-9, abs=1e-9), name
            worst[name].append(value)
        assert t_equal[class_] == pytest.approx(equal(counter, file), abs=1e-9)
        least = row["enhanced_beta_likeness"]
        assert not enhanced_beta_holds(counter, file, least - 1e-9) or least == 0
        if math.isfinite(least):
            assert enhanced_beta_holds(counter, file, least + 1e-9)
        else:
            assert not enhanced_beta_holds(counter, file, 1e9)
    for name in ("distinct", "entropy", "recursive"):
        assert result.file[name] == pytest.approx(min(worst[name]))
    for name in ("alpha", "t_closeness", "delta_disclosure", "beta_likeness"):
        assert result.file[name] == pytest.approx(max(worst[name]), abs=1e-9)


@given(rows=RECORDS, seed=st.integers(0, 2**32 - 1))
def test_index_row_order_and_unused_categories_make_no_difference(rows, seed):
    assume(any(value is not None for *_, value in rows))
    frame = pd.DataFrame(rows, columns=["x", "y", "s"], dtype=object)
    spec = KeySpec(["x", "y"], sensitive_variables=["s"])
    other = frame.sample(frac=1, random_state=seed)
    other["s"] = pd.Categorical(other["s"], categories=["z", "d", "c", "b", "a", "never"])
    expected, result = (diversity(class_table(each, spec), "s") for each in (frame, other))
    pd.testing.assert_frame_equal(result.classes, expected.classes)
    assert result.file == pytest.approx(expected.file)


def test_values_computed_by_hand():
    # Shares in the file: a 1/2, b 1/3, c 1/6. In class 1: 3/4, 1/4, 0.
    result = diversity(one_key({1: "aaab", 2: "bc"}), "s")
    first = result.classes.iloc[0]
    assert first["distinct"] == 2
    assert first["entropy"] == pytest.approx(4 / 27**0.25)
    assert first["recursive"] == 1  # 3 < 2 (3 + 1), but not 3 < 2 (1)
    assert first["alpha"] == 0.75
    assert first["t_closeness"] == pytest.approx(1 / 4)
    assert first["delta_disclosure"] == math.inf
    assert first["beta_likeness"] == pytest.approx(1 / 2)
    assert first["enhanced_beta_likeness"] == pytest.approx(1 / 2)  # below ln 2
    # In class 2 c has 1/2 against 1/6: a gain of 2, above -ln(1/6) = 1.79.
    assert result.classes["beta_likeness"][1] == pytest.approx(2)
    assert result.file["enhanced_beta_likeness"] == math.inf


def test_guide_table_7_3():
    """INE Chile (2023), Tabla 7.3: the printed l of ten records, health as the sensitive variable."""
    keys = ["uf2", "uf2", "uf1", "um3", "rf3", "um3", "ufp", "um4", "uf2n", "uf2n"]
    health = "ill ill ill ill ill well well ill well ill".split()
    frame = pd.DataFrame({"key": keys, "health": health})
    table = class_table(frame, KeySpec("key", sensitive_variables="health"))
    l_values = diversity(table, "health").classes["distinct"].to_numpy()[table.class_of_record]
    assert l_values.tolist() == [1, 1, 1, 2, 1, 2, 1, 1, 2, 2]


class TestWrongElsewhere:
    """PEERS.md: wrong answers of pycanon that must come out right here."""

    def test_a_shuffled_index_changes_nothing(self):
        rows = [(1, 0, "a"), (1, 0, "b"), (2, 0, "c"), (2, 0, "d")]
        result = diversity(table_of(rows, index=[2, 0, 3, 1]), "s")
        assert result.file["distinct"] == 2

    def test_entropy_l_is_not_truncated(self):
        result = diversity(one_key({1: "aab"}), "s")
        assert result.file["entropy"] == pytest.approx(3 / 4 ** (1 / 3))

    def test_an_even_class_has_a_whole_entropy_l(self):
        for m in range(1, 12):
            assert diversity(one_key({1: "abcdefghijkl"[:m] * 7}), "s").file["entropy"] == m

    def test_recursive_sorts_the_most_frequent_first(self):
        # r = 5, 3, 1: 5 < 2 (3 + 1), not 5 < 2 (1). Sorted the other way, 1 < 2 (5) would give 3.
        assert diversity(one_key({1: "aaaaabbbc"}), "s").file["recursive"] == 2

    def test_an_absent_value_makes_delta_disclosure_infinite(self):
        assert diversity(one_key({1: "ab", 2: "abc"}), "s").file["delta_disclosure"] == math.inf

    def test_a_record_with_a_missing_key_counts(self):
        result = diversity(table_of([(1, 0, "a"), (1, None, "b")]), "s")
        assert result.file["distinct"] == 2


def test_classes_may_share_what_is_measured_or_not():
    rng = np.random.default_rng(5)
    rows = [(*key, str(value)) for *key, value in rng.integers(0, [12, 4, 5], (400, 3)).tolist() for _ in range(2)]
    rows += [(1, 1, "0")] * 30 + [(99, 0, None)]
    # As it is; classes of one record alone; and digits too large to be put together.
    found = []
    for values, records in ((3, 15), (1, 1), (3, 2**21)):
        with patch.multiple(sensitive_values, _FEW_VALUES=values, _FEW_RECORDS=records):
            found.append(diversity(table_of(rows), "s").classes)
    pd.testing.assert_frame_equal(found[0], found[1], check_exact=True)
    pd.testing.assert_frame_equal(found[0], found[2], check_exact=True)
    assert found[0]["known"].iloc[-1] == 0 and found[0]["distinct"].isna().sum() == 1


def test_missing_sensitive_values():
    rows = [(1, 0, "a"), (1, 0, None), (2, 0, None), (3, 0, "a"), (3, 0, "b")]
    wildcard = diversity(table_of(rows), "s")
    assert wildcard.classes["distinct"].tolist() == [1, pd.NA, 2]
    assert wildcard.classes["entropy"].isna().tolist() == [False, True, False]
    assert wildcard.file["distinct"] == 1
    category = diversity(table_of(rows, "category"), "s")
    assert category.classes["distinct"].tolist() == [2, 1, 2]
    with pytest.raises(DataError, match="missing value in column s"):
        diversity(table_of(rows, "error"), "s")


def test_nothing_known_is_nothing_measured():
    none = np.zeros(0, dtype=np.int64)
    counts = ValueCounts(pd.Index(["a"]), none, none, none, np.zeros(1, dtype=np.int64), 2)
    measures = [distinct_l, entropy_l, largest_share, equal_distance, ordered_distance, delta_disclosure, beta_likeness]
    for measure in [*measures, enhanced_beta_likeness, partial(recursive_l, c=2)]:
        assert np.isnan(measure(counts)).tolist() == [True, True]


def test_one_value_has_no_distance():
    for distance in ("equal", "ordered"):
        result = diversity(one_key({1: "aa", 2: "a"}), "s", distance=distance)
        assert result.file["t_closeness"] == 0
        assert result.file["delta_disclosure"] == result.file["enhanced_beta_likeness"] == 0


@pytest.mark.parametrize("c", [0, -1, math.nan, math.inf])
def test_c_must_be_above_zero(c):
    with pytest.raises(OptionError, match="number above 0"):
        diversity(one_key({1: "ab"}), "s", recursive_c=c)


def test_failing_tells_the_classes_below_a_threshold():
    result = diversity(one_key({1: "abc", 2: "aab", 3: "aa"}), "s")
    assert result.failing(distinct=1).empty
    assert result.failing(distinct=3).index.tolist() == [1, 2]
    assert result.failing(distinct=3)["records"].sum() == 5
    assert result.failing(entropy=3, alpha=1).index.tolist() == [1, 2]
    assert result.failing(alpha=2 / 3).index.tolist() == [2]
    assert result.failing(delta_disclosure=5).index.tolist() == [1, 2]
    even = diversity(one_key({1: "ab", 2: "ab"}), "s")
    # Below delta, as the definition has it: nothing is below 0.
    assert len(even.failing(delta_disclosure=0)) == 2


@pytest.mark.parametrize("required", [{}, {"l": 3}, {"distinct": "3"}, {"alpha": math.nan}, {"distinct": True}])
def test_what_is_required_must_be_a_measure_and_a_number(required):
    with pytest.raises(OptionError):
        diversity(one_key({1: "ab"}), "s").failing(**required)


def test_p_sensitivity_and_alpha():
    frame = pd.DataFrame({"x": [1, 1, 1, 2, 2], "s": list("aabab"), "t": list("abcdd")})
    table = class_table(frame, KeySpec("x", sensitive_variables=["s", "t"]))
    result = p_sensitivity(table)
    assert (result.k_achieved, result.p_achieved, result.by_variable) == (2, 1, {"s": 2, "t": 1})
    assert p_sensitivity(table, "s").p_achieved == 2
    assert alpha_k(table, "s").alpha == pytest.approx(2 / 3)
    assert alpha_k(table, "s", value="b").alpha == 0.5
    with pytest.raises(OptionError, match="no record has that value in the sensitive variable"):
        alpha_k(table, "s", value="z")
    with pytest.raises(OptionError, match="no sensitive variable"):
        p_sensitivity(class_table(frame, "x"))


def test_unknown_options_are_refused():
    table = one_key({1: "ab"})
    with pytest.raises(OptionError, match="distance must be one of"):
        diversity(table, "s", distance="emd")
    with pytest.raises(OptionError, match="hierarchy"):
        diversity(table, "s", distance="hierarchical")
    with pytest.raises(OptionError, match="not a sensitive variable"):
        diversity(table, "x")


class TestBands:
    def table(self, incomes):
        frame = pd.DataFrame({"x": [1] * len(incomes), "income": incomes})
        return class_table(frame, KeySpec("x", numeric_variables="income"))

    def test_left_and_right_closed(self):
        column = pd.Series([0, 10, None, 15.5], index=list("abcd"), name="income")
        left = Bands([0, 10, 20], closed="left").cut(column)
        assert left.tolist() == ["[0, 10)", "[10, 20)", np.nan, "[10, 20)"]
        assert left.index.tolist() == list("abcd")
        assert left.name == "income"
        right = Bands([None, 0, 10, 20], closed="right").cut(column)
        assert right.tolist() == ["<= 0", "(0, 10]", np.nan, "(10, 20]"]

    @pytest.mark.parametrize("closed, inside, outside", [("left", 0, 20), ("right", 20, 0)])
    def test_no_value_is_lost(self, closed, inside, outside):
        bands = Bands([0, 10, 20], closed=closed)
        assert bands.cut(pd.Series([inside])).notna().all()
        with pytest.raises(DataError, match="row 7.*") as error:
            bands.cut(pd.Series([5, outside], index=[3, 7], name="income"))
        assert "income" in str(error.value)

    def test_bands_keep_their_order(self):
        # As text "[1000, 2000)" would stand before "[500, 1000)".
        bands = Bands([0, 500, 1000, 2000], closed="left")
        frame = pd.DataFrame({"x": [1, 1, 2, 2], "income": [0, 500, 500, 1500]})
        table = class_table(frame, KeySpec("x", numeric_variables="income"))
        result = diversity(table, "income", distance="ordered", bands=bands)
        assert result.values.tolist() == ["[0, 500)", "[500, 1000)", "[1000, 2000)"]
        # Cumulative shares: file 1/4, 3/4, 1; class 1: 1/2, 1, 1.
        assert result.file["t_closeness"] == pytest.approx(1 / 4)
        assert diversity(self.table([1, 2, 3]), "income", bands=Bands([0, 9], closed="left")).file["distinct"] == 1

    @pytest.mark.parametrize("edges, closed", [([0], "left"), ([1, 0], "left"), ([0, 1], "both"), (["a", 1], "left")])
    def test_bad_bands(self, edges, closed):
        with pytest.raises(OptionError):
            Bands(edges, closed=closed)
