"""The explorer of what an intruder knows: which key variables, and how many records are then in small classes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from kanon_lab.classes import key_grid
from kanon_lab.digits import percent
from kanon_lab.errors import OptionError, shortened
from kanon_lab.roles import as_spec
from kanon_lab.show import style
from kanon_lab.show.colors import BLUE, ORANGE
from kanon_lab.show.controls import Explorer, Shown, bound, drawn, show_state, table
from kanon_lab.show.style import alt

if TYPE_CHECKING:
    import pandas as pd

    from kanon_lab.roles import KeySpec

_CLASS = "Class: records alike in all that the intruder knows"
_CURVES = ("what is known", "all key variables")
_K_MAX = 20

# The result in words.
_WORDS = {
    "row": "data('sets')[indexof(pluck(data('sets'), 'set'), set)]",
    "whole": "data('sets')[length(data('sets')) - 1]",
    "small": "row.up_to[k_class - 1]",
    "are": "(small > 1 ? 'are ' : 'is ') + (k_class == 1 ? 'alone (k = 1)' : 'in a class of ' + k_class + ' or fewer')",
    "count": style.count_expression("small"),
    "all": (
        "set == whole.set ? '' : 'with all key variables: ' + "
        + style.share_expression("whole.up_to[k_class - 1] / records")
    ),
    "alike": "'all ' + format(records, ',') + ' records look alike'",
    "words": "set ? (all ? [count, are, all] : [count, are]) : ['Nothing is known:', alike]",
    "told": "[row.known + ': ' + (set ? count + ' ' + are + (all ? '; ' + all : '') : alike)]",
}


def key_explorer(grid: pd.DataFrame, *, k: int = 1, known: Iterable[str] | None = None) -> alt.LayerChart:
    """Share of records in classes of k or fewer, with a box to tick for each key variable the intruder knows.

    Parameters
    ----------
    grid : DataFrame
        From `kanon_lab.classes.key_grid`.
    k : int
        The k shown first, 1 to the last of the grid.
    known : iterable of str, optional
        The key variables known at first, perhaps none; by default all.

    Returns
    -------
    altair.LayerChart
        The curve of the chosen set and that of all key variables. It carries one row for each set of key variables.

    Examples
    --------
    >>> survey = pd.DataFrame({"age": [1, 1, 2], "sex": ["f", "m", "m"]})
    >>> grid = kanon_lab.classes.key_grid(survey, kanon_lab.KeySpec(["age", "sex"]))
    >>> kanon_lab.show.key_explorer(grid, known=["age"]).description.split(". ")[-1]
    'At k = 1, known age: 33.3%.'
    """
    style.check_columns(grid, ("keys", "n", 1), "key_grid(frame, spec)")
    keys, k_max = grid["keys"].iloc[-1], style.last_k(grid)
    known = keys if known is None else tuple(known)
    if k not in range(1, k_max + 1):
        raise OptionError(f"k must be from 1 to {k_max}, not {k!r}")
    if strange := [name for name in known if name not in keys]:
        raise OptionError(f"known: {shortened(str(strange[0]))} is not a key variable of the grid")
    bindings: dict[str, Any] = {"k_class": alt.binding_range(min=1, max=k_max, step=1, name="class of at most (k): ")}
    bindings |= {f"knows{i}": alt.binding_checkbox(name=f"knows {name}: ") for i, name in enumerate(keys)}
    knows = {f"knows{i}": name in known for i, name in enumerate(keys)}
    chosen = {"set": " + ".join(f"(knows{i} ? {2**i} : 0)" for i in range(len(keys)))}
    values = {"records": int(grid["n"].iloc[0]), "k_class": k, **knows}
    parameters = style.params(values, bindings, chosen | _WORDS)
    return style.live(
        style.layered(_layers(len(keys), k_max), "sets", _compact(grid, keys, k_max), parameters),
        title=alt.TitleParams(alt.ExprRef("words"), subtitle=_CLASS),
        subject=(
            "Line chart of the share of records in a class of k records or fewer, by k from 1 to "
            f"{k_max}, for an intruder who knows some key variables, and for one who knows all."
        ),
        state=_describe(grid, k, tuple(name for name in keys if name in known)),
        height=340,
    )


def explore_keys(
    frame: pd.DataFrame, spec: KeySpec | Iterable[str] | str, *, k: int = 1, known: Iterable[str] | None = None
) -> Explorer:
    """An explorer of what an intruder knows and of k, for JupyterLab.

    Parameters
    ----------
    frame : DataFrame
        One row a record. Not changed.
    spec : KeySpec or sequence of str
        As in `kanon_lab.class_table`; at most 12 key variables.
    k : int
        The k shown first, 1 to 20.
    known : iterable of str, optional
        The key variables known at first, perhaps none; by default all.

    Returns
    -------
    Explorer
        Of ``k_class`` and, for each key variable by its number, ``knows0``, ``knows1`` ... As the last line of a cell
        it shows itself.

    Examples
    --------
    >>> survey = pd.DataFrame({"age": [1, 1, 2], "sex": ["f", "m", "m"]})
    >>> explorer = kanon_lab.show.explore_keys(survey, ["age", "sex"])
    >>> explorer.controls["knows1"].value = False
    >>> explorer.values
    {'k_class': 1, 'knows0': True, 'knows1': False}
    """
    grid = key_grid(frame, as_spec(spec), k_max=_K_MAX)
    template = drawn(key_explorer(grid, k=k, known=known))
    keys, n = grid["keys"].iloc[-1], int(grid["n"].iloc[0])

    def tell(values: dict[str, Any]) -> Shown:
        k, known = values["k_class"], tuple(name for i, name in enumerate(keys) if values[f"knows{i}"])
        # The chosen set, and what leaving out each of its variables would change.
        sets = {"what is known": known}
        sets |= {f"without {name}": tuple(other for other in known if other != name) for name in known}
        counts = {name: int(_up_to(grid, members)[k]) for name, members in sets.items()}
        rows = [(name, f"{count:,}", percent(count / n)) for name, count in counts.items()]
        heads = ("Known", "alone" if k == 1 else f"in a class of {k} or fewer", "of the records")
        counted = table("Records in small classes", heads, rows, chosen=0)
        return show_state(template, values, _describe(grid, k, known), counted)

    return Explorer(bound(template), tell)


def _up_to(grid: pd.DataFrame, known: tuple[str, ...]) -> pd.Series:
    """Records in classes of k or fewer for one set of keys, by k; for the empty set all records are one class."""
    ks = range(1, style.last_k(grid) + 1)
    if not known:
        n = int(grid["n"].iloc[0])
        return grid[list(ks)].iloc[0] * 0 + np.where(np.array(ks) >= n, n, 0)
    return grid.loc[[keys == known for keys in grid["keys"]], list(ks)].iloc[0]


def _describe(grid: pd.DataFrame, k: int, known: tuple[str, ...]) -> str:
    share = _up_to(grid, known)[k] / grid["n"].iloc[0]
    return f"At k = {k}, known {', '.join(known) or 'nothing'}: {percent(share)}."


def _compact(grid: pd.DataFrame, keys: tuple[str, ...], k_max: int) -> list[dict]:
    """A row for each set, the empty one first; its number has a bit for each key."""
    counts = [_up_to(grid, ()).tolist(), *grid[list(range(1, k_max + 1))].to_numpy().tolist()]
    return [
        {
            "set": sum(2 ** keys.index(name) for name in known),
            "known": f"Known: {', '.join(known)}" if known else "Nothing is known",
            "up_to": up_to,
        }
        for known, up_to in zip([(), *grid["keys"]], counts)
    ]


def _layers(keys: int, k_max: int) -> list:
    """The curves of what is known and of all, a mark at the chosen k, and unseen points with tooltips."""
    x = alt.X(
        "k:Q",
        scale=alt.Scale(domain=[1, k_max], nice=False, padding=6),
        axis=alt.Axis(values=[1, *range(5, k_max + 1, 5)], format="d", grid=False),
        title="k: records in the class",
    )
    y = style.shares_axis("Y", "share", "Records in a class of k or fewer (%)", nice=False)
    rows = f"datum.set == set || datum.set == {2**keys - 1}"
    curve = f"datum.set == set ? '{_CURVES[0]}' : '{_CURVES[1]}'"
    curves = style.curves_by_k(rows, k_max, "up_to", "count", "datum.count / records", curve=curve).encode(x=x, y=y)
    color, dash = style.by_name(_CURVES, [BLUE, ORANGE]), style.by_name(_CURVES, [[1, 0], [6, 4]])
    lines = curves.mark_line(interpolate="step-after", strokeWidth=2.5).encode(
        color=alt.Color("curve:N", scale=color, title=None),
        strokeDash=alt.StrokeDash("curve:N", scale=dash, title=None, legend=style.line_legend()),
    )
    hover = style.hover(
        curves,
        ("known:N", "set"),
        ("k:Q", "k"),
        ("count:Q", "records in a class of k or fewer", style.COUNT),
        ("share:Q", "of the file", style.SHARE),
    )
    chosen = alt.Chart().transform_filter("datum.set == set")
    return [lines, *style.mark_at(chosen, x, y, k="k_class", share="datum.up_to[k_class - 1] / records"), hover]
