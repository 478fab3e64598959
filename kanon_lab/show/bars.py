"""Bars of a file: sizes of classes, risks of records, what makes them rare."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd

from kanon_lab.classes import by_meaning
from kanon_lab.digits import percent
from kanon_lab.errors import OptionError
from kanon_lab.show import style
from kanon_lab.show.colors import BLACK, BLUE, GREY, ORANGE, PALE_GREY, PALE_ORANGE
from kanon_lab.show.style import alt

# Versions differ in lightness too: every second one is pale inside its outline.
_VERSION_COLORS, _VERSION_FILLS = (BLUE, ORANGE, BLACK, GREY), (BLUE, PALE_ORANGE, BLACK, PALE_GREY)
# Pixels: of a character of the words beside a bar, and of a line.
_CHARACTER, LINE_OF_BARS = 5.7, 24
_CLASS = "Class: the records that have the same key values"
_MEANINGS = "Compatible: a missing value may be any value"
_LOG_RISK = "Individual risk (%, log scale)"


def class_sizes(frame: pd.DataFrame) -> alt.LayerChart:
    """Share of the records by the size of their class, for one version of a file or up to four side by side.

    Parameters
    ----------
    frame : DataFrame
        From `kanon_lab.classes.counts.size_ranges`; for several versions the frames of all, one below the other, with a
        column ``version``: their names, as short as can be, in the order of the bars. A version in which keys are
        missing takes two: by the own class of each record, and by the records compatible with it (`by_meaning`).

    Returns
    -------
    altair.LayerChart
        Bars, each with its share in words; where there are several versions, a legend above them.

    Examples
    --------
    >>> sizes = pd.DataFrame({"label": ["1", "2 to 4"], "records": [1, 3], "share": [0.25, 0.75]})
    >>> kanon_lab.show.class_sizes(sizes).description.split(". ")[-1]
    'In classes of 1: 25%.'
    """
    style.check_columns(frame, ("label", "records", "share"), "size_ranges(table)")
    rows = by_meaning(frame)
    versions, labels = versions_of(rows, "label", "a range of sizes"), list(dict.fromkeys(rows["label"]))
    rows["words"] = rows["share"].map(percent)
    same = {*versions} <= {*frame.get("version", [""])}
    layers = bars_by_version(
        rows[["label", "version", "records", "share", "words"]],
        versions,
        x=axis_to_longest("Records (% of the file)", rows["share"].max(), rows["words"].str.len().max()),
        y=alt.Y(
            "label:N", sort=labels, title="Size of the class (records)", axis=alt.Axis(ticks=False, labelPadding=5)
        ),
        tooltip=style.tooltips(
            ("label:N", "size of the class"),
            ("records:Q", "records", style.COUNT),
            ("share:Q", "share of the records", style.SHARE),
        ),
    )
    firsts = rows[rows["label"] == labels[0]]
    shares = (f"{row.words}{f' in {row.version}' if row.version else ''}" for row in firsts.itertuples())
    return style.finish(
        alt.layer(*layers),
        title="Records by the size of their class",
        subtitle=_CLASS if same else f"{_CLASS}. {_MEANINGS}",
        description=(
            f"Bar chart of the share of records by the size of their equivalence class"
            f"{'' if same else ', and by the records compatible with them'}, {', '.join(labels)} records"
            f"{', for ' + ', '.join(versions) if len(versions) > 1 else ''}. In classes of {labels[0]}: "
            f"{', '.join(shares)}."
        ),
        height=(17 if len(versions) > 1 else 28) * len(rows) + 10 * len(labels),
    )


def versions_of(rows: pd.DataFrame, by: str, what: str) -> list[str]:
    """The versions of a file in order; more than four, or two lines alike, are refused."""
    versions = list(dict.fromkeys(rows["version"]))
    if len(versions) > len(_VERSION_COLORS):
        most = len(_VERSION_COLORS)
        raise OptionError(f"the chart has room for {most} versions, not {len(versions)}; leave some out")
    if rows.duplicated(["version", by]).any():
        raise OptionError(f"{what} occurs twice: distinguish the versions in a column version")
    return versions


def bars_by_version(rows: pd.DataFrame, versions: list[str], *, x: alt.X, y: alt.Y, tooltip: list) -> list[alt.Chart]:
    """A bar for each line and version, with its words; a legend where there are several versions."""
    several = len(versions) > 1
    base = alt.Chart(style.inline(rows)).encode(
        y=y,
        yOffset=alt.YOffset("version:N", sort=versions),
        tooltip=[*(style.tooltips(("version:N", "version")) if several else []), *tooltip],
    )
    legend: dict[str, Any] = {"title": None} if several else {"legend": None}
    bars = base.mark_bar(strokeWidth=1.5).encode(
        x=x,
        fill=alt.Fill("version:N", scale=style.by_name(versions, _VERSION_FILLS), **legend),
        stroke=alt.Stroke("version:N", scale=style.by_name(versions, _VERSION_COLORS), **legend),
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
        ``variable`` and ``contribution`` (0-1), such as `kanon_lab.measures.Suda.variables`; drawn largest first.

    Examples
    --------
    >>> found = pd.DataFrame({"variable": ["age", "sex"], "contribution": [0.8, 0.2]})
    >>> kanon_lab.show.contributions(found).description.split(": ")[-1]
    'age 80%, sex 20%.'
    """
    style.check_columns(frame, ("variable", "contribution"), "suda(table)")
    rows = frame[["variable", "contribution"]].astype({"variable": str}).sort_values("contribution", ascending=False)
    rows["words"] = rows["contribution"].map(percent)
    base = alt.Chart(style.inline(rows.rename(columns={"contribution": "share"}))).encode(
        y=lines_of(list(rows["variable"])),
        tooltip=style.tooltips(("variable:N", "variable"), ("share:Q", "contribution", style.SHARE)),
    )
    x = axis_with_room("Contribution (% of all scores)", rows["contribution"].max(), 7)
    shares = ", ".join(f"{row.variable} {row.words}" for row in rows.itertuples())
    return style.finish(
        alt.layer(base.mark_bar(color=BLUE).encode(x=x), words_of_bars(base)),
        title="What makes records rare",
        subtitle="Share of all scores that comes from sets with the variable; a set counts for each of its variables",
        description=f"Bar chart of the contribution of each key variable to the scores of the file: {shares}.",
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

    Examples
    --------
    >>> risks = pd.DataFrame({"low": [0.01, 0.1], "high": [0.1, 1], "records": [90, 10]})
    >>> kanon_lab.show.risk_distribution(risks).description.split(". ")[-1]
    'Most, 90, have a risk above 1% and up to 10%.'
    """
    style.check_columns(frame, ("low", "high", "records"), "the records by range of risk")
    rows = frame.assign(floor=0, middle=(frame["low"] * frame["high"]) ** 0.5)
    least = rows["low"].min()
    x = alt.X(
        "low:Q",
        scale=alt.Scale(type="log", domain=[least, 1], nice=False),
        axis=alt.Axis(values=style.ticks(least, 1), format="~%", grid=False),
        title=_LOG_RISK,
    )
    y = alt.Y("records:Q", title="Records", axis=alt.Axis(format=",d", tickCount=5))
    base = alt.Chart(style.inline_rounded(rows)).encode(
        tooltip=style.tooltips(
            ("low:Q", "risk above", "~%"),
            ("high:Q", "up to", "~%"),
            ("records:Q", "records, estimated", style.COUNT),
            *([("known:Q", "records, known", style.COUNT)] if "known" in rows else []),
        ),
    )
    layers = [base.mark_rect(fill=BLUE, stroke="white", opacity=1).encode(x=x, x2="high:Q", y=y, y2="floor:Q")]
    if "known" in rows:
        known = base.mark_point(shape="diamond", size=110, filled=True, color=BLACK, stroke="white", opacity=1)
        layers.append(known.encode(x=alt.X("middle:Q", title=_LOG_RISK), y=alt.Y("known:Q", title="Records")))
    if threshold is not None:
        line = alt.Chart(alt.InlineData(values=[{"low": threshold, "label": f"threshold {percent(threshold)}"}]))
        layers.append(line.mark_rule(color=ORANGE, strokeWidth=2, strokeDash=[6, 3]).encode(x=x))
        layers.append(line.mark_text(dy=-4, baseline="bottom").encode(x=x, y=alt.value(0), text="label:N"))
    kinds = "Bars: estimated; diamonds: true" if "known" in rows else "Bars: ranges of risk"
    top = rows.iloc[int(rows["records"].argmax())]
    return style.finish(
        alt.layer(*layers),
        title="Records by individual risk",
        subtitle=f"Heights show numbers of records. {kinds}",
        description=(
            f"Histogram of {int(rows['records'].sum()):,} records by individual risk on a logarithmic axis. Most, "
            f"{int(top['records']):,}, have a risk above {percent(top['low'])} and up to {percent(top['high'])}."
        ),
        height=300,
    )


def axis_to_longest(text: str, most: float, characters: int) -> alt.X:
    """An axis of shares with ticks up to the longest bar, and room behind it for words of so many characters."""
    room = min(0.6, (characters * _CHARACTER + 8) / 270)  # of the narrowest drawing behind its axis, in pixels
    most = max(most, 0.05)
    step = 0.2 if most > 0.5 else 0.1 if most > 0.2 else 0.02
    ticks = [round(step * i, 2) for i in range(math.ceil(most / step - 1e-9) + 1)]
    return _axis(text, max(ticks[-1], most / (1 - room)), ticks)


def axis_with_room(text: str, most: float, characters: int) -> alt.X:
    """An axis of shares with ticks all along, behind the longest bar too, where so many characters have room."""
    room = min(0.6, (characters * _CHARACTER + 8) / 250)  # as above
    end = max(float(most), 0.02) / (1 - room)
    # No share is above 1. Up to there the axis has ticks, and beyond it no line.
    ticked = min(end, 1)
    step = next(candidate for candidate in (0.01, 0.02, 0.05, 0.1, 0.2) if ticked <= 6 * candidate)
    ticks = [round(step * i, 2) for i in range(int(ticked / step + 1e-9) + 1)]
    return _axis(text, end, ticks, domain=False)


def _axis(text: str, end: float, ticks: list[float], **look: Any) -> alt.X:
    axis = alt.Axis(format="~%", values=ticks, **look)
    return alt.X("share:Q", title=text, scale=alt.Scale(domain=[0, end], nice=False), axis=axis)


def lines_of(variables: list[str]) -> alt.Y:
    axis = alt.Axis(ticks=False, labelPadding=5, labelLimit=130)
    return alt.Y("variable:N", sort=variables, title=None, axis=axis)
