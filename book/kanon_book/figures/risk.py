"""Charts of the chapters on risk and on households."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from kanon_lab.digits import percent
from kanon_lab.errors import OptionError
from kanon_lab.show import style
from kanon_lab.show.colors import BLACK, BLUE, GREY, ORANGE
from kanon_lab.show.style import COUNT, SHARE, alt, finish, hover, inline, tooltips

if TYPE_CHECKING:
    import pandas as pd

# Series in the order given; what is known for certain comes first, in black.
_COLORS, _SHAPES = (BLACK, BLUE, ORANGE, GREY), ("diamond", "circle", "square", "triangle-up")
_DASHES = ([1, 0], [6, 3], [2, 2], [9, 3, 2, 3])

_EXPLORED = ("f_k", "F_k", "exact", "benedetti-franconi")
_CURVES = {"exact": "exact risk", "approximation": "approximation", "inverse": "1/estimate"}
# The result in words, signals of their own: the title shows them, and a page tells them to screen readers.
_WORDS = {
    "row": "data('risks')[indexof(pluck(data('risks'), 'f'), f_k)]",
    "risk": "row.exact[weight - 1]",
    "times": "format(risk * f_k * weight, '.2f')",
    "alike": "(f_k > 1 ? f_k + ' records alike' : 'One record alone') + ', estimated F_k ' + format(f_k * weight, ',')",
    "both": f"'risk ' + {style.share_expression('risk')} + ', 1/estimate ' + "
    + style.share_expression("(1 / (f_k * weight))"),
    "words": "[alike + ':', both, weight == 1 ? 'they agree' : 'the risk is ' + times + ' times 1/estimate']",
    "told": "[words[0] + ' ' + words[1] + ', ' + words[2]]",
}


def risk_explorer(frame: pd.DataFrame, *, f: int = 1, weight: int = 100) -> alt.LayerChart:
    """Individual risk against the estimate of F_k, with sliders for f_k and for the weight of each record.

    For the chosen f_k the curves of one over the estimate, of the exact risk and, from 3 on, of its approximation, and
    a mark at the chosen weight with its result in words. It carries one row an f_k, its curves as arrays.

    Parameters
    ----------
    frame : DataFrame
        ``f_k``, ``F_k`` and the risks of these two numbers by the estimators ``exact`` and ``benedetti-franconi`` of
        `kanon_lab.measures.individual_risk`; for each f_k one row for each F_k = f_k, 2 f_k, 3 f_k, ... in order, for
        all f_k equally many.
    f, weight : int
        The sample frequency and the weight F_k/f_k shown first, both of the frame.
    """
    style.check_columns(frame, _EXPLORED, "individual_risk(f_k, F_k, estimator=...)")
    rows = [_curve(number, part) for number, part in frame.groupby("f_k")]
    weights, numbers = len(rows[0]["exact"]), [row["f"] for row in rows]
    if any(len(row["exact"]) != weights for row in rows):
        raise OptionError("the chart needs equally many weights for every f_k")
    if f not in numbers or weight not in range(1, weights + 1):
        raise OptionError(f"f must be from {numbers[0]} to {numbers[-1]} and weight from 1 to {weights}")
    f_k = {"min": numbers[0], "max": numbers[-1], "name": "records alike in the file (f_k): "}
    bindings = {
        "f_k": alt.binding_range(step=1, **f_k),
        "weight": alt.binding_range(step=1, min=1, max=weights, name="persons per record (weight): "),
    }
    subject = (
        "Line chart of the risk of a record against the estimate of F_k, on logarithmic axes, for the expected value "
        "of 1/F_k, its approximation, and 1 over the estimate."
    )
    risk = rows[numbers.index(f)]["exact"][weight - 1]
    start = f"At f_k = {f} and an estimate of {f * weight}: {percent(risk)}, {percent(1 / f / weight)}."
    controls = style.params({"f_k": f, "weight": weight}, bindings, _WORDS)
    return style.live(
        style.layered(_explored(rows[-1]["f"] * weights), "risks", rows, controls),
        title=alt.TitleParams(alt.ExprRef("words"), subtitle="Mark: the record; approximation: from f_k = 3 on"),
        subject=subject,
        state=start,
        height=340,
    )


def _curve(f: int, part: pd.DataFrame) -> dict:
    """The row of one f_k: its curves by weight 1, 2, 3 ..."""
    if part["F_k"].tolist() != [f * weight for weight in range(1, len(part) + 1)]:
        raise OptionError("the chart needs F_k = f_k, 2 f_k, 3 f_k and so on, in order, for every f_k")
    curves = {"exact": part["exact"], "approximation": part["benedetti-franconi"]}
    return {"f": int(f)} | {name: [float(f"{risk:.5g}") for risk in curve] for name, curve in curves.items()}


def _explored(largest: int) -> list:
    x = alt.X(
        "F:Q",
        scale=alt.Scale(type="log", domain=[1, largest], nice=False),
        axis=alt.Axis(values=[10**i for i in range(len(str(largest)))], format=",", grid=False),
        title="Estimated F_k: persons alike (log scale)",
    )
    y = _log_risk("risk:Q", 1 / largest, "Risk of the record (log scale)")
    names = list(_CURVES.values())
    legend = _legend(symbolType="stroke", symbolSize=500, symbolStrokeWidth=2)
    looks = style.told_apart("series:N", names, color=(BLUE, BLACK, ORANGE), dash=_DASHES, title=None, legend=legend)
    curves = (
        alt.Chart()
        .transform_filter("datum.f == f_k")
        .transform_calculate(w="sequence(1, length(datum.exact) + 1)")
        .transform_flatten(["exact", "approximation", "w"])
        .transform_calculate(F="datum.f * datum.w", inverse="1 / datum.F")
        .transform_fold(["exact", "approximation", "inverse"], ["name", "risk"])
        .transform_filter("datum.name != 'approximation' || datum.f > 2")
        .transform_calculate(series=f"({json.dumps(_CURVES)})[datum.name]")
    )
    lines = curves.mark_line(strokeWidth=2.5).encode(x=x, y=y, **looks)
    tips = ("series:N", "measure"), ("f:Q", "f_k"), ("F:Q", "estimated F_k", COUNT), ("risk:Q", "risk", SHARE)
    chosen = (
        alt.Chart()
        .transform_filter("datum.f == f_k")
        .transform_calculate(F="f_k * weight", risk="risk", inverse="1 / (f_k * weight)")
    )
    rule = chosen.mark_rule(color=GREY, strokeDash=[3, 3]).encode(x=x, y=y, y2="inverse:Q")
    point = chosen.mark_point(filled=True, size=130, color="white", stroke="black", strokeWidth=2, opacity=1)
    return [lines, rule, point.encode(x=x, y=y), hover(curves.encode(x=x, y=y), *tips)]


def risk_by_frequency(frame: pd.DataFrame) -> alt.LayerChart:
    """Mean risk of the records by their f_k, for up to four measures.

    A line with marks for each measure, on a logarithmic axis. `frame` has ``f_k`` (a label such as 1, 2 or 9+, in
    order), ``measure`` (its name, in the order of the legend, what is known first), ``risk`` (mean over records, 0-1)
    and ``records``.
    """
    style.check_columns(frame, ("f_k", "measure", "risk", "records"), "the mean risks by f_k")
    measures = list(dict.fromkeys(frame["measure"]))
    style.check_room(measures, _COLORS, "measures", "; leave some out")
    rows = frame[["f_k", "measure", "risk", "records"]].astype({"f_k": str})
    labels = list(dict.fromkeys(rows["f_k"]))
    legend = _legend(symbolSize=90, symbolStrokeWidth=0)
    looks = style.told_apart("measure:N", measures, color=_COLORS, dash=_DASHES, title=None, legend=legend)
    looks |= style.told_apart("measure:N", measures, shape=_SHAPES, title=None)
    base = alt.Chart(inline(rows)).encode(
        x=alt.X("f_k:N", sort=labels, title="f_k: records alike in the file", axis=alt.Axis(labelAngle=0, grid=False)),
        y=_log_risk("risk:Q", rows["risk"].min(), "Mean risk of the records (log scale)"),
        color=looks["color"],
        tooltip=tooltips(
            ("measure:N", "measure"), ("f_k:N", "f_k"), ("records:Q", "records", COUNT), ("risk:Q", "mean risk", SHARE)
        ),
    )
    firsts = rows[rows["f_k"] == labels[0]]
    shares = ", ".join(f"{percent(row.risk)} by {row.measure}" for row in firsts.itertuples())
    return finish(
        alt.layer(
            base.mark_line(strokeWidth=2).encode(strokeDash=looks["strokeDash"]),
            base.mark_point(filled=True, size=75, opacity=1).encode(shape=looks["shape"]),
        ),
        title="Risk by the number of records alike",
        subtitle="Mean over the records with the same f_k",
        description=(
            f"Line chart of the mean risk of records by f_k, {labels[0]} to {labels[-1]}, on a logarithmic axis: "
            f"{', '.join(measures)}. At f_k = {labels[0]}: {shares}."
        ),
        height=320,
    )


def household_bounds(frame: pd.DataFrame) -> alt.LayerChart:
    """Mean risk of the households of each size, between the bounds that need no independence.

    A bar from bound to bound a size, with marks for the household and the person. `frame` has ``members`` (a label),
    ``households``, and means over them, 0-1: ``lower``, ``risk``, ``upper`` of `kanon_lab.measures.household_risks`,
    and ``person``, the mean risk of their members.
    """
    style.check_columns(frame, ("members", "households", "person", "lower", "risk", "upper"), "the mean risks by size")
    rows = frame.astype({"members": str})
    labels = rows["members"].tolist()
    ends = {"person": "one member", "risk": "household, if independent"}
    names = list(ends.values())
    color = alt.Color("what:N", scale=style.by_name(names, (ORANGE, BLUE)), title=None, legend=_legend())
    shape = alt.Shape("what:N", scale=style.by_name(names, ("square", "circle")), title=None)
    base = alt.Chart(inline(rows[["members", "households", "person", "lower", "risk", "upper"]])).encode(
        y=alt.Y("members:N", sort=labels, title="Members in the file", axis=alt.Axis(ticks=False, labelPadding=5)),
        tooltip=tooltips(
            ("members:N", "members"),
            ("households:Q", "households", COUNT),
            *((f"{name}:Q", f"{name}, mean", SHARE) for name in ("person", "lower")),
            ("risk:Q", "if independent, mean", SHARE),
            ("upper:Q", "upper, mean", SHARE),
        ),
    )
    x = style.shares_axis("X", "value", "Risk (%): bar from lower to upper bound", nice=False)
    marks = base.transform_fold(list(ends), ["name", "value"]).transform_calculate(
        what=f"({json.dumps(ends)})[datum.name]"
    )
    last = rows.iloc[-1]
    return finish(
        alt.layer(
            base.transform_calculate(value="datum.lower")
            .mark_bar(height=9, color=GREY, opacity=0.45)
            .encode(x=x, x2="upper:Q"),
            marks.mark_point(filled=True, size=90, opacity=1, stroke="white", strokeWidth=1).encode(
                x=x, color=color, shape=shape
            ),
        ),
        title="Risk of finding at least one member",
        subtitle="Means over the households of each size",
        description=(
            f"Bars of the mean household risk by members, {labels[0]} to {labels[-1]}, from the lower to the upper "
            f"bound, with marks for independent members and for one member. With {labels[-1]}: "
            f"{percent(last['lower'])} to {percent(last['upper'])}, {percent(last['risk'])} if independent, "
            f"{percent(last['person'])} for a member."
        ),
        height=40 * len(rows) + 20,
    )


def _log_risk(field: str, least: float, text: str) -> alt.Y:
    """An axis of risks up to 1, on a logarithmic scale."""
    return alt.Y(
        field,
        scale=alt.Scale(type="log", domain=[min(0.8 * least, 0.5), 1], nice=False),
        axis=alt.Axis(values=style.ticks(min(0.8 * least, 0.5), 1), format="~%"),
        title=text,
    )


def _legend(**look: str | int) -> alt.Legend:
    """Two names a line, at most: what a telephone has room for."""
    return alt.Legend(columns=2, labelLimit=230, **look)
