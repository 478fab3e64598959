"""Charts of the chapters on recoding and on suppression: a variable in bands, and an explorer of suppression."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from kanon_lab.digits import percent
from kanon_lab.errors import OptionError
from kanon_lab.show import style
from kanon_lab.show.bars import LINE_OF_BARS, axis_with_room, bars_by_version, lines_of, versions_of, words_of_bars
from kanon_lab.show.colors import BLUE, LIGHT_GREY, ORANGE
from kanon_lab.show.style import COUNT, SHARE, alt, finish, inline, params, tooltips

if TYPE_CHECKING:
    import pandas as pd

#: The claims of `kanon_lab.methods.protection_claims`, and the file as it came, in the order of their bars.
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
        " + ' (' + " + style.share_expression("row.touched / records") + " + ')']"
    ),
    "told": (
        "[join(cost, ' ') + '. Records below k before: ' + format(row.counts[keys], ',') + '; after, by compatible"
        " records: ' + format(row.counts[keys + 1], ',') + ', by own class: ' + format(row.counts[keys + 2], ',') +"
        " ', by true key: ' + format(row.counts[keys + 3], ',')]"
    ),
}


def banded(
    frame: pd.DataFrame, *, variable: str, unit: str = "unit", heading: str = "Before and after recoding"
) -> alt.LayerChart:
    """A numeric variable before and after it was recoded into bands: records per value.

    Single values as filled bars, bands as outlines whose height is the mean per unit: areas are records.

    Parameters
    ----------
    frame : DataFrame
        ``version`` ("before" or "after"), ``start``, ``end`` (of a value or band, in units of the variable; the end is
        left out) and ``records`` in it.
    variable : str
        Its name, with the unit.
    unit : str
        One unit, such as ``year of age``: the height of a bar is the records in it.
    heading : str
        The title; charts on one page need titles that differ.
    """
    style.check_columns(frame, ("version", "start", "end", "records"), "the counts before and after recoding")
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
        tooltip=tooltips(
            ("version:N", "version"), ("start:Q", "from"), ("end:Q", "to below"), ("records:Q", "records", COUNT)
        ),
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
        title=heading,
        subtitle="Areas show numbers of records; the height of a band is a mean",
        description=(
            f"Histogram of {variable} before and after recoding: {len(before)} values with records became "
            f"{len(after)} bands. The smallest band, from {smallest['start']:g} to below {smallest['end']:g}, has "
            f"{smallest['records']:,g} records."
        ),
        height=260,
    )


def suppressed_cells(frame: pd.DataFrame) -> alt.LayerChart:
    """Cells that local suppression took from each key variable, for one way of doing it or up to four side by side.

    `frame` is `kanon_lab.methods.Suppression.cells` (``variable``, ``cells``, ``share`` of the records, 0-1); for
    several ways the frames of all, one below the other, with a column ``version``: their names, in the order of the
    bars.
    """
    style.check_columns(frame, ("variable", "cells", "share"), "local_suppression(...).cells")
    rows = frame.assign(version=frame.get("version", ""))[["variable", "version", "cells", "share"]]
    versions, names = versions_of(rows, "variable", "a variable"), list(dict.fromkeys(rows["variable"]))
    rows["words"] = [f"{row.cells:,} ({percent(row.share)})" for row in rows.itertuples()]
    layers = bars_by_version(
        rows,
        versions,
        x=axis_with_room("Cells suppressed (% of the records)", rows["share"].max(), rows["words"].str.len().max()),
        y=lines_of(names),
        tooltip=tooltips(
            ("variable:N", "variable"), ("cells:Q", "cells suppressed", COUNT), ("share:Q", "of the records", SHARE)
        ),
    )
    sentence = "; ".join(
        f"{f'{version}: ' if version else ''}{', '.join(f'{row.variable} {row.words}' for row in part.itertuples())}"
        for version, part in rows.groupby("version", sort=False)
    )
    return finish(
        alt.layer(*layers),
        title="What suppression takes",
        subtitle="Cells suppressed in each key variable",
        description=f"Bar chart of the cells that local suppression takes from each key variable. {sentence}.",
        height=(18 if len(versions) > 1 else LINE_OF_BARS) * len(rows) + 10 * len(names),
    )


def suppression_explorer(
    cells: pd.DataFrame, claims: pd.DataFrame, *, records: int, k: int = 3, order: str | None = None
) -> alt.LayerChart:
    """Local suppression for each k and order of importance, with controls for both.

    A bar for each key variable, below them one for each claim, and the result in words as the title.

    Parameters
    ----------
    cells : DataFrame
        `Suppression.cells` of every k and order, one below the other, with columns ``k``, ``order`` (its name) and
        ``touched`` (records with a suppressed cell).
    claims : DataFrame
        ``k``, ``order``, ``claim`` (of `CLAIMS`) and ``records``: those below k in the file as it came (``before``) and
        after, by each claim of `Suppression.claims`.
    records : int
        Records of the file.
    k : int
        The k shown first.
    order : str, optional
        The order shown first, by default the first one.
    """
    style.check_columns(cells, ("k", "order", "variable", "cells", "touched"), "local_suppression(...).cells")
    style.check_columns(claims, ("k", "order", "claim", "records"), "local_suppression(...).claims")
    names, orders = list(dict.fromkeys(cells["variable"])), list(dict.fromkeys(cells["order"]))
    ks = sorted({int(k_shown) for k_shown in cells["k"]})
    states = _states(cells, claims, names, orders, ks)
    order = orders[0] if order is None else order
    if k not in ks or order not in orders:
        raise OptionError(f"the frames have no k = {k!r} with the order {order!r}")
    controls = {
        "k_required": alt.binding_range(min=ks[0], max=ks[-1], step=1, name="k required: "),
        "order": alt.binding_select(options=list(range(len(orders))), labels=orders, name="importance: "),
    }
    fixed = {"records": records, "keys": len(names), "orders": orders}
    values = {"k_required": k, "order": orders.index(order)}
    lines = [_HEADS[0], *names, _HEADS[1], *CLAIMS.values()]
    subject = (
        f"Bars with controls of what local suppression takes from {', '.join(names)} for k from {ks[0]} to {ks[-1]}, "
        "and of the records that are still below k by three claims."
    )
    state = next(candidate for candidate in states if candidate["state"] == f"{k} {values['order']}")
    return style.live(
        style.layered(_explored(names, records, states), "states", states, params(fixed | values, controls, _WORDS)),
        title=alt.TitleParams(alt.ExprRef("cost"), subtitle="Bars: share of the records of the file"),
        subject=subject,
        state=f"At k = {k}, {order}: cells {state['total']:,}, records touched {state['touched']:,}.",
        height=LINE_OF_BARS * len(lines),
    )


def _states(
    cells: pd.DataFrame, claims: pd.DataFrame, names: list[str], orders: list[str], ks: list[int]
) -> list[dict]:
    """A row for each k and order: the cells of each variable, then the records of each claim."""
    if ks != list(range(ks[0], ks[-1] + 1)):
        raise OptionError("the explorer needs every k from the smallest to the largest: compute those between them too")
    taken = cells.set_index(["k", "order", "variable"])
    below = claims.set_index(["k", "order", "claim"])["records"]
    if not (taken.index.is_unique and below.index.is_unique):
        raise OptionError("a k and order occur twice: give each its own name in the column order")
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
            words=f"format(datum.count, ',') + ' (' + {style.share_expression('datum.share')} + ')'",
        )
        .encode(
            y=y, tooltip=tooltips(("name:N", "bar"), ("count:Q", "records", COUNT), ("share:Q", "of the file", SHARE))
        )
    )
    most = max(max(state["counts"]) for state in states) / records
    color = alt.Color("series:N", scale=alt.Scale(domain=_SERIES, range=[BLUE, ORANGE]), legend=None)
    heads = alt.Chart(alt.InlineData(values=[{"line": f"head\n{words}", "words": words} for words in _HEADS]))
    return [
        bars.mark_bar(height={"band": 0.7}).encode(x=axis_with_room("Records (% of the file)", most, 15), color=color),
        words_of_bars(bars),
        heads.mark_text(align="left", fontWeight="bold", fontSize=12).encode(x=alt.value(0), y=y, text="words:N"),
    ]
