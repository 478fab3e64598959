"""The class table against plain loops."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kanon_lab.classes import class_table
from kanon_lab.classes.compatible import compatible_sums
from kanon_lab.errors import DataError, OptionError, about
from kanon_lab.roles import KeySpec

SETTINGS = settings(max_examples=40)
#: Values that a column of a real file may mix: numbers, text that looks like numbers, truth values, missing ones.
MIXED = [None, 1, 2.5, -3, "1", "b", "ä", math.nan]


@st.composite
def files(draw, most_keys=5, most_records=25):
    """Records (lists of key values), weights and sensitive values."""
    n_keys = draw(st.integers(1, most_keys))
    n = draw(st.integers(1, most_records))
    pools = [draw(st.lists(st.sampled_from(MIXED), min_size=1, max_size=4)) for _ in range(n_keys)]
    records = [[draw(st.sampled_from(pool)) for pool in pools] for _ in range(n)]
    weights = draw(st.lists(st.sampled_from([0.25, 1, 2, 3.5, 100]), min_size=n, max_size=n))
    sensitive = draw(st.lists(st.sampled_from(["yes", "no", "rare", None]), min_size=n, max_size=n))
    return records, weights, sensitive


def frame_of(records, weights, sensitive):
    keys = [f"key{j}" for j in range(len(records[0]))]
    frame = pd.DataFrame(records, columns=keys, dtype=object).assign(w=weights)
    return frame.assign(s=pd.Series(sensitive, dtype=object)), keys


def is_missing(value):
    return value is None or value != value


def compatible(one, other, missing):
    """Whether two records may belong to one person, by the meaning of missing values."""
    for a, b in zip(one, other):
        if is_missing(a) or is_missing(b):
            if missing == "category" and not (is_missing(a) and is_missing(b)):
                return False
        elif a != b:
            return False
    return True


def expected(records, weights, sensitive, missing):
    """For each record: f_k, F_k and the counts of the sensitive values of compatible records."""
    result = []
    for one in records:
        near = [i for i, other in enumerate(records) if compatible(one, other, missing)]
        counts = {}
        for i in near:
            value = sensitive[i]
            if value is not None or missing == "category":
                counts[value] = counts.get(value, 0) + 1
        result.append((len(near), sum(weights[i] for i in near), counts))
    return result


@pytest.mark.parametrize("missing", ["wildcard", "category"])
@SETTINGS
@given(file=files())
def test_frequencies_agree_with_plain_loops(missing, file):
    frame, keys = frame_of(*file)
    table = class_table(frame, KeySpec(keys, weight="w", missing=missing))
    loops = expected(*file, missing)
    assert table.f_k_of_records().tolist() == [f for f, _, _ in loops]
    assert table.F_k_of_records().tolist() == pytest.approx([F for _, F, _ in loops])
    assert table.k_achieved == min(f for f, _, _ in loops)
    assert table.sample_uniques == sum(f == 1 for f, _, _ in loops)
    assert table.violations([1, 2, 5]) == {k: sum(f < k for f, _, _ in loops) for k in (1, 2, 5)}
    assert table.n == len(frame) == table.records.sum()


@pytest.mark.parametrize("missing", ["wildcard", "category"])
@SETTINGS
@given(file=files())
def test_counts_of_a_sensitive_variable_agree_with_plain_loops(missing, file):
    frame, keys = frame_of(*file)
    if missing == "wildcard" and frame["s"].isna().all():
        return
    table = class_table(frame, KeySpec(keys, sensitive_variables="s", missing=missing))
    counts = table.sensitive_counts("s")
    found = [{} for _ in range(table.n_classes)]
    for class_, value, count in zip(counts.class_, counts.value, counts.count):
        label = counts.values[value]
        found[class_][None if is_missing(label) else label] = count
    loops = expected(*file, missing)
    assert [found[c] for c in table.class_of_record] == [values for _, _, values in loops]
    assert (np.diff(counts.class_) >= 0).all()
    total = frame["s"].value_counts(dropna=missing != "category")
    assert sorted(counts.overall.tolist()) == sorted(total.tolist())


@settings(SETTINGS, max_examples=20)
@given(file=files(most_keys=12), seed=st.integers(0, 2**32 - 1))
def test_order_index_and_unused_categories_make_no_difference(file, seed):
    frame, keys = frame_of(*file)
    for missing in ("wildcard", "category"):
        table = class_table(frame, KeySpec(keys, weight="w", missing=missing))
        rng = np.random.default_rng(seed)
        shuffled = frame.iloc[rng.permutation(len(frame))]
        order = np.argsort(shuffled.index.to_numpy())
        shuffled = shuffled.set_axis(rng.integers(0, 3, len(frame)), axis=0)[rng.permutation(frame.columns)]
        as_text = shuffled[keys].map(lambda value: None if is_missing(value) else repr(value))
        unused = as_text.apply(lambda column: pd.Categorical(column, [*sorted(set(column.dropna())), "never used"]))
        for other in (shuffled, unused.assign(w=shuffled["w"])):
            again = class_table(other, KeySpec(keys[::-1], weight="w", missing=missing))
            assert again.f_k_of_records().to_numpy()[order].tolist() == table.f_k_of_records().tolist()
            assert again.F_k_of_records().to_numpy()[order] == pytest.approx(table.F_k_of_records().to_numpy())
            assert again.n_classes == table.n_classes
            assert again.index.equals(other.index)


@SETTINGS
@given(file=files())
def test_the_table_of_classes_reads_as_the_file(file):
    """Every class stands once, with the values of its records; the order of the rows is that of the values."""
    frame, keys = frame_of(*file)
    table = class_table(frame, KeySpec(keys, missing="category"))
    assert len(table.classes.drop_duplicates(keys)) == table.n_classes
    for record, values in zip(table.class_of_record, file[0]):
        row = table.classes.loc[record, keys].tolist()
        assert all(is_missing(a) and is_missing(b) or a == b for a, b in zip(row, values))
    codes = np.where(table.codes < 0, 99, table.codes).tolist()
    assert codes == sorted(codes)


@pytest.mark.parametrize(
    "n,keys,share,values",
    [(300, 12, 0.5, 4), (3000, 3, 0.3, 4), (900, 2, 0.2, 700), (2000, 6, 0.02, 4), (6000, 5, 0.3, 9000)],
)
def test_both_ways_of_matching_agree(n, keys, share, values, monkeypatch):
    """Joins and comparison of all pairs are chosen by cost, and give the same."""
    rng = np.random.default_rng(5)
    codes = rng.integers(0, values, (n, keys))
    codes[rng.random((n, keys)) < share] = -1
    numbers = rng.integers(0, 50, (n, 2))
    cost = "kanon_lab.classes.compatible._cost_of_comparing"
    monkeypatch.setattr(cost, lambda *_: 0)
    compared = compatible_sums(codes, numbers)
    monkeypatch.setattr(cost, lambda *_: np.inf)
    assert (compatible_sums(codes, numbers) == compared).all()
    some = rng.integers(0, n, 20)
    near = [[all(a == b or a < 0 or b < 0 for a, b in zip(codes[i], other)) for other in codes.tolist()] for i in some]
    assert (np.array(near) @ numbers == compared[some]).all()


@pytest.mark.parametrize("cost", [0, np.inf])
@pytest.mark.parametrize("rows,queries", [(40, 7), (7, 40), (30, 30), (0, 4), (4, 0)])
def test_others_than_the_rows_may_ask_and_not_say_a_key(cost, rows, queries, monkeypatch):
    """Queries may have values that no row has; asked without a key, they are as if they missed it."""
    monkeypatch.setattr("kanon_lab.classes.compatible._cost_of_comparing", lambda *_: cost)
    rng = np.random.default_rng(rows)
    codes, asked = (rng.integers(-1, most, (n, 3)) for n, most in ((rows, 3), (queries, 5)))
    numbers = rng.integers(-9, 9, rows)
    pairs = (codes == asked[:, None]) | (codes < 0) | (asked[:, None] < 0)
    assert (compatible_sums(codes, numbers, asked) == pairs.all(axis=2) @ numbers).all()
    for key, sums in zip([2, 0], compatible_sums(codes, numbers, asked, without=[2, 0]).T, strict=True):
        alike = np.delete(pairs, key, axis=2).all(axis=2) & (asked[:, key, None] >= 0)
        assert (sums == alike @ numbers).all()


def test_many_wide_keys_do_not_overflow():
    """Twelve keys of a thousand values each have 10^36 combinations, more than 64 bits can number."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.integers(0, 10**9, (2000, 12)), columns=[f"k{j}" for j in range(12)])
    doubled = pd.concat([frame, frame], ignore_index=True)
    assert class_table(doubled, list(frame)).f_k.tolist() == [2] * len(frame)
    holes = doubled.astype(float).mask(rng.random(doubled.shape) < 0.01)
    f_k = class_table(holes, list(frame)).f_k_of_records()
    assert (f_k >= 2).all()


