"""The distances of t-closeness: the paper's examples, its definition as a transport problem, and plain loops."""

import numpy as np
import pandas as pd
import pytest
from diversity_oracle import file_of, hierarchical, ordered
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from kanon_lab.classes import ValueCounts, class_table
from kanon_lab.errors import DataError, OptionError
from kanon_lab.measures import diversity
from kanon_lab.measures.class_values import ordered_distance
from kanon_lab.methods import Hierarchy
from kanon_lab.roles import KeySpec

# Levels 1 and 2 of a hierarchy of six values.
LEVELS = {"a": ("A", "*"), "b": ("A", "*"), "c": ("A", "*"), "d": ("D", "*"), "e": ("D", "*"), "f": ("F", "*")}
HIERARCHY = Hierarchy.from_mapping(LEVELS)


def table_of(values, classes, missing="wildcard"):
    frame = pd.DataFrame({"x": classes, "s": pd.Series(values, dtype=object if None in values else None)})
    return class_table(frame, KeySpec("x", sensitive_variables="s", missing=missing))


def test_salaries_of_li_2007():
    """Li, Li and Venkatasubramanian (2007), the example of the ordered distance: salaries in three classes of three.

    In thousands, 3 to 11. The paper prints D[P1, Q] = 0.375 for {3, 4, 5} and D[P2, Q] = 0.167 for {6, 8, 11}.
    """
    table = table_of([3, 4, 5, 6, 8, 11, 7, 9, 10], [1, 1, 1, 2, 2, 2, 3, 3, 3])
    distances = diversity(table, "s", distance="ordered").classes["t_closeness"]
    assert distances[0] == pytest.approx(0.375)
    assert distances[1] == pytest.approx(1 / 6)
    assert diversity(table, "s").classes["t_closeness"][0] == pytest.approx(2 / 3)


def transport(p, q, ground):
    """Earth mover's distance by its definition: the cheapest flow that turns p into q."""
    m = len(p)
    leaving = np.kron(np.eye(m), np.ones(m))
    arriving = np.kron(np.ones(m), np.eye(m))
    solved = linprog(ground.ravel(), A_eq=np.vstack([leaving, arriving]), b_eq=np.concatenate([p, q]))
    return solved.fun


@settings(max_examples=15)
@given(st.lists(st.tuples(st.sampled_from("abcdef"), st.booleans()), min_size=2, max_size=15))
def test_distances_are_the_cheapest_transport(rows):
    values, classes = [value for value, _ in rows], [class_ for _, class_ in rows]
    table, file = table_of(values, classes), file_of(values)
    order = sorted(file)
    m, q = len(order), np.array([file[v] for v in order]) / len(rows)
    rank = np.arange(m)
    joined = np.array([[0 if a == b else 1 if LEVELS[a][0] == LEVELS[b][0] else 2 for a in order] for b in order])
    grounds = {
        "equal": 1 - np.eye(m),
        "ordered": np.abs(rank[:, None] - rank) / max(m - 1, 1),
        "hierarchical": joined / 2,
    }
    for distance, ground in grounds.items():
        hierarchy = HIERARCHY if distance == "hierarchical" else None
        result = diversity(table, "s", distance=distance, hierarchy=hierarchy)
        for class_ in set(table.class_of_record.tolist()):
            inside = [v for v, c in zip(values, table.class_of_record) if c == class_]
            p = np.array([inside.count(v) for v in order]) / len(inside)
            assert result.classes["t_closeness"][class_] == pytest.approx(transport(p, q, ground), abs=1e-8)


@given(st.lists(st.tuples(st.sampled_from("abcdef"), st.integers(0, 3)), min_size=1, max_size=40))
def test_hierarchical_distance_is_the_sum_of_costs(rows):
    values, classes = [value for value, _ in rows], [class_ for _, class_ in rows]
    table, file = table_of(values, classes), file_of(values)
    result = diversity(table, "s", distance="hierarchical", hierarchy=HIERARCHY)
    nodes = {value: (value, *LEVELS[value]) for value in file}
    for class_ in set(table.class_of_record.tolist()):
        counter = file_of([v for v, c in zip(values, table.class_of_record) if c == class_])
        assert result.classes["t_closeness"][class_] == pytest.approx(hierarchical(counter, file, nodes), abs=1e-9)


@given(st.lists(st.tuples(st.integers(0, 400), st.integers(0, 5)), min_size=1, max_size=60))
def test_ordered_distance_of_many_values(rows):
    values, classes = [value for value, _ in rows], [class_ for _, class_ in rows]
    table, file = table_of(values, classes), file_of(values)
    result = diversity(table, "s", distance="ordered")
    for class_ in set(table.class_of_record.tolist()):
        counter = file_of([v for v, c in zip(values, table.class_of_record) if c == class_])
        assert result.classes["t_closeness"][class_] == pytest.approx(ordered(counter, file, sorted(file)), abs=1e-9)


def test_values_that_no_record_has_take_no_rank():
    """As when the records that held them were suppressed."""
    counts = ValueCounts(
        pd.Index(["gone", "low", "gone too", "high"]),
        class_=np.array([0, 1]),
        value=np.array([1, 3]),
        count=np.array([2, 2]),
        overall=np.array([0, 2, 0, 2]),
        n_classes=2,
    )
    assert ordered_distance(counts).tolist() == [0.5, 0.5]


def test_an_ordered_categorical_has_its_own_order():
    levels = ["low", "middle", "high"]
    frame = pd.DataFrame(
        {"x": [1, 1, 2, 2], "s": pd.Categorical(["low", "middle", "high", "high"], levels, ordered=True)}
    )
    result = diversity(class_table(frame, KeySpec("x", sensitive_variables="s")), "s", distance="ordered")
    assert result.values.tolist() == levels
    # Cumulative differences of class 1: 1/4, 1/2.
    assert result.classes["t_closeness"][0] == pytest.approx(3 / 8)


def test_a_missing_value_as_a_category_joins_at_the_top():
    table = table_of(["a", "b", None, None], [1, 1, 2, 2], missing="category")
    result = diversity(table, "s", distance="hierarchical", hierarchy=HIERARCHY)
    assert result.classes["t_closeness"].tolist() == pytest.approx([0.5, 0.5])


def test_unfit_hierarchies_are_refused():
    table = table_of(["a", "b", "q"], [1, 1, 2])
    with pytest.raises(DataError, match="row 2"):
        diversity(table, "s", distance="hierarchical", hierarchy=HIERARCHY)
    table = table_of(["a", "d"], [1, 2])
    forest = Hierarchy.from_mapping({"a": ("A",), "d": ("D",)})
    with pytest.raises(OptionError, match="one value at the top"):
        diversity(table, "s", distance="hierarchical", hierarchy=forest)
    loose = Hierarchy.from_mapping(LEVELS, nested=False)
    with pytest.raises(OptionError, match="nest"):
        diversity(table, "s", distance="hierarchical", hierarchy=loose)
