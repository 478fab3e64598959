"""Pictures in place of words: what they draw and say is that of the frames they are made of."""

import html
import json
from collections import Counter
from itertools import combinations

import pandas as pd
import pytest

from kanon_book.figures import linkage, moves, records
from kanon_lab.errors import OptionError
from kanon_lab.show.colors import DARK

FEW = pd.DataFrame(
    {"place": ["a", "a", "b", "b", "c"], "age": [1, 1, 2, 3, 2], "ill": list("yynny")}, index=list("12345")
)
KINDS = pd.DataFrame(
    [("old", "baker", 1, 1, 1), ("old", "smith", 4, 2, 1), ("young", "baker", 2, 1, 0), ("young", "smith", 1, 0, 0)],
    columns=["age", "work", "village", "sample", "subsample"],
)
PLANS = pd.DataFrame([(a, b, below) for (a, b), below in zip([(0, 0), (0, 1), (1, 0), (1, 1)], [3, 0, 2, 0])])
PLANS = PLANS.set_axis(["place", "age", "below"], axis=1)
BEFORE = pd.DataFrame({"sex": list("fmff"), "school": ["high", "high", "low", "low"]}, index=list("1234"))
AFTER = BEFORE.where(BEFORE.ne("high") | BEFORE["sex"].eq("m").to_numpy()[:, None])
MATRIX = pd.DataFrame([[0.8, 0.2], [0.2, 0.8]], index=["ill", "well"], columns=["ill", "well"])
INCOMES = pd.Series([100, 200, 300, 400], index=list("ABCD"))
INTERVALS = {"kind": "mean", "overlap": 0.625}
for _side, _ends in {"before": (1000, 2000, 1400), "after": (1500, 3500, 2600)}.items():
    INTERVALS |= dict(zip((f"lower_{_side}", f"upper_{_side}", f"estimate_{_side}"), _ends))
GAPS = pd.DataFrame({"sex": ["f", "f", None], "school": ["low", "high", "high"]}, index=list("ABC"))
LIST = pd.DataFrame({"name": ["Ana", "Eva", "Leo"], "place": list("abb"), "age": [1, 2, 2]})
FILE = pd.DataFrame({"place": list("ba"), "age": [2, 1], "ill": ["flu", "none"]})
POINTS = pd.DataFrame({"age": [20, 30, 50, 60], "pay": [5, 7, 9, 11]})


def subsets(person):
    keys = list(FEW)
    sets = [names for size in (1, 2, 3) for names in combinations(keys, size)]
    return {names: int((FEW[list(names)] == FEW.loc[person, list(names)]).all(axis=1).sum()) for names in sets}


def conditions():
    frame = pd.DataFrame({"condition": ["(a)", "(b)", "(c)"], "probability": [1.0, 0.04, 0.25]})
    return frame.assign(left=10**6 * frame["probability"].cumprod())


def family(whole=1):
    return pd.DataFrame({"who": ["mother", "child", "the whole"], "alike": [40, 7, whole]})


