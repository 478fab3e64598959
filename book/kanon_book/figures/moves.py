"""Pictures of crowds and of what moves: kinds of people, hurdles, a household, categories, ranks, intervals, parts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from kanon_book.figures.scene import Scene
from kanon_lab.digits import percent
from kanon_lab.errors import OptionError
from kanon_lab.show.colors import BLACK, BLUE, GREEN, GREY, ORANGE, PURPLE
from kanon_lab.show.style import check_columns, check_room

if TYPE_CHECKING:
    import pandas as pd

    from kanon_lab.show.style import alt

_COLORS = (ORANGE, BLUE, GREEN, PURPLE)


def kinds(frame: pd.DataFrame, keys: Sequence[str]) -> alt.LayerChart:
    """A small invented population as dots, a line a kind of people: who is in the sample, and who in the subsample.

    Squares say where the only one of a kind stands. `frame` has the `keys`, and how many persons of the kind are in the
    ``village``, of them in the ``sample``, and of those in the ``subsample``.
    """
    floors = ("village", "sample", "subsample")
    check_columns(frame, [*keys, *floors], "the kinds of an invented population")
    scene, columns = Scene(), (0.7, 0.84, 0.96)
    looks = {"subsample": ("diamond", ORANGE, True, 110), "sample": ("circle", BLUE, True, 80)}
    looks["village"] = ("circle", GREY, False, 60)
    scene.word(columns[1], 0.3, "the only one of the", align="center", color=GREY)
    for x, text in zip(columns, ("village", "sample", "sub.")):
        scene.word(x, 1, text, align="center", color=GREY)
    for i, row in enumerate(frame.to_dict("records")):
        y = i + 2
        scene.word(0, y, ", ".join(row[key] for key in keys))
        for person in range(row["village"]):
            floor = "subsample" if person < row["subsample"] else "sample" if person < row["sample"] else "village"
            shape, color, full, size = looks[floor]
            scene.dot(0.44 + 0.05 * person, y, color, shape=shape, full=full, size=size)
        for x, floor in zip(columns, floors):
            if row[floor] == 1:
                scene.dot(x, y, BLACK, shape="square", size=90)
    last, alone = len(frame) + 2.3, {floor: int((frame[floor] == 1).sum()) for floor in floors}
    scene.word(0, last, "persons alone")
    for x, floor in zip(columns, floors):
        scene.word(x, last, str(alone[floor]), align="center", bold=True)
    people, drawn, again = (int(frame[floor].sum()) for floor in floors)
    certain, both = ((frame[a].eq(1) & frame[b].eq(1)).sum() for a, b in zip(floors, floors[1:]))
    return scene.chart(
        "Population, sample and subsample",
        "Hollow: not in the sample; full: in the sample; diamond: also in the subsample. "
        "Square: the only person of the kind",
        f"Dots of {people} persons of {len(frame)} kinds, {drawn} of them in the sample and {again} of these in the "
        f"subsample. Alone in the village: {alone['village']}; in the sample: {alone['sample']}, {certain} of them "
        f"in the village too; in the subsample: {alone['subsample']}, {both} of them in the sample too.",
        last + 0.7,
    )


def hurdles(frame: pd.DataFrame) -> alt.LayerChart:
    """How many of so many attempts each of several conditions leaves, as areas inside one another.

    An area is in proportion to its number, so that few look few. `frame` has ``condition``, ``probability``, and
    ``left`` (attempts that are left), in their order.
    """
    check_columns(frame, ("condition", "probability", "left"), "the conditions of an identification")
    start = frame["left"].iloc[0] / frame["probability"].iloc[0]
    scene, before, tall, edge = Scene(), start, 3.5 * len(frame) + 0.6, 0.26
    for i, row in enumerate(frame.to_dict("records")):
        side, y = math.sqrt(row["left"] / start), 3.5 * i + 2
        if row["left"] < before or i == 0:
            last = i == len(frame) - 1
            scene.box((0, side), (0, tall * side), ORANGE if last else BLUE, tint=0.9 if last else 0.18)
        if side < edge:
            # From the box to its words: down where they are below it, then to the right.
            scene.line((0.6 * side, min(tall * side, y)), (0.6 * side, y), GREY, width=1)
            scene.line((0.6 * side, y), (edge - 0.015, y), GREY, width=1)
        once = "always passes" if row["probability"] == 1 else f"1 in {1 / row['probability']:.3g} passes"
        scene.word(edge, y - 0.75, f"{row['left']:,.0f}", bold=True)
        scene.word(edge, y, f"{row['condition']}\n{once}")
        before = row["left"]
    counts = [f"{row['condition']} {row['left']:,.0f}" for row in frame.to_dict("records")]
    return scene.chart(
        f"Of {start:,.0f} attempts",
        "Each area: the attempts left after a condition, drawn to scale inside the area of the condition before",
        f"Areas inside one another, to scale: what is left of {start:,.0f} attempts after each condition. "
        f"{'; '.join(counts)}.",
        tall,
    )


def crowd(frame: pd.DataFrame, *, across: int = 30) -> alt.LayerChart:
    """How many look like each member of a household, and like the household as a whole, as dots.

    The one that is meant is a full square. `frame` has ``who`` and ``alike`` (how many of the population, the one
    itself included, at most some hundred), the household as a whole last.
    """
    check_columns(frame, ("who", "alike"), "the counts of the members of a household")
    scene, y = Scene(), 0.0
    for row in frame.to_dict("records"):
        scene.word(0, y + 0.5, f"{row['who']}: {row['alike']:,} alike", bold=row["alike"] == 1)
        for place in range(row["alike"]):
            x, line = (place % across + 0.5) / across, y + 1.35 + 0.5 * (place // across)
            if place == 0:
                scene.dot(x, line, ORANGE, shape="square", size=75)
            else:
                scene.dot(x, line, GREY, full=False, size=30)
        y += 1.9 + 0.5 * ((row["alike"] - 1) // across)
    counts = [f"{row['who']} {row['alike']:,}" for row in frame.to_dict("records")]
    return scene.chart(
        "A household in the crowd",
        "Each dot: a person of the population (in the last line a household) with the same key; "
        "square: the one looked for",
        f"Dots for the persons of the population with the same key as a member of one household. {'; '.join(counts)}.",
        y,
    )


def flow(matrix: pd.DataFrame, persons: pd.Series, *, heading: str) -> alt.LayerChart:
    """Persons of each true category as bands that flow to the categories that are released.

    Numbers of persons are expected ones.

    Parameters
    ----------
    matrix : DataFrame
        A transition matrix, rows and columns by category.
    persons : Series
        How many have each category.
    """
    names = list(persons.index)
    check_room(names, _COLORS, "categories")
    moved = matrix.loc[names, names].mul(persons, axis=0)
    seen, total = moved.sum(), float(persons.sum())
    tall, gap = 11.0, 1.6
    scene, left_x, right_x = Scene(), 0.27, 0.63

    def ends(counts: pd.Series) -> dict:
        at, tops = 0.6, {}
        for name in names:
            tops[name] = at
            at += tall * counts[name] / total + gap
        return tops

    left, right = ends(persons), ends(seen)
    for name in names:
        middle = left[name] + tall * persons[name] / total / 2
        scene.word(0, middle - 0.3, f"{name}:\n{persons[name]:g} truly")
        middle = right[name] + tall * seen[name] / total / 2
        truly = f"{moved.loc[name, name] / seen[name]:.0%}"
        scene.word(right_x + 0.03, middle - 0.3, f"shown as {name}:\n{seen[name]:.3g}, {truly} truly")
        for side, at, count in ((left_x, left, persons), (right_x, right, seen)):
            scene.line((side, at[name]), (side, at[name] + tall * count[name] / total), BLACK, width=3)
    at_left, at_right = dict(left), dict(right)
    for target in names:
        for source, color in zip(names, _COLORS):
            wide = tall * moved.loc[source, target] / total
            a, b = at_left[source], at_right[target]
            scene.band(left_x, right_x, (a, a + wide), (b, b + wide), color)
            at_left[source], at_right[target] = a + wide, b + wide
    sentences = [
        f"Of {persons[source]:g} {source}, "
        + ", ".join(f"{count:.3g} shown as {name}" for name, count in moved.loc[source].items())
        for source in names
    ]
    return scene.chart(
        heading,
        "Left: the true category; right: the category that the file shows, in expected numbers",
        f"Flow of {total:g} persons from true to released categories. {'. '.join(sentences)}.",
        tall + gap * len(names) + 0.2,
    )


def swapped(before: pd.Series, after: pd.Series, *, window: int) -> alt.LayerChart:
    """Values in order on either side, and a line from each record's own value to the one that it is released with."""
    if sorted(before) != sorted(after) or before.duplicated().any():
        raise OptionError("swapping keeps all values, and the picture needs different ones")
    places = {value: i + 1.8 for i, value in enumerate(sorted(before, reverse=True))}
    scene, moves = Scene(), []
    scene.word(0.3, 0.6, "true", align="right", color=GREY)
    scene.word(0.7, 0.6, "released", color=GREY)
    for name, value in before.items():
        start, end = places[value], places[after[name]]
        moved = end != start
        color = GREY if not moved else ORANGE if end < start else BLUE
        scene.line((0.33, start), (0.67, end), color, width=2, dashed=end < start)
        scene.dot(0.33, start, color)
        scene.dot(0.67, end, color, shape="square")
        scene.word(0.3, start, f"{name}  {value:,.0f}", align="right")
        scene.word(0.7, end, f"{after[name]:,.0f}  {name}", bold=bool(moved))
        moves.append(f"{name} {value:,.0f} to {after[name]:,.0f}" if moved else f"{name} keeps {value:,.0f}")
    return scene.chart(
        "Ranks that are swapped",
        f"The same values on both sides. Dashed: goes up; full: goes down; at most {window} ranks",
        f"Lines from the true to the released value of {len(before)} records. {'; '.join(moves)}.",
        len(before) + 1.8,
    )


