"""The explorer of what an outsider knows: which key variables, and how many records are then in small classes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from kanon_lab.charts.axes import share_expression
from kanon_lab.charts.style import BLUE, GREY, ORANGE, altair, check_columns, finish, title
from kanon_lab.digits import percent
from kanon_lab.errors import OptionError, shortened

if TYPE_CHECKING:
    import altair as alt
    import pandas as pd

_TITLE = "Records in a class of k or fewer"
_CLASS = "Class: records alike in all that the outsider knows"
_CURVES = ("what is known", "all key variables")

# The result in words, signals of their own: the title shows them, and a page tells them to screen readers.
_WORDS = {
    "row": "data('sets')[indexof(pluck(data('sets'), 'set'), set)]",
    "whole": "data('sets')[length(data('sets')) - 1]",
    "small": "row.up_to[k_class - 1]",
    "are": (
        "(small > 1 ? 'are ' : 'is ') + (k_class == 1 ? 'alone (k = 1)' : 'in a class of ' + k_class + ' or fewer')"
    ),
    "count": (
        "(small ? format(small, ',') : 'none') + ' of ' + format(records, ',') + ' records'"
        " + (small ? ' (' + " + share_expression("small / records") + " + ')' : '')"
    ),
    "all": (
        "set == whole.set ? '' : 'with all key variables: ' + " + share_expression("whole.up_to[k_class - 1] / records")
    ),
    "alike": "'all ' + format(records, ',') + ' records look alike'",
    "words": "set ? (all ? [count, are, all] : [count, are]) : ['Nothing is known:', alike]",
    "told": "[row.known + ': ' + (set ? count + ' ' + are + (all ? '; ' + all : '') : alike)]",
}


def key_explorer(
    grid: pd.DataFrame, *, k: int = 1, known: Iterable[str] | None = None, controls: bool = True
) -> alt.LayerChart:
    """Share of records in classes of k or fewer, with a box to tick for each key variable the outsider knows.

    Parameters
    ----------
    grid : DataFrame
        From `kanon_lab.classes.key_grid`.
    k : int
        The k shown first, 1 to the last of the grid.
    known : iterable of str, optional
        The key variables known at first, perhaps none; by default all.
    controls : bool
        With controls (boxes and a slider, drawn by Vega) and the result in words as its title. Without them the chart
        shows one state: the widgets bring controls of their own.

    Returns
    -------
    altair.LayerChart
        The curve of the chosen set and that of all key variables. It carries one row for each set of key variables.

    Raises
    ------
    OptionError
        For a frame that is not a grid, or a start that is not in it.
    """
    alt = altair()
    check_columns(grid, ("keys", "n", 1), "key_grid(frame, spec)")
    keys, k_max = grid["keys"].iloc[-1], _last_k(grid)
    known = _check_start(keys, k_max, k, keys if known is None else tuple(known))
    bindings = _bindings(keys, k_max) if controls else {}
    values = _values(keys, known, k)
    params = [alt.param(name="records", value=int(grid["n"].iloc[0]))]
    params += [alt.param(name=n, value=v, bind=bindings.get(n, alt.Undefined)) for n, v in values.items()]
    params.append(alt.param(name="set", expr=" + ".join(f"(knows{i} ? {2**i} : 0)" for i in range(len(keys)))))
    if controls:
        params += [alt.param(name=name, expr=expression) for name, expression in _WORDS.items()]
    # With a name of its own, altair leaves the data where the words find them.
    data = alt.InlineData(name="sets", values=_compact(grid, keys, k_max))
    chart = finish(
        alt.layer(*_layers(len(keys), k_max), data=data).add_params(*params),
        title=alt.TitleParams(alt.ExprRef("words"), subtitle=_CLASS) if controls else title(_TITLE, _CLASS),
        description=_description(grid, k, known),
        height=340 if controls else 300,
    )
    told = {"live": {"signal": "told", "description": _subject(k_max)}}
    return chart.properties(usermeta=told) if controls else chart


def moved(spec: dict, grid: pd.DataFrame, *, k: int, known: Iterable[str]) -> dict:
    """The specification of an explorer without controls, moved to another k or set.

    Building a chart takes a tenth of a second, most of it validation; a slider cannot wait for that.

    Parameters
    ----------
    spec : dict
        ``key_explorer(grid, controls=False).to_dict()``.
    grid, k, known
        As in `key_explorer`.

    Returns
    -------
    dict
        A new specification; `spec` is left as it is.

    Raises
    ------
    OptionError
        For a state that is not in the grid.
    """
    keys = grid["keys"].iloc[-1]
    known = _check_start(keys, _last_k(grid), k, tuple(known))
    values = _values(keys, known, k)
    return spec | {
        "params": [p | {"value": values[p["name"]]} if p["name"] in values else p for p in spec["params"]],
        "description": _description(grid, k, known),
    }


def up_to(grid: pd.DataFrame, known: Iterable[str]) -> pd.Series:
    """Records in classes of k or fewer for one set of keys, by k; for the empty set all records are one class."""
    ks = range(1, _last_k(grid) + 1)
    known = tuple(known)
    if not known:
        n = int(grid["n"].iloc[0])
        return grid[list(ks)].iloc[0] * 0 + np.where(np.array(ks) >= n, n, 0)
    return grid.loc[[keys == known for keys in grid["keys"]], list(ks)].iloc[0]


def _last_k(grid: pd.DataFrame) -> int:
    return max(column for column in grid.columns if not isinstance(column, str))


def _check_start(keys: tuple[str, ...], k_max: int, k: int, known: tuple[str, ...]) -> tuple[str, ...]:
    """The known keys in the grid's order."""
    if k not in range(1, k_max + 1):
        raise OptionError(f"k must be from 1 to {k_max}, not {k!r}")
    if strange := [name for name in known if name not in keys]:
        raise OptionError(f"known: {shortened(str(strange[0]))} is not a key variable of the grid")
    return tuple(name for name in keys if name in known)


