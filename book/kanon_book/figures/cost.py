"""The chart of the chapter on the cost of protection: the intervals of a survey's indicators before and after."""

from __future__ import annotations

import pandas as pd

from kanon_lab.digits import percent
from kanon_lab.errors import OptionError
from kanon_lab.show.colors import BLACK, GREY, ORANGE
from kanon_lab.show.style import alt, check_columns, finish, inline, told_apart, tooltips

_NEEDED = (
    *("kind", "variable", "category", "by", "group", "status", "overlap"),
    *(f"{end}_{side}" for side in ("before", "after") for end in ("estimate", "lower", "upper")),
)
_SIDES = {"before": BLACK, "after": ORANGE}
_SHAPES = {"before": "circle", "after": "square"}
_EVERYBODY = "everybody"
# Share of the axis that the words behind the intervals have, and of the data on either side of them.
_ROOM, _MARGIN = 0.16, 0.04
# An interval so many times as wide as the median is cut, or all others would be dots.
_WIDE = 2
_LINE = 30


def indicator_intervals(compared: pd.DataFrame) -> alt.LayerChart:
    """The intervals of one indicator in each group, before and after protection, with their overlap.

    Two lines a group, one below the other, with a mark at the estimate; behind them the overlap, ``lost``, or ``no
    interval``. A group that is lost, or has no interval after, has one line. Intervals more than twice as wide as the
    median end in an arrow where the others, and the estimates, end. `compared` has rows of
    `kanon_lab.measures.compare_indicators` of one variable and category, with an interval before.
    """
    check_columns(compared, _NEEDED, "compare_indicators(before, after)")
    named = list(dict.fromkeys(zip(compared["kind"], compared["variable"], compared["category"])))
    if len(named) > 1:
        raise OptionError(f"the chart shows one indicator, not {len(named)}; choose the rows of one")
    if compared["lower_before"].isna().any():
        raise OptionError("the chart needs intervals; leave out rows where lower_before is missing")
    kind, variable, category = named[0]
    rows = compared.assign(
        label=(compared["by"] + "\n" + compared["group"].where(compared["by"] != "", _EVERYBODY)),
        words=["no interval" if pd.isna(overlap) else percent(overlap) for overlap in compared["overlap"]],
    )
    rows["words"] = rows["words"].mask(rows["status"] == "lost", "lost")
    labels, share = rows["label"].tolist(), kind == "rate"
    # One row an interval.
    kept, numbers = ["label", "by", "group", "words"], ["estimate", "lower", "upper"]
    by_side = [
        rows[[*kept, *(f"{name}_{side}" for name in numbers)]].set_axis([*kept, *numbers], axis=1).assign(side=side)
        for side in _SIDES
    ]
    ends = pd.concat(by_side, ignore_index=True).dropna(subset=["lower"])
    low, high = _range(ends, share)
    ends = ends.assign(start=ends["lower"].clip(lower=low), end=ends["upper"].clip(upper=high))
    spread = (high - low) or abs(high) or 1.0
    what = f"{variable}: {category}" if share else f"mean {variable}"
    x = alt.X(
        "estimate:Q",
        title=f"{what} (% of the group)" if share else what,
        scale=alt.Scale(domain=[low, high + spread * _ROOM / (1 - _ROOM)], nice=False, zero=False),
        # A long title reaches to the left, where the labels are, and not out of the picture.
        axis=alt.Axis(
            format="~%" if share else ",~r",
            tickCount=5,
            domain=False,
            labelFlush=30,  # the last of long numbers would be cut off on a telephone
            labelOverlap=True,
            titleAnchor="end",
        ),
    )
    axis = alt.Axis(
        labelExpr="split(datum.label, '\\n')[1]", ticks=False, domain=False, labelPadding=7, labelLimit=120, title=None
    )
    y = alt.Y("label:N", sort=labels, axis=axis, scale=alt.Scale(paddingInner=0.35))
    data = inline(ends, 6)
    sides = list(_SIDES)
    looks = told_apart("side:N", sides, color=_SIDES.values(), shape=_SHAPES.values(), title=None)
    number = ".3~p" if share else ",.0f"
    base = alt.Chart(data).encode(
        y=y,
        yOffset=alt.YOffset("side:N", sort=sides),
        tooltip=tooltips(
            ("by:N", "group of"),
            ("group:N", "group"),
            ("side:N", "file"),
            ("estimate:Q", "estimate", number),
            ("lower:Q", "from", number),
            ("upper:Q", "to", number),
            ("words:N", "overlap"),
        ),
    )
    lines = base.mark_rule(strokeWidth=2.5).encode(x=x.copy(), x2="end:Q", color=looks["color"])
    lines.encoding.x.shorthand = "start:Q"
    arrows = []
    for end, side, shape_of in (("start", "lower", "triangle-left"), ("end", "upper", "triangle-right")):
        if (ends[end] != ends[side]).any():
            arrow = base.transform_filter(f"datum.{end} != datum.{side}").mark_point(
                filled=True, shape=shape_of, size=60, opacity=1
            )
            arrow = arrow.encode(x=x.copy(), color=looks["color"])
            arrow.encoding.x.shorthand = f"{end}:Q"
            arrows.append(arrow)
    points = base.mark_point(filled=True, size=55, opacity=1).encode(x=x, **looks)
    words = (
        alt.Chart(inline(rows[["label", "words"]]))
        .mark_text(align="right", fontSize=11, color=GREY)
        .encode(x=alt.value("width"), y=y, text="words:N")
    )
    sentence = ""
    if rows["overlap"].notna().any():
        least = rows.loc[rows["overlap"].idxmin()]
        group = str(least["group"]) if least["by"] else _EVERYBODY
        named = group if group.startswith(least["by"]) else f"{least['by']} {group}"
        sentence = f" The smallest overlap is {percent(least['overlap'])}, for {named}."
    lost = int((rows["status"] == "lost").sum())
    return finish(
        alt.layer(lines, *arrows, points, words),
        title=f"{what}, before and after",
        subtitle=f"Lines: intervals{' (arrow: goes on)' if arrows else ''}; marks: estimates; percentages: overlaps",
        description=(
            f"Confidence intervals of {what} in {len(rows)} groups, before and after protection; {lost} of them "
            f"{'is' if lost == 1 else 'are'} lost.{sentence}"
        ),
        height=_LINE * len(rows),
    )


def _range(ends: pd.DataFrame, share: bool) -> tuple[float, float]:
    """The ends of what is drawn: of every interval that is not much wider than the others, and of every estimate."""
    width = ends["upper"] - ends["lower"]
    usual = ends[width <= _WIDE * width.median()]
    low = float(min(usual["lower"].min(), ends["estimate"].min()))
    high = float(max(usual["upper"].max(), ends["estimate"].max()))
    margin = _MARGIN * (high - low)
    return (0.0 if share else low - margin), high + margin
