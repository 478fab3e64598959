"""Transition matrices of PRAM, against exact fractions and full enumeration."""

from fractions import Fraction
from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from kanon_lab.errors import OptionError
from kanon_lab.methods.transition import (
    check_transition,
    estimated_shares,
    invariant_matrix,
    posterior,
    redrawing_matrix,
    shares_covariance,
    transition_epsilon,
    transition_matrix,
)

SMALL = {"a": {"a": 0.8, "b": 0.2}, "b": {"a": 0.2, "b": 0.8}}


@st.composite
def laws(draw, most=5):
    """A matrix and shares, both as exact fractions; zeros among them."""
    size = draw(st.integers(2, most))
    rows = [draw(st.lists(st.integers(0, 9), min_size=size, max_size=size)) for _ in range(size)]
    assume(all(map(sum, rows)))
    counts = draw(st.lists(st.integers(0, 50), min_size=size, max_size=size).filter(any))
    return [[Fraction(x, sum(row)) for x in row] for row in rows], [Fraction(x, sum(counts)) for x in counts]


def as_frame(rows):
    labels = [f"c{i}" for i in range(len(rows))]
    return pd.DataFrame([[float(x) for x in row] for row in rows], index=labels, columns=labels)


@given(laws())
def test_two_stages_leave_the_shares_as_they_are(law):
    p, shares = law
    size = len(p)
    found = invariant_matrix(as_frame(p), [float(x) for x in shares]).to_numpy()
    seen = [sum(shares[k] * p[k][i] for k in range(size)) for i in range(size)]
    for j, k in product(range(size), repeat=2):
        # Q_ik, and 1 on the diagonal where nothing is seen as i.
        back = [p[k][i] * shares[k] / seen[i] if seen[i] else Fraction(i == k) for i in range(size)]
        assert found[j, k] == pytest.approx(float(sum(p[j][i] * back[i] for i in range(size))), abs=1e-14)
    np.testing.assert_allclose(np.array(shares, dtype=float) @ found, np.array(shares, dtype=float), atol=1e-12)
    np.testing.assert_allclose(found.sum(axis=1), 1, atol=1e-12)
    assert ((found >= 0) & (found <= 1)).all()


def test_an_invariant_matrix_by_hand():
    # Seen: a 1/4 * 4/5 + 3/4 * 1/5 = 7/20, b 13/20; Q_aa = 4/7, Q_ba = 1/13; R_aa = 4/5 * 4/7 + 1/5 * 1/13.
    found = invariant_matrix(SMALL, {"a": 1, "b": 3})
    assert found.loc["a", "a"] == pytest.approx(4 / 5 * 4 / 7 + 1 / 5 * 1 / 13)
    assert found.loc["a", "a"] < 0.8
    assert found.loc["b", "a"] == pytest.approx(1 / 5 * 4 / 7 + 4 / 5 * 1 / 13)


def test_two_categories_that_change_places_come_back():
    np.testing.assert_array_equal(invariant_matrix(transition_matrix("a b".split(), keep=0), [1, 9]), np.eye(2))


@given(laws(most=4))
def test_what_was_seen_gives_the_true_shares_back(law):
    p, shares = as_frame(law[0]), np.array(law[1], dtype=float)
    assume(np.linalg.cond(p) < 1e4)
    seen = pd.Series(shares @ p.to_numpy(), index=p.columns)
    np.testing.assert_allclose(estimated_shares(1000 * seen[::-1], p), shares, atol=1e-10)


@pytest.mark.parametrize("truth", ["aab", "abc", "cccc"])
def test_estimates_are_unbiased_and_their_covariance_is_exact(truth):
    # Every file that can be seen, with its probability.
    p = pd.DataFrame([[0.7, 0.2, 0.1], [0, 0.9, 0.1], [0.25, 0.25, 0.5]], index=list("abc"), columns=list("abc"))
    mean, square = np.zeros(3), np.zeros((3, 3))
    for seen in product("abc", repeat=len(truth)):
        probability = np.prod([p.loc[i, j] for i, j in zip(truth, seen)])
        estimate = estimated_shares(pd.Series(seen).value_counts(), p).to_numpy()
        mean += probability * estimate
        square += probability * np.outer(estimate, estimate)
    shares = np.array([truth.count(each) for each in "abc"]) / len(truth)
    np.testing.assert_allclose(mean, shares, atol=1e-12)
    found = shares_covariance(shares, p, records=len(truth))
    np.testing.assert_allclose(found, square - np.outer(mean, mean), atol=1e-12)


