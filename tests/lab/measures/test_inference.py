"""Guesses of a sensitive value: plain loops beside the measure, with gaps, persons and hidden keys."""

from collections import Counter

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kanon_lab import KeySpec, class_table, protect
from kanon_lab.engines import count_frame
from kanon_lab.measures import diversity, guesses_of, measure
from kanon_lab.recipes import judge


def _chance(value, others):
    """Of a guess of the most frequent of some values, any of several."""
    counts = Counter(others)
    top = max(counts.values(), default=0)
    return float(top > 0 and counts[value] == top) / max(sum(count == top for count in counts.values()), 1)


def _fits(key, other):
    return all(a is None or b is None or a == b for a, b in zip(key, other, strict=True))


_ROWS = st.lists(
    st.tuples(st.sampled_from(["a", "b", None]), st.sampled_from([1, 2, None]), st.sampled_from(["x", "y", "z", None])),
    min_size=1,
    max_size=14,
).filter(lambda rows: any(row[2] for row in rows))


@settings(max_examples=80, deadline=None)
@given(_ROWS)
def test_guesses_are_those_of_a_plain_loop(rows):
    frame = pd.DataFrame(rows, columns=["place", "age", "illness"]).astype({"age": "Int64"})
    guesses = guesses_of(class_table(frame, KeySpec(["place", "age"], sensitive_variables="illness")), "illness")
    known = [i for i, row in enumerate(rows) if row[2] is not None]
    for number, i in enumerate(known):
        key, value = rows[i][:2], rows[i][2]
        alike = [j for j in known if _fits(key, rows[j][:2])]
        drawn = [rows[j][2] for j in alike]
        others = [rows[j][2] for j in alike if j != i] or [rows[j][2] for j in known if j != i]
        assert guesses.right[number] == pytest.approx(_chance(value, [rows[j][2] for j in alike]))
        assert guesses.drawn[number] == pytest.approx(drawn.count(value) / len(drawn))
        assert guesses.others[number] == pytest.approx(others.count(value) / max(len(others), 1))
        assert guesses.margins[number] == pytest.approx(_chance(value, [rows[j][2] for j in known]))
    assert guesses.beyond_others > -1e-12


def test_the_file_has_both_measures_and_counts_have_them_too():
    frame = pd.DataFrame({"age": [30, 30, 41, 41, 41], "illness": ["flu", "none", "none", "none", "none"]})
    spec = KeySpec("age", sensitive_variables="illness")
    of_file = diversity(class_table(frame, spec), "illness").file
    assert (of_file["inferred"], of_file["inferred_own"]) == (pytest.approx(0.0), pytest.approx(0.2))
    counted = count_frame(pd.concat([frame] * 3), spec)
    many = diversity(class_table(pd.concat([frame] * 3), spec), "illness").file
    assert measure(counted.table(), spec).diversity["illness"].file["inferred_own"] == pytest.approx(
        many["inferred_own"]
    )


def test_a_release_that_tells_the_illness_is_not_met_and_one_class_is():
    frame = pd.DataFrame({"age": [30] * 4 + [41] * 4, "illness": ["flu"] * 4 + ["none"] * 4})
    chain = protect(frame, KeySpec("age", sensitive_variables="illness"))
    limits = {"k": 4, "inferred": {"illness": 0.1}, "inferred_own": {"illness": 0.08}}
    rows = judge(chain, limits).verdict.set_index("name")
    assert rows.loc["inferred", "found"] == 0.5 and not rows.loc["inferred", "met"]
    assert rows.loc["inferred_own", "found"] == 0 and rows.loc["inferred_own", "met"]
    joined = chain.apply("recode", {"variable": "age", "width": 100})
    assert judge(joined, limits).verdict.set_index("name")["met"].all()


def test_where_a_key_is_hidden_the_true_key_guesses():
    frame = pd.DataFrame({"a": [1, 1, 1, 2, 2, 3], "s": [*"xxxyyz"]})
    chain = protect(frame, KeySpec("a", sensitive_variables="s")).apply("suppress", {"k_required": 2})
    found = judge(chain, {"k": 2, "inferred": {"s": 0.1}}).verdict.set_index("name").loc["inferred", "found"]
    shown = chain.state.released["a"].tolist()
    right = 0.0
    for i, key in enumerate(frame["a"]):
        met = [frame["s"][j] for j in range(6) if pd.isna(shown[j]) or shown[j] == key]
        right += _chance(frame["s"][i], met)
    margins = sum(_chance(value, list(frame["s"])) for value in frame["s"])
    assert found == pytest.approx((right - margins) / 6)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 4), st.sampled_from("ab"), st.sampled_from("xyz")), min_size=1, max_size=14))
def test_of_a_person_the_value_is_left_out_and_other_values_stay(rows):
    frame = pd.DataFrame(rows, columns=["id", "place", "illness"])
    spec = KeySpec("place", person="id", sensitive_variables="illness")
    guesses = guesses_of(class_table(frame, spec), "illness")
    everywhere = {(person, value) for person, _, value in rows}
    for number, (person, place, value) in enumerate(rows):
        pairs = {(row[0], row[2]) for row in rows if row[1] == place}
        others = [pair[1] for pair in pairs - {(person, value)} or everywhere - {(person, value)}]
        assert guesses.drawn[number] == pytest.approx([pair[1] for pair in pairs].count(value) / len(pairs))
        assert guesses.others[number] == pytest.approx(others.count(value) / max(len(others), 1))
    assert guesses.beyond_others > -1e-12
