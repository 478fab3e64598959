"""Estimates beside what they estimate: the scenarios of the study, and methods against a truth that is known."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import pandas as pd

from kanon_lab.arguments import check_choice
from kanon_lab.charts.axes import (
    SYMBOLS,
    by_name,
    check_some,
    drawable,
    ends_of,
    inline_rounded,
    left_out,
    log_shares,
)
from kanon_lab.charts.style import BLACK, BLUE, GREEN, GREY, ORANGE, PURPLE, altair, check_columns, finish, title
from kanon_lab.digits import percent
from kanon_lab.errors import OptionError
from kanon_lab.subsample.estimators import check_methods

if TYPE_CHECKING:
    import altair as alt

_PLACES = ((BLACK, "diamond"), (BLUE, "circle"), (ORANGE, "square"), (GREY, "triangle-up"))
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
_QUANTITIES = {
    "p_c": "p(c): unique in the population",
    "p_d": "p(d): sample unique, unique in all",
}


def scenario_risks(table: pd.DataFrame, *, geography: str = "region", age: str = "age") -> alt.LayerChart:
    """The probability of identification of each scenario, by detail of age and of geography.

    Parameters
    ----------
    table : DataFrame
        One row a scenario: its labels in the columns `geography` (up to four) and `age`, in the order in which they are
        to be shown, and ``p_identification`` (0-1). Optionally ``printed``, the figure of a publication, and ``low``
        and ``high``, between which the computed one lies in repeated subsamples.
    geography, age : str
        Names of these columns.

    Returns
    -------
    altair.LayerChart
        On a logarithmic axis; how many scenarios have no place there, as their risk is 0 or unknown, is said.

    Raises
    ------
    OptionError
        For a table that lacks columns, holds a scenario twice, more than four geographies or none that can be drawn.
    """
    alt = altair()
    check_columns(table, (geography, age, "p_identification"), "subsample.scenario_grid(...).table")
    if table.duplicated([geography, age]).any():
        raise OptionError("a scenario stands twice in the table: give each geography and age one row")
    extra = [name for name in ("printed", "low", "high") if name in table]
    rows = table[["p_identification", *extra]].assign(
        geography=table[geography].astype(str), age=table[age].astype(str)
    )
    rows["label"] = rows["p_identification"].map(percent)
    places, ages = (list(dict.fromkeys(rows[name])) for name in ("geography", "age"))
    found = drawable(rows["p_identification"])
    check_some(found, "risk")
    lost, rows = left_out(found, "scenarios"), rows[found]
    if len(places) > len(_PLACES):
        raise OptionError(f"the chart has room for {len(_PLACES)} geographies, not {len(places)}; leave some out")
    marks = ["Marks: computed"]
    marks += ["bars: repeated subsamples"] if {"low", "high"} <= set(extra) else []
    marks += ["lines across: printed"] if "printed" in extra else []
    marks += [lost] if lost else []
    least, most = rows.loc[rows["p_identification"].idxmin()], rows.loc[rows["p_identification"].idxmax()]
    return finish(
        alt.layer(*_scenarios(rows, geography, places, age, ages, extra)),
        title=title("Risk by detail of age and place", "; ".join(marks)),
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
    alt = altair()
    shown = rows[["p_identification", *extra]].stack()
    shown = shown[drawable(shown)]
    low, high = shown.min() / 1.35, shown.max() * 1.35
    # A bar that reaches 0 ends at the axis; a printed figure that is 0 is not drawn.
    ends = {name: rows[name].clip(low, high) for name in ("low", "high") if name in extra}
    ends |= {"printed": rows["printed"].where(drawable(rows["printed"]))} if "printed" in extra else {}
    rows = rows.assign(**ends)
    legend = alt.Legend(title=geography, columns=2, **SYMBOLS)
    colors, shapes = zip(*_PLACES, strict=True)
    x = alt.X(
        "age:N",
        # Room for the words beside the last marks, on a telephone too.
        scale=alt.Scale(domain=ages, padding=1),
        title=age.capitalize(),
        axis=alt.Axis(labelAngle=0, grid=False),
    )
    y = log_shares("Y", "p_identification", (low, high), "p(identification), log scale", grid=False)
    base = alt.Chart(inline_rounded(rows)).encode(
        x=x,
        y=y,
        color=alt.Color("geography:N", scale=by_name(places, colors), legend=legend),
        tooltip=[
            alt.Tooltip("geography:N", title=geography),
            alt.Tooltip("age:N", title=age),
            alt.Tooltip("p_identification:Q", title="computed", format=".3~p"),
            *(alt.Tooltip(f"{name}:Q", title=name, format=".3~p") for name in extra),
        ],
    )
    layers = [base.mark_line(strokeWidth=1, opacity=0.7)]
    if {"low", "high"} <= set(extra):
        layers.append(base.mark_rule(strokeWidth=3).encode(y=alt.Y("low:Q"), y2="high:Q"))
    layers.append(
        base.mark_point(filled=True, size=95, opacity=1).encode(
            shape=alt.Shape("geography:N", scale=by_name(places, shapes), legend=legend)
        )
    )
    if "printed" in extra:
        layers.append(
            base.mark_tick(thickness=2, width=26, opacity=1).encode(y=alt.Y("printed:Q"), color=alt.value(BLACK))
        )
    # The finer the age, the higher the line: left of the first marks and right of the others none crosses the words.
    words = base.encode(text="label:N", color=alt.value(GREY))
    layers.append(words.transform_filter(alt.datum.age == ages[0]).mark_text(align="right", dx=-9, dy=-9, fontSize=11))
    layers.append(words.transform_filter(alt.datum.age != ages[0]).mark_text(align="left", dx=15, dy=-8, fontSize=11))
    return layers


def estimates_against_truth(
    frame: pd.DataFrame, *, quantity: str = "p_c", methods: Iterable[str] | None = None
) -> alt.LayerChart:
    """What methods estimate from samples of several fractions, beside the truth.

    Parameters
    ----------
    frame : DataFrame
        From `kanon_lab.subsample.study_trials`: a row a fraction and method.
    quantity : {"p_c", "p_d"}
        The share of population uniques, or the chance that a sample unique is one.
    methods : iterable of str, optional
        Which of them, in the order of the legend; by default all.

    Returns
    -------
    altair.LayerChart
        On logarithmic axes the truth as a thick line, and for each method the mean of its estimates, in a band of one
        standard deviation to either side. Where no sample gives an estimate, or the mean or the truth is 0, it is left
        out, and said how often.

    Raises
    ------
    OptionError
        For a frame that lacks columns, another quantity or method, or where nothing can be drawn.
    """
    alt = altair()
    quantity = check_choice(quantity, "quantity", _QUANTITIES)
    columns = [f"true_{quantity}", quantity, f"sd_{quantity}", "failures"]
    check_columns(frame, ("fraction", "method", *columns), "subsample.study_trials(...)")
    known = [name for name in _METHODS if name in set(frame["method"])]
    names = check_methods(frame["method"] if methods is None else methods, known)
    rows = frame.loc[frame["method"].isin(names), ["fraction", "method", *columns]]
    rows = rows.set_axis(["fraction", "what", "truth", "mean", "sd", "failures"], axis="columns")
    truth = rows.drop_duplicates("fraction").assign(what=_TRUTH, mean=lambda each: each["truth"])
    ends, last = ends_of(rows["fraction"]), truth.loc[truth["fraction"].idxmax()]
    lost = [left_out(drawable(rows["mean"]), "means"), left_out(drawable(truth["mean"]), "values of the truth")]
    lost = [each for each in lost if each]
    rows, truth = rows[drawable(rows["mean"])], truth[drawable(truth["mean"])]
    shown = pd.concat([rows["mean"], truth["mean"]])
    check_some(drawable(shown), "mean")
    low, high = shown.min() / 1.5, min(1, shown.max() * 1.5)
    # A mean of few samples may stand without a deviation; a band that reaches 0 ends at the axis.
    sd = rows["sd"].fillna(0)
    rows = rows.assign(low=(rows["mean"] - sd).clip(lower=low), high=(rows["mean"] + sd).clip(upper=high))
    layers = _against(rows, truth, names, ends, (low, high), _QUANTITIES[quantity])
    means = rows[rows["fraction"] == last["fraction"]]
    said = ", ".join(f"{percent(row.mean)} by {row.what}" for row in means.itertuples())
    return finish(
        alt.layer(*layers),
        title=title(_QUANTITIES[quantity], "; ".join([_LINES, *lost])),
        description=(
            f"Line chart of {_QUANTITIES[quantity]}, as {', '.join(names)} estimate it, by sampling fraction, on "
            f"logarithmic axes, with the truth. At a fraction of {percent(last['fraction'])} the truth is "
            f"{percent(last['truth'])}; means are {said or 'unknown'}."
            f"{''.join(f' {each.capitalize()}.' for each in lost)}"
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
    alt = altair()
    looks = {_TRUTH: (BLACK, [1, 0], _BAR), **{name: _METHODS[name] for name in names}}
    colors, dashes, shapes = zip(*looks.values(), strict=True)
    legend = alt.Legend(title=None, columns=2, **SYMBOLS | {"symbolStrokeWidth": 0})
    color = alt.Color("what:N", scale=by_name(looks, colors), legend=legend)
    x = log_shares("X", "fraction", ends, "Sampling fraction (log scale)", grid=False)
    y = log_shares("Y", "mean", heights, f"{text.split(':')[0]}, log scale")
    base = alt.Chart(inline_rounded(rows)).encode(
        x=x,
        y=y,
        color=color,
        tooltip=[
            alt.Tooltip("what:N", title="method"),
            alt.Tooltip("fraction:Q", title="sampling fraction", format=".3~p"),
            alt.Tooltip("mean:Q", title="mean estimate", format=".3~p"),
            alt.Tooltip("sd:Q", title="standard deviation", format=".3~p"),
            alt.Tooltip("truth:Q", title="truth", format=".3~p"),
            alt.Tooltip("failures:Q", title="samples without estimate", format=".0%"),
        ],
    )
    return [
        base.mark_area(opacity=0.16).encode(y=alt.Y("low:Q"), y2="high:Q"),
        alt.Chart(inline_rounded(truth)).mark_line(strokeWidth=5).encode(x=x, y=y, color=color),
        base.mark_line(strokeWidth=2).encode(
            strokeDash=alt.StrokeDash("what:N", scale=by_name(looks, dashes), legend=legend)
        ),
        base.mark_point(filled=True, size=60, opacity=1).encode(
            shape=alt.Shape("what:N", scale=by_name(looks, shapes), legend=legend)
        ),
    ]