MADE = {
    "records_by_class": lambda: records.records_by_class({"Few": FEW}, ["place", "age"]),
    "lattice": lambda: records.lattice(PLANS, ["place", "age"], below="below", k_required=2),
    "company": lambda: records.company(BEFORE, AFTER, "1"),
    "compatibility": lambda: records.compatibility(GAPS),
    "subset_tree": lambda: records.subset_tree(subsets("4"), list(FEW), who="person 4"),
    "joined_tables": lambda: linkage.joined_tables(LIST, FILE, ["place", "age"], name="name", sensitive="ill"),
    "kinds": lambda: moves.kinds(KINDS, ["age", "work"]),
    "hurdles": lambda: moves.hurdles(conditions()),
    "crowd": lambda: moves.crowd(family()),
    "flow": lambda: moves.flow(MATRIX, pd.Series({"ill": 10, "well": 90}), heading="A spinner"),
    "swapped": lambda: moves.swapped(INCOMES, pd.Series([200, 100, 300, 400], index=INCOMES.index), window=1),
    "overlap": lambda: moves.overlap(INTERVALS, "mean income"),
    "parts": lambda: moves.parts(POINTS, pd.Series(["x", "x", "y", "y"])),
}
# What each alternative text has to say: counted by hand from the frames above.
TOLD = {
    "records_by_class": ["Few: k = 1", "Classes: 1 and 2 (a, 1).", "Alone: 3, 4 and 5."],
    "lattice": ["2 leave records below k = 2", "1 are enough and lowest: place 0 and age 1", "Above these 1 need no"],
    "company": ["compatible: 1, 3 and 4;", "own class: 1;", "true key: 1."],
    "compatibility": ["A and B: differ: school;", "A and C: differ: school;", "B and C: compatible."],
    "subset_tree": [
        "7 sets",
        "Minimal sample uniques of person 4: age",
        "3 sets contain",
        "place 2 alike; ill 2 alike",
    ],
    "joined_tables": ["3 persons", "2 records", "1 are joined by place and age. Ana: none. 2 of", "1 of the file"],
    "kinds": ["8 persons of 4 kinds, 4 of", "2 of these", "village: 2", "sample: 2, 1 of", "subsample: 2, 1 of"],
    "hurdles": ["of 1,000,000 attempts", "(a) 1,000,000; (b) 40,000; (c) 10,000"],
    "crowd": ["mother 40; child 7; the whole 1"],
    "flow": ["Of 10 ill, 8 shown as ill, 2 shown as well", "Of 90 well, 18 shown as ill, 72 shown as well"],
    "swapped": ["A 100 to 200; B 200 to 100; C keeps 300; D keeps 400"],
    "overlap": ["before 1,000 to 2,000; after 1,500 to 3,500", "50% of the one before and 25%", "overlap of 62.5%"],
    "parts": ["4 invented points and the 2 parts", "2 with age 20-30 and pay 5-7; 2 with age 50-60 and pay 9-11"],
}
# And what is written in the drawing.
WRITTEN = {
    "records_by_class": {"Few: k = 1": 1, "A, 2 alike": 2, "alone": 3},
    "lattice": {"3 below k": 1, "2 below k": 1, "enough": 1, "not counted": 1},
    "company": {"(gap)": 1, "3": 2, "1": 3},
    "compatibility": {"A": 1, "(gap)": 1, "differ: school": 2, "compatible": 1},
    "subset_tree": {"alone": 1, "left out": 3, "2 alike": 3},
    "joined_tables": {"name": 1, "ill": 1, "place": 2, "Ana": 1, "flu": 1},
    "kinds": {"old, baker": 1, "young, smith": 1, "2": 3},
    "hurdles": {"1,000,000": 1, "40,000": 1, "10,000": 1, "(b)": 1, "1 in 25 passes": 1, "always passes": 1},
    "crowd": {"mother: 40 alike": 1, "the whole: 1 alike": 1},
    "flow": {"10 truly": 1, "26, 31% truly": 1, "74, 97% truly": 1},
    "swapped": {"A  100": 1, "100  B": 1, "200  A": 1},
    "overlap": {"before: 1,400": 1, "1,500 to 3,500; common: 25%": 1, "overlap, the mean of both shares: 62.5%": 1},
    "parts": {"age, 20 to 60": 1, "pay, 5 to 11": 1},
}


def drawn(name):
    spec = json.dumps(MADE[name]().to_dict())
    return html.unescape(pytest.importorskip("vl_convert").vegalite_to_svg(spec, vl_version="5.20"))


def rows(name, mark):
    """The rows that a layer of the picture draws."""
    spec = MADE[name]().to_dict()
    layer = next(layer for layer in spec["layer"] if layer["mark"]["type"] == mark)
    data = layer["data"]
    return data["values"] if "values" in data else spec["datasets"][data["name"]]


