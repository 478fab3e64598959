"""The explorer that needs no kernel: k, date granularity and geography are controls of the chart itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kanon_lab.charts.axes import share_expression
from kanon_lab.charts.style import (
    GREY,
    altair,
    check_columns,
    check_dates,
    date_color,
    date_dash,
    date_tooltip,
    finish,
    title,
)
from kanon_lab.digits import percent
from kanon_lab.errors import OptionError
from kanon_lab.population.grid import GRID_COLUMNS

if TYPE_CHECKING:
    import altair as alt
    import pandas as pd

#: Shares travel as whole numbers of this unit: thousandths of a percentage point.
UNIT = 1e-5

# The chosen row of the grid; `cumulative` holds its curve in units.
_CHOSEN = "datum.place == place && datum.dates == dates"
_UP_TO_K = f"datum.cumulative[k - 1] * {UNIT}"
# The result in words, three lines that follow the controls. It is a signal of its own, because the title shows it
# and a page tells it to screen readers (`kanon_lab.page`).
_WORDS = {
    "row": "data('grid')[indexof(pluck(data('grid'), 'key'), place + ' ' + dates)]",
    "up_to": share_expression(f"(row.cumulative[k - 1] * {UNIT})"),
    "exactly": share_expression(f"((row.cumulative[k - 1] - (k > 1 ? row.cumulative[k - 2] : 0)) * {UNIT})"),
    "words": (
        "[row.name + ', ' + dates + ' of birth:',"
        " k == 1 ? up_to + ' are alone (k = 1)' : up_to + ' in a group of ' + k + ' or fewer',"
        " k == 1 ? '' : exactly + ' in a group of exactly ' + k]"
    ),
}
_TITLE = "Persons in a group of k or fewer"
_GROUP = "Group: same municipality, sex and date of birth"
_TICKS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000)


def explorer(
    grid: pd.DataFrame, *, k: int = 5, dates: str = "month", place: str | None = None, controls: bool = True
) -> alt.LayerChart:
    """Share of persons in groups of k or fewer, with controls for k, date granularity and geography.

    Parameters
    ----------
    grid : DataFrame
        From `kanon_lab.population.grid.explorer_grid`.
    k : int
        The k shown first, 1 to the last k of the grid.
    dates : {"day", "month", "year"}
        The granularity shown first.
    place : str, optional
        Code of the place shown first; the grid's first place by default.
    controls : bool
        With controls (two lists and buttons, drawn by Vega) and the result in words as its title. Without them the
        chart shows one state: the widgets bring controls of their own.

    Returns
    -------
    altair.LayerChart
        It carries one row per place and date, with the curve as one array of whole numbers: shares are rounded to
        0.001 percentage points.

    Raises
    ------
    OptionError
        For a frame that is not a grid, or a start that is not in it.
    """
    alt = altair()
    check_columns(grid, [*GRID_COLUMNS, 1], "explorer_grid(counts)")
    names, k_max = check_dates(grid["dates"]), _last_k(grid)
    place = grid["place"].iloc[0] if place is None else place
    _check_start(grid, k_max, names, k, dates, place)
    bindings = _bindings(names, _places(grid), {*_offered(k_max), k}) if controls else {}
    values = {"k": k, "dates": dates, "place": place}
    params = [
        alt.param(name=name, value=value, bind=bindings.get(name, alt.Undefined)) for name, value in values.items()
    ]
    if controls:
        params += [alt.param(name=name, expr=expression) for name, expression in _WORDS.items()]
    # With a name of its own, altair leaves the data where `moved` and the words find them.
    data = alt.InlineData(name="grid", values=_compact(grid if controls else grid[grid["place"] == place], k_max))
    chart = finish(
        alt.layer(*_layers(names, k_max), data=data).add_params(*params),
        title=alt.TitleParams(alt.ExprRef("words"), subtitle=_GROUP) if controls else title(_TITLE, _GROUP),
        description=_description(grid, k_max, names, k, dates, place),
        height=340 if controls else 300,
    )
    told = {"live": {"signal": "words", "description": _subject(k_max, names)}}
    return chart.properties(usermeta=told) if controls else chart


def moved(spec: dict, grid: pd.DataFrame, *, k: int, dates: str) -> dict:
    """The specification of an explorer without controls, moved to another place, k or date.

    Building a chart takes a tenth of a second, most of it validation; a slider cannot wait for that.

    Parameters
    ----------
    spec : dict
        ``explorer(grid, controls=False).to_dict()``.
    grid : DataFrame
        Rows of one place, with the same dates and k as the grid that the chart was made from.
    k, dates
        As in `explorer`.

    Returns
    -------
    dict
        A new specification; `spec` is left as it is.

    Raises
    ------
    OptionError
        For a state that is not in the grid.
    """
    k_max, names, place = _last_k(grid), check_dates(grid["dates"]), grid["place"].iloc[0]
    _check_start(grid, k_max, names, k, dates, place)
    values = {"k": k, "dates": dates, "place": place}
    return spec | {
        "data": spec["data"] | {"values": _compact(grid, k_max)},
        "params": [param | {"value": values[param["name"]]} for param in spec["params"]],
        "description": _description(grid, k_max, names, k, dates, place),
    }


def _last_k(grid: pd.DataFrame) -> int:
    return max(column for column in grid.columns if isinstance(column, int | np.integer))


def _description(grid: pd.DataFrame, k_max: int, names: list[str], k: int, dates: str, place: str) -> str:
    share = grid.loc[(grid["place"] == place) & (grid["dates"] == dates), k].iloc[0]
    told = percent(round(share / UNIT) * UNIT)  # what has travelled
    return f"{_subject(k_max, names)} At k = {k}, by {dates}, in {_places(grid)[place]}: {told}."


def _subject(k_max: int, names: list[str]) -> str:
    """What the chart shows in any of its states."""
    return (
        f"Line chart of the share of persons in a group of k persons or fewer, by k from 1 to {k_max}, for the date of "
        f"birth known to the {', '.join(names)}."
    )


def _check_start(grid: pd.DataFrame, k_max: int, names: list[str], k: int, dates: str, place: str) -> None:
    if not 1 <= k <= k_max:
        raise OptionError(f"k must be from 1 to {k_max}, not {k!r}")
    if dates not in names:
        raise OptionError(f"dates must be out of {', '.join(names)}, not {dates!r}")
    if place not in set(grid["place"]):
        raise OptionError(f"the grid has no place {place!r}")


def _places(grid: pd.DataFrame) -> dict[str, str]:
    """Place code -> name as the list of places shows it."""
    first = grid.drop_duplicates("place")
    kinds = {"province": " (province)", "municipality": " (municipality)"}
    names = first["name"] + first["level"].map(kinds).fillna("")
    return dict(zip(first["place"], names, strict=True))


def _compact(grid: pd.DataFrame, k_max: int) -> list[dict]:
    rows = grid[["place", "population", "dates"]].assign(name=grid["place"].map(_places(grid)))
    rows["key"] = rows["place"] + " " + rows["dates"]
    rows["cumulative"] = np.rint(grid[list(range(1, k_max + 1))].to_numpy(dtype=float) / UNIT).astype(int).tolist()
    return rows.to_dict("records")


def _offered(k_max: int) -> list[int]:
    """The k to choose from, closer together where they are small; the last one that there is, too."""
    return [k for k in range(1, k_max + 1) if k <= 10 or k % 10 == 0 and k <= 50 or k % 100 == 0 or k == k_max]


def _bindings(names: list[str], places: dict[str, str], offered: set[int]) -> dict:
    alt = altair()
    return {
        # A slider would have all small k within a few pixels.
        "k": alt.binding_select(options=sorted(offered), name="group of at most (k): "),
        "dates": alt.binding_radio(options=names, name="Date of birth known to the: "),
        "place": alt.binding_select(options=list(places), labels=list(places.values()), name="Place: "),
    }


def _layers(names: list[str], k_max: int) -> list:
    alt = altair()
    x = alt.X(
        "k:Q",
        scale=alt.Scale(type="log", domain=[1, k_max], nice=False),
        axis=alt.Axis(values=[tick for tick in _TICKS if tick <= k_max], format="d", grid=False),
        title="k: persons in the group",
    )
    y = alt.Y(
        "share:Q",
        scale=alt.Scale(domain=[0, 1], nice=False),
        axis=alt.Axis(values=[0, 0.2, 0.4, 0.6, 0.8, 1], format="~%"),
        title=f"{_TITLE} (%)",
    )
    lines, hover = _curves(x, y, names, k_max)
    rule, point = _chosen(x, y)
    return [lines, rule, point, hover]


def _curves(x: alt.X, y: alt.Y, names: list[str], k_max: int) -> tuple:
    """The place's curve for each date, the chosen one thick, and unseen points that carry the tooltips."""
    alt = altair()
    curves = (
        alt.Chart()
        .transform_filter("datum.place == place")
        .transform_calculate(ks=f"sequence(1, {k_max + 1})")
        .transform_flatten(["cumulative", "ks"], ["units", "k"])
        .transform_calculate(share=f"datum.units * {UNIT}")
        .encode(x=x, y=y)
    )
    lines = curves.mark_line(interpolate="step-after").encode(
        color=date_color(names),
        strokeDash=date_dash(names),
        strokeWidth=alt.condition("datum.dates == dates", alt.value(3.5), alt.value(1.5)),
        opacity=alt.condition("datum.dates == dates", alt.value(1), alt.value(0.6)),
    )
    hover = curves.mark_point(size=110, opacity=0, filled=True, aria=False).encode(
        tooltip=[
            alt.Tooltip("name:N", title="place"),
            alt.Tooltip("population:Q", title="population", format=","),
            date_tooltip(),
            alt.Tooltip("k:Q", title="k"),
            alt.Tooltip("share:Q", title="in a group of k or fewer", format=".3~p"),
        ],
    )
    return lines, hover


def _chosen(x: alt.X, y: alt.Y) -> tuple:
    """A line and a point at the chosen k."""
    alt = altair()
    chosen = alt.Chart().transform_filter(_CHOSEN).transform_calculate(k="k", share=_UP_TO_K, floor="0")
    rule = chosen.mark_rule(color=GREY, strokeDash=[3, 3]).encode(x=x, y=y, y2="floor:Q")
    point = chosen.mark_point(filled=True, size=130, color="white", stroke="black", strokeWidth=2, opacity=1)
    return rule, point.encode(x=x, y=y)
