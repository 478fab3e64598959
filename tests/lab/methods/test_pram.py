"""PRAM against plain Python that draws the same numbers, and what it promises over many seeds."""

from itertools import accumulate

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon_lab.errors import DataError, KanonLabError, OptionError, about
from kanon_lab.methods import KEEPS, estimated_shares, invariant_matrix, posterior, pram, redrawing_matrix
from kanon_lab.methods.perturbation import generator

GIVEN = {"a": {"a": 0.7, "b": 0.3}, "b": {"b": 1}, "c": {"a": 0.25, "b": 0.25, "c": 0.5}}


def plain(rows, keep, invariant, seed):
    """What becomes of (category or None, stratum, weight), by the definition."""
    draws = generator(seed, "pram", 0).random(len(rows))
    seen = []
    for (value, stratum, _), draw in zip(rows, draws, strict=True):
        held = sorted({x for x, s, _ in rows if s == stratum and x is not None})
        if value is None or len(held) == 1:
            seen.append(value)
            continue
        share = {h: sum(w for x, s, w in rows if (x, s) == (h, stratum)) for h in held}
        if invariant:
            law = {h: keep * (h == value) + (1 - keep) * share[h] / sum(share.values()) for h in held}
        else:
            law = {h: keep if h == value else (1 - keep) / (len(held) - 1) for h in held}
        ends = list(accumulate(law.values()))
        seen.append(next((h for h, end in zip(held, ends) if draw < end), held[-1]))
    return seen


@given(
    st.lists(
        st.tuples(st.sampled_from([None, *"abcde"]), st.integers(0, 2), st.integers(1, 9)), min_size=2, max_size=40
    ).filter(lambda rows: any(len({x for x, s, _ in rows if s == t} - {None}) > 1 for t in range(3))),
    st.sampled_from([0.1, 0.5, 0.9]),
    st.booleans(),
    st.integers(0, 2**63 - 1),
)
def test_each_record_moves_as_the_definition_says(rows, keep, invariant, seed):
    frame = pd.DataFrame(rows, columns=["x", "s", "w"]).astype({"x": "str"})
    result = pram(frame, "x", keep=keep, invariant=invariant, weight="w", strata="s", seed=seed)
    expected = plain(rows, keep, invariant, seed)
    assert [None if pd.isna(x) else x for x in result.frame["x"]] == expected
    moved = sum(x != row[0] for x, row in zip(expected, rows))
    assert result.cells.to_numpy().tolist() == [["x", moved, moved / len(rows)]]
    alone = [len({y for y, t, _ in rows if t == s} - {None}) == 1 for x, s, _ in rows if x is not None]
    assert result.details["changes"]["fixed"].tolist() == [sum(alone)]


def example(n=400, seed=5):
    rng = np.random.default_rng(seed)
    x = rng.choice(list("abcd"), n, p=[0.6, 0.25, 0.1, 0.05])
    s, w = rng.integers(0, 3, n), rng.uniform(0.5, 20, n)
    return pd.DataFrame({"x": x, "s": s, "w": w})


def within(draws, mean, variance, errors=5):
    """Whether the mean of some draws is as near to a mean as its exact standard error allows."""
    return abs(np.mean(draws) - mean) <= errors * np.sqrt(variance / len(draws))


@pytest.mark.parametrize("options", [{}, {"strata": "s"}, {"weight": "w"}, {"strata": "s", "weight": "w"}])
def test_marginals_are_kept_in_expectation(options):
    assert any(keep.what == "marginals" for keep in KEEPS["pram"]["invariant"])
    frame = example()
    weights = frame["w"] if "weight" in options else pd.Series(1.0, frame.index)
    results = [pram(frame, "x", keep=0.5, seed=seed, **options) for seed in range(200)]
    matrices = results[0].details["transitions"]["x"]
    stratum = results[0].details["stratum"]
    for each in "abcd":
        variance = 0
        for number in range(stratum.max() + 1):
            matrix = matrices[number] if "strata" in options else matrices
            one = frame[stratum == number]
            p = matrix.loc[one["x"], each].to_numpy()
            # Exactly kept in expectation, in each stratum.
            true = weights[one.index][one["x"] == each].sum()
            assert weights[one.index] @ p == pytest.approx(true, rel=1e-12)
            variance += (weights[one.index] ** 2) @ (p * (1 - p))
        totals = [weights[result.frame["x"] == each].sum() for result in results]
        assert within(totals, weights[frame["x"] == each].sum(), variance)


