"""The choices of levels of a file: all at a glance, and an explorer of them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from kanon_lab.digits import percent
from kanon_lab.errors import OptionError, shortened
from kanon_lab.methods import LOSSES, lattice_search, level_grid
from kanon_lab.show import style
from kanon_lab.show.colors import BLUE, ORANGE
from kanon_lab.show.controls import Explorer, Shown, bound, drawn, show_state, table
from kanon_lab.show.style import alt

if TYPE_CHECKING:
    import pandas as pd

    from kanon_lab.methods import Hierarchy
    from kanon_lab.roles import KeySpec

_GRID = ("n", "n_classes", "k_achieved", "weighted_level", 1)
_TITLE = "Generalise more, remove less"
_KIND = "Scatter plot"
_MARKS = "Each mark: one plan (a level for each variable)"
# Pixels: of the drawing, of a line of words, and from the drawing to the words below its axis.
_HEIGHT, _LINE, _BELOW = 320, 16, 46
_VERDICTS = ("within the limit", "over the limit")
_K_MAX = 20

# Records in classes smaller than k, and whether so many may be removed; never all of them.
_REMOVED = "k_required > 1 ? {}.up_to[k_required - 2] : 0"
_WITHIN = "{0} <= floor(limit / 100 * records + 1e-9) && {0} < records"
# The result in words.
_WORDS = {
    "row": "data('levels')[indexof(pluck(data('levels'), 'node'), node)]",
    "removed": _REMOVED.format("row"),
    "count": style.count_expression("removed"),
    "verdict": f"({_WITHIN.format('removed')} ? 'within' : 'over') + ' the ' + limit + '% limit'",
    "cost": "['k = ' + k_required + ': ' + count, 'must be removed: ' + verdict]",
    "classes": (
        "format(row.classes, ',') + (row.classes > 1 ? ' classes, ' : ' class, ')"
        " + format(records / row.classes, ',.1f') + ' records on average'"
    ),
    "smallest": "'smallest class: ' + format(row.k, ',') + (row.k > 1 ? ' records' : ' record')",
}


def level_explorer(
    grid: pd.DataFrame,
    level_names: Mapping[str, Sequence[str]],
    *,
    k: int = 5,
    levels: Mapping[str, int] | None = None,
    suppression_limit: float = 0.0,
) -> alt.LayerChart:
    """Generalisation against removed records, with controls for k, the limit, and the level of each hierarchy.

    Parameters
    ----------
    grid : DataFrame
        From `kanon_lab.methods.level_grid`.
    level_names : mapping of str to sequence of str
        By key variable the names of its levels, 0 first, such as ``Hierarchy.level_names``.
    k : int
        The k required that is shown first, 1 to one more than the grid's last.
    levels : mapping of str to int, optional
        The levels shown first, 0 where none is given.
    suppression_limit : float
        Share (0-1) of the records that may be removed, shown first.

    Returns
    -------
    altair.LayerChart
        A mark for each node, the chosen one in front, with its result in words. It carries each node's counts as one
        array: 500 nodes and k to 20 are about 80 kB.

    Examples
    --------
    >>> ages = {"age": kanon_lab.methods.Hierarchy.from_intervals([[0, 20, 40]], closed="left")}
    >>> grid = kanon_lab.methods.level_grid(pd.DataFrame({"age": [1, 2, 21]}), ages)
    >>> chart = kanon_lab.show.level_explorer(grid, {"age": ["years", "decades"]}, k=2, levels={"age": 1})
    >>> chart.description.split(". ")[-1]
    'At k = 2, 33.3% of the records must be removed with age: decades.'
    """
    state = _State.of(grid, level_names, k, suppression_limit, levels or {})
    return style.live(
        _drawn(state, controls=True),
        title=alt.TitleParams(alt.ExprRef("cost"), subtitle=[f"{_MARKS};", "diamond: the chosen plan"]),
        subject=state.subject(f"{_KIND} with controls"),
        state=state.result(),
        height=_HEIGHT,
    )


def nodes(
    grid: pd.DataFrame,
    level_names: Mapping[str, Sequence[str]] | None = None,
    *,
    k_required: int,
    suppression_limit: float = 0.0,
    chosen: Mapping[str, int] | None = None,
) -> alt.LayerChart:
    """Generalisation against removed records of every node of a lattice, at one k.

    Parameters
    ----------
    grid, level_names, suppression_limit
        As in `level_explorer`; without names, levels are called by their numbers.
    k_required : int
        1 to one more than the grid's last k.
    chosen : mapping of str to int, optional
        The levels of one node, to be marked and put into words.

    Examples
    --------
    >>> ages = {"age": kanon_lab.methods.Hierarchy.from_intervals([[0, 20, 40]], closed="left")}
    >>> grid = kanon_lab.methods.level_grid(pd.DataFrame({"age": [1, 2, 21]}), ages)
    >>> kanon_lab.show.nodes(grid, k_required=2, suppression_limit=0.4).description.split(". ")[-1]
    'At k = 2, where at most 40% of records may be removed: 1 of them stay within that limit.'
    """
    state = _State.of(grid, level_names, k_required, suppression_limit, chosen)
    return style.finish(
        _drawn(state),
        title=_TITLE,
        subtitle=f"{state.allowed()}. {_MARKS}",
        description=f"{state.subject(_KIND)} {state.result()}",
        height=_HEIGHT,
    )


def explore_levels(
    frame: pd.DataFrame,
    hierarchies: Mapping[str, Hierarchy],
    *,
    spec: KeySpec | None = None,
    k: int = 5,
    levels: Mapping[str, int] | None = None,
    suppression_limit: float = 0.0,
    loss: str = "discernibility",
    k_max: int | None = None,
) -> Explorer:
    """An explorer of the levels of hierarchies, k and how many records may be removed, for JupyterLab.

    Parameters
    ----------
    frame : DataFrame
        One row a record. Not changed.
    hierarchies : mapping of str to Hierarchy
        By key variable.
    spec : KeySpec, optional
        By default the variables of `hierarchies` are the keys.
    k, levels, suppression_limit
        Shown first, as in `level_explorer`.
    loss : str
        What the button for the best levels makes least: one of `kanon_lab.methods.LOSSES`.
    k_max : int, optional
        The largest k required that can be chosen, at least 2; by default 20, or `k` if that is more.

    Returns
    -------
    Explorer
        Of ``k_required``, ``limit`` (in per cent) and, for each variable that has a choice, ``level0``, ``level1`` ...
        Its button moves these to the optimum of `kanon_lab.methods.lattice_search`. As the last line of a cell it shows
        itself.

    Examples
    --------
    >>> ages = {"age": kanon_lab.methods.Hierarchy.from_intervals([[0, 20, 40]], closed="left")}
    >>> explorer = kanon_lab.show.explore_levels(pd.DataFrame({"age": [1, 2, 21, 22]}), ages, k=2)
    >>> explorer.button.click()
    >>> explorer.values
    {'k_required': 2, 'limit': 0.0, 'level0': 1}
    """
    if not isinstance(k, int) or k < 1:
        raise OptionError(f"k must be a whole number, at least 1, not {k!r}")
    k_max = max(_K_MAX, k) if k_max is None else k_max
    if not isinstance(k_max, int) or k_max < 2:
        raise OptionError(f"k_max must be a whole number, at least 2, not {k_max!r}")
    if loss not in LOSSES:
        raise OptionError(f"loss must be one of {', '.join(LOSSES)}, not {loss!r}")
    grid = level_grid(frame, hierarchies, spec=spec, k_max=k_max - 1)
    names = {name: hierarchy.level_names for name, hierarchy in hierarchies.items()}
    chart = level_explorer(grid, names, k=k, levels=levels, suppression_limit=suppression_limit)
    template = drawn(chart)
    varied = {f"level{i}": name for i, name in enumerate(_State.of(grid, names, k, suppression_limit, {}).names)}

    def tell(values: dict[str, Any]) -> Shown:
        chosen = {name: values[control] for control, name in varied.items()}
        state = _State.of(grid, names, values["k_required"], values["limit"] / 100, chosen)
        return show_state(template, values, state.result(), _table(state, names))

    def best(values: dict[str, Any]) -> tuple[dict[str, Any], str]:
        limit = values["limit"] / 100
        try:
            best_node = lattice_search(
                frame, hierarchies, spec=spec, k_required=values["k_required"], suppression_limit=limit, loss=loss
            )
        except OptionError as error:
            return {}, escape(str(error))
        least = f"{best_node.loss:,.0f}" if best_node.loss >= 1000 else f"{best_node.loss:.3g}"
        levels = {control: best_node.levels[name] for control, name in varied.items()}
        return levels, f"Least {loss.replace('_', ' ')}: {least}"

    return Explorer(bound(template), tell, button=("Move to the best levels", best))


def _table(state: _State, names: Mapping[str, Sequence[str]]) -> str:
    """The chosen node, and its neighbours one level up."""
    chosen = state.levels or {}
    beside = {"as chosen": chosen}
    for name, level in chosen.items():
        if level + 1 < len(names[name]):
            beside[f"{name}: {shortened(names[name][level + 1])}"] = chosen | {name: level + 1}
    rows = []
    for words, levels in beside.items():
        removed, n, classes, k = state.measured(levels)
        rows.append((words, f"{removed:,}", percent(removed / n), f"{classes:,}", f"{k:,}"))
    heads = ("One level up", "to be removed", "of the records", "classes", "smallest class")
    return table("What one more step would bring", heads, rows, chosen=0)


@dataclass(frozen=True)
class _State:
    """A grid, and what of it is shown: `names` of the levels of each variable that has several, and the chosen node."""

    grid: pd.DataFrame
    names: dict[str, list[str]]
    k: int
    limit: float
    levels: dict[str, int] | None

    @classmethod
    def of(
        cls,
        grid: pd.DataFrame,
        level_names: Mapping[str, Sequence[str]] | None,
        k: int,
        limit: float,
        chosen: Mapping[str, int] | None,
    ) -> _State:
        style.check_columns(grid, _GRID, "level_grid(frame, hierarchies)")
        k_max = 1 + style.last_k(grid)  # smaller classes than that are counted
        if k not in range(1, k_max + 1):
            raise OptionError(f"k must be from 1 to {k_max}, not {k!r}")
        if not 0 <= limit <= 1:
            raise OptionError(f"suppression_limit must be a share from 0 to 1, not {limit!r}")
        tops = grid.loc[:, : _GRID[0]].iloc[:, :-1].max()
        names = {str(name): _named(str(name), int(top), level_names) for name, top in tops.items()}
        for name, level in (chosen or {}).items():
            if name not in names or level not in range(len(names[name])):
                raise OptionError(f"the grid has no level {level!r} of {shortened(str(name))}")
        names = {name: words for name, words in names.items() if len(words) > 1}
        if not names:
            raise OptionError("no variable has a second level: there is nothing to choose")
        levels = None if chosen is None else {name: int(chosen.get(name, 0)) for name in names}
        return cls(grid, names, k, limit, levels)

    def values(self) -> dict:
        """What a control can move: parameter -> value."""
        levels = {f"level{i}": level for i, level in enumerate((self.levels or {}).values())}
        return {"k_required": self.k, "limit": _per_cent(self.limit), **levels}

    def subject(self, kind: str) -> str:
        """What the chart shows in any of its states."""
        return (
            f"{kind} of {len(self.grid):,} plans, each a level for every one of {', '.join(self.names)}: the share of "
            "records in classes smaller than k, which must be removed, against generalisation from 0 to 1."
        )

    def allowed(self) -> str:
        few = f"at most {_per_cent(self.limit):g}% of records" if self.limit else "no record"
        return f"k = {self.k}; {few} may be removed"

    def result(self) -> str:
        if self.levels is None:
            removed, n = _removed_at(self.grid, self.k), self.grid["n"]
            few = (removed <= self.limit * n + 1e-9) & (removed < n)  # as `lattice_search` has it, never all of them
            return f"At {self.allowed().replace(';', ', where')}: {int(few.sum()):,} of them stay within that limit."
        of_node, of_all, *_ = self.measured(self.levels)
        words = ", ".join(f"{name}: {self.names[name][level]}" for name, level in self.levels.items())
        return f"At k = {self.k}, {percent(of_node / of_all)} of the records must be removed with {words}."

    def measured(self, levels: Mapping[str, int]) -> tuple[int, int, int, int]:
        """Records to be removed, records, classes and k achieved of a node."""
        rows = self.grid[(self.grid[list(levels)] == list(levels.values())).all(axis=1)]
        if len(rows) != 1:
            raise OptionError(f"the grid has {len(rows)} nodes of the chosen levels, not one: make it with level_grid")
        removed = int(_removed_at(rows, self.k).iloc[0])
        n, classes, k = (int(rows[column].iloc[0]) for column in ("n", "n_classes", "k_achieved"))
        return removed, n, classes, k


def _removed_at(grid: pd.DataFrame, k_required: int) -> pd.Series:
    """Records of each node in classes smaller than k."""
    return grid[k_required - 1] if k_required > 1 else 0 * grid["n"]


def _named(name: str, top: int, level_names: Mapping[str, Sequence[str]] | None) -> list[str]:
    names = list((level_names or {}).get(name) or (f"level {level}" for level in range(top + 1)))
    if len(names) != top + 1:
        raise OptionError(f"{shortened(str(name))} has {top + 1} levels in the grid, and {len(names)} names of levels")
    return [shortened(words, 28) for words in names]


def _per_cent(share: float) -> float:
    return round(100 * share, 6)


def _bindings(state: _State) -> dict:
    most = max(20, _per_cent(state.limit))
    # Names of levels stand in the list itself: a slider would show numbers.
    return {
        "k_required": alt.binding_range(min=1, max=1 + style.last_k(state.grid), step=1, name="k required: "),
        "limit": alt.binding_range(min=0, max=most, step=0.5, name="may be removed, at most (%): "),
        **{
            f"level{i}": alt.binding_select(options=list(range(len(words))), labels=words, name=f"{name}: ")
            for i, (name, words) in enumerate(state.names.items())
        },
    }


def _drawn(state: _State, *, controls: bool = False) -> alt.LayerChart:
    x = alt.X(
        "x:Q",
        scale=alt.Scale(domain=[0, 1], nice=False, padding=6),
        axis=alt.Axis(values=[0, 0.25, 0.5, 0.75, 1], format=".2~f"),
        title="Generalisation (0: none; 1: all at the top)",
    )
    y = style.shares_axis("Y", "share", "Records to be removed (%)", nice=False, padding=6)
    layers = [style.line_at(y, share="limit / 100"), _marks(state, x, y)]
    values, words = {"records": int(state.grid["n"].iloc[0]), **state.values()}, {}
    if state.levels is not None:
        words = _words(state)
        node = alt.Chart().transform_filter("datum.node == node")
        node = node.transform_calculate(share=f"({_REMOVED.format('datum')}) / records")
        layers += [style.diamond_at(node, x, y), style.words_at("lines", 0, _HEIGHT + _BELOW, line=_LINE)]
    parameters = style.params(values, _bindings(state) if controls else {}, words)
    return style.layered(layers, "levels", _compact(state), parameters)


def _words(state: _State) -> dict[str, str]:
    """The words of the chosen node, line by line (`lines`), in the title (`cost`), and in one text (`told`)."""
    names = [
        f"{json.dumps(f'{name}: ')} + {json.dumps(words)}[level{i}]"
        for i, (name, words) in enumerate(state.names.items())
    ]
    node = " + ',' + ".join(f"level{i}" for i in range(len(names)))
    return {
        "node": f"'' + {node}",
        **_WORDS,
        "lines": f"['Diamond:', {', '.join(names)}, classes, smallest]",
        "told": f"[join(cost, ' ') + '. ' + join([{', '.join(names)}], ', ') + '. ' + classes + '; ' + smallest]",
    }


def _compact(state: _State) -> list[dict]:
    grid = state.grid
    levels = grid[list(state.names)].to_numpy().tolist()
    counts = grid[list(range(1, style.last_k(grid) + 1))].to_numpy().tolist()
    measured = zip(levels, counts, grid["weighted_level"], grid["n_classes"], grid["k_achieved"])
    return [
        {
            "node": ",".join(map(str, node)),
            "levels": node,
            "x": round(weighted / len(state.names), 4),
            "classes": int(classes),
            "k": int(k),
            "up_to": up_to,
        }
        for node, up_to, weighted, classes, k in measured
    ]


def _marks(state: _State, x: alt.X, y: alt.Y) -> alt.Chart:
    yes, no = _VERDICTS
    level_words = {
        f"level_of_{i}": f"{json.dumps(words)}[datum.levels[{i}]]" for i, words in enumerate(state.names.values())
    }
    marks = (
        alt.Chart()
        .transform_calculate(removed=_REMOVED.format("datum"))
        .transform_calculate(
            share="datum.removed / records",
            verdict=f"{_WITHIN.format('datum.removed')} ? '{yes}' : '{no}'",
            **level_words,
        )
    )
    return marks.mark_point(filled=True, size=42, opacity=0.85).encode(
        x=x,
        y=y,
        **style.told_apart("verdict:N", _VERDICTS, color=[BLUE, ORANGE], shape=["circle", "triangle-down"], title=None),
        tooltip=style.tooltips(
            *((f"level_of_{i}:N", name) for i, name in enumerate(state.names)),
            ("removed:Q", "records to be removed", style.COUNT),
            ("share:Q", "of the file", style.SHARE),
            ("classes:Q", "classes", style.COUNT),
            ("k:Q", "smallest class", style.COUNT),
        ),
    )
