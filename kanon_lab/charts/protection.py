"""Charts of protection: what makes records rare, a variable before and after recoding, and what suppression takes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from kanon_lab.charts.axes import share_expression
from kanon_lab.charts.style import (
    BLACK,
    BLUE,
    GREY,
    LIGHT_GREY,
    ORANGE,
    altair,
    check_columns,
    finish,
    inline,
    title,
)
from kanon_lab.digits import percent
from kanon_lab.errors import OptionError

if TYPE_CHECKING:
    import altair as alt
    import pandas as pd

_VERSIONS = {"fill": (BLUE, "#f8d9c4", BLACK, "#e3e5e8"), "stroke": (BLUE, ORANGE, BLACK, GREY)}
# Pixels of a character of the words beside a bar, and of the narrowest drawing behind its axis.
_CHARACTER, _NARROW = 5.7, 250
_LINE = 24
#: The claims of `kanon_lab.suppress.protection_claims`, and the file as it came, in the order of their bars.
CLAIMS = {"before": "before", "compatible": "compatible", "own_class": "own class", "true_key": "true key"}
_HEADS = ("Cells suppressed, by variable", "Records below k: before, and after")
_SERIES = ("suppressed", "below k")

# The result in words, signals of their own: the title shows them, and a page tells them to screen readers.
_WORDS = {
    "state": "'' + k_required + ' ' + order",
    "row": "data('states')[indexof(pluck(data('states'), 'state'), state)]",
    "cost": (
        "['k = ' + k_required + ', ' + orders[order] + ':',"
        " (row.total ? format(row.total, ',') : 'no') + (row.total == 1 ? ' cell' : ' cells') + ' suppressed',"
        " 'in ' + format(row.touched, ',') + (row.touched == 1 ? ' record' : ' records')"
        " + ' (' + " + share_expression("row.touched / records") + " + ')']"
    ),
    "told": (
        "[join(cost, ' ') + '. Records below k before: ' + format(row.counts[keys], ',') + '; after, by compatible"
        " records: ' + format(row.counts[keys + 1], ',') + ', by own class: ' + format(row.counts[keys + 2], ',') +"
        " ', by true key: ' + format(row.counts[keys + 3], ',')]"
    ),
}


def contributions(frame: pd.DataFrame) -> alt.LayerChart:
    """What each key variable adds to the scores of a file.

    Parameters
    ----------
    frame : DataFrame
        ``variable`` and ``contribution`` (0-1), such as `kanon_lab.risk.Suda.variables`; drawn largest first.

    Returns
    -------
    altair.LayerChart

    Raises
    ------
    OptionError
        For a frame that lacks columns.
    """
    alt = altair()
    check_columns(frame, ("variable", "contribution"), "suda(table)")
    rows = frame[["variable", "contribution"]].astype({"variable": str}).sort_values("contribution", ascending=False)
    rows["words"] = rows["contribution"].map(percent)
    base = alt.Chart(inline(rows.rename(columns={"contribution": "share"}))).encode(
        y=_lines(list(rows["variable"]), "variable"),
        tooltip=[
            alt.Tooltip("variable:N", title="variable"),
            alt.Tooltip("share:Q", title="contribution", format=".3~p"),
        ],
    )
    x = _shares("Contribution (% of all scores)", rows["contribution"].max(), 7)
    words = base.mark_text(align="left", dx=5, fontSize=11).encode(x="share:Q", text="words:N")
    said = ", ".join(f"{row.variable} {row.words}" for row in rows.itertuples())
    return finish(
        alt.layer(base.mark_bar(color=BLUE).encode(x=x), words),
        title=title(
            "What makes records rare",
            "Share of all scores that comes from sets with the variable; a set counts for each of its variables",
        ),
        description=f"Bar chart of the contribution of each key variable to the scores of the file: {said}.",
        height=_LINE * len(rows) + 10,
    )


def banded(
    frame: pd.DataFrame, *, variable: str, unit: str = "unit", heading: str = "Before and after recoding"
) -> alt.LayerChart:
    """A numeric variable before and after it was recoded into bands: records per value.

    Parameters
    ----------
    frame : DataFrame
        ``version`` ("before" or "after"), ``start``, ``end`` (of a value or band, in units of the variable; the end
        is left out) and ``records`` in it.
    variable : str
        Its name, with the unit.
    unit : str
        One of it, such as ``year of age``: the height of a bar is the records in it.
    heading : str
        The title; charts on one page need titles that differ.

    Returns
    -------
    altair.LayerChart
        Single values as filled bars, bands as outlines whose height is the mean per unit: areas are records.

    Raises
    ------
    OptionError
        For a frame that lacks columns or versions, or a band that ends before it starts.
    """
    alt = altair()
    check_columns(frame, ("version", "start", "end", "records"), "the counts before and after recoding")
    versions = ["before", "after"]
    if set(frame["version"]) != set(versions):
        raise OptionError("the column version must hold before and after, and nothing else")
    rows = frame[["version", "start", "end", "records"]].copy()
    rows["width"] = rows["end"] - rows["start"]
    if not (rows["width"] > 0).all():
        raise OptionError("a band ends where it starts, or before: end must be above start")
    rows["height"] = rows["records"] / rows["width"]
    rows["floor"] = 0
    # Labels of three digits would touch their neighbours on a telephone.
    axis = alt.Axis(grid=False, labelOverlap=True, labelSeparation=8)
    drawn = alt.Chart(inline(rows)).encode(
        x=alt.X("start:Q", title=variable, scale=alt.Scale(nice=False, zero=False), axis=axis),
        x2="end:Q",
        y=alt.Y("height:Q", title=f"Records per {unit}", axis=alt.Axis(format=",~r", tickCount=5)),
        y2="floor:Q",
        fill=alt.Fill("version:N", scale=alt.Scale(domain=versions, range=[LIGHT_GREY, BLUE]), title=None),
        stroke=alt.Stroke("version:N", scale=alt.Scale(domain=versions, range=[LIGHT_GREY, BLUE]), title=None),
        tooltip=[
            alt.Tooltip("version:N", title="version"),
            alt.Tooltip("start:Q", title="from"),
            alt.Tooltip("end:Q", title="to below"),
            alt.Tooltip("records:Q", title="records", format=","),
        ],
    )
    looks = ({"fillOpacity": 0.55, "strokeWidth": 0.5}, {"fillOpacity": 0.12, "strokeWidth": 2})
    layers = [
        drawn.transform_filter(f"datum.version == '{version}'").mark_rect(**look)
        for version, look in zip(versions, looks)
    ]
    before, after = (rows[rows["version"] == version] for version in versions)
    smallest = after.loc[after["records"].idxmin()]
    return finish(
        alt.layer(*layers),
        title=title(heading, "Areas are records: a band has its mean height"),
        description=(
            f"Histogram of {variable} before and after recoding: {len(before)} values with records became "
            f"{len(after)} bands. The smallest band, from {smallest['start']:g} to below {smallest['end']:g}, has "
            f"{smallest['records']:,g} records."
        ),
        height=260,
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

    Raises
    ------
    OptionError
        For a frame that lacks columns, holds more than four versions, or a variable twice.
    """
    alt = altair()
    check_columns(frame, ("variable", "cells", "share"), "local_suppression(...).cells")
    rows = frame.assign(version=frame.get("version", ""))[["variable", "version", "cells", "share"]]
    versions, names = list(dict.fromkeys(rows["version"])), list(dict.fromkeys(rows["variable"]))
    if len(versions) > len(_VERSIONS["fill"]):
        raise OptionError(f"the chart has room for {len(_VERSIONS['fill'])} versions, not {len(versions)}")
    if rows.duplicated(["version", "variable"]).any():
        raise OptionError("a variable stands twice: tell the versions apart in a column version")
    rows["words"] = [f"{row.cells:,} ({percent(row.share)})" for row in rows.itertuples()]
    several = len(versions) > 1
    base = alt.Chart(inline(rows)).encode(
        y=_lines(names, "variable"),
        yOffset=alt.YOffset("version:N", sort=versions),
        tooltip=[
            *([alt.Tooltip("version:N", title="version")] if several else []),
            alt.Tooltip("variable:N", title="variable"),
            alt.Tooltip("cells:Q", title="cells suppressed", format=","),
            alt.Tooltip("share:Q", title="of the records", format=".3~p"),
        ],
    )
    legend = {"title": None} if several else {"legend": None}
    scales = {
        name: alt.Scale(domain=versions, range=list(colors[: len(versions)])) for name, colors in _VERSIONS.items()
    }
    bars = base.mark_bar(strokeWidth=1.5).encode(
        x=_shares("Cells suppressed (% of the records)", rows["share"].max(), rows["words"].str.len().max()),
        fill=alt.Fill("version:N", scale=scales["fill"], **legend),
        stroke=alt.Stroke("version:N", scale=scales["stroke"], **legend),
    )
    words = base.mark_text(align="left", dx=5, fontSize=11).encode(x="share:Q", text="words:N")
    said = "; ".join(
        f"{f'{version}: ' if version else ''}{', '.join(f'{row.variable} {row.words}' for row in part.itertuples())}"
        for version, part in rows.groupby("version", sort=False)
    )
    return finish(
        alt.layer(bars, words),
        title=title("What suppression takes", "Cells suppressed in each key variable"),
        description=f"Bar chart of the cells that local suppression takes from each key variable. {said}.",
        height=(18 if several else _LINE) * len(rows) + 10 * len(names),
    )