def test_a_weight_and_a_stratum_change_the_matrix():
    frame = example()
    weighted = pram(frame, "x", weight="w", keep=0.5).details["transitions"]["x"]
    p = pram(frame, "x", keep=0.5, invariant=False).details["transitions"]["x"]
    shares = frame.groupby("x")["w"].sum() / frame["w"].sum()
    pd.testing.assert_frame_equal(weighted, redrawing_matrix(shares, keep=0.5))
    assert np.diag(p) == pytest.approx([0.5] * 4)
    assert np.diag(weighted) == pytest.approx(0.5 + 0.5 * shares.to_numpy())


@pytest.fixture(scope="module")
def large():
    return pd.DataFrame({"x": np.repeat(list("abc"), [100_000, 60_000, 40_000])})


@pytest.mark.parametrize("invariant", [None, True])
def test_records_move_as_often_as_the_matrix_says_and_the_posterior_too(large, invariant):
    result = pram(large, "x", transition=GIVEN, invariant=invariant)
    matrix = result.details["transitions"]["x"]
    if not invariant:
        pd.testing.assert_frame_equal(matrix, pd.DataFrame(GIVEN).T.fillna(0)[list("abc")], check_index_type=False)
    seen = pd.crosstab(large["x"], result.frame["x"]).reindex(index=list("abc"), columns=list("abc"), fill_value=0)
    n = seen.sum(axis=1)
    p = matrix.to_numpy()
    assert (np.abs(seen.div(n, axis=0) - p) <= 5 * np.sqrt(p * (1 - p) / n.to_numpy()[:, None])).all(axis=None)
    assert (seen.to_numpy()[p == 0] == 0).all()
    back, columns = posterior(matrix, large["x"].value_counts()), seen.sum().to_numpy()
    error = 5 * np.sqrt(back * (1 - back) / columns[:, None])
    assert (np.abs(seen.div(columns).T.to_numpy() - back) <= error).all(axis=None)
    change = result.details["changes"].iloc[0]
    assert change["expected"] == pytest.approx((n * (1 - np.diag(p))).sum() / n.sum())
    assert change["changed"] == (large["x"] != result.frame["x"]).mean() == result.cells["share"][0]
    assert change["stay_least"] == pytest.approx(np.diag(p).min())
    assert change["fixed"] == n[np.diag(p) == 1].sum()


def test_shares_are_estimated_without_bias():
    frame = example()
    matrix = {i: {j: 0.55 if i == j else 0.15 for j in "abcd"} for i in "abcd"}
    results = [pram(frame, "x", transition=matrix, seed=seed) for seed in range(200)]
    found = [estimated_shares(result.frame["x"].value_counts(), matrix) for result in results]
    # An estimate is a sum over records of cells of the inverse: so is its variance.
    inverse = np.linalg.inv(pd.DataFrame(matrix).T)
    for j, each in enumerate("abcd"):
        variance = 0
        for true, count in frame["x"].value_counts().items():
            means = np.array([matrix[true][k] for k in "abcd"])
            variance += count * (means @ inverse[:, j] ** 2 - (means @ inverse[:, j]) ** 2)
        assert within([one[each] for one in found], (frame["x"] == each).mean(), variance / len(frame) ** 2)