def overlap(row: dict | pd.Series, name: str) -> alt.LayerChart:
    """Two intervals of one indicator, what they have in common, and the overlap that follows.

    `row` is one of `kanon_lab.measures.compare_indicators` whose intervals meet.
    """
    ends = {side: (row[f"lower_{side}"], row[f"upper_{side}"]) for side in ("before", "after")}
    low, high = max(end[0] for end in ends.values()), min(end[1] for end in ends.values())
    if not low < high:
        raise OptionError("the two intervals have nothing in common: choose another indicator")
    least, most = min(end[0] for end in ends.values()), max(end[1] for end in ends.values())

    def at(value: float) -> float:
        return 0.04 + 0.92 * (value - least) / (most - least)

    form = ",.0f" if row["kind"] == "mean" else ".1%"
    shares = {side: (high - low) / (end[1] - end[0]) for side, end in ends.items()}
    scene = Scene()
    scene.box((at(low), at(high)), (1.7, 4.1), GREY, dashed=True)
    for words, y, side, color, shape in ((0.4, 2.4, "before", BLUE, "circle"), (4.8, 3.4, "after", ORANGE, "square")):
        scene.line((at(ends[side][0]), y), (at(ends[side][1]), y), color, width=6)
        scene.dot(at(row[f"estimate_{side}"]), y, BLACK, shape=shape, size=110)
        range_words = f"{ends[side][0]:{form}} to {ends[side][1]:{form}}; common: {percent(shares[side])}"
        scene.word(0.04, words, f"{side}: {row[f'estimate_{side}']:{form}}", bold=True)
        scene.word(0.04, words + 0.75, range_words)
    scene.word(0.04, 6.9, f"overlap, the mean of both shares: {percent(row['overlap'])}", bold=True)
    ranges = [f"{side} {ends[side][0]:{form}} to {ends[side][1]:{form}}" for side in ends]
    return scene.chart(
        f"Two intervals of one indicator: {name}",
        "Lines: the intervals; marks: the estimates; dashed: the part that both intervals share",
        f"Two intervals of {name}. {'; '.join(ranges)}. Common is {percent(shares['before'])} of the one before and "
        f"{percent(shares['after'])} of the one after: an overlap of {percent(row['overlap'])}.",
        7.5,
    )


