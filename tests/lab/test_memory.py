"""What is remembered of columns and codes is what would be computed anew."""

import gc
from weakref import ref

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon_lab import memory as room
from kanon_lab.columns import coded, distinct
from kanon_lab.memory import Memory, remembered, same_place
from kanon_lab.methods import local_suppression
from kanon_lab.recipes.guessing import Target
from kanon_lab.recipes.measured import same_values
from kanon_lab.workbench import Session

KINDS = {
    "numbers": (pd.Series([1.5, 2.5, 1.5, np.nan]), 9.0),
    "whole": (pd.Series([1, 2, 1, 3]), 9),
    "nullable": (pd.Series([1, None, 1, 3], dtype="Int64"), 9),
    "texts": (pd.Series(["a", None, "a", "b"]), "z"),
    "objects": (pd.Series(["a", 1, "a", None], dtype=object), "z"),
    "categories": (pd.Series(["a", "z", "a", "b"], dtype="category"), "b"),
    "dates": (pd.to_datetime(pd.Series(["2001-02-03", None, "2001-02-03", "2010-01-01"])), pd.Timestamp("2020-01-01")),
}


def same(first, second):
    return (first[0] == second[0]).all() and first[0].dtype == second[0].dtype and first[1].equals(second[1])


@pytest.mark.parametrize("kind", KINDS)
def test_a_cell_that_is_changed_is_seen(kind):
    column, value = KINDS[kind]
    frame = pd.DataFrame({"a": column, "b": column})
    with Memory().used():
        before = distinct(frame["a"]), coded(frame["a"]), same_values(frame["a"], frame["b"])
        frame.loc[0, "a"] = value
        after = distinct(frame["a"]), coded(frame["a"]), same_values(frame["a"], frame["b"])
        again = distinct(frame["a"])
    assert before[2].all() and after[2].tolist() == [False, True, True, True]
    assert same(after[0], distinct(frame["a"])) and same(again, after[0]) and not same(before[0], after[0])
    assert same((after[1].codes, after[1].values), (coded(frame["a"]).codes, coded(frame["a"]).values))


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_there_is_not_computed_again(kind):
    calls = []

    def length(column):
        calls.append(column)
        return len(column)

    frame = pd.DataFrame({"a": KINDS[kind][0], "b": range(4)})
    with Memory().used():
        assert remembered(length, frame["a"]) == remembered(length, frame.copy(deep=False)["a"]) == 4
        known = kind == "objects" or len(calls) == 1
    assert known and remembered(length, frame["a"]) == 4
    assert same_place(frame["a"], frame["a"]) and not same_place(frame["a"], frame["b"])


def test_what_is_handed_out_is_a_copy():
    column = pd.Series(["x", "y", "x"])
    with Memory().used():
        distinct(column)[0][:] = 7
        assert distinct(column)[0].tolist() == [0, 1, 0]


def test_columns_are_let_go_that_nobody_asks_for():
    memory, column = Memory(), pd.Series(["x", "y"])
    with memory.used():
        distinct(column)
    held = ref(column)
    del column
    for _ in range(3):
        with memory.used():
            pass
    gc.collect()
    assert held() is None and not memory._of_columns


def test_numbers_are_kept_by_what_arrays_hold(monkeypatch):
    memory, codes = Memory(), np.array([1, 2, 300])
    key = memory.key("a", codes, None)
    assert key == memory.key("a", codes.astype(np.int16), None)  # the same numbers
    others = [("b", codes, None), ("a", codes, codes), ("a", np.array([1, 2, 301]), None), ("a", codes[:2], None)]
    assert key not in [memory.key(*other) for other in others]
    with pytest.raises(ValueError, match="read-only"):
        codes[0] = 5
    memory.keep(key, 0.5)
    assert memory.number(key) == 0.5 and memory.number(b"") is None
    monkeypatch.setattr(room, "_MOST_BYTES", 10_000)
    for number in range(100):
        memory.keep(bytes([number]), bytes(100))
    assert memory.number(key) is None and memory.number(bytes([99])) == bytes(100) and memory._bytes <= 10_000


def test_rows_and_arrays_are_kept_and_handed_out_as_copies():
    memory, codes, calls = Memory(), np.array([5, 1, 300]), []
    for _ in range(2):
        found = memory.rows("above 3", lambda: calls.append(1) or codes > 3, codes, None)
        assert found.tolist() == [True, False, True] and found.dtype == bool
        found[:] = False
    assert len(calls) == 1
    memory.keep(b"a", codes)
    memory.number(b"a")[:] = 7
    assert memory.number(b"a").tolist() == [5, 1, 300] and memory.number(b"a").dtype == codes.dtype
    assert memory._bytes > codes.size


@given(st.integers(0, 2**32))
def test_a_suppression_is_the_same_with_a_memory(seed):
    rng, memory = np.random.default_rng(seed), Memory()
    frame = pd.DataFrame(rng.integers(0, 4, (30, 3)), columns=[*"abc"]).astype("Int64")
    frame = frame.mask(rng.random(frame.shape) < 0.1)
    for options in ({"k_required": 2}, {"k_required": 3}, {"k_required": 3, "importance": {"c": 1}}):
        alone = local_suppression(frame, [*"abc"], **options).frame
        for _ in range(2):
            with memory.used():
                pd.testing.assert_frame_equal(local_suppression(frame, [*"abc"], **options).frame, alone)


def test_guesses_are_the_same_with_a_memory():
    rng, memory = np.random.default_rng(1), Memory()
    for _ in range(40):
        n = int(rng.integers(5, 80))
        column, codes = rng.integers(-1, 6, n), rng.integers(-1, 4, n)
        seen, home = [rng.integers(0, 3, n), rng.integers(0, 5, n)], rng.integers(0, 9, n)
        for evidence in (-3.0, 2.0, -3.0, 0.5):  # what was too little for one is enough for another
            alone = Target(codes, codes > 0, seen, home).guess(column, evidence)
            with memory.used():
                guess = Target(codes, codes > 0, seen, home).guess(column, evidence)
                evidences = {Target(codes, codes > 0, seen).evidence(column) for _ in range(2)}
            assert evidences == {Target(codes, codes > 0, seen).evidence(column)}
            assert (alone is None) == (guess is None)
            if guess is not None:
                assert (guess.values == alone.values).all() and (guess.weights == alone.weights).all()


def test_a_session_that_remembers_judges_as_a_new_one(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    session = Session("health-survey")
    first = session.draft.with_settings(limits=session.usual_limits(), seed=4)
    banded = first.with_step("recode", {"variable": ["age"], "width": 15, "start": 0})
    drafts = [first, banded, banded.with_limit("k", 5), banded.with_step("shuffle_records", {})]
    drafts.append(banded.with_step("recode", {"variable": ["age"], "width": 20, "start": 0}, place=0))
    for draft in [*drafts, banded]:
        warm, cold = session.judge(draft), Session("health-survey").judge(draft)
        pd.testing.assert_frame_equal(warm.judged.verdict, cold.judged.verdict)
        pd.testing.assert_frame_equal(warm.protection.history, cold.protection.history)
        pd.testing.assert_frame_equal(warm.protection.frame, cold.protection.frame)
        assert warm.judged.to_dict() == cold.judged.to_dict()
