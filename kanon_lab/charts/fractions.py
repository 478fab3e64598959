"""Charts of what the study's risk depends on: the sampling fraction, and the population of the area."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from kanon_lab.arguments import check_positive
from kanon_lab.charts.axes import (
    by_name,
    check_marks,
    check_some,
    drawable,
    ends_of,
    inline_rounded,
    left_out,
    legend_of_lines,
    log_counts,
    log_shares,
    rules,
)
from kanon_lab.charts.style import BLACK, BLUE, GREEN, GREY, ORANGE, altair, check_columns, finish, title
from kanon_lab.digits import percent
from kanon_lab.errors import OptionError

if TYPE_CHECKING:
    import altair as alt

_HEIGHT = 340
# A factor of the product -> its column, colour, dash.
_FACTORS = {
    "p(b): in the sample": ("p_b", GREY, [9, 3, 2, 3]),
    "p(c): unique": ("p_c", BLUE, [6, 3]),
    "p(d): sure of it": ("p_d", GREEN, [2, 2]),
    "p(identification)": ("p_identification", ORANGE, [1, 0]),
    "the same with true shares": ("true_p_identification", BLACK, [1, 0]),
}
# Where the axis of probabilities ends: above 1, so that names of marks stand above the lines.
_ROOM = 5
# Pixels of height that a word between two lines needs.
_WORD = 28
_SERIES = ((BLACK, [1, 0]), (BLUE, [6, 3]), (ORANGE, [2, 2]), (GREY, [9, 3, 2, 3]))


def fraction_effect(
    frame: pd.DataFrame, *, ceiling: float | None = 0.05, chosen: float | None = None
) -> alt.LayerChart:
    """The probability of identification and its factors by sampling fraction.

    Parameters
    ----------
    frame : DataFrame
        ``fraction``, ``p_b``, ``p_c``, ``p_d`` and ``p_identification`` of `kanon_lab.subsample.expected_study`, and
        ``true_p_identification`` where it is known.
    ceiling : float, optional
        The largest fraction allowed, drawn as a line; the study's is 5% (section 1).
    chosen : float, optional
        Another fraction to be marked.

    Returns
    -------
    altair.LayerChart
        A line for each factor on logarithmic axes, on which the heights of factors add up to their product's. What is 0
        is left out, and said how often.

    Raises
    ------
    OptionError
        For a frame that lacks columns or has no probability above 0, or a fraction to be marked that is none or lies
        outside those of the frame.
    """
    alt = altair()
    needed = [column for column, *_ in list(_FACTORS.values())[:4]]
    check_columns(frame, ("fraction", *needed), "subsample.expected_study(sizes, fractions)")
    looks = {name: look for name, look in _FACTORS.items() if look[0] in frame}
    rows = pd.concat([frame[["fraction"]].assign(what=name, p=frame[column]) for name, (column, *_) in looks.items()])
    found = drawable(rows["p"])
    check_some(found, "probability")
    lost, rows = left_out(found, "points"), rows[found]
    ends = ends_of(frame["fraction"])
    x = log_shares("X", "fraction", ends, "Sampling fraction (log scale)", grid=False)
    ceiling, chosen = (
        None if place is None else check_positive(place, name, 1)
        for name, place in {"ceiling": ceiling, "chosen": chosen}.items()
    )
    marked = {} if ceiling is None else {f"ceiling {percent(ceiling)}": ceiling}
    marked |= {} if chosen is None else {percent(chosen): chosen}
    first, last = frame.loc[frame["fraction"].idxmin()], frame.loc[frame["fraction"].idxmax()]
    told = [f"{percent(row['p_identification'])} at a fraction of {percent(row['fraction'])}" for row in (first, last)]
    return finish(
        alt.layer(
            *rules(marked, x, "fraction", ends),
            *_factors(rows, looks, x),
        ),
        title=title(
            "What a larger sample does to the risk",
            "Every factor of the product, by sampling fraction" + (f"; {lost}" if lost else ""),
        ),
        description=(
            "Line chart, on logarithmic axes, of the probability of identification and its factors by sampling "
            f"fraction: {'; '.join(looks)}. The estimated probability is {told[0]} and {told[1]}."
            f"{f' A line marks the ceiling of {percent(ceiling)}.' if ceiling is not None else ''}"
            f"{f' {lost.capitalize()}.' if lost else ''}"
        ),
        height=_HEIGHT,
    )


def _factors(rows: pd.DataFrame, looks: Mapping[str, tuple], x: alt.X) -> list[alt.Chart]:
    """A line a factor, and unseen points that carry the tooltips."""
    alt = altair()
    _, colors, dashes = zip(*looks.values(), strict=True)
    lines = alt.Chart(inline_rounded(rows)).encode(
        x=x,
        y=log_shares("Y", "p", (rows["p"].min() / 1.25, _ROOM), "Probability (log scale)"),
        color=alt.Color("what:N", scale=by_name(looks, colors), legend=legend_of_lines()),
    )
    hover = [
        alt.Tooltip("what:N", title="factor"),
        alt.Tooltip("fraction:Q", title="sampling fraction", format=".3~p"),
        alt.Tooltip("p:Q", title="probability", format=".3~p"),
    ]
    dash = alt.StrokeDash("what:N", scale=by_name(looks, dashes), legend=legend_of_lines())
    return [
        lines.mark_line(strokeWidth=2.5).encode(strokeDash=dash),
        lines.mark_point(size=110, opacity=0, filled=True, aria=False).encode(tooltip=hover),
    ]


def area_threshold(
    frame: pd.DataFrame, *, marks: Mapping[str, float] | None = None, series: str | None = None
) -> alt.LayerChart:
    """The share of an area's persons who are unique in it, by its population.

    Parameters
    ----------
    frame : DataFrame
        ``population`` (persons of the area) and ``true_p_c`` (0-1) of `kanon_lab.subsample.area_threshold`.
    marks : mapping of str to float, optional
        Populations to be marked, by their names; their shares are read off the lines.
    series : str, optional
        The column that tells up to four lines apart.

    Returns
    -------
    altair.LayerChart
        On logarithmic axes; where nobody is unique an area is left out, and said how often.

    Raises
    ------
    OptionError
        For a frame that lacks columns, holds more than four series or no uniques, or a mark that is no number or lies
        outside the populations of the frame.
    """
    alt = altair()
    check_columns(
        frame, ("population", "true_p_c", *([series] if series else [])), "subsample.area_threshold(sizes, ...)"
    )
    rows = (
        frame[["population", "true_p_c"]]
        .rename(columns={"true_p_c": "share"})
        .assign(what=frame[series].astype(str) if series else "")
    )
    ends, found = ends_of(rows["population"]), drawable(rows["share"])
    check_some(found, "share")
    lost, rows = left_out(found, "areas"), rows[found].sort_values("population", kind="stable")
    names = list(dict.fromkeys(frame[series].astype(str))) if series else [""]
    if len(names) > len(_SERIES):
        raise OptionError(f"the chart has room for {len(_SERIES)} series, not {len(names)}")
    marks = check_marks(marks or {})
    x = log_counts("X", "population", ends, "Persons in the area (log scale)", grid=False)
    read = _at_marks(rows, marks, names)
    told = "; ".join(
        f"{row['what'] + ', ' if series else ''}{row['mark']}: {row['label']}" for row in read.to_dict("records")
    )
    return finish(
        alt.layer(
            *rules(marks, x, "population", ends),
            *_areas(rows, read, x, names, series),
        ),
        title=title(
            "The larger the area, the fewer stand out",
            "Persons alone in their class, by persons in the area" + (f"; {lost}" if lost else ""),
        ),
        description=(
            "Line chart, on logarithmic axes, of the share of an area's persons who are unique in it, by its "
            f"population, {ends[0]:,.0f} to {ends[1]:,.0f}.{f' {told}.' if told else ''}"
            f"{f' {lost.capitalize()}.' if lost else ''}"
        ),
        height=_HEIGHT,
    )


def _areas(rows: pd.DataFrame, read: pd.DataFrame, x: alt.X, names: list[str], series: str | None) -> list[alt.Chart]:
    """A line a series, and marks with words at the marked populations."""
    alt = altair()
    colors, dashes = zip(*_SERIES, strict=True)
    legend = legend_of_lines() if series else None
    y = log_shares(
        "Y", "share", (rows["share"].min() / 1.25, min(1, rows["share"].max() * 1.4)), "Unique in the area (log scale)"
    )
    line = alt.Chart(inline_rounded(rows)).mark_line(strokeWidth=2.5)
    drawn = line.encode(
        x=x,
        y=y,
        color=alt.Color("what:N", scale=by_name(names, colors), legend=legend),
        strokeDash=alt.StrokeDash("what:N", scale=by_name(names, dashes), legend=legend),
        tooltip=[
            *([alt.Tooltip("what:N", title=series)] if series else []),
            alt.Tooltip("population:Q", title="persons in the area", format=",.0f"),
            alt.Tooltip("share:Q", title="unique in it", format=".3~p"),
        ],
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
    found = []
    for mark, persons in marks.items():
        for name in names:
            line = rows[rows["what"] == name]
            # Beyond its ends a line says nothing.
            if not line["population"].min() <= persons <= line["population"].max():
                continue
            share = math.exp(np.interp(math.log(persons), np.log(line["population"]), np.log(line["share"])))
            found.append((mark, name, persons, share, percent(share)))
    read = pd.DataFrame(found, columns=["mark", "what", "population", "share", "label"])
    shares = read.sort_values("share").groupby("mark")["share"]
    lowest, to_next = shares.cumcount().eq(0), shares.shift(-1) / read["share"]
    room = (rows["share"].max() / rows["share"].min()) ** (_WORD / _HEIGHT)
    # Of the highest nothing lies above; the lowest of several has its words below.
    above = ~(to_next < room) & ~(lowest & to_next.notna())
    return read.assign(above=above, word=read["label"].where(above | lowest, ""))
