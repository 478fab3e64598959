"""Mondrian against a plain recursion, and what must hold of any of its results."""

from collections import Counter, defaultdict

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon_lab.errors import DataError, OptionError
from kanon_lab.methods import Hierarchy, mondrian

# Labels of the values 0 to 7 at levels 0 to 2: no level joins all of them.
TREE = {v: [str(v), "abcd"[v // 2], "left" if v < 4 else "right"] for v in range(8)}
HIERARCHY = Hierarchy.from_mapping({v: labels[1:] for v, labels in TREE.items()})


# --- the oracle: numbers (n) and trees (t), strict, nothing missing --------------------------------------------------


def width(values, kind, everyone):
    if kind == "t":
        return (len(set(values)) - 1) / max(len(set(everyone)) - 1, 1)
    extent = max(everyone) - min(everyone)
    return (max(values) - min(values)) / extent if extent else 0


def common_level(values):
    return next((level for level in range(3) if len({TREE[v][level] for v in values}) == 1), 3)


def pieces(rows, j, kind, k):
    """The parts of a cut along key j, or None."""
    values = sorted(row[j] for row in rows)
    if kind == "t":
        children = defaultdict(list)
        for row in rows:
            children[TREE[row[j]][common_level(values) - 1]].append(row)
        return list(children.values()) if min(map(len, children.values())) >= k else None
    median = values[(len(values) - 1) // 2]
    cuts = [
        ([row for row in rows if row[j] <= median], [row for row in rows if row[j] > median]),
        ([row for row in rows if row[j] < median], [row for row in rows if row[j] >= median]),
    ]
    cuts = [cut for cut in cuts if min(map(len, cut)) >= k]
    return min(cuts, key=lambda cut: abs(len(cut[0]) - len(cut[1])), default=None)


def parts(rows, kinds, k, everyone):
    widths = [width([row[j] for row in rows], kind, [row[j] for row in everyone]) for j, kind in enumerate(kinds)]
    for j in sorted(range(len(kinds)), key=lambda j: -widths[j]):
        if widths[j] > 0 and (cut := pieces(rows, j, kinds[j], k)) is not None:
            return [part for piece in cut for part in parts(piece, kinds, k, everyone)]
    return [rows]


def label(values, kind):
    low, high = min(values), max(values)
    if kind == "n":
        return str(low) if low == high else f"{low}-{high}"
    level = common_level(values)
    return TREE[low][level] if level < 3 else "{left, right}"


# --- properties -------------------------------------------------------------------------------------------------------


@st.composite
def files(draw, missing=False):
    kinds = draw(st.lists(st.sampled_from("nt"), min_size=1, max_size=3))
    value = st.integers(0, 7) | (st.none() if missing else st.nothing())
    rows = draw(st.lists(st.tuples(*(value for _ in kinds)), min_size=1, max_size=24))
    rows.append(tuple(draw(st.integers(0, 7)) for _ in kinds))
    names = [f"{kind}{j}" for j, kind in enumerate(kinds)]
    frame = pd.DataFrame(rows, columns=names, dtype=object)
    frame.index = draw(st.permutations([f"r{i}" for i in range(len(rows))]))
    return kinds, rows, frame, {name: HIERARCHY for name in names if name[0] == "t"}


@given(files(), st.integers(1, 6))
def test_strict_parts_are_those_of_a_plain_recursion(file, k):
    kinds, rows, frame, hierarchies = file
    if k > len(rows):
        return
    found = mondrian(frame, k_required=k, keys=list(frame), hierarchies=hierarchies)
    expected = Counter()
    for part in parts(rows, kinds, k, rows):
        expected[tuple(label([row[j] for row in part], kind) for j, kind in enumerate(kinds))] += len(part)
    assert {tuple(row[:-1]): row[-1] for row in found.classes.to_numpy().tolist()} == expected
    assert found.k_achieved == min(expected.values()) >= k
    assert found.discernibility == sum(size**2 for size in expected.values())
    assert found.average_class_size == pytest.approx(len(rows) / len(expected) / k)


def inside(value, text, kind):
    if pd.isna(text):
        return True
    if kind == "t":
        return text == "{left, right}" or text in TREE[value]
    low, _, high = text.partition("-")
    return int(low) <= value <= int(high or low)


@given(files(missing=True), st.integers(1, 6), st.booleans(), st.randoms())
def test_every_class_has_k_records_and_every_label_holds_its_value(file, k, strict, random):
    kinds, rows, frame, hierarchies = file
    if k > len(rows):
        return
    before, options = frame.copy(), {"k_required": k, "keys": list(frame), "strict": strict, "hierarchies": hierarchies}
    found = mondrian(frame, **options)
    pd.testing.assert_frame_equal(frame, before)
    assert found.frame.index.equals(frame.index) and found.frame.columns.equals(frame.columns)
    labels = list(found.frame.fillna("-").itertuples(index=False, name=None))
    assert min(Counter(labels).values()) == found.k_achieved >= k
    for row, (_, texts) in zip(rows, found.frame.iterrows()):
        for value, text, kind in zip(row, texts, kinds):
            assert pd.isna(text) if value is None else inside(value, text, kind)
    shuffled = mondrian(frame.sample(frac=1, random_state=random.randrange(100)), **options)
    pd.testing.assert_frame_equal(shuffled.classes, found.classes)
    if strict:
        pd.testing.assert_frame_equal(shuffled.frame.loc[frame.index], found.frame)


@given(st.lists(st.integers(0, 4), min_size=2, max_size=40), st.integers(1, 5))
def test_relaxed_parts_of_one_key_are_halves(values, k):
    if k > len(values):
        return

    def halves(part):
        if len(part) < 2 * k or part[0] == part[-1]:
            return [part]
        middle = len(part) // 2
        return halves(part[:middle]) + halves(part[middle:])

    expected = Counter()
    for part in halves(sorted(values)):
        expected[label(part, "n")] += len(part)
    relaxed = mondrian(pd.DataFrame({"x": values}), k_required=k, keys="x", strict=False)
    assert dict(relaxed.classes.to_numpy().tolist()) == expected


# --- labels and refusals ----------------------------------------------------------------------------------------------


def test_labels_of_fractions_negative_numbers_orders_and_missing_values():
    frame = pd.DataFrame(
        {
            "fraction": [0.5, 1.0, 8.5, 9.0],
            "below": [-5, 3, -5, 3],
            "school": ["none", "primary", "none", "degree"],
            "gap": [1.0, np.nan, 2.0, 2.0],
        }
    )
    order = {"school": ["none", "primary", "secondary", "degree"]}
    found = mondrian(frame, k_required=2, keys=list(frame), orders=order)
    assert found.frame.fillna("?").to_numpy().tolist() == [
        ["[0.5, 1]", "-5 to 3", "none to primary", "?"],
        ["[0.5, 1]", "-5 to 3", "none to primary", "?"],
        ["[8.5, 9]", "-5 to 3", "none to degree", "2"],
        ["[8.5, 9]", "-5 to 3", "none to degree", "2"],
    ]


def test_tabla_2_of_the_note():
    # AEPD note, Tabla 2: postcodes tell its three pairs apart, so Mondrian keeps them and widens age.
    frame = pd.DataFrame(
        {"postcode": ["37003", "28108", "24700", "24700", "37003", "28108"], "age": [40, 44, 37, 37, 44, 40]}
    )
    options = {"k_required": 2, "keys": ["postcode", "age"]}
    found = mondrian(frame, hierarchies={"postcode": Hierarchy.from_masks([5, 2, 0])}, **options)
    assert found.frame["postcode"].tolist() == frame["postcode"].tolist()
    assert found.frame["age"].tolist() == ["40-44", "40-44", "37", "37", "40-44", "40-44"]


def test_what_cannot_be_cut_is_refused():
    frame = pd.DataFrame({"age": [1, 2, 3], "town": ["a", "b", "c"]})
    with pytest.raises(OptionError, match="order of its values"):
        mondrian(frame, k_required=2, keys=["age", "town"])
    with pytest.raises(DataError, match="row 2: .*order"):
        mondrian(frame, k_required=2, keys=["town"], orders={"town": ["a", "b"]})
    with pytest.raises(DataError, match="row 2: .*list"):
        mondrian(frame, k_required=2, keys=["town"], hierarchies={"town": Hierarchy.from_mapping({"a": "x", "b": "x"})})
    crossed = Hierarchy.from_mapping({"a": ["x", "1"], "b": ["x", "2"], "c": ["y", "2"]}, nested=False)
    for options in (
        {"hierarchies": {"town": crossed}},
        {"orders": {"town": ["a", "a", "b", "c"]}},
        {"orders": {"town": list("abc")}, "hierarchies": {"town": crossed}},
        {"orders": {"age": [1, 2, 3]}},
    ):
        with pytest.raises(OptionError):
            mondrian(frame, k_required=2, keys=["town"], **options)
    for k in (0, 4, 1.5):
        with pytest.raises(OptionError, match="k_required"):
            mondrian(frame, k_required=k, keys=["age"])
    with pytest.raises(DataError, match="no value"):
        mondrian(frame.assign(age=np.nan), k_required=2, keys=["age"])