def parts(points: pd.DataFrame, part: pd.Series) -> alt.LayerChart:
    """Invented points and the parts that Mondrian cut them into, each with the ranges that are released for it.

    Never points of records: a page would give them away.

    Parameters
    ----------
    points : DataFrame
        Two quantities.
    part : Series
        The part of each point.
    """
    across, up = list(points)
    low, high = points.min(), points.max()
    tall = 12.0
    scene = Scene()
    x = 0.1 + 0.86 * (points[across] - low[across]) / (high[across] - low[across])
    y = 1.2 + (tall - 2) * (high[up] - points[up]) / (high[up] - low[up])
    boxes = []
    for _, rows in points.groupby(part):
        xs, ys = x[rows.index], y[rows.index]
        scene.box((xs.min() - 0.025, xs.max() + 0.025), (ys.min() - 0.4, ys.max() + 0.4), BLUE)
        boxes.append(
            f"{len(rows)} with {across} {rows[across].min():g}-{rows[across].max():g} and {up} "
            f"{rows[up].min():g}-{rows[up].max():g}"
        )
    for place in points.index:
        scene.dot(x[place], y[place])
    scene.line((0.04, tall - 0.2), (1, tall - 0.2))
    scene.line((0.04, 0), (0.04, tall - 0.2))
    scene.word(0.5, tall + 0.5, f"{across}, {low[across]:g} to {high[across]:g}", align="center")
    scene.word(0.06, 0.2, f"{up}, {low[up]:g} to {high[up]:g}")
    return scene.chart(
        "Points cut into parts",
        f"Each box: the ranges that replace the values of all its points; {part.nunique()} boxes",
        f"{len(points)} invented points and the {part.nunique()} parts that Mondrian makes of them: "
        f"{'; '.join(boxes)}.",
        tall + 1,
    )
