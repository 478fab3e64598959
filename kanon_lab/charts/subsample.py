"""The chart of the subsample study: the curve of uniques, the lines laid through it, and the truth."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from kanon_lab.charts.axes import LINE, STROKE, SYMBOLS, by_name, log_shares, share_words
from kanon_lab.charts.style import (
    BLACK,
    BLUE,
    GREY,
    GRID,
    ORANGE,
    altair,
    check_columns,
    finish,
    inline,
    title,
)
from kanon_lab.errors import OptionError

if TYPE_CHECKING:
    import altair as alt

_HEIGHT = 340
_STUDY = ("fraction", "n1", "u1", "n2", "u2", "p_c", "tangent_p_c", "true_p_c")

# What the curve chart shows -> colour, dash, shape.
_LAID = {
    "the population's curve": (BLACK, [1, 0], STROKE),
    "ruler through the two points": (ORANGE, [7, 4], STROKE),
    "tangent at the sample": (BLUE, [2, 3], STROKE),
    "what subsample and sample see": (ORANGE, [1, 0], "circle"),
    "the truth: everybody asked": (BLACK, [1, 0], "diamond"),
}


def uniqueness_curve(curve: pd.DataFrame, study: pd.DataFrame) -> alt.LayerChart:
    """The share of unique records by sampling fraction, and two lines laid through it to the whole population.

    Parameters
    ----------
    curve : DataFrame
        ``fraction`` (above 0, at most 1) and ``share`` (0-1) from `kanon_lab.subsample.uniqueness_curve`.
    study : DataFrame
        One row of `kanon_lab.subsample.expected_study`: the fraction of the study, and where its lines end.

    Returns
    -------
    altair.LayerChart
        On logarithmic axes: the curve; the points that subsample and sample see; the ruler through them, which is the
        study's estimator, and the tangent at the second one, both up to fraction 1; and the truth there.

    Raises
    ------
    OptionError
        For frames that lack columns, or a study of more than one row.
    """
    alt = altair()
    check_columns(curve, ("fraction", "share"), "subsample.uniqueness_curve(sizes, fractions)")
    check_columns(study, _STUDY, "subsample.expected_study(sizes, [fraction])")
    if len(study) != 1:
        raise OptionError(f"the curve is drawn with one fraction of the study, not {len(study)}; give one row")
    read = _reading(study.iloc[0])
    if not (read["share"] > 0).all():
        raise OptionError("the axes are logarithmic: the curve needs a population in which somebody is unique")
    seen = curve[(curve["fraction"] > 0) & (curve["share"] > 0)]
    least = min(seen["fraction"].min(), read["fraction"].min())
    x = log_shares("X", "fraction", (least, 1), "Share of the population in the sample (log scale)", grid=False)
    shares = [*seen["share"], *read["share"]]
    low, high = min(shares) / 1.25, max(shares) * 1.25
    y = log_shares("Y", "share", (low, high), "Unique among those sampled (log scale)")
    names, f = list(_LAID), study["fraction"].iloc[0]
    looks = _looks(names)
    lines = alt.Chart(inline(_laid_lines(seen, read, names), 9)).mark_line(strokeWidth=2.5, clip=True)
    # The ends of ruler and tangent have labels and no marks.
    marks = read.assign(what=[names[3], names[3], None, None, names[4]])[["fraction", "share", "what"]].dropna()
    points = alt.Chart(inline(marks, 9)).mark_point(fill="white", strokeWidth=2.5, size=110, opacity=1)
    hover = _curve_tooltip()
    return finish(
        alt.layer(
            *_unseen(f, x),
            lines.encode(x=x, y=y, stroke=looks["stroke"], strokeDash=_dash(names), tooltip=hover),
            points.encode(x=x, y=y, tooltip=hover, **looks),
            *_labels(read, x, y, low, high),
        ),
        title=title(
            f"The ruler ends at {study['p_c'].iloc[0] / study['true_p_c'].iloc[0]:.2g} times the truth",
            f"A sample of {share_words(f)}, a subsample of it, and everybody",
        ),
        description=_curve_told(read),
        height=_HEIGHT,
    )


def _curve_told(read: pd.DataFrame) -> str:
    said = {name: share_words(share) for name, share in zip(read["name"], read["share"], strict=True)}
    return (
        "Line chart, on logarithmic axes, of the share of records that are unique among those sampled, by the share of "
        f"the population that is sampled. It falls from {said['subsample']} in the subsample over {said['sample']} in "
        f"the sample to {said['truth']} when everybody is asked. The ruler through the first two ends at "
        f"{said['ruler']}, the tangent at the sample at {said['tangent']}."
    )


def _reading(study: pd.Series) -> pd.DataFrame:
    """The points of the picture: subsample, sample, and at fraction 1 the ends of ruler and tangent, and the truth."""
    f = study["fraction"]
    shares = {
        "subsample": (f**2, study["u2"] / study["n2"]),
        "sample": (f, study["u1"] / study["n1"]),
        "ruler": (1.0, study["p_c"]),
        "tangent": (1.0, study["tangent_p_c"]),
        "truth": (1.0, study["true_p_c"]),
    }
    read = pd.DataFrame([(name, *place) for name, place in shares.items()], columns=["name", "fraction", "share"])
    return read.assign(label=read["name"] + " " + read["share"].map(share_words))


def _laid_lines(curve: pd.DataFrame, read: pd.DataFrame, names: list[str]) -> pd.DataFrame:
    """The curve, the ruler from subsample to population, the tangent from before the sample to there."""
    places = read.set_index("name")[["fraction", "share"]]
    (f, at_f), (_, end) = places.loc["sample"], places.loc["tangent"]
    # Of log share to log fraction: the tangent goes through the sample's point and ends at fraction 1.
    slope = math.log(end / at_f) / math.log(1 / f)
    back = f**1.5
    tangent = pd.DataFrame({"fraction": [back, 1.0], "share": [at_f * (back / f) ** slope, end]})
    parts = [curve[["fraction", "share"]], places.loc[["subsample", "sample", "ruler"]], tangent]
    return pd.concat([part.assign(what=name) for part, name in zip(parts, names, strict=False)], ignore_index=True)


def _unseen(fraction: float, x: alt.X) -> list[alt.Chart]:
    """What lies beyond the sample, on a ground of its own."""
    alt = altair()
    data = alt.Chart(alt.InlineData(values=[{"fraction": fraction, "end": 1, "text": "beyond the sample"}]))
    word = data.mark_text(align="right", baseline="top", dx=-6, fontStyle="italic", color=GREY)
    return [
        data.mark_rect(color=GRID, opacity=0.6).encode(x=x, x2="end:Q"),
        word.encode(x=alt.X("end:Q"), y=alt.value(8), text="text:N"),
    ]


def _labels(read: pd.DataFrame, x: alt.X, y: alt.Y, low: float, high: float) -> list[alt.Chart]:
    """Words at the points; those at fraction 1 are moved apart, by the heights that they need."""
    alt = altair()
    per_line = (high / low) ** (LINE / _HEIGHT)
    ends = read.iloc[2:].sort_values("share", ascending=False).copy()
    ends["share"] = _apart(ends["share"].tolist(), per_line, low)
    left = alt.Chart(inline(read.iloc[:2], 9)).mark_text(align="left", dx=9, dy=-9)
    right = alt.Chart(inline(ends, 9)).mark_text(align="left", dx=11)
    return [part.encode(x=x, y=y, text="label:N") for part in (left, right)]


def _apart(shares: list[float], factor: float, low: float) -> list[float]:
    """Falling shares with at least `factor` between neighbours: each pair as near to its places as that allows."""
    logs = np.log(shares)
    gap = math.log(factor)
    for number in range(1, len(logs)):
        logs[number] = min(logs[number], logs[number - 1] - gap)
    # What was pushed below the picture comes back up.
    short = math.log(low) + gap / 2 - logs[-1]
    if short > 0:
        for number in reversed(range(len(logs))):
            below = logs[number + 1] + gap if number + 1 < len(logs) else logs[number] + short
            logs[number] = max(logs[number], below)
    return np.exp(logs).tolist()


def _looks(names: list[str]) -> dict:
    """Colour and shape of what the curve chart shows; one legend for both and the dashes."""
    alt = altair()
    colors, _, shapes = zip(*_LAID.values(), strict=True)
    legend = alt.Legend(title=None, columns=1, symbolFillColor="white", **SYMBOLS)
    return {
        "stroke": alt.Stroke("what:N", scale=by_name(names, colors), legend=legend),
        "shape": alt.Shape("what:N", scale=by_name(names, shapes), legend=legend),
    }


def _dash(names: list[str]) -> alt.StrokeDash:
    return altair().StrokeDash("what:N", scale=by_name(names, [dash for _, dash, _ in _LAID.values()]), title=None)


def _curve_tooltip() -> list:
    alt = altair()
    return [
        alt.Tooltip("what:N", title="line"),
        alt.Tooltip("fraction:Q", title="share sampled", format=".3~p"),
        alt.Tooltip("share:Q", title="unique among them", format=".3~p"),
    ]
