"""Pictures of a few records: their classes, the plans that merge them, who keeps whom company, and sets of keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING

import pandas as pd

from kanon_book.figures.scene import Scene
from kanon_lab.errors import OptionError
from kanon_lab.show.colors import BLUE, GREEN, GREY, LIGHT_GREY, ORANGE, PURPLE
from kanon_lab.show.style import check_columns, check_room

if TYPE_CHECKING:
    from kanon_lab.show.style import alt

_COLORS = (BLUE, ORANGE, GREEN, PURPLE)


def listed(names: Sequence) -> str:
    """Names in a sentence: a, b and c."""
    names = [str(name) for name in names]
    return " and ".join([*([", ".join(names[:-1])] if len(names) > 1 else []), *names[-1:]])


def records_by_class(tables: Mapping[str, pd.DataFrame], keys: Sequence[str]) -> alt.LayerChart:
    """A few invented or published records, each in a box with the colour and the letter of its class.

    Records that stand alone have a dashed box. `tables` has by name a frame with the keys and, beside them, at most two
    other columns.
    """
    scene, y, sentences, keys = Scene(), 0.0, [], list(keys)
    for name, table in tables.items():
        check_columns(table, keys, "a table of a few records")
        classes = table.groupby(keys, sort=False, dropna=False)
        sizes, number = classes[keys[0]].transform("size"), classes.ngroup()
        shared = list(dict.fromkeys(number[sizes > 1]))
        check_room(shared, _COLORS, "classes of several records")
        columns = [*keys, *(column for column in table if column not in keys)]
        places = [0.11 + 0.66 * i / len(columns) for i in range(len(columns))]
        scene.word(0, y + 0.5, f"{name}: k = {sizes.min()}", bold=True)
        for place, column in zip(places, columns):
            scene.word(place, y + 1.5, column, color=GREY)
        edge = places[len(keys)] - 0.02 if len(columns) > len(keys) else 0.77
        for i, (label, row) in enumerate(table.iterrows()):
            line, alone = y + 2.5 + i, sizes[label] == 1
            letter = None if alone else "ABCD"[shared.index(number[label])]
            color = GREY if alone else _COLORS[shared.index(number[label])]
            scene.box((0.09, edge), (line - 0.42, line + 0.42), color, fill=not alone, dashed=alone)
            scene.word(0.03, line, str(label))
            for place, column in zip(places, columns):
                scene.word(place, line, str(row[column]))
            scene.word(0.8, line, "alone" if alone else f"{letter}, {sizes[label]} alike", bold=True)
        parts = [
            f"{listed(part.index)} ({', '.join(map(str, part[keys].iloc[0]))})" for _, part in classes if len(part) > 1
        ]
        alone = table.index[sizes == 1]
        sentences += [f"{name}: k = {sizes.min()}. Classes: {'; '.join(parts) or 'none of several records'}."]
        sentences += [f"Alone: {listed(alone)}."] if len(alone) else []
        y += len(table) + 3
    note = f"One box per record. Boxes with the same colour and letter have the same {listed(keys)}"
    words = f"Records of {listed(tables)} by class. {' '.join(sentences)}"
    return scene.chart("Records and their classes", note, words, y - 0.5)


def lattice(grid: pd.DataFrame, keys: Sequence[str], *, below: str | int, k_required: int) -> alt.LayerChart:
    """All plans for two or three key variables, one level each, and which of them a search has to count.

    From the bottom up: above a plan that reaches k all others reach it too, if the ladders nest, so they need no
    counting. `grid` has a column of levels for each key, and `below`, how many records are in classes below
    `k_required`.
    """
    check_columns(grid, [*keys, below], "kanon_lab.methods.level_grid")
    rows = grid[[*keys]].assign(below=grid[below], rank=grid[list(keys)].sum(axis=1))
    good = rows.loc[rows["below"] == 0, list(keys)].to_numpy().tolist()

    def over(node: Sequence[int], others: list) -> bool:
        return any(other != list(node) and all(a <= b for a, b in zip(other, node)) for other in others)

    rows["state"] = [
        "passed" if over(row[:-2], good) else "enough" if row[-2] == 0 else "below" for row in rows.to_numpy().tolist()
    ]
    most, high, tall = int(rows["rank"].max()), 0.62 * (len(keys) + 1) + 0.3, 0.62 * (len(keys) + 1) + 1
    scene, place = Scene(), {}
    for rank, part in rows.groupby("rank"):
        for i, row in enumerate(part.to_dict("records")):
            place[tuple(row[key] for key in keys)] = ((i + 0.5) / len(part), (most - rank) * tall + high / 2, row)
    width = 0.29
    for node, (x, y, _) in place.items():
        for up, (x2, y2, _) in place.items():
            if sum(up) == sum(node) + 1 and all(a <= b for a, b in zip(node, up)):
                scene.line((x, y - high / 2), (x2, y2 + high / 2), LIGHT_GREY, width=1)
    for node, (x, y, row) in place.items():
        color = {"enough": BLUE, "below": ORANGE, "passed": LIGHT_GREY}[row["state"]]
        says = {"enough": "enough", "below": f"{row['below']} below k", "passed": "not counted"}[row["state"]]
        passed = row["state"] == "passed"
        scene.box((x - width / 2, x + width / 2), (y - high / 2, y + high / 2), color, fill=not passed, dashed=passed)
        lines = [*(f"{key} {level}" for key, level in zip(keys, node)), says]
        for i, text in enumerate(lines):
            at = y + 0.62 * (i - len(keys) / 2)
            scene.word(x, at, text, align="center", bold=i == len(keys), color=GREY if passed else "#000000")
    states = rows["state"].value_counts()
    enough = [listed([f"{key} {level}" for key, level in zip(keys, row)]) for row in good if not over(row, good)]
    return scene.chart(
        f"All plans, and those to be counted for k = {k_required}",
        "One box per plan, with the level of each key. The search starts at the bottom: if a plan is "
        "enough, so is every plan above it",
        f"Lattice of {len(rows)} plans of levels of {listed(keys)}. Counted from the bottom: {states.get('below', 0)} "
        f"leave records below k = {k_required}; {states.get('enough', 0)} are enough and lowest: {'; '.join(enough)}. "
        f"Above these {states.get('passed', 0)} need no counting.",
        most * tall + high + 0.2,
    )


def company(before: pd.DataFrame, after: pd.DataFrame, record: str) -> alt.LayerChart:
    """Who keeps one record company after suppression, under each of three claims.

    A line a released record, a full mark where it counts. `before` and `after` are the same few published records, a
    column a key; missing is what was suppressed.
    """
    keys, true, shown = list(after), before.loc[record], after.loc[record]
    gaps = after.isna()
    equal, fits = (pd.DataFrame({key: after[key] == of[key] for key in keys}) & ~gaps for of in (shown, true))
    claims = {
        "compatible": (gaps | shown.isna() | equal).all(axis=1),
        "own\nclass": (equal | (gaps & shown.isna())).all(axis=1),
        "true\nkey": (gaps | fits).all(axis=1),
    }
    scene, places, marks = Scene(), [0.07 + 0.16 * i for i in range(len(keys))], (0.7, 0.85, 0.95)
    for place, key in zip(places, keys):
        scene.word(place, 0.7, key, color=GREY)
    for x, claim in zip(marks, claims):
        scene.word(x, 0.4 if "\n" in claim else 0.7, claim, align="center", color=GREY)
    for i, (name, row) in enumerate(after.iterrows()):
        y = 2 + i
        scene.word(0.02, y, str(name), bold=name == record)
        if name == record:
            scene.box((0, 1), (y - 0.5, y + 0.5), BLUE)
        for place, key in zip(places, keys):
            scene.word(place, y, "(gap)" if row.isna()[key] else row[key], bold=name == record)
        for x, counts in zip(marks, claims.values()):
            color, size = (BLUE, 90) if counts[name] else (LIGHT_GREY, 25)
            scene.dot(x, y, color, full=bool(counts[name]), size=size)
    y = 2.2 + len(after)
    scene.word(0.02, y, f"count for record {record}")
    for x, counts in zip(marks, claims.values()):
        scene.word(x, y, str(int(counts.sum())), align="center", bold=True)
    sentences = [
        f"{claim.replace(chr(10), ' ')}: {listed(list(counts.index[counts]))}" for claim, counts in claims.items()
    ]
    return scene.chart(
        f"The company of record {record}, by three claims",
        f"Full: the released record counts, for an intruder who looks for the person of record {record}",
        f"Released records that count as company of record {record}, by claim. {'; '.join(sentences)}.",
        y + 0.6,
    )


def compatibility(frame: pd.DataFrame) -> alt.LayerChart:
    """Three records, of which some have a gap, and a line between every two: whether one could be the other.

    A gap may be any value, so that being compatible does not pass from one pair to the next. `frame` has a column a
    key and the names of the records as its index.
    """
    if len(frame) != 3:
        raise OptionError(f"the picture has room for 3 records, not {len(frame)}")
    scene, sentences = Scene(), []
    for (x, y), (name, row) in zip(((0.18, 6.4), (0.5, 1.3), (0.82, 6.4)), frame.iterrows()):
        scene.box((x - 0.15, x + 0.15), (y - 1.25, y + 1.25))
        values = [str(name), *("(gap)" if gap else str(value) for value, gap in zip(row, row.isna()))]
        for i, value in enumerate(values):
            scene.word(x, y + 0.8 * (i - (len(values) - 1) / 2), value, align="center", bold=i == 0)
    # Of each pair the ends of its line, and the place of its words.
    lines = (((0.2, 5.15), (0.38, 2.55), (0.26, 3.8), "right"), ((0.33, 6.4), (0.67, 6.4), (0.5, 5.9), "center"))
    lines += (((0.62, 2.55), (0.8, 5.15), (0.74, 3.8), "left"),)
    for (start, end, at, align), (first, second) in zip(lines, combinations(frame.index, 2)):
        differ = [key for key in frame if frame.loc[[first, second], key].nunique() > 1]
        color, says = (ORANGE, f"differ: {listed(differ)}") if differ else (BLUE, "compatible")
        scene.line(start, end, color, dashed=bool(differ), width=3)
        scene.word(*at, says, align=align, color=color)
        sentences.append(f"{first} and {second}: {says}")
    return scene.chart(
        "Which records are compatible",
        "Full line: compatible, as a gap may be any value; dashed: the two differ in a value",
        f"Three records, and which of them are compatible. {'; '.join(sentences)}.",
        7.8,
    )


def subset_tree(sets: Mapping[tuple[str, ...], int], keys: Sequence[str], *, who: str) -> alt.LayerChart:
    """The tree of all sets of keys, with how many share a record's values, cut below its minimal sample uniques.

    A box adds its key to those left of it. `sets` has for each set of keys, in the order of `keys`, how many agree.
    """
    alone = [set(names) for names, alike in sets.items() if alike == 1]
    scene, rows, sentences, left = Scene(), 0, [], 0
    place, step = {}, 1 / len(keys)
    for names in sorted(sets, key=lambda names: [keys.index(name) for name in names]):
        parent = names[:-1]
        first = bool(parent) and keys.index(names[-1]) == keys.index(parent[-1]) + 1
        rows += not first
        place[names] = rows - 1
        x, y = (len(names) - 1) * step, 1.9 * (rows - 1) + 0.9
        over = any(smaller < set(names) for smaller in alone)
        minimal = sets[names] == 1 and not over
        color = GREY if over else ORANGE if minimal else BLUE
        if parent:
            scene.line((x - (0.09 if first else 0.05) * step, y), (x, y), LIGHT_GREY)
            scene.line((x - 0.05 * step, 1.9 * place[parent] + 0.9), (x - 0.05 * step, y), LIGHT_GREY)
        scene.box((x, x + 0.91 * step), (y - 0.85, y + 0.85), color, fill=not over, dashed=over)
        scene.word(x + 0.01, y - 0.38, names[-1], color=GREY if over else "#000000")
        says = "left out" if over else "alone" if minimal else f"{sets[names]} alike"
        scene.word(x + 0.01, y + 0.38, says, bold=minimal, color=GREY if over else "#000000")
        sentences += [names] if minimal else []
        left += over
    return scene.chart(
        f"The sets of keys of {who}, as a tree",
        "Each box adds its key to the keys on its left. Alone: unique by this set, but by no part of it. "
        "Left out: contains a set marked alone",
        f"Tree of the {len(sets)} sets of {listed(keys)}. Minimal sample uniques of {who}: "
        f"{'; '.join(listed(names) for names in sentences) or 'none'}. {left} sets contain one of these and are "
        f"left out; the others: {'; '.join(f'{listed(n)} {a} alike' for n, a in sets.items() if a > 1) or 'none'}.",
        1.9 * rows,
    )