def _values(keys: tuple[str, ...], known: tuple[str, ...], k: int) -> dict:
    return {"k_class": k, **{f"knows{i}": name in known for i, name in enumerate(keys)}}


def _bindings(keys: tuple[str, ...], k_max: int) -> dict:
    alt = altair()
    boxes = {f"knows{i}": alt.binding_checkbox(name=f"knows {name}: ") for i, name in enumerate(keys)}
    return {"k_class": alt.binding_range(min=1, max=k_max, step=1, name="class of at most (k): "), **boxes}


def _subject(k_max: int) -> str:
    """What the chart shows in any of its states."""
    return (
        f"Line chart of the share of records in a class of k records or fewer, by k from 1 to {k_max}, for an outsider "
        "who knows some key variables, and for one who knows all."
    )


def _description(grid: pd.DataFrame, k: int, known: tuple[str, ...]) -> str:
    share = up_to(grid, known)[k] / grid["n"].iloc[0]
    return f"{_subject(_last_k(grid))} At k = {k}, known {', '.join(known) or 'nothing'}: {percent(share)}."


def _compact(grid: pd.DataFrame, keys: tuple[str, ...], k_max: int) -> list[dict]:
    """A row for each set, the empty one first; its number has a bit for each key."""
    sets = [(), *grid["keys"]]
    return [
        {
            "set": sum(2 ** keys.index(name) for name in known),
            "known": f"Known: {', '.join(known)}" if known else "Nothing is known",
            "up_to": counts,
        }
        for known, counts in zip(sets, [up_to(grid, ()).tolist(), *grid[list(range(1, k_max + 1))].to_numpy().tolist()])
    ]


def _layers(keys: int, k_max: int) -> list:
    alt = altair()
    x = alt.X(
        "k:Q",
        scale=alt.Scale(domain=[1, k_max], nice=False, padding=6),
        axis=alt.Axis(values=[1, *range(5, k_max + 1, 5)], format="d", grid=False),
        title="k: records in the class",
    )
    y = alt.Y(
        "share:Q",
        scale=alt.Scale(domain=[0, 1], nice=False),
        axis=alt.Axis(values=[0, 0.2, 0.4, 0.6, 0.8, 1], format="~%"),
        title=f"{_TITLE} (%)",
    )
    curves = (
        alt.Chart()
        .transform_filter(f"datum.set == set || datum.set == {2**keys - 1}")
        .transform_calculate(
            ks=f"sequence(1, {k_max + 1})", curve=f"datum.set == set ? '{_CURVES[0]}' : '{_CURVES[1]}'"
        )
        .transform_flatten(["up_to", "ks"], ["count", "k"])
        .transform_calculate(share="datum.count / records")
        .encode(x=x, y=y)
    )
    scales = {"color": [BLUE, ORANGE], "dash": [[1, 0], [6, 4]]}
    legend = alt.Legend(symbolType="stroke", symbolSize=500, symbolStrokeWidth=2)
    lines = curves.mark_line(interpolate="step-after", strokeWidth=2.5).encode(
        color=alt.Color("curve:N", scale=alt.Scale(domain=_CURVES, range=scales["color"]), title=None),
        strokeDash=alt.StrokeDash(
            "curve:N", scale=alt.Scale(domain=_CURVES, range=scales["dash"]), title=None, legend=legend
        ),
    )
    hover = curves.mark_point(size=110, opacity=0, filled=True, aria=False).encode(
        tooltip=[
            alt.Tooltip("known:N", title="set"),
            alt.Tooltip("k:Q", title="k"),
            alt.Tooltip("count:Q", title="records in a class of k or fewer", format=","),
            alt.Tooltip("share:Q", title="of the file", format=".3~p"),
        ]
    )
    return [lines, *_chosen(x, y), hover]


def _chosen(x: alt.X, y: alt.Y) -> tuple:
    """A line and a point at the chosen k."""
    alt = altair()
    chosen = (
        alt.Chart()
        .transform_filter("datum.set == set")
        .transform_calculate(k="k_class", share="datum.up_to[k_class - 1] / records", floor="0")
    )
    rule = chosen.mark_rule(color=GREY, strokeDash=[3, 3]).encode(x=x, y=y, y2="floor:Q")
    point = chosen.mark_point(filled=True, size=130, color="white", stroke="black", strokeWidth=2, opacity=1)
    return rule, point.encode(x=x, y=y)