def test_what_cannot_move_stays():
    frame = example()
    matrix = {"a": {"a": 1}, "b": {"c": 1}, "c": {"b": 0.5, "d": 0.5}, "d": {"d": 1}}
    seen = pram(frame, "x", transition=matrix).frame["x"]
    assert (seen[frame["x"] == "a"] == "a").all()
    assert (seen[frame["x"] == "b"] == "c").all()
    assert set(seen[frame["x"] == "c"]) == {"b", "d"}
    assert (seen[frame["x"] == "d"] == "d").all()


def test_a_given_matrix_is_used_in_strata_that_lack_categories():
    frame = pd.DataFrame({"x": list("a" * 30 + "bbbc"), "s": [1] * 30 + [2] * 4})
    plain = pram(frame, "x", transition=GIVEN, strata="s")
    assert plain.details["transitions"]["x"][0].shape == (3, 3)
    assert set(plain.frame["x"][:30]) == {"a", "b"}
    kept = pram(frame, "x", transition=GIVEN, strata="s", invariant=True)
    assert [matrix.shape for matrix in kept.details["transitions"]["x"].values()] == [(1, 1), (2, 2)]
    assert (kept.frame["x"][:30] == "a").all()
    expected = invariant_matrix(GIVEN, {"b": 3, "c": 1}).loc[list("bc"), list("bc")]
    pd.testing.assert_frame_equal(kept.details["transitions"]["x"][1], expected)


@pytest.mark.parametrize(
    "column",
    [
        pd.Series([1, 2, 3, 1] * 50, dtype="int8"),
        pd.Series([1, 2, None, 3] * 50, dtype="Int64"),
        pd.Series([1, 2.5, None, 3] * 50),
        pd.Series(["u", "v", None, "w"] * 50, dtype="str"),
        pd.Series(["u", 2, None, True] * 50, dtype=object),
        pd.Series([True, False] * 100),
        pd.Series([True, False, None] * 50, dtype="boolean"),
        pd.Series(pd.Categorical(["lo", "hi", None, "mid"] * 50, ["lo", "mid", "hi", "none"], ordered=True)),
        pd.Series(pd.to_datetime(["2020-01-01", "2021-01-01", None] * 50)),
    ],
)
def test_types_and_gaps_stay(column):
    frame = pd.DataFrame({"x": column, "other": range(len(column))})
    before = frame.copy(deep=True)
    result = pram(frame, "x", keep=0.3, seed=1)
    pd.testing.assert_frame_equal(frame, before)
    assert result.frame["x"].dtype == column.dtype
    assert (result.frame["x"].isna() == column.isna()).all()
    assert set(result.frame["x"].dropna()) == set(column.dropna())
    assert result.cells["cells"][0] == sum(map(differ, result.frame["x"], column)) > 0
    pd.testing.assert_series_equal(result.frame["other"], before["other"])


def test_categories_are_matched_as_text():
    frame = pd.DataFrame({"x": [1.0, 2.0, np.nan] * 40})
    as_text = pram(frame, "x", transition={"1": {"2": 1}, 2: {"2": 0.5, 1.0: 0.5}}).frame["x"]
    assert as_text.dtype == float
    assert (as_text[frame["x"] == 1] == 2).all()


def test_a_seed_says_it_all():
    frame = example()
    frame["y"] = frame["x"]
    one, both = pram(frame, "x", seed=4), pram(frame, ["x", "y"], seed=4)
    assert one.seed == 4
    pd.testing.assert_series_equal(one.frame["x"], both.frame["x"])
    assert not both.frame["y"].equals(both.frame["x"])
    assert not pram(frame, "x", seed=5).frame["x"].equals(one.frame["x"])
    # Neither the index nor the order of categories says anything.
    elsewhere = frame.set_axis(np.zeros(len(frame)), axis=0)
    assert pram(elsewhere, "x", seed=4).frame["x"].tolist() == one.frame["x"].tolist()
    declared = frame.astype({"x": pd.CategoricalDtype(["d", "b", "z", "a", "c"])})
    assert pram(declared, "x", seed=4).frame["x"].tolist() == one.frame["x"].tolist()
    given, turned = (pram(frame[frame["x"] != "d"], "x", transition=law).frame["x"] for law in (GIVEN, turn(GIVEN)))
    pd.testing.assert_series_equal(given, turned)


