"""Charts of the chapter on uniques: the curve, the ruler laid through it and the truth; methods against the truth."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
import pandas as pd

from kanon_book.figures.log import LEAST, LINE, SYMBOLS, check_some, drawable, ends_of, left_out, log_axis
from kanon_lab.arguments import check_choice
from kanon_lab.digits import percent
from kanon_lab.errors import OptionError
from kanon_lab.sample.curve import as_fraction
from kanon_lab.sample.estimators import check_methods
from kanon_lab.show import style
from kanon_lab.show.colors import BLACK, BLUE, GREEN, GREY, GRID, ORANGE, PURPLE
from kanon_lab.show.style import SHARE, alt, finish, tooltips

_HEIGHT = 340
_STUDY = ("fraction", "n1", "u1", "n2", "u2", "p_c", "tangent_p_c", "true_p_c")

# What the curve chart shows -> colour, dash.
_LAID = {"curve": (BLACK, [1, 0]), "ruler": (ORANGE, [7, 4]), "tangent": (BLUE, [2, 3])}
# What is at a place -> the line whose colour it has, shape of its mark.
_PLACES = {
    "subsample": ("ruler", "circle"),
    "sample": ("ruler", "circle"),
    "ruler": ("ruler", None),
    "tangent": ("tangent", None),
    "truth": ("curve", "diamond"),
}
# Pixels below the lowest place, for the spans.
_BELOW = 52


# Method -> colour, dash, shape; the same in every chart.
_METHODS = {
    "one subsample": (ORANGE, [2, 2], "triangle-right"),
    "subsample": (ORANGE, [7, 4], "square"),
    "tangent": (BLUE, [2, 3], "circle"),
    "poisson-gamma": (GREEN, [1, 0], "triangle-up"),
    "poisson-gamma-ml": (GREEN, [6, 3], "triangle-down"),
    "zayatz": (PURPLE, [1, 0], "cross"),
    "pitman": (GREY, [9, 3, 2, 3], "diamond"),
}
# A bar for the legend, whose symbols are filled shapes.
_TRUTH, _BAR = "truth", "M-1.6,-0.3H1.6V0.3H-1.6Z"
_LINES = "Lines: means over samples; bands: one standard deviation to either side"
_QUANTITIES = {"p_c": "p(c): unique in the population", "p_d": "p(d): sample unique, unique in the population too"}


def uniqueness_curve(curve: pd.DataFrame, study: pd.DataFrame, *, tangent: bool = False) -> alt.LayerChart:
    """The share of unique records by sampling fraction, and the ruler laid through it to the whole population.

    On logarithmic axes: the curve; the points that subsample and sample see; the ruler through them, which is the
    study's estimator, in two steps that are alike, to the sample and to fraction 1; and the truth there, with the
    factor between the two. What lies below the axis is cut off.

    Parameters
    ----------
    curve : DataFrame
        ``fraction`` (above 0, at most 1) and ``share`` (0-1) from `kanon_lab.sample.uniqueness_curve`.
    study : DataFrame
        One row of `kanon_lab.sample.expected_study`: the fraction of the study, and where its lines end.
    tangent : bool
        Whether the tangent at the sample is drawn too, up to fraction 1.
    """
    style.check_columns(curve, ("fraction", "share"), "subsample.uniqueness_curve(sizes, fractions)")
    style.check_columns(study, _STUDY, "subsample.expected_study(sizes, [fraction])")
    if len(study) != 1:
        raise OptionError(f"the curve is drawn with one fraction of the study, not {len(study)}; give one row")
    read = _reading(study.iloc[0])
    if not drawable(read.drop("tangent")["share"]).all():
        raise OptionError("the axes are logarithmic: the curve needs a population in which somebody is unique")
    is_drawn = (curve["fraction"] > 0) & drawable(curve["share"])
    check_some(is_drawn, "share of the curve")
    seen = curve.loc[is_drawn, ["fraction", "share"]].sort_values("fraction")
    read = read if tangent else read.drop("tangent")
    x, y, limits = _axes(seen, read)
    shares = read["share"].map(percent)
    return finish(
        alt.layer(
            *_unseen(read, x),
            *_steps(read, x, y),
            *_lines(seen, read, x, y),
            *_factor(read, x, y),
            *_labels(seen, read, x, y, limits),
        ),
        title=(
            f"The ruler ends at {_times(read, 'ruler')} the truth"
            + (f", the tangent at {_times(read, 'tangent')}" if tangent else "")
        ),
        subtitle=(
            "Equal distances are equal factors: the ruler takes the same step from the sample to everybody as from "
            "the subsample to the sample"
        ),
        description=(
            f"Line chart{' with a tangent' if tangent else ''}, on logarithmic axes, of the share of records that are "
            f"unique among those sampled, by the share of the population that is sampled. It falls from "
            f"{shares['subsample']} in the subsample over {shares['sample']} in the sample to {shares['truth']} when "
            f"everybody is asked. The ruler through the first two falls once more by the same factor and ends at "
            f"{shares['ruler']}, {_times(read, 'ruler')} the truth"
            + (f", the tangent at the sample at {shares['tangent']}." if tangent else ".")
        ),
        height=_HEIGHT,
    )


def _times(read: pd.DataFrame, name: str) -> str:
    return f"{read.loc[name, 'share'] / read.loc['truth', 'share']:.2g} times"


def _reading(study: pd.Series) -> pd.DataFrame:
    """The places of the picture by name: subsample, sample, and at fraction 1 the ends of the lines, and the truth."""
    f = as_fraction(study["fraction"])
    shares = {
        "subsample": (f**2, study["u2"] / study["n2"]),
        "sample": (f, study["u1"] / study["n1"]),
        "ruler": (1.0, study["p_c"]),
        "tangent": (1.0, study["tangent_p_c"]),
        "truth": (1.0, study["true_p_c"]),
    }
    read = pd.DataFrame.from_dict(shares, orient="index", columns=["fraction", "share"])
    lines, shapes = zip(*_PLACES.values(), strict=True)
    return read.assign(label=read.index + " " + read["share"].map(percent), line=lines, shape=shapes)


def _axes(curve: pd.DataFrame, read: pd.DataFrame) -> tuple[alt.X, alt.Y, tuple[float, float]]:
    """Ticks along at subsample, sample and population only; room for the spans below; the limits upwards."""
    places = sorted(set(read["fraction"]))
    x = alt.X(
        "fraction:Q",
        scale=alt.Scale(type="log", domain=[min(curve["fraction"].min(), places[0]), 1], nice=False),
        axis=alt.Axis(values=places, format=".3~p", grid=False, labelOverlap=False),
        title="Share of people in the sample (log scale)",
    )
    shares = [*curve["share"], *read["share"]]
    least, high = max(min(shares), LEAST), max(shares) * 1.25
    low = max(least * (least / high) ** (_BELOW / (_HEIGHT - _BELOW)), LEAST)
    return x, log_axis("Y", "share", (low, high), "Unique among those sampled (log scale)"), (low, high)


def _unseen(read: pd.DataFrame, x: alt.X) -> list[alt.Chart]:
    """What lies beyond the sample, on a ground of its own."""
    f = read.loc["sample", "fraction"]
    data = alt.Chart(alt.InlineData(values=[{"fraction": f, "end": 1, "text": "unseen"}]))
    word = data.mark_text(align="right", baseline="top", dx=-6, fontStyle="italic", color=GREY)
    return [
        data.mark_rect(color=GRID, opacity=0.6).encode(x=x, x2="end:Q"),
        word.encode(x=alt.X("end:Q"), y=alt.value(8), text="text:N"),
    ]


def _steps(read: pd.DataFrame, x: alt.X, y: alt.Y) -> list[alt.Chart]:
    """The ruler's two steps: as far along, and as far down."""
    corners = read.loc[["subsample", "sample", "ruler"], ["fraction", "share"]].to_numpy()
    rows = []
    for (left, above), (right, below) in zip(corners, corners[1:], strict=False):
        words = {"along": f"\u00d7 {right / left:.3g}", "down": f"\u00d7 {below / above:.2g}"}
        middle = {"middle": math.sqrt(left * right), "upper": above * (below / above) ** 0.25}
        rows.append({"left": left, "fraction": right, "share": above, "below": below, **middle, **words})
    data = alt.Chart(style.inline_rounded(pd.DataFrame(rows)))
    rule, foot = data.mark_rule(color=GREY, strokeDash=[3, 3]), _HEIGHT - 12
    return [
        rule.encode(x=x, x2="left:Q", y=y),
        rule.encode(x=x, y=y, y2="below:Q"),
        rule.encode(x=alt.X("left:Q"), y=y, y2=alt.value(_HEIGHT)),
        data.mark_rule(color=GREY, strokeWidth=2, xOffset=-4, x2Offset=4).encode(x=x, x2="left:Q", y=alt.value(foot)),
        data.mark_text(baseline="bottom", dy=-3).encode(x=alt.X("middle:Q"), y=alt.value(foot), text="along:N"),
        data.mark_text(align="right", dx=-5).encode(x=x, y=alt.Y("upper:Q"), text="down:N"),
    ]