def test_gaps_of_the_guide():
    """INE Chile (2023), Tabla 7.2: a missing value is compatible with any; the frequencies are 2, 2 and 3."""
    frame = pd.DataFrame({"sex": ["man", "man", "man"], "area": ["urban", "rural", None]})
    assert class_table(frame, ["sex", "area"]).f_k_of_records().tolist() == [2, 2, 3]
    assert class_table(frame, KeySpec(["sex", "area"], missing="category")).k_achieved == 1


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int64", "uint64", "Int16", "float32", "category", "str", "object"])
def test_the_type_of_a_column_makes_no_difference(dtype):
    numbers = pd.Series([100, 3, 100, 7, 3, 100], dtype="int64")
    frame = pd.DataFrame({"a": numbers.astype(dtype)})
    assert class_table(frame, "a").f_k_of_records().tolist() == [3, 2, 3, 1, 2, 3]
    signed = pd.DataFrame({"a": pd.Series([-128, 127, -128], dtype="int8")})
    assert class_table(signed, "a").classes["a"].tolist() == [-128, 127]


@pytest.mark.parametrize(
    "weight,fault",
    [
        ([1.0, 0.0, 1.0], "row b: a weight that is not above 0"),
        ([1.0, -2.0, -3.0], "row b \\(and 1 more\\): a weight that is not above 0"),
        ([1.0, np.inf, 1.0], "row b: an infinite weight"),
        ([np.nan, 1.0, 1.0], "row a: a missing weight"),
        ([1.0, "secret", 1.0], "row b: a weight that is not a number"),
        (["secret", "secret", "1"], "row a \\(and 1 more\\): a weight that is not a number"),
        ([True, True, False], "row a \\(and 2 more\\): a weight that is not a number"),
    ],
)
def test_a_weight_that_is_none_is_refused(weight, fault):
    frame = pd.DataFrame({"a": [1, 2, 3], "w": weight}, index=list("abc"))
    with pytest.raises(DataError, match=f"survey: {fault} in column w") as caught, about("survey"):
        class_table(frame, KeySpec("a", weight="w"))
    assert "secret" not in str(caught.value)