def differ(one, other):
    return not (pd.isna(one) or one == other)


def turn(law):
    return {i: dict(reversed(row.items())) for i, row in reversed(law.items())}


def test_the_numbers_that_made_the_data_are_not_drawn_again():
    # As [seed, 0] would: the invariant matrix then led every record back to where it was.
    made = pd.DataFrame({"x": np.random.default_rng(7).choice(list("abcd"), 2000, p=[0.4, 0.3, 0.2, 0.1])})
    change = pram(made, "x", keep=0.5, seed=7).details["changes"].iloc[0]
    error = np.sqrt(change["expected"] * (1 - change["expected"]) / 2000)
    assert abs(change["changed"] - change["expected"]) < 5 * error


def test_each_variable_has_what_is_its_own():
    frame = example().assign(y=lambda f: f["x"])
    result = pram(frame, ["x", "y"], keep={"x": 0.9, "y": {"a": 1, "b": 0.5, "c": 0, "d": 0}}, invariant=False)
    assert np.diag(result.details["transitions"]["x"]) == pytest.approx([0.9] * 4)
    assert np.diag(result.details["transitions"]["y"]) == pytest.approx([1, 0.5, 0, 0])
    three = frame[frame["x"] != "d"]
    matrix = pd.DataFrame(GIVEN).T.fillna(0)
    result = pram(three, ["x", "y"], transition={"y": GIVEN, "x": matrix})
    np.testing.assert_array_equal(*(result.details["transitions"][name] for name in "xy"))


SECRET = pd.DataFrame({"x": ["Q1", "Q1", "Q2", None], "one": ["Q"] * 4, "none": [None] * 4, "s": [1, 1, None, 2]})
SECRET = SECRET.assign(
    w=[1, 2, 3, 4], light=[1, 0, 2, 3], lacks=[1, None, 2, 3], below=[1, -1, 1, 1], each=list("QRST")
)
SECRET = SECRET.assign(mixed=[1, "1", "Q", "Q"], lists=[["Q"]] * 4, words=["Q"] * 4).set_axis(list("ijkl"), axis=0)
SWAP = {"Q1": {"Q2": 1}, "Q2": {"Q1": 1}}


@pytest.mark.parametrize(
    ("variables", "options", "message"),
    [
        ("one", {}, "column one has the same value in every record; leave it out"),
        ("none", {}, "column none has no value; leave it out"),
        ("gone", {}, "column gone is not there"),
        ("mixed", {}, r"column mixed: row j: a category that is written like another"),
        ("lists", {}, "column lists holds lists"),
        ("x", {"strata": "s"}, "column s: row k: no stratum"),
        ("x", {"strata": "each"}, "column x: no record could change"),
        ("x", {"transition": SWAP, "invariant": True}, "column x: no record could change"),
        ("x", {"transition": {"Q1": {"Q1": 1}, "Q2": {"Q2": 1}}}, "column x: no record could change"),
        ("x", {"weight": "light"}, "column light: row j: a weight that is not a number above 0"),
        ("x", {"weight": "lacks"}, "column lacks: row j: a weight that is not a number above 0"),
        ("x", {"weight": "below"}, "column below: row j: a weight that is not a number above 0"),
        ("x", {"weight": "words"}, "column words: row i .*: text"),
        ("x", {"weight": "v"}, "column v is not there"),
        (
            "x",
            {"transition": {"Q1": {"Q1": 1}}},
            "column x: row k: a category for which the transition matrix has no row",
        ),
        ("x", {"keep": {"x": {"Q2": 0.5}}}, r"column x: row i \(and 1 more\): a category for which the keep has no"),
    ],
)
def test_bad_data_are_refused_and_not_told(variables, options, message):
    with pytest.raises(DataError, match=message) as error, about("file.csv"):
        pram(SECRET, variables, **options)
    assert str(error.value).startswith("file.csv: ")
    assert "Q" not in str(error.value) and "\n" not in str(error.value)


