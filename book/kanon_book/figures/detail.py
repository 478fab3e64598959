"""Charts of the chapter on detail: what the study's risk depends on."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping

import numpy as np
import pandas as pd

from kanon_book.figures import log
from kanon_lab.arguments import check_positive
from kanon_lab.digits import percent
from kanon_lab.errors import OptionError
from kanon_lab.show import style
from kanon_lab.show.colors import BLACK, BLUE, GREEN, GREY, ORANGE
from kanon_lab.show.style import SHARE, alt, finish, inline_rounded, tooltips

_HEIGHT = 340
# A factor of the product -> its column, colour, dash.
_FACTORS = {
    "p(b): in the sample": ("p_b", GREY, [9, 3, 2, 3]),
    "p(c): unique": ("p_c", BLUE, [6, 3]),
    "p(d): sure of the match": ("p_d", GREEN, [2, 2]),
    "p(identification)": ("p_identification", ORANGE, [1, 0]),
    "the same with true shares": ("true_p_identification", BLACK, [1, 0]),
}
# Where the axis of probabilities ends: above 1, so that names of marks stand above the lines.
_ROOM = 5
# Pixels of height that a word between two lines needs.
_WORD = 28
_PLACES = ((BLACK, "diamond"), (BLUE, "circle"), (ORANGE, "square"), (GREY, "triangle-up"))
_SERIES = ((BLACK, [1, 0]), (BLUE, [6, 3]), (ORANGE, [2, 2]), (GREY, [9, 3, 2, 3]))


def scenario_risks(table: pd.DataFrame, *, geography: str = "region", age: str = "age") -> alt.LayerChart:
    """The probability of identification of each scenario, by detail of age and of geography.

    On a logarithmic axis; how many scenarios have no place there, as their risk is 0 or unknown, is said.

    Parameters
    ----------
    table : DataFrame
        One row a scenario: its labels in the columns `geography` (up to four) and `age`, in the order in which they are
        to be shown, and ``p_identification`` (0-1). Optionally ``printed``, the figure of a publication, and ``low``
        and ``high``, between which the computed one lies in repeated subsamples.
    geography, age : str
        Names of the columns.
    """
    style.check_columns(table, (geography, age, "p_identification"), "subsample.scenario_grid(...).table")
    if table.duplicated([geography, age]).any():
        raise OptionError("a scenario occurs twice in the table: give each geography and age one row")
    extra = [name for name in ("printed", "low", "high") if name in table]
    rows = table[["p_identification", *extra]].assign(
        geography=table[geography].astype(str), age=table[age].astype(str)
    )
    rows["label"] = rows["p_identification"].map(percent)
    places, ages = (list(dict.fromkeys(rows[name])) for name in ("geography", "age"))
    rows, lost = log.drawn_part(rows, "p_identification", "risk", "scenarios")
    style.check_room(places, _PLACES, "geographies", "; leave some out")
    marks = ["Marks: computed"]
    marks += ["bars: range of repeated subsamples"] if {"low", "high"} <= set(extra) else []
    marks += ["lines across: printed"] if "printed" in extra else []
    marks += [lost] if lost else []
    least, most = rows.loc[rows["p_identification"].idxmin()], rows.loc[rows["p_identification"].idxmax()]
    return finish(
        alt.layer(*_scenarios(rows, geography, places, age, ages, extra)),
        title="Risk by detail of age and place",
        subtitle="; ".join(marks),
        description=(
            f"Chart of the probability of identification of {len(rows)} scenarios on a logarithmic axis, by {age} "
            f"({', '.join(ages)}) and {geography} ({', '.join(places)}). "
            f"From {least['label']} ({least['geography']}, {least['age']}) to {most['label']} ({most['geography']}, "
            f"{most['age']}).{' The printed figures stand beside them.' if 'printed' in extra else ''}"
            f"{f' {lost.capitalize()}.' if lost else ''}"
        ),
        height=340,
    )


def _scenarios(
    rows: pd.DataFrame, geography: str, places: list[str], age: str, ages: list[str], extra: list[str]
) -> list[alt.Chart]:
    shown = rows[["p_identification", *extra]].stack()
    shown = shown[log.drawable(shown)]
    low, high = shown.min() / 1.35, shown.max() * 1.35
    # A bar that reaches 0 ends at the axis; a printed figure that is 0 is not drawn.
    ends = {name: rows[name].clip(low, high) for name in ("low", "high") if name in extra}
    ends |= {"printed": rows["printed"].where(log.drawable(rows["printed"]))} if "printed" in extra else {}
    rows = rows.assign(**ends)
    legend = alt.Legend(title=geography, columns=2, **log.SYMBOLS)
    colors, shapes = zip(*_PLACES, strict=True)
    looks = style.told_apart("geography:N", places, color=colors, shape=shapes, legend=legend)
    at = _places_of(ages)
    rows["at"] = rows["age"].map(at)
    # Room for the words beside the first and the last marks, on a telephone too.
    span = max(at.values()) - min(at.values()) or 1
    x = alt.X(
        "at:Q",
        scale=alt.Scale(domain=[min(at.values()) - 0.56 * span, max(at.values()) + 0.6 * span], nice=False),
        title=age.capitalize(),
        axis=alt.Axis(
            values=[*at.values()],
            labelExpr=f"({json.dumps({f'{place:g}': label for label, place in at.items()})})[datum.value]",
            grid=False,
        ),
    )
    y = log.log_axis("Y", "p_identification", (low, high), "p(identification), log scale", grid=False)
    base = alt.Chart(inline_rounded(rows)).encode(
        x=x,
        y=y,
        color=looks["color"],
        tooltip=tooltips(
            ("geography:N", geography),
            ("age:N", age),
            ("p_identification:Q", "computed", SHARE),
            *((f"{name}:Q", name, SHARE) for name in extra),
        ),
    )
    layers = [base.mark_line(strokeWidth=1, opacity=0.7)]
    if {"low", "high"} <= set(extra):
        layers.append(base.mark_rule(strokeWidth=3).encode(y=alt.Y("low:Q"), y2="high:Q"))
    layers.append(base.mark_point(filled=True, size=95, opacity=1).encode(shape=looks["shape"]))
    if "printed" in extra:
        layers.append(
            base.mark_tick(thickness=2, width=26, opacity=1).encode(y=alt.Y("printed:Q"), color=alt.value(BLACK))
        )
    # The finer the age, the higher the line: left of the first marks and right of the others none crosses the words.
    words = base.encode(text="label:N", color=alt.value(GREY))
    layers.append(words.transform_filter(alt.datum.age == ages[0]).mark_text(align="right", dx=-9, dy=-9, fontSize=11))
    layers.append(words.transform_filter(alt.datum.age != ages[0]).mark_text(align="left", dx=15, dy=-8, fontSize=11))
    return layers


def _places_of(labels: list[str]) -> dict[str, float]:
    """Where labels stand on an axis: at the number that each begins with, such as 5 years; else one step apart."""
    places = [float(number[0]) for number in map(re.compile(r"\d+(?= |$)").match, labels) if number]
    return dict(zip(labels, places if len({*places}) == len(labels) else map(float, range(len(labels)))))


def fraction_effect(
    frame: pd.DataFrame, *, ceiling: float | None = 0.05, chosen: float | None = None
) -> alt.LayerChart:
    """The probability of identification and its factors by sampling fraction.

    A line for each factor on logarithmic axes, on which the heights of factors add up to their product's. What is 0 is
    left out, and said how often.

    Parameters
    ----------
    frame : DataFrame
        ``fraction``, ``p_b``, ``p_c``, ``p_d`` and ``p_identification`` of `kanon_lab.sample.expected_study`, and
        ``true_p_identification`` where it is known.
    ceiling : float, optional
        The largest fraction allowed, drawn as a line; the study's is 5% (section 1).
    chosen : float, optional
        Another fraction to be marked.
    """
    needed = [column for column, *_ in list(_FACTORS.values())[:4]]
    style.check_columns(frame, ("fraction", *needed), "subsample.expected_study(sizes, fractions)")
    looks = {name: look for name, look in _FACTORS.items() if look[0] in frame}
    rows = pd.concat([frame[["fraction"]].assign(what=name, p=frame[column]) for name, (column, *_) in looks.items()])
    rows, lost = log.drawn_part(rows, "p", "probability", "points")
    ends = log.ends_of(frame["fraction"])
    x = log.log_axis("X", "fraction", ends, "Sampling fraction (log scale)", grid=False)
    ceiling, chosen = (
        None if place is None else check_positive(place, name, 1)
        for name, place in {"ceiling": ceiling, "chosen": chosen}.items()
    )
    marked = {} if ceiling is None else {f"ceiling {percent(ceiling)}": ceiling}
    marked |= {} if chosen is None else {percent(chosen): chosen}
    first, last = frame.loc[frame["fraction"].idxmin()], frame.loc[frame["fraction"].idxmax()]
    risks = [f"{percent(row['p_identification'])} at a fraction of {percent(row['fraction'])}" for row in (first, last)]
    return finish(
        alt.layer(*log.rules(marked, x, "fraction", ends), *_factors(rows, looks, x)),
        title="What a larger sample does to the risk",
        subtitle="Every factor of the product, by sampling fraction" + (f"; {lost}" if lost else ""),
        description=(
            "Line chart, on logarithmic axes, of the probability of identification and its factors by sampling "
            f"fraction: {'; '.join(looks)}. The estimated probability is {risks[0]} and {risks[1]}."
            f"{f' A line marks the ceiling of {percent(ceiling)}.' if ceiling is not None else ''}"
            f"{f' {lost.capitalize()}.' if lost else ''}"
        ),
        height=_HEIGHT,
    )


def _factors(rows: pd.DataFrame, looks: Mapping[str, tuple], x: alt.X) -> list[alt.Chart]:
    """A line a factor, and unseen points that carry the tooltips."""
    _, colors, dashes = zip(*looks.values(), strict=True)
    apart = style.told_apart("what:N", looks, color=colors, dash=dashes, legend=log.legend_by_line())
    lines = alt.Chart(inline_rounded(rows)).encode(
        x=x, y=log.log_axis("Y", "p", (rows["p"].min() / 1.25, _ROOM), "Probability (log scale)"), color=apart["color"]
    )
    tips = ("what:N", "factor"), ("fraction:Q", "sampling fraction", SHARE), ("p:Q", "probability", SHARE)
    return [lines.mark_line(strokeWidth=2.5).encode(strokeDash=apart["strokeDash"]), style.hover(lines, *tips)]


def area_threshold(
    frame: pd.DataFrame, *, marks: Mapping[str, float] | None = None, series: str | None = None
) -> alt.LayerChart:
    """The share of an area's persons who are unique in it, by its population.

    On logarithmic axes; where nobody is unique an area is left out, and said how often.

    Parameters
    ----------
    frame : DataFrame
        ``population`` (persons of the area) and ``true_p_c`` (0-1) of `kanon_lab.sample.area_threshold`.
    marks : mapping, optional
        Populations to be marked, by their names; their shares are read off the lines.
    series : str, optional
        The column that tells up to four lines apart.
    """
    style.check_columns(
        frame, ("population", "true_p_c", *([series] if series else [])), "subsample.area_threshold(sizes, ...)"
    )
    rows = (
        frame[["population", "true_p_c"]]
        .rename(columns={"true_p_c": "share"})
        .assign(what=frame[series].astype(str) if series else "")
    )
    ends = log.ends_of(rows["population"])
    rows, lost = log.drawn_part(rows.sort_values("population", kind="stable"), "share", "share", "areas")
    names = list(dict.fromkeys(frame[series].astype(str))) if series else [""]
    style.check_room(names, _SERIES, "series")
    marks = log.check_marks(marks or {})
    x = log.log_axis("X", "population", ends, "Persons in the area (log scale)", format=",", grid=False)
    read = _at_marks(rows, marks, names)
    readings = "; ".join(
        f"{row['what'] + ', ' if series else ''}{row['mark']}: {row['label']}" for row in read.to_dict("records")
    )
    return finish(
        alt.layer(*log.rules(marks, x, "population", ends), *_areas(rows, read, x, names, series)),
        title="The larger the area, the fewer people stand out",
        subtitle="Persons alone in their class, by persons in the area" + (f"; {lost}" if lost else ""),
        description=(
            "Line chart, on logarithmic axes, of the share of an area's persons who are unique in it, by its "
            f"population, {ends[0]:,.0f} to {ends[1]:,.0f}.{f' {readings}.' if readings else ''}"
            f"{f' {lost.capitalize()}.' if lost else ''}"
        ),
        height=_HEIGHT,
    )


def _areas(rows: pd.DataFrame, read: pd.DataFrame, x: alt.X, names: list[str], series: str | None) -> list[alt.Chart]:
    """A line a series, and marks with words at the marked populations."""
    colors, dashes = zip(*_SERIES, strict=True)
    legend = log.legend_by_line() if series else None
    y = log.log_axis(
        "Y",
        "share",
        (rows["share"].min() / 1.25, min(1, rows["share"].max() * 1.4)),
        "Unique in the area (log scale)",
        grid=True,
    )
    line = alt.Chart(inline_rounded(rows)).mark_line(strokeWidth=2.5)
    drawn = line.encode(
        x=x,
        y=y,
        **style.told_apart("what:N", names, color=colors, dash=dashes, legend=legend),
        tooltip=tooltips(
            *([("what:N", series)] if series else []),
            ("population:Q", "persons in the area", ",.0f"),
            ("share:Q", "unique in it", SHARE),
        ),
    )
    if read.empty:
        return [drawn]
    marked = alt.Chart(inline_rounded(read)).encode(x=x, y=y)
    points = marked.mark_point(fill="white", stroke=BLACK, strokeWidth=2, size=80, opacity=1)
    # The lines fall: words to the right of them lie above, to the left below.
    words = [marked.transform_filter("datum.above").mark_text(align="left", dx=8, dy=-8)]
    if len(names) > 1:
        words.append(marked.transform_filter("!datum.above").mark_text(align="right", dx=-8, dy=9))
    return [drawn, points, *(word.encode(text="word:N") for word in words)]


def _at_marks(rows: pd.DataFrame, marks: Mapping[str, float], names: Iterable[str]) -> pd.DataFrame:
    """What the lines show at the marked populations: between two of them, as the line is drawn."""
    readings = []
    for mark, persons in marks.items():
        for name in names:
            line = rows[rows["what"] == name]
            # Beyond its ends a line says nothing.
            if not line["population"].min() <= persons <= line["population"].max():
                continue
            share = math.exp(np.interp(math.log(persons), np.log(line["population"]), np.log(line["share"])))
            readings.append((mark, name, persons, share, percent(share)))
    read = pd.DataFrame(readings, columns=["mark", "what", "population", "share", "label"])
    shares = read.sort_values("share").groupby("mark")["share"]
    lowest, to_next = shares.cumcount().eq(0), shares.shift(-1) / read["share"]
    room = (rows["share"].max() / rows["share"].min()) ** (_WORD / _HEIGHT)
    # Of the highest nothing lies above; the lowest of several has its words below.
    above = ~(to_next < room) & ~(lowest & to_next.notna())
    return read.assign(above=above, word=read["label"].where(above | lowest, ""))