def test_a_missing_key_is_refused_where_that_is_the_policy():
    frame = pd.DataFrame({"a": [1, 2, None], "b": ["x", None, None]})
    with pytest.raises(DataError, match="^row 2: a missing value in column a; fill it in"):
        class_table(frame, KeySpec(["a", "b"], missing="error"))
    with pytest.raises(DataError, match="row 1 \\(and 1 more\\): a missing value in column b"):
        class_table(frame.fillna({"a": 3}), KeySpec(["a", "b"], missing="error"))
    whole = class_table(frame[["a"]].iloc[:2], KeySpec("a", missing="error", sensitive_variables=()))
    assert whole.k_achieved == 1


def test_other_bad_input_is_refused():
    frame = pd.DataFrame({"a": [[1], [2]], "b": [1, 1], "s": [None, None]})
    with pytest.raises(DataError, match="column a holds lists or the like"):
        class_table(frame, "a")
    table = class_table(frame, KeySpec("b", sensitive_variables="s"))
    with pytest.raises(DataError, match="column s has no value"):
        table.sensitive_counts("s")
    with pytest.raises(OptionError, match="'a' is not a sensitive variable"):
        table.sensitive_counts("a")
    with pytest.raises(OptionError, match="has 1 values, the file 2 records"):
        table.sensitive_counts(pd.Series([1]))
    with pytest.raises(OptionError, match="k must be a whole number from 1 on, not 0"):
        table.violations([0])
    homes = pd.DataFrame({"b": [1, 1], "h": [7, None]})
    with pytest.raises(DataError, match="row 1: no household in column h"):
        _ = class_table(homes, KeySpec("b", household="h")).members


def test_members_of_households():
    frame = pd.DataFrame({"a": [1, 1, 2], "h": ["north", "south", "north"]})
    home, class_, members = class_table(frame, KeySpec("a", household="h")).members
    assert (home.tolist(), class_.tolist(), members.tolist()) == ([0, 0, 1], [0, 1, 0], [1, 1, 1])
    assert class_table(frame, "a").members is None


def test_the_input_is_left_as_it_was():
    frame = pd.DataFrame({"a": pd.Categorical(["x", None, "x"], ["x", "y"]), "w": [1.0, 2.0, 3.0], "s": [1, 2, 3]})
    before = frame.copy(deep=True)
    class_table(frame, KeySpec("a", weight="w", sensitive_variables="s")).sensitive_counts("s")
    pd.testing.assert_frame_equal(frame, before)


def test_sparse_and_dense_counts_agree(monkeypatch):
    """A sensitive variable with many values is counted over pairs of patterns, one with few in blocks."""
    rng = np.random.default_rng(6)
    frame = pd.DataFrame({name: rng.integers(0, 4, 300).astype(float) for name in "abc"})
    frame = frame.mask(rng.random(frame.shape) < 0.2).assign(s=rng.integers(0, 80, 300))
    table = class_table(frame, KeySpec(list("abc"), sensitive_variables="s"))
    dense = table.sensitive_counts("s")
    monkeypatch.setattr("kanon_lab.classes.compatible._MOST_DENSE", 0)
    sparse = table.sensitive_counts("s")
    for name in ("class_", "value", "count", "overall"):
        assert (getattr(sparse, name) == getattr(dense, name)).all()
    assert dense.count.sum() > len(frame)


def test_one_k_is_not_several():
    with pytest.raises(OptionError, match=r"k must be several whole numbers, such as \[2, 3, 5\], not 3"):
        class_table(pd.DataFrame({"a": [1]}), "a").violations(3)


def test_no_record_shows_when_a_table_is_printed():
    frame = pd.DataFrame({"a": ["CANARY"], "s": ["CANARY"]}, index=["CANARY"])
    assert "CANARY" not in repr(class_table(frame, KeySpec("a", sensitive_variables="s")))
