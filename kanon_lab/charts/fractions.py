"""Charts of what the study's risk depends on: the sampling fraction, and the population of the area."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from kanon_lab.charts.axes import by_name, legend_of_lines, log_counts, log_shares, rules, share_words
from kanon_lab.charts.style import BLACK, BLUE, GREEN, GREY, ORANGE, altair, check_columns, finish, inline, title
from kanon_lab.errors import OptionError

if TYPE_CHECKING:
    import altair as alt

_HEIGHT = 340
# A factor of the product -> its column, colour, dash.
_FACTORS = {
    "p(b): in the sample": ("p_b", GREY, [9, 3, 2, 3]),
    "p(c): unique": ("p_c", BLUE, [6, 3]),
    "p(d): verified": ("p_d", GREEN, [2, 2]),
    "p(identification)": ("p_identification", ORANGE, [1, 0]),
    "the same, in truth": ("true_p_identification", BLACK, [1, 0]),
}
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
        A line for each factor on logarithmic axes, on which the heights of factors add up to their product's.

    Raises
    ------
    OptionError
        For a frame that lacks columns, or a fraction to be marked that is none.
    """
    alt = altair()
    needed = [column for column, *_ in list(_FACTORS.values())[:4]]
    check_columns(frame, ("fraction", *needed), "subsample.expected_study(sizes, fractions)")
    looks = {name: look for name, look in _FACTORS.items() if look[0] in frame}
    rows = pd.concat(
        [frame[["fraction"]].assign(what=name, p=frame[column]) for name, (column, *_) in looks.items()]
    ).query("p > 0")
    ends = rows["fraction"].min(), rows["fraction"].max()
    x = log_shares("X", "fraction", ends, "Sampling fraction (log scale)", grid=False)
    marked = {} if ceiling is None else {f"ceiling {share_words(ceiling)}": ceiling}
    marked |= {} if chosen is None else {share_words(chosen): chosen}
    first, last = frame.loc[frame["fraction"].idxmin()], frame.loc[frame["fraction"].idxmax()]
    told = [
        f"{share_words(row['p_identification'])} at a fraction of {share_words(row['fraction'])}"
        for row in (first, last)
    ]
    return finish(
        alt.layer(
            *rules(marked, x, "fraction", ends),
            *_factors(rows, looks, x),
        ),
        title=title("What a larger sample does to the risk", "Every factor of the product, by sampling fraction"),
        description=(
            "Line chart, on logarithmic axes, of the probability of identification and its factors by sampling "
            f"fraction: {'; '.join(looks)}. The estimated probability is {told[0]} and {told[1]}."
            f"{f' A line marks the ceiling of {share_words(ceiling)}.' if ceiling is not None else ''}"
        ),
        height=_HEIGHT,
    )


def _factors(rows: pd.DataFrame, looks: Mapping[str, tuple], x: alt.X) -> list[alt.Chart]:
    """A line a factor, and unseen points that carry the tooltips."""
    alt = altair()
    _, colors, dashes = zip(*looks.values(), strict=True)
    lines = alt.Chart(inline(rows, 9)).encode(
        x=x,
        y=log_shares("Y", "p", (rows["p"].min() / 1.25, 1), "Probability (log scale)"),
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
        On logarithmic axes.

    Raises
    ------
    OptionError
        For a frame that lacks columns or holds more than four series, or a mark outside the populations of the frame.
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
    rows = rows[rows["share"] > 0].sort_values("population", kind="stable")
    names = list(dict.fromkeys(frame[series].astype(str))) if series else [""]
    if len(names) > len(_SERIES):
        raise OptionError(f"the chart has room for {len(_SERIES)} series, not {len(names)}")
    ends = rows["population"].min(), rows["population"].max()
    x = log_counts("X", "population", ends, "Persons in the area (log scale)", grid=False)
    read = _at_marks(rows, marks or {}, names)
    found = "; ".join(
        f"{row['what'] + ', ' if series else ''}{row['mark']}: {row['label']}" for row in read.to_dict("records")
    )
    return finish(
        alt.layer(
            *rules(marks or {}, x, "population", ends),
            *_areas(rows, read, x, names, series),
        ),
        title=title("The larger the area, the fewer stand out", "Persons alone in their class, by persons in the area"),
        description=(
            "Line chart, on logarithmic axes, of the share of an area's persons who are unique in it, by its "
            f"population, {ends[0]:,.0f} to {ends[1]:,.0f}.{f' {found}.' if found else ''}"
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
    line = alt.Chart(inline(rows, 9)).mark_line(strokeWidth=2.5)
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
    marked = alt.Chart(inline(read, 9)).encode(x=x, y=y)
    points = marked.mark_point(fill="white", stroke=BLACK, strokeWidth=2, size=80, opacity=1)
    # Words above the highest line and below the lowest: between them they would cover each other.
    words = [marked.transform_filter("datum.highest").mark_text(align="left", dx=8, dy=-8)]
    if len(names) > 1:
        words.append(marked.transform_filter("datum.lowest").mark_text(align="right", dx=-8, dy=9))
    return [drawn, points, *(word.encode(text="label:N") for word in words)]


def _at_marks(rows: pd.DataFrame, marks: Mapping[str, float], names: Iterable[str]) -> pd.DataFrame:
    """What the lines show at the marked populations: between two of them, as the line is drawn."""
    found = []
    for mark, persons in marks.items():
        for name in names:
            line = rows[rows["what"] == name]
            share = math.exp(np.interp(math.log(persons), np.log(line["population"]), np.log(line["share"])))
            found.append((mark, name, persons, share, share_words(share)))
    read = pd.DataFrame(found, columns=["mark", "what", "population", "share", "label"])
    shares = read.groupby("mark")["share"]
    return read.assign(highest=shares.rank(ascending=False) == 1, lowest=shares.rank() == 1)