def _lines(curve: pd.DataFrame, read: pd.DataFrame, x: alt.X, y: alt.Y) -> list[alt.Chart]:
    """The curve, the ruler from subsample to population, the tangent from before the sample to there; marks."""
    parts = {"curve": curve, "ruler": read.loc[["subsample", "sample", "ruler"]]}
    if "tangent" in read.index:
        (f, at_f), (_, end) = read.loc[["sample", "tangent"], ["fraction", "share"]].to_numpy()
        # Of log share to log fraction: the tangent goes through the sample's point and ends at fraction 1.
        slope = math.log(max(end, np.finfo(float).tiny) / at_f) / math.log(1 / f)
        back = f**1.5
        parts["tangent"] = pd.DataFrame({"fraction": [back, 1.0], "share": [at_f * (back / f) ** slope, end]})
    laid = pd.concat([part[["fraction", "share"]].assign(line=name) for name, part in parts.items()])
    lines = alt.Chart(style.inline_rounded(laid)).mark_line(strokeWidth=2.5, clip=True)
    dash = alt.StrokeDash("line:N", scale=style.by_name(_LAID, [dash for _, dash in _LAID.values()]), legend=None)
    marks = read.dropna(subset="shape")
    points = alt.Chart(style.inline_rounded(marks)).mark_point(fill="white", strokeWidth=2.5, size=110, opacity=1)
    shape = alt.Shape("shape:N", scale=None)
    return [
        lines.encode(x=x, y=y, stroke=_of_line("Stroke"), strokeDash=dash, tooltip=_curve_tooltip("line")),
        points.encode(x=x, y=y, stroke=_of_line("Stroke"), shape=shape, tooltip=_curve_tooltip("label")),
    ]