@pytest.mark.parametrize("name", MADE)
def test_a_picture_says_what_its_frame_holds(name):
    description = MADE[name]().to_dict()["description"]
    assert [words for words in TOLD[name] if words not in description] == []


@pytest.mark.parametrize("name", MADE)
def test_a_picture_writes_what_its_frame_holds(name):
    text = drawn(name)
    words = Counter(line for row in rows(name, "text") for line in row["text"].split("\n"))
    assert {line: words[line] for line in WRITTEN[name]} == WRITTEN[name]
    assert all(f">{line.strip()}<" in text.replace("  ", " ") or f">{line}<" in text for line in WRITTEN[name])


@pytest.mark.parametrize("name", MADE)
def test_nothing_leaves_the_drawing_and_every_colour_has_one_for_the_dark(name):
    spec = MADE[name]().to_dict()
    high = next(layer["encoding"]["y"] for layer in spec["layer"])["scale"]["domain"][1]
    for layer in spec["layer"]:
        data = layer["data"]
        for row in data["values"] if "values" in data else spec["datasets"][data["name"]]:
            assert all(-1e-9 <= row[end] <= 1 + 1e-9 for end in ("x", "x2") if end in row), row
            assert all(-1e-9 <= row[end] <= high for end in ("y", "y2") if end in row), row
            assert {row[part] for part in ("fill", "stroke") if part in row} <= {*DARK}


def test_dots_and_marks_are_as_many_as_persons():
    shapes = Counter((row["shape"], row["opacity"]) for row in rows("kinds", "point"))
    # Four persons not in the sample, two in it and not below, two in the subsample; a square for each alone on a floor.
    assert shapes == {("circle", 0.0): 4, ("circle", 1.0): 2, ("diamond", 1.0): 2, ("square", 1.0): 6}
    assert Counter(row["shape"] for row in rows("crowd", "point")) == {"circle": 39 + 6, "square": 3}
    full = [row for row in rows("company", "point") if row["opacity"]]
    assert len(full) == 3 + 1 + 1


def test_a_line_joins_what_is_compatible_and_a_dashed_one_what_is_not():
    """A gap may be any value: B and C agree in all that both have, and A differs from either."""
    assert [row["dash"] != [1, 0] for row in rows("compatibility", "rule")] == [True, True, False]


def test_only_rows_with_the_same_keys_are_joined():
    """Eva and Leo share theirs, so neither is joined to the record that both fit."""
    assert len(rows("joined_tables", "rect")) == 2
    assert len(rows("joined_tables", "rule")) == 3


def test_lengths_and_areas_are_in_proportion():
    areas = [(row["x2"] - row["x"]) * (row["y2"] - row["y"]) for row in rows("hurdles", "rect")]
    assert [area / areas[0] for area in areas] == pytest.approx([1, 0.04, 0.01])
    ends = [row for row in rows("flow", "area") if row["x"] == 0.27]
    wide = [row["y2"] - row["y"] for row in ends]
    assert [round(each / wide[0], 3) for each in wide] == [1.0, 2.25, 0.25, 9.0]  # of 8, 18, 2 and 72 persons
    box = rows("overlap", "rect")[0]
    assert (box["x2"] - box["x"]) / 0.92 == pytest.approx(500 / 2500)


def test_pictures_that_would_mislead_are_refused():
    with pytest.raises(OptionError, match="nothing in common"):
        moves.overlap(INTERVALS | {"lower_after": 2500}, "mean income")
    with pytest.raises(OptionError, match="room for 3 records, not 2"):
        records.compatibility(GAPS.head(2))
    with pytest.raises(OptionError, match="swapping keeps all values"):
        moves.swapped(INCOMES, INCOMES + 1, window=1)
    with pytest.raises(OptionError, match="needs the column 'subsample'"):
        moves.kinds(KINDS.drop(columns="subsample"), ["age", "work"])
    with pytest.raises(OptionError, match="room for 4 categories, not 5"):
        moves.flow(MATRIX, pd.Series(dict.fromkeys("abcde", 1)), heading="Too many")