def test_an_estimate_below_zero_is_left_so():
    assert estimated_shares({"a": 1, "b": 9}, SMALL)["a"] == pytest.approx(-1 / 6)
    assert shares_covariance({"a": -1 / 6, "b": 7 / 6}, SMALL, records=10).loc["a", "a"] > 0


@given(laws())
def test_the_posterior_is_that_of_bayes(law):
    p, shares = law
    found = posterior(as_frame(p), [float(x) for x in shares])
    for j, i in product(range(len(p)), repeat=2):
        seen = sum(shares[k] * p[k][j] for k in range(len(p)))
        if seen:
            assert found.iloc[j, i] == pytest.approx(float(shares[i] * p[i][j] / seen), abs=1e-12)
        else:
            assert np.isnan(found.iloc[j, i])
    sums = found.sum(axis=1)[found.notna().all(axis=1)]
    np.testing.assert_allclose(sums, 1, atol=1e-12)


def test_the_posterior_takes_an_invariant_matrix():
    for size in range(2, 30):
        p = transition_matrix(range(size), keep=1 / 3)
        shares = np.arange(1, size + 1)
        assert posterior(invariant_matrix(p, shares), shares).notna().all(axis=None)


def test_matrices_are_made_and_matched_as_text():
    found = transition_matrix([1, 2.0, "3"], keep={"1": 1, 2: 0.5, 3.0: 0})
    assert found.index.tolist() == found.columns.tolist() == ["1", "2", "3"]
    np.testing.assert_array_equal(found, [[1, 0, 0], [0.25, 0.5, 0.25], [0.5, 0.5, 0]])
    given_so = pd.DataFrame([[0.5, 0.5], [1, 0]], index=[2, 1], columns=[1.0, 2.0])
    assert check_transition(given_so).loc["2"].to_dict() == {"2": 0.5, "1": 0.5}
    assert check_transition({1: {"1": 1}, "2": {1.0: 0.25, 2: 0.75}}).to_numpy().tolist() == [[1, 0], [0.25, 0.75]]


def test_the_sum_of_a_row_may_differ_by_rounding_and_is_left_so():
    row = {"a": 0.1, "b": 0.9 - 5e-10}
    assert check_transition({"a": row, "b": {"b": 1}}).loc["a"].to_dict() == row


@pytest.mark.parametrize(
    ("transition", "message"),
    [
        ({"a": {"a": 0.5, "b": 0.4}, "b": {"b": 1}}, r"row 1 adds to 0\.9, not 1; correct"),
        ({"a": {"a": 1.5, "b": -0.5}, "b": {"b": 1}}, r"row 1: probability 1 must be .* not 1\.5"),
        ({"a": {"a": float("nan")}}, "probability 1 must be a number from 0 to 1, not nan"),
        ({"a": {"a": "1"}}, "probability 1 must be a number from 0 to 1, not text"),
        ({"a": {"a": True}}, "probability 1 must be a number from 0 to 1, not True"),
        ({"single": {"singel": 1}}, "row 1: category 1 has no row"),
        ({"a": {"a": 0.5, "z": 0.5}}, "row 1: category 2 has no row; correct or drop it"),
        ({"a": {1: 0.5, "1": 0.5}, "1": {1: 1}}, "row 1: category 2 is named before"),
        ({1: {1: 1}, "1": {1: 1}}, "category 2 is named before"),
        ({None: {None: 1}}, "a category is missing or a list"),
        ({"a": 1}, "give a mapping of each category"),
        ({}, "give a mapping of each category"),
        (7, "give a mapping of each category"),
        (pd.DataFrame(), "give a mapping of each category"),
        (pd.DataFrame([[1.0]] * 2, index=list("ab"), columns=["a"]), "has 2 rows and 1 columns"),
        (pd.DataFrame(np.eye(2), index=list("aa"), columns=list("ab")), "named twice; give each one row"),
        (pd.DataFrame(np.eye(2), index=list("ab"), columns=list("aa")), "named twice; give each one row"),
        (pd.DataFrame(np.eye(2), index=list("ab"), columns=list("ac")), "category 2 has no row"),
        (pd.DataFrame([[None, 1.0], [1.0, 0]], index=list("ab"), columns=list("ab")), "not nan"),
    ],
)
def test_bad_matrices_are_refused_in_one_line(transition, message):
    with pytest.raises(OptionError, match=message) as error:
        check_transition(transition)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: transition_matrix(["a"], keep=0.5), "give two or more"),
        (lambda: transition_matrix("ab", keep=0.5), "must be a list of categories"),
        (lambda: transition_matrix(["a", "b"], keep=1.1), "keep must be a number from 0 to 1"),
        (lambda: transition_matrix(["a", "b"], keep={"a": 1}), "1 of 2 categories have no probability to stay"),
        (lambda: transition_matrix(["a", "b"], keep={"a": 2, "b": 1}), "category 1 of those listed must be a number"),
        (lambda: transition_matrix(["one", "two"], keep={"ones": 1}), "category . has no row"),
        (lambda: estimated_shares([1, 1], transition_matrix("a b".split(), keep=0.5)), "it is singular"),
        (lambda: invariant_matrix(SMALL, [1, -1]), "shares must be finite numbers from 0 on"),
        (lambda: invariant_matrix(SMALL, [0, 0]), "with a sum above 0"),
        (lambda: invariant_matrix(SMALL, [1, np.nan]), "shares must be finite"),
        (lambda: invariant_matrix(SMALL, [1]), "a number for each of the 2 categories"),
        (lambda: posterior(SMALL, "ab"), "a number for each of the 2 categories"),
        (lambda: posterior(SMALL, {"a": 1, "c": 2}), "shares: category 2 has no row"),
        (lambda: estimated_shares({"a": 1, "c": 2}, SMALL), "observed: category 2 has no row"),
        (lambda: estimated_shares([1, 1], {"a": 1}), "matrix: give a mapping"),
        (lambda: shares_covariance([1, 1], SMALL, records=0), "records must be a whole number from 1 to"),
    ],
)
def test_bad_arguments_are_refused(call, message):
    with pytest.raises(OptionError, match=message):
        call()


