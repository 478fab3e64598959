"""Bars and intervals of a file: sizes of classes, risks, what makes records rare, what protection takes and costs."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pandas as pd

from kanon_lab.classes.sizes import by_meaning
from kanon_lab.digits import percent
from kanon_lab.errors import OptionError
from kanon_lab.show.style import (
    BLACK,
    BLUE,
    GREY,
    ORANGE,
    altair,
    by_name,
    check_columns,
    finish,
    inline,
    inline_rounded,
    ticks,
    title,
)

if TYPE_CHECKING:
    import altair as alt

# Versions differ in lightness too: every second one is pale inside its outline.
_VERSION_COLORS, _VERSION_FILLS = (BLUE, ORANGE, BLACK, GREY), (BLUE, "#f8d9c4", BLACK, "#e3e5e8")
# Pixels: of a character of the words beside a bar, and of a line.
_CHARACTER, LINE_OF_BARS = 5.7, 24
_CLASS = "Class: the records that have the same key values"
_MEANINGS = "Compatible: a missing value may be any value"
_LOG_RISK = "Individual risk (%, log scale)"

_NEEDED = (
    *("kind", "variable", "category", "by", "group", "status", "overlap"),
    *(f"{end}_{side}" for side in ("before", "after") for end in ("estimate", "lower", "upper")),
)
_SIDES = {"before": BLACK, "after": ORANGE}
_SIDE_SHAPES = {"before": "circle", "after": "square"}
_EVERYBODY = "everybody"
# Share of the axis that the words behind the intervals have, and of the data on either side of them.
_ROOM, _MARGIN = 0.16, 0.04
# An interval so many times as wide as the median is cut, or all others would be dots.
_WIDE = 2
_LINE_OF_INTERVAL = 30


def class_sizes(frame: pd.DataFrame) -> alt.LayerChart:
    """Share of the records by the size of their class, for one version of a file or up to four side by side.

    Parameters
    ----------
    frame : DataFrame
        From `kanon_lab.classes.sizes.size_ranges`; for several versions the frames of all, one below the other, with a
        column ``version``: their names, as short as can be, in the order of the bars. A version in which keys are
        missing takes two: by the own class of each record, and by the records compatible with it (`by_meaning`).

    Returns
    -------
    altair.LayerChart
        Bars, each with its share in words; where there are several versions, a legend above them.
    """
    alt = altair()
    check_columns(frame, ("label", "records", "share"), "size_ranges(table)")
    rows = by_meaning(frame)
    versions, labels = _versions_of(rows, "label", "a range of sizes"), list(dict.fromkeys(rows["label"]))
    rows["words"] = rows["share"].map(percent)
    same = {*versions} <= {*frame.get("version", [""])}
    layers = _by_version(
        rows[["label", "version", "records", "share", "words"]],
        versions,
        x=axis_to_longest("Records (% of the file)", rows["share"].max(), rows["words"].str.len().max()),
        y=alt.Y(
            "label:N", sort=labels, title="Size of the class (records)", axis=alt.Axis(ticks=False, labelPadding=5)
        ),
        tooltip=[
            alt.Tooltip("label:N", title="size of the class"),
            alt.Tooltip("records:Q", title="records", format=","),
            alt.Tooltip("share:Q", title="share of the records", format=".3~p"),
        ],
    )
    firsts = rows[rows["label"] == labels[0]]
    said = ", ".join(
        f"{percent(row.share)}{f' in {row.version}' if row.version else ''}" for row in firsts.itertuples()
    )
    return finish(
        alt.layer(*layers),
        title=title("Records by the size of their class", _CLASS if same else f"{_CLASS}. {_MEANINGS}"),
        description=(
            f"Bar chart of the share of records by the size of their equivalence class"
            f"{'' if same else ', and by the records compatible with them'}, {', '.join(labels)} records"
            f"{', for ' + ', '.join(versions) if len(versions) > 1 else ''}. In classes of {labels[0]}: {said}."
        ),
        height=(17 if len(versions) > 1 else 28) * len(rows) + 10 * len(labels),
    )


def suppressed_cells(frame: pd.DataFrame) -> alt.LayerChart:
    """Cells that local suppression took from each key variable, for one way of doing it or up to four side by side.

    Parameters
    ----------
    frame : DataFrame
        `kanon_lab.suppress.Suppression.cells` (``variable``, ``cells``, ``share`` of the records, 0-1); for several
        ways the frames of all, one below the other, with a column ``version``: their names, in the order of the bars.

    Returns
    -------
    altair.LayerChart
    """
    alt = altair()
    check_columns(frame, ("variable", "cells", "share"), "local_suppression(...).cells")
    rows = frame.assign(version=frame.get("version", ""))[["variable", "version", "cells", "share"]]
    versions, names = _versions_of(rows, "variable", "a variable"), list(dict.fromkeys(rows["variable"]))
    rows["words"] = [f"{row.cells:,} ({percent(row.share)})" for row in rows.itertuples()]
    layers = _by_version(
        rows,
        versions,
        x=axis_with_room("Cells suppressed (% of the records)", rows["share"].max(), rows["words"].str.len().max()),
        y=_lines(names),
        tooltip=[
            alt.Tooltip("variable:N", title="variable"),
            alt.Tooltip("cells:Q", title="cells suppressed", format=","),
            alt.Tooltip("share:Q", title="of the records", format=".3~p"),
        ],
    )
    said = "; ".join(
        f"{f'{version}: ' if version else ''}{', '.join(f'{row.variable} {row.words}' for row in part.itertuples())}"
        for version, part in rows.groupby("version", sort=False)
    )
    return finish(
        alt.layer(*layers),
        title=title("What suppression takes", "Cells suppressed in each key variable"),
        description=f"Bar chart of the cells that local suppression takes from each key variable. {said}.",
        height=(18 if len(versions) > 1 else LINE_OF_BARS) * len(rows) + 10 * len(names),
    )


def _versions_of(rows: pd.DataFrame, by: str, what: str) -> list[str]:
    """The versions of a file in order; more than four, or two lines alike, are refused."""
    versions = list(dict.fromkeys(rows["version"]))
    if len(versions) > len(_VERSION_COLORS):
        raise OptionError(
            f"the chart has room for {len(_VERSION_COLORS)} versions, not {len(versions)}; leave some out"
        )
    if rows.duplicated(["version", by]).any():
        raise OptionError(f"{what} stands twice: tell the versions apart in a column version")
    return versions


def _by_version(rows: pd.DataFrame, versions: list[str], *, x: alt.X, y: alt.Y, tooltip: list) -> list[alt.Chart]:
    """A bar for each line and version, with its words; a legend where there are several versions."""
    alt = altair()
    several = len(versions) > 1
    base = alt.Chart(inline(rows)).encode(
        y=y,
        yOffset=alt.YOffset("version:N", sort=versions),
        tooltip=[*([alt.Tooltip("version:N", title="version")] if several else []), *tooltip],
    )
    legend = {"title": None} if several else {"legend": None}
    bars = base.mark_bar(strokeWidth=1.5).encode(
        x=x,
        fill=alt.Fill("version:N", scale=by_name(versions, _VERSION_FILLS), **legend),
        stroke=alt.Stroke("version:N", scale=by_name(versions, _VERSION_COLORS), **legend),
    )
    return [bars, words_of_bars(base)]


def words_of_bars(base: alt.Chart) -> alt.Chart:
    """The words of each bar, behind its end."""
    return base.mark_text(align="left", dx=5, fontSize=11).encode(x="share:Q", text="words:N")


def contributions(frame: pd.DataFrame) -> alt.LayerChart:
    """What each key variable adds to the scores of a file.

    Parameters
    ----------
    frame : DataFrame
        ``variable`` and ``contribution`` (0-1), such as `kanon_lab.risk.Suda.variables`; drawn largest first.

    Returns
    -------
    altair.LayerChart
    """
    alt = altair()
    check_columns(frame, ("variable", "contribution"), "suda(table)")
    rows = frame[["variable", "contribution"]].astype({"variable": str}).sort_values("contribution", ascending=False)
    rows["words"] = rows["contribution"].map(percent)
    base = alt.Chart(inline(rows.rename(columns={"contribution": "share"}))).encode(
        y=_lines(list(rows["variable"])),
        tooltip=[
            alt.Tooltip("variable:N", title="variable"),
            alt.Tooltip("share:Q", title="contribution", format=".3~p"),
        ],
    )
    x = axis_with_room("Contribution (% of all scores)", rows["contribution"].max(), 7)
    said = ", ".join(f"{row.variable} {row.words}" for row in rows.itertuples())
    return finish(
        alt.layer(base.mark_bar(color=BLUE).encode(x=x), words_of_bars(base)),
        title=title(
            "What makes records rare",
            "Share of all scores that comes from sets with the variable; a set counts for each of its variables",
        ),
        description=f"Bar chart of the contribution of each key variable to the scores of the file: {said}.",
        height=LINE_OF_BARS * len(rows) + 10,
    )


def risk_distribution(frame: pd.DataFrame, *, threshold: float | None = None) -> alt.LayerChart:
    """How many records have which individual risk, on a logarithmic axis.

    Parameters
    ----------
    frame : DataFrame
        ``low``, ``high`` (bounds of a range of risks, above 0 and at most 1) and ``records``; optionally ``known``:
        records whose known risk lies there.
    threshold : float, optional
        A risk to be marked.

    Returns
    -------
    altair.LayerChart
        A bar a range, and a diamond for what is known.
    """
    alt = altair()
    check_columns(frame, ("low", "high", "records"), "the records by range of risk")
    rows = frame.assign(floor=0, middle=(frame["low"] * frame["high"]) ** 0.5)
    least = rows["low"].min()
    x = alt.X(
        "low:Q",
        scale=alt.Scale(type="log", domain=[least, 1], nice=False),
        axis=alt.Axis(values=ticks(least, 1), format="~%", grid=False),
        title=_LOG_RISK,
    )
    y = alt.Y("records:Q", title="Records", axis=alt.Axis(format=",d", tickCount=5))
    base = alt.Chart(inline_rounded(rows)).encode(
        tooltip=[
            alt.Tooltip("low:Q", title="risk above", format="~%"),
            alt.Tooltip("high:Q", title="up to", format="~%"),
            alt.Tooltip("records:Q", title="records, estimated", format=","),
            *([alt.Tooltip("known:Q", title="records, known", format=",")] if "known" in rows else []),
        ]
    )
    layers = [
        base.mark_rect(fill=BLUE, stroke="white", opacity=1).encode(x=x, x2="high:Q", y=y, y2="floor:Q"),
    ]
    if "known" in rows:
        known = base.mark_point(shape="diamond", size=110, filled=True, color=BLACK, stroke="white", opacity=1)
        layers.append(known.encode(x=alt.X("middle:Q", title=_LOG_RISK), y=alt.Y("known:Q", title="Records")))
    if threshold is not None:
        line = alt.Chart(alt.InlineData(values=[{"low": threshold, "label": f"threshold {percent(threshold)}"}]))
        layers.append(line.mark_rule(color=ORANGE, strokeWidth=2, strokeDash=[6, 3]).encode(x=x))
        word = line.mark_text(dy=-4, baseline="bottom").encode(x=x, y=alt.value(0), text="label:N")
        layers.append(word)
    kinds = "Bars: estimated; diamonds: true" if "known" in rows else "Bars: ranges of risk"
    top = rows.loc[rows["records"].idxmax()]
    return finish(
        alt.layer(*layers),
        title=title("Records by individual risk", f"Heights are records. {kinds}"),
        description=(
            f"Histogram of {int(rows['records'].sum()):,} records by individual risk on a logarithmic axis. Most, "
            f"{int(top['records']):,}, have a risk above {percent(top['low'])} and up to {percent(top['high'])}."
        ),
        height=300,
    )


def indicator_intervals(compared: pd.DataFrame) -> alt.LayerChart:
    """The intervals of one indicator in each group, before and after protection, with their overlap.

    Parameters
    ----------
    compared : DataFrame
        Rows of `kanon_lab.utility.compare_indicators` of one variable and category, with an interval before.

    Returns
    -------
    altair.LayerChart
        Two lines a group, one below the other, with a mark at the estimate; behind them the overlap, ``lost``, or ``no
        interval``. A group that is lost, or has no interval after, has one line. Intervals more than twice as wide as
        the median end in an arrow where the others, and the estimates, end.
    """
    alt = altair()
    check_columns(compared, _NEEDED, "compare_indicators(before, after)")
    named = list(dict.fromkeys(zip(compared["kind"], compared["variable"], compared["category"])))
    if len(named) > 1:
        raise OptionError(f"the chart shows one indicator, not {len(named)}; choose the rows of one")
    if compared["lower_before"].isna().any():
        raise OptionError("the chart needs intervals; leave out rows where lower_before is missing")
    kind, variable, category = named[0]
    rows = compared.assign(
        label=(compared["by"] + "\n" + compared["group"].where(compared["by"] != "", _EVERYBODY)),
        words=[_verdict(status, overlap) for status, overlap in zip(compared["status"], compared["overlap"])],
    )
    labels, share = rows["label"].tolist(), kind == "rate"
    ends = _long(rows)
    low, high = _range(ends, share)
    ends = ends.assign(start=ends["lower"].clip(lower=low), end=ends["upper"].clip(upper=high))
    spread = (high - low) or abs(high) or 1.0
    what = f"{variable}: {category}" if share else f"mean {variable}"
    x = alt.X(
        "estimate:Q",
        title=f"{what} (% of the group)" if share else what,
        scale=alt.Scale(domain=[low, high + spread * _ROOM / (1 - _ROOM)], nice=False, zero=False),
        axis=alt.Axis(format="~%" if share else ",~r", tickCount=5, domain=False, labelOverlap=True),
    )
    axis = alt.Axis(
        labelExpr="split(datum.label, '\\n')[1]", ticks=False, domain=False, labelPadding=7, labelLimit=120, title=None
    )
    y = alt.Y("label:N", sort=labels, axis=axis, scale=alt.Scale(paddingInner=0.35))
    data = inline(ends, 6)
    sides = list(_SIDES)
    color = alt.Color("side:N", scale=alt.Scale(domain=sides, range=list(_SIDES.values())), title=None)
    shape = alt.Shape("side:N", scale=alt.Scale(domain=sides, range=list(_SIDE_SHAPES.values())), title=None)
    number = ".3~p" if share else ",.0f"
    base = alt.Chart(data).encode(
        y=y,
        yOffset=alt.YOffset("side:N", sort=sides),
        tooltip=[
            alt.Tooltip("by:N", title="group of"),
            alt.Tooltip("group:N", title="group"),
            alt.Tooltip("side:N", title="file"),
            alt.Tooltip("estimate:Q", title="estimate", format=number),
            alt.Tooltip("lower:Q", title="from", format=number),
            alt.Tooltip("upper:Q", title="to", format=number),
            alt.Tooltip("words:N", title="overlap"),
        ],
    )
    lines = base.mark_rule(strokeWidth=2.5).encode(x=x.copy(), x2="end:Q", color=color)
    lines.encoding.x.shorthand = "start:Q"
    arrows = []
    for end, side, shape_of in (("start", "lower", "triangle-left"), ("end", "upper", "triangle-right")):
        if (ends[end] != ends[side]).any():
            arrow = base.transform_filter(f"datum.{end} != datum.{side}").mark_point(
                filled=True, shape=shape_of, size=60, opacity=1
            )
            arrow = arrow.encode(x=x.copy(), color=color)
            arrow.encoding.x.shorthand = f"{end}:Q"
            arrows.append(arrow)
    points = base.mark_point(filled=True, size=55, opacity=1).encode(x=x, color=color, shape=shape)
    words = (
        alt.Chart(inline(rows[["label", "words"]]))
        .mark_text(align="right", fontSize=11, color=GREY)
        .encode(x=alt.value("width"), y=y, text="words:N")
    )
    least = rows.loc[rows["overlap"].idxmin()] if rows["overlap"].notna().any() else None
    said = "" if least is None else f" The least overlap is {percent(least['overlap'])}: {_name(least)}."
    lost = int((rows["status"] == "lost").sum())
    return finish(
        alt.layer(lines, *arrows, points, words),
        title=title(
            f"{what}, before and after",
            f"Lines: intervals{' (arrow: it goes on)' if arrows else ''}; marks: estimates; per cent: overlap",
        ),
        description=(
            f"Confidence intervals of {what} in {len(rows)} groups, before and after protection; {lost} of them "
            f"{'is' if lost == 1 else 'are'} lost.{said}"
        ),
        height=_LINE_OF_INTERVAL * len(rows),
    )


def _range(ends: pd.DataFrame, share: bool) -> tuple[float, float]:
    """The ends of what is drawn: of every interval that is not much wider than the others, and of every estimate."""
    width = ends["upper"] - ends["lower"]
    usual = ends[width <= _WIDE * width.median()]
    low = float(min(usual["lower"].min(), ends["estimate"].min()))
    high = float(max(usual["upper"].max(), ends["estimate"].max()))
    margin = _MARGIN * (high - low)
    return (0.0 if share else low - margin), high + margin


def _long(rows: pd.DataFrame) -> pd.DataFrame:
    """One row an interval."""
    kept = ["label", "by", "group", "words"]
    parts = []
    for side in _SIDES:
        part = rows[[*kept, *(f"{end}_{side}" for end in ("estimate", "lower", "upper"))]]
        parts.append(part.set_axis([*kept, "estimate", "lower", "upper"], axis=1).assign(side=side))
    return pd.concat(parts, ignore_index=True).dropna(subset=["lower"])


def _verdict(status: str, overlap: float) -> str:
    if status == "lost":
        return "lost"
    return "no interval" if overlap != overlap else percent(overlap)


def _name(row: pd.Series) -> str:
    return f"{row['by']} {row['group']}" if row["by"] else _EVERYBODY


def axis_to_longest(text: str, most: float, characters: int) -> alt.X:
    """An axis of shares with ticks up to the longest bar, and room behind it for words of so many characters."""
    alt = altair()
    room = min(0.6, (characters * _CHARACTER + 8) / 270)  # of the narrowest drawing behind its axis, in pixels
    most = max(most, 0.05)
    step = 0.2 if most > 0.5 else 0.1 if most > 0.2 else 0.02
    ticks = [round(step * i, 2) for i in range(math.ceil(most / step - 1e-9) + 1)]
    return alt.X(
        "share:Q",
        title=text,
        scale=alt.Scale(domain=[0, max(ticks[-1], most / (1 - room))], nice=False),
        axis=alt.Axis(format="~%", values=ticks),
    )


def axis_with_room(text: str, most: float, characters: int) -> alt.X:
    """An axis of shares with ticks all along, behind the longest bar too, where so many characters have room."""
    alt = altair()
    room = min(0.6, (characters * _CHARACTER + 8) / 250)  # as above
    end = max(float(most), 0.02) / (1 - room)
    # No share is above 1. Up to there the axis has ticks, and beyond it no line.
    ticked = min(end, 1)
    step = next(each for each in (0.01, 0.02, 0.05, 0.1, 0.2) if ticked <= 6 * each)
    return alt.X(
        "share:Q",
        title=text,
        scale=alt.Scale(domain=[0, end], nice=False),
        axis=alt.Axis(
            format="~%", values=[round(step * i, 2) for i in range(int(ticked / step + 1e-9) + 1)], domain=False
        ),
    )


def _lines(variables: list[str]) -> alt.Y:
    alt = altair()
    axis = alt.Axis(ticks=False, labelPadding=5, labelLimit=130)
    return alt.Y("variable:N", sort=variables, title=None, axis=axis)