def _factor(read: pd.DataFrame, x: alt.X, y: alt.Y) -> list[alt.Chart]:
    """A bracket from the ruler's end to the truth."""
    ends = read.loc[["ruler", "truth"], ["fraction", "share"]].assign(other=read.loc["truth", "share"])
    data = alt.Chart(style.inline_rounded(ends))
    return [
        data.mark_rule(strokeWidth=1.5, color=GREY, xOffset=12).encode(x=x, y=y, y2="other:Q"),
        data.mark_rule(strokeWidth=1.5, color=GREY, xOffset=7, x2Offset=12).encode(x=x, x2="fraction:Q", y=y),
    ]


def _labels(
    curve: pd.DataFrame, read: pd.DataFrame, x: alt.X, y: alt.Y, limits: tuple[float, float]
) -> list[alt.Chart]:
    """Words at the places, in the colours of their lines; those at fraction 1 apart by the heights that they need."""
    low, high = limits
    ends = (
        read.iloc[2:].assign(share=lambda points: points["share"].clip(lower=low)).sort_values("share", ascending=False)
    )
    # The factor goes where most room is between the ruler and the truth.
    reach = np.log(ends["share"].loc[slice(*sorted(["ruler", "truth"], key=ends.index.get_loc))].to_numpy())
    widest = int(np.argmax(-np.diff(reach)))
    between = {"fraction": 1.0, "share": math.exp(reach[widest : widest + 2].mean()), "label": _times(read, "ruler")}
    ends = pd.concat([ends, pd.DataFrame([between], index=["factor"])])
    ends = ends.sort_values("share", ascending=False, kind="stable")
    ends["share"] = _apart(ends["share"].tolist(), (high / low) ** (LINE / _HEIGHT), low)
    middle = read.loc["sample", "fraction"] ** 1.5
    share = np.exp(np.interp(math.log(middle), np.log(curve["fraction"]), np.log(curve["share"])))
    named = pd.DataFrame([{"fraction": middle, "share": share, "label": "curve", "line": "curve"}])
    bold = {"fontWeight": "bold"}
    parts = [
        alt.Chart(style.inline_rounded(read.iloc[:2])).mark_text(align="left", dx=9, dy=-9, **bold),
        alt.Chart(style.inline_rounded(ends.dropna(subset="line"))).mark_text(align="left", dx=17, **bold),
        alt.Chart(style.inline_rounded(named)).mark_text(align="right", dx=-7, dy=16, **bold),
    ]
    factor = alt.Chart(style.inline_rounded(ends.loc[["factor"]])).mark_text(align="left", dx=17)
    return [
        *(part.encode(x=x, y=y, text="label:N", color=_of_line("Color")) for part in parts),
        factor.encode(x=x, y=y, text="label:N"),
    ]


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


def _of_line(channel: str) -> alt.Stroke | alt.Color:
    """The colour of a line, for what belongs to it; words say which is which, so no legend does."""
    colors = style.by_name(_LAID, [color for color, _ in _LAID.values()])
    return getattr(alt, channel)("line:N", scale=colors, legend=None)


def _curve_tooltip(name: str) -> list:
    return tooltips(
        (f"{name}:N", "shown"), ("fraction:Q", "share sampled", SHARE), ("share:Q", "unique among them", SHARE)
    )