@given(
    st.lists(st.tuples(st.integers(1, 50), st.sampled_from([0, 0.2, 0.5, 0.9, 1])), min_size=2, max_size=8).filter(
        lambda rows: any(keep < 1 for _, keep in rows)
    )
)
def test_a_draw_from_those_that_leave_keeps_the_shares(rows):
    shares = {f"c{i}": share for i, (share, _) in enumerate(rows)}
    keep = {f"c{i}": each for i, (_, each) in enumerate(rows)}
    matrix = redrawing_matrix(shares, keep=keep)
    v = np.array([*shares.values()]) / sum(shares.values())
    np.testing.assert_allclose(v @ matrix.to_numpy(), v, atol=1e-12)
    np.testing.assert_allclose(matrix.sum(axis=1), 1, atol=1e-12)
    assert (np.diag(matrix) >= np.array([*keep.values()]) - 1e-12).all()


def test_with_one_probability_the_draw_is_from_the_shares():
    matrix = redrawing_matrix({"a": 90, "b": 10}, keep=0.8)
    np.testing.assert_allclose(matrix.to_numpy(), [[0.98, 0.02], [0.18, 0.82]], atol=1e-12)
    for wrong in ([1, 2], {"a": 1}, {"a": 0, "b": 0}):
        with pytest.raises(OptionError, match="^shares"):
            redrawing_matrix(wrong, keep=0.8)


@pytest.mark.parametrize(
    "run",
    [
        lambda: estimated_shares([10**400, 1], SMALL),
        lambda: posterior(SMALL, {"a": 10**400}),
        lambda: redrawing_matrix({"a": 10**400, "b": 1}, keep=0.5),
        lambda: shares_covariance([1, 1], SMALL, records=10**400),
        lambda: transition_matrix(["a", "\ud800"], keep=0.5),
    ],
)
def test_numbers_beyond_all_floats_and_halves_of_characters_are_refused_in_one_line(run):
    with pytest.raises(OptionError) as caught:
        run()
    assert len(str(caught.value)) < 200


@pytest.mark.filterwarnings("error")
@given(laws())
def test_epsilon_is_the_log_of_the_largest_ratio_in_a_column(law):
    matrix, _ = law
    ratios = [max(column) / min(column) if min(column) else np.inf for column in zip(*matrix) if max(column)]
    found = transition_epsilon(pd.DataFrame([[float(cell) for cell in row] for row in matrix]))
    assert found == pytest.approx(float(np.log(float(max(ratios)))), abs=1e-12)


@pytest.mark.filterwarnings("error")
def test_epsilon_of_the_smallest_probability_is_finite():
    least = 5e-324
    assert transition_epsilon({"a": {"a": 1.0, "b": least}, "b": {"a": 0.5, "b": 0.5}}) == pytest.approx(
        743.75, abs=0.01
    )