def suppression_explorer(
    cells: pd.DataFrame, claims: pd.DataFrame, *, records: int, k: int = 3, order: str | None = None
) -> alt.LayerChart:
    """Local suppression for each k and order of importance, with controls for both.

    Parameters
    ----------
    cells : DataFrame
        `Suppression.cells` of every k and order, one below the other, with columns ``k``, ``order`` (its name) and
        ``touched`` (records with a suppressed cell).
    claims : DataFrame
        ``k``, ``order``, ``claim`` (of `CLAIMS`) and ``records``: those below k in the file as it came (``before``)
        and after, by each claim of `Suppression.claims`.
    records : int
        Records of the file.
    k : int
        The k shown first.
    order : str, optional
        The order shown first, by default the first one.

    Returns
    -------
    altair.LayerChart
        A bar for each key variable, below them one for each claim, and the result in words as the title.

    Raises
    ------
    OptionError
        For frames that lack columns or a combination of k, order, variable and claim, or a start that is not there.
    """
    alt = altair()
    check_columns(cells, ("k", "order", "variable", "cells", "touched"), "local_suppression(...).cells")
    check_columns(claims, ("k", "order", "claim", "records"), "local_suppression(...).claims")
    names, orders = list(dict.fromkeys(cells["variable"])), list(dict.fromkeys(cells["order"]))
    ks = sorted({int(each) for each in cells["k"]})
    states = _states(cells, claims, names, orders, ks)
    order = orders[0] if order is None else order
    if k not in ks or order not in orders:
        raise OptionError(f"the frames have no k = {k!r} with the order {order!r}")
    controls = {
        "k_required": alt.binding_range(min=ks[0], max=ks[-1], step=1, name="k required: "),
        "order": alt.binding_select(options=list(range(len(orders))), labels=orders, name="importance: "),
    }
    params = [alt.param(name="records", value=records), alt.param(name="keys", value=len(names))]
    params.append(alt.param(name="orders", value=orders))
    values = {"k_required": k, "order": orders.index(order)}
    params += [alt.param(name=name, value=value, bind=controls[name]) for name, value in values.items()]
    params += [alt.param(name=name, expr=expression) for name, expression in _WORDS.items()]
    lines = [_HEADS[0], *names, _HEADS[1], *CLAIMS.values()]
    subject = (
        f"Bars with controls of what local suppression takes from {', '.join(names)} for k from {ks[0]} to {ks[-1]}, "
        "and of the records that are still below k by three claims."
    )
    state = next(each for each in states if each["state"] == f"{k} {values['order']}")
    chart = finish(
        # With a name of its own, altair leaves the data where the words find them.
        alt.layer(*_explored(names, records, states), data=alt.InlineData(name="states", values=states)).add_params(
            *params
        ),
        title=alt.TitleParams(alt.ExprRef("cost"), subtitle="Bars: share of the records of the file"),
        description=f"{subject} At k = {k}, {order}: cells {state['total']:,}, records touched {state['touched']:,}.",
        height=_LINE * len(lines),
    )
    return chart.properties(usermeta={"live": {"signal": "told", "description": subject}})