def estimates_against_truth(
    frame: pd.DataFrame, *, quantity: str = "p_c", methods: Iterable[str] | None = None
) -> alt.LayerChart:
    """What methods estimate from samples of several fractions, beside the truth.

    On logarithmic axes the truth as a thick line, and for each method the mean of its estimates, in a band of one
    standard deviation to either side. Where no sample gives an estimate, or the mean or the truth is 0, it is left out,
    and said how often.

    Parameters
    ----------
    frame : DataFrame
        From `kanon_lab.sample.study_trials`: a row a fraction and method.
    quantity : str
        The share of population uniques, or the chance that a sample unique is one.
    methods : iterable of str, optional
        Which of them, in the order of the legend; by default all.
    """
    quantity = check_choice(quantity, "quantity", _QUANTITIES)
    columns = [f"true_{quantity}", quantity, f"sd_{quantity}", "failures"]
    style.check_columns(frame, ("fraction", "method", *columns), "subsample.study_trials(...)")
    known = [name for name in _METHODS if name in set(frame["method"])]
    names = check_methods(frame["method"] if methods is None else methods, known)
    rows = frame.loc[frame["method"].isin(names), ["fraction", "method", *columns]]
    rows = rows.set_axis(["fraction", "what", "truth", "mean", "sd", "failures"], axis="columns")
    truth = rows.drop_duplicates("fraction").assign(what=_TRUTH, mean=lambda points: points["truth"])
    ends, last = ends_of(rows["fraction"]), truth.loc[truth["fraction"].idxmax()]
    lost = [left_out(drawable(rows["mean"]), "means"), left_out(drawable(truth["mean"]), "values of the truth")]
    lost = [text for text in lost if text]
    rows, truth = rows[drawable(rows["mean"])], truth[drawable(truth["mean"])]
    shown = pd.concat([rows["mean"], truth["mean"]])
    check_some(drawable(shown), "mean")
    low, high = shown.min() / 1.5, min(1, shown.max() * 1.5)
    # A mean of few samples may stand without a deviation; a band that reaches 0 ends at the axis.
    sd = rows["sd"].fillna(0)
    rows = rows.assign(low=(rows["mean"] - sd).clip(lower=low), high=(rows["mean"] + sd).clip(upper=high))
    layers = _against(rows, truth, names, ends, (low, high), _QUANTITIES[quantity])
    means = rows[rows["fraction"] == last["fraction"]]
    shares = ", ".join(f"{percent(row.mean)} by {row.what}" for row in means.itertuples())
    return finish(
        alt.layer(*layers),
        title=_QUANTITIES[quantity],
        subtitle="; ".join([_LINES, *lost]),
        description=(
            f"Line chart of {_QUANTITIES[quantity]}, as {', '.join(names)} estimate it, by sampling fraction, on "
            f"logarithmic axes, with the truth. At a fraction of {percent(last['fraction'])} the truth is "
            f"{percent(last['truth'])}; means are {shares or 'unknown'}."
            f"{''.join(f' {text.capitalize()}.' for text in lost)}"
        ),
        height=340,
    )


def _against(
    rows: pd.DataFrame,
    truth: pd.DataFrame,
    names: Iterable[str],
    ends: tuple[float, float],
    heights: tuple[float, float],
    text: str,
) -> list[alt.Chart]:
    looks = {_TRUTH: (BLACK, [1, 0], _BAR), **{name: _METHODS[name] for name in names}}
    colors, dashes, shapes = zip(*looks.values(), strict=True)
    legend = alt.Legend(title=None, columns=2, **SYMBOLS | {"symbolStrokeWidth": 0})
    apart = style.told_apart("what:N", looks, color=colors, dash=dashes, shape=shapes, legend=legend)
    x = log_axis("X", "fraction", ends, "Sampling fraction (log scale)", grid=False)
    y = log_axis("Y", "mean", heights, f"{text.split(':')[0]}, log scale")
    base = alt.Chart(style.inline_rounded(rows)).encode(
        x=x,
        y=y,
        color=apart["color"],
        tooltip=tooltips(
            ("what:N", "method"),
            ("fraction:Q", "sampling fraction", SHARE),
            ("mean:Q", "mean estimate", SHARE),
            ("sd:Q", "standard deviation", SHARE),
            ("truth:Q", "truth", SHARE),
            ("failures:Q", "samples without estimate", ".0%"),
        ),
    )
    return [
        base.mark_area(opacity=0.16).encode(y=alt.Y("low:Q"), y2="high:Q"),
        alt.Chart(style.inline_rounded(truth)).mark_line(strokeWidth=5).encode(x=x, y=y, color=apart["color"]),
        base.mark_line(strokeWidth=2).encode(strokeDash=apart["strokeDash"]),
        base.mark_point(filled=True, size=60, opacity=1).encode(shape=apart["shape"]),
    ]