def test_a_file_without_records_or_with_too_many_categories_is_refused():
    with pytest.raises(DataError, match="has no records"):
        pram(SECRET[:0], "x")
    with pytest.raises(DataError, match="column x has 2001 categories, more than 2000; group them first"):
        pram(pd.DataFrame({"x": range(2001)}), "x")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"keep": 1}, "keep of x must be below 1, or nothing would change"),
        ({"keep": 1.5}, "keep of x must be a number from 0 to 1, not 1.5"),
        ({"keep": "0.5"}, "keep of x must be a number from 0 to 1"),
        ({"keep": {"y": 0.5}}, "keep: entry 1 is not one of the variables"),
        ({"keep": {}}, "keep: x has none; give one for each variable"),
        ({"keep": {"x": {"Q1": 2, "Q2": 0}}}, "keep: category 1 of those listed must be a number from 0 to 1"),
        ({"keep": {"x": {"Q1": 0.1, "Q2": 0, "Q3": 1}}}, "keep: no record has category 3 of those that are listed"),
        ({"transition": SWAP, "keep": 0.5}, "give a transition matrix or the probability to keep"),
        (
            {"transition": {**SWAP, "Q3": {"Q3": 1}}},
            "transition matrix: no record has category 3 of those that are listed",
        ),
        ({"transition": {"Q1": {"Q1": 0.5}, "Q2": {"Q2": 1}}}, r"transition: row 1 adds to 0\.5"),
        ({"transition": {"x": SWAP, "y": SWAP}}, "transition: entry 2 is not one of the variables"),
        (
            {"transition": {"x": {"Q1": {"Q1": 2}}}},
            "transition of x: row 1: probability 1",
        ),
        ({"transition": 3}, "transition: give a mapping of each category"),
        ({"variables": ["x", "one"], "transition": SWAP}, "one matrix for several variables"),
        ({"variables": ["x", "one"], "transition": {"x": SWAP}}, "transition: one has none"),
        ({"variables": ["x", "x"]}, "x is named twice"),
        ({"variables": []}, "name at least one variable"),
        ({"variables": "w", "weight": "w"}, "variables: w is also the weight"),
        ({"variables": "x", "strata": ["x"]}, "variables: x is also a stratum"),
        ({"weight": ["w"]}, "weight must be the name of a column"),
        ({"seed": -1}, "seed must be a whole number"),
        ({"invariant": "yes"}, "invariant must be true or false, not text"),
    ],
)
def test_bad_options_are_refused_in_one_line(options, message):
    with pytest.raises(OptionError, match=message) as error:
        pram(SECRET, **{"variables": "x", **options})
    assert isinstance(error.value, KanonLabError) and "\n" not in str(error.value)


def test_the_matrix_of_each_stratum_is_made_when_asked_for():
    matrices = pram(example(), "x", strata="s", keep=0.5).details["transitions"]["x"]
    assert list(matrices) == [0, 1, 2] and len(matrices) == 3
    for number in matrices:
        shares = example()["x"][example()["s"] == number].value_counts()
        pd.testing.assert_frame_equal(matrices[number], redrawing_matrix(shares.sort_index(), keep=0.5))
    with pytest.raises(KeyError):
        matrices[3]


def test_large_whole_numbers_are_different_categories():
    frame = pd.DataFrame({"x": np.array([2**63 + 1, 2**63 + 2, 2**64 - 1] * 30, dtype="uint64")})
    for values in (frame, frame[frame["x"] < 2**64 - 1]):
        result = pram(values, "x", keep=0.5)
        assert result.cells["cells"][0] > 0 and set(result.frame["x"]) == set(values["x"])