def _states(
    cells: pd.DataFrame, claims: pd.DataFrame, names: list[str], orders: list[str], ks: list[int]
) -> list[dict]:
    """A row for each k and order: the cells of each variable, then the records of each claim."""
    if ks != list(range(ks[0], ks[-1] + 1)):
        raise OptionError("the explorer needs every k from the smallest to the largest: compute those between them too")
    taken = cells.set_index(["k", "order", "variable"])
    below = claims.set_index(["k", "order", "claim"])["records"]
    if not (taken.index.is_unique and below.index.is_unique):
        raise OptionError("a k and order stand twice: give each its own name in the column order")
    states = []
    for k in ks:
        for number, order in enumerate(orders):
            try:
                part = taken.loc[[(k, order, name) for name in names]]
                counts = [*part["cells"], *(below[k, order, claim] for claim in CLAIMS)]
            except KeyError:
                raise OptionError(f"the frames lack a variable or a claim for k = {k}, {order!r}") from None
            states.append(
                {
                    "state": f"{k} {number}",
                    "counts": [int(count) for count in counts],
                    "total": int(part["cells"].sum()),
                    "touched": int(part["touched"].iloc[0]),
                }
            )
    return states


def _explored(names: list[str], records: int, states: list[dict]) -> list:
    alt = altair()
    lines = [*names, *CLAIMS.values()]
    every = [f"head\n{_HEADS[0]}", *(f"0\n{name}" for name in names), f"head\n{_HEADS[1]}"]
    every += [f"1\n{name}" for name in CLAIMS.values()]
    series = [_SERIES[0]] * len(names) + [_SERIES[1]] * len(CLAIMS)
    labels = [line for line in every if not line.startswith("head")]
    y = alt.Y(
        "line:N",
        sort=every,
        scale=alt.Scale(domain=every),
        title=None,
        axis=alt.Axis(
            labelExpr="indexof(datum.label, 'head') == 0 ? '' : split(datum.label, '\\n')[1]",
            ticks=False,
            domain=False,
            labelPadding=7,
            labelLimit=130,
        ),
    )
    bars = (
        alt.Chart()
        .transform_filter("datum.state == state")
        .transform_calculate(lines=json.dumps(labels), names=json.dumps(lines), kinds=json.dumps(series))
        .transform_flatten(["counts", "lines", "names", "kinds"], ["count", "line", "name", "series"])
        .transform_calculate(
            share="datum.count / records",
            words=f"format(datum.count, ',') + ' (' + {share_expression('datum.share')} + ')'",
        )
        .encode(
            y=y,
            tooltip=[
                alt.Tooltip("name:N", title="bar"),
                alt.Tooltip("count:Q", title="records", format=","),
                alt.Tooltip("share:Q", title="of the file", format=".3~p"),
            ],
        )
    )
    most = max(max(state["counts"]) for state in states) / records
    color = alt.Color("series:N", scale=alt.Scale(domain=_SERIES, range=[BLUE, ORANGE]), legend=None)
    heads = alt.Chart(alt.InlineData(values=[{"line": f"head\n{words}", "words": words} for words in _HEADS]))
    return [
        bars.mark_bar(height={"band": 0.7}).encode(x=_shares("Records (% of the file)", most, 15), color=color),
        bars.mark_text(align="left", dx=5, fontSize=11).encode(x="share:Q", text="words:N"),
        heads.mark_text(align="left", fontWeight="bold", fontSize=12).encode(x=alt.value(0), y=y, text="words:N"),
    ]


def _lines(names: list[str], field: str) -> alt.Y:
    alt = altair()
    axis = alt.Axis(ticks=False, labelPadding=5, labelLimit=130)
    return alt.Y(f"{field}:N", sort=names, title=None, axis=axis)


def _shares(text: str, most: float, characters: int) -> alt.X:
    """An axis of shares up to the largest, with room behind it for words of so many characters."""
    alt = altair()
    room = min(0.6, (characters * _CHARACTER + 8) / _NARROW)
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
