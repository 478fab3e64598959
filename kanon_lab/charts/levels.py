"""The choices of levels of a file: all at a glance, and an explorer of them that needs no kernel."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kanon_lab.charts.axes import share_expression
from kanon_lab.charts.style import BLACK, BLUE, GREY, ORANGE, altair, check_columns, finish, title
from kanon_lab.digits import percent
from kanon_lab.errors import OptionError, shortened

if TYPE_CHECKING:
    import altair as alt
    import pandas as pd

_GRID = ("n", "n_classes", "k_achieved", "weighted_level", 1)
_TITLE = "Generalise more, remove less"
_KIND = "Scatter plot"
_MARKS = "Each mark: one plan (a level for each variable)"
# Pixels: of the drawing, of a line of words, and from the drawing to the words below its axis.
_HEIGHT, _LINE, _BELOW = 320, 16, 46
_VERDICTS = ("within the limit", "over the limit")

# Records in classes smaller than k, and whether so many may be removed; never all of them.
_REMOVED = "k_required > 1 ? {}.up_to[k_required - 2] : 0"
_WITHIN = "{0} <= floor(limit / 100 * records + 1e-9) && {0} < records"
# The result in words. They are signals of their own, because the title and the chart show them and a page tells them to
# screen readers (`kanon_lab.page`).
_WORDS = {
    "row": "data('levels')[indexof(pluck(data('levels'), 'node'), node)]",
    "removed": _REMOVED.format("row"),
    "count": (
        "(removed ? format(removed, ',') : 'none') + ' of ' + format(records, ',') + ' records'"
        " + (removed ? ' (' + " + share_expression("removed / records") + " + ')' : '')"
    ),
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
        From `kanon_lab.lattice.level_grid`.
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

    Raises
    ------
    OptionError
        For a frame that is not a grid with these levels, or a start that is not in it.
    """
    alt = altair()
    state = _State.of(grid, level_names, k, suppression_limit, levels or {})
    subject = state.subject(f"{_KIND} with controls")
    chart = finish(
        _drawn(state, _bindings(state)),
        title=alt.TitleParams(alt.ExprRef("cost"), subtitle=[f"{_MARKS};", "diamond: the chosen one"]),
        description=f"{subject} {state.result()}",
        height=_HEIGHT,
    )
    return chart.properties(usermeta={"live": {"signal": "told", "description": subject}})


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

    Returns
    -------
    altair.LayerChart

    Raises
    ------
    OptionError
        For a frame that is not a grid with these levels, or a k or node that is not in it.
    """
    state = _State.of(grid, level_names, k_required, suppression_limit, chosen)
    return finish(
        _drawn(state, {}),
        title=state.title(),
        description=f"{state.subject(_KIND)} {state.result()}",
        height=_HEIGHT,
    )


def moved(
    spec: dict,
    grid: pd.DataFrame,
    level_names: Mapping[str, Sequence[str]],
    *,
    k_required: int,
    suppression_limit: float,
    chosen: Mapping[str, int],
) -> dict:
    """The specification of `nodes`, moved to another k, limit or chosen node.

    Building a chart takes a tenth of a second, most of it validation; a slider cannot wait for that.

    Parameters
    ----------
    spec : dict
        ``nodes(...).to_dict()`` with the same grid and names, and a chosen node.
    grid, level_names, k_required, suppression_limit, chosen
        As in `nodes`.

    Returns
    -------
    dict
        A new specification; `spec` is left as it is.

    Raises
    ------
    OptionError
        As in `nodes`.
    """
    state = _State.of(grid, level_names, k_required, suppression_limit, chosen)
    values = state.values()
    return spec | {
        "params": [p | {"value": values[p["name"]]} if p["name"] in values else p for p in spec["params"]],
        "title": spec["title"] | {"subtitle": state.title().subtitle},
        "description": f"{state.subject(_KIND)} {state.result()}",
    }


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
        check_columns(grid, _GRID, "level_grid(frame, hierarchies)")
        if k not in range(1, last_k(grid) + 1):
            raise OptionError(f"k must be from 1 to {last_k(grid)}, not {k!r}")
        if not 0 <= limit <= 1:
            raise OptionError(f"suppression_limit must be a share from 0 to 1, not {limit!r}")
        tops = grid.loc[:, : _GRID[0]].iloc[:, :-1].max()
        names = {name: _named(name, int(top), level_names) for name, top in tops.items()}
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

    def title(self) -> alt.TitleParams:
        return title(_TITLE, f"{self.allowed()}. {_MARKS}")

    def allowed(self) -> str:
        few = f"at most {_per_cent(self.limit):g}% of records" if self.limit else "no record"
        return f"k = {self.k}; {few} may be removed"

    def result(self) -> str:
        if self.levels is None:
            few = within(removed_at(self.grid, self.k), self.limit, self.grid["n"])
            return f"At {self.allowed().replace(';', ', where')}: {int(few.sum()):,} of them stay within that limit."
        row = node_at(self.grid, self.levels)
        words = ", ".join(f"{name}: {self.names[name][level]}" for name, level in self.levels.items())
        share = percent(removed_at(row, self.k).iloc[0] / row["n"].iloc[0])
        return f"At k = {self.k}, {share} of the records must be removed with {words}."


def last_k(grid: pd.DataFrame) -> int:
    """The largest k required that a grid can answer: smaller classes than that are counted in it."""
    return 1 + max(column for column in grid.columns if not isinstance(column, str))


def removed_at(grid: pd.DataFrame, k_required: int) -> pd.Series:
    """Records of each node in classes smaller than k."""
    return grid[k_required - 1] if k_required > 1 else 0 * grid["n"]


def within(removed: Any, limit: float, n: Any) -> Any:
    """Whether so many records may be removed: as `kanon_lab.lattice.search` has it, never all of them."""
    return (removed <= limit * n + 1e-9) & (removed < n)


def node_at(grid: pd.DataFrame, levels: Mapping[str, int]) -> pd.DataFrame:
    """The one row of a node."""
    rows = grid[(grid[list(levels)] == list(levels.values())).all(axis=1)]
    if len(rows) != 1:
        raise OptionError(f"the grid has {len(rows)} nodes of the chosen levels, not one: make it with level_grid")
    return rows


def _named(name: str, top: int, level_names: Mapping[str, Sequence[str]] | None) -> list[str]:
    names = list((level_names or {}).get(name) or (f"level {level}" for level in range(top + 1)))
    if len(names) != top + 1:
        raise OptionError(f"{shortened(str(name))} has {top + 1} levels in the grid, and {len(names)} names of levels")
    return [shortened(words, 28) for words in names]


def _per_cent(share: float) -> float:
    return round(100 * share, 6)


def _bindings(state: _State) -> dict:
    alt = altair()
    controls = {
        "k_required": alt.binding_range(min=1, max=last_k(state.grid), step=1, name="k required: "),
        "limit": alt.binding_range(
            min=0, max=max(20, _per_cent(state.limit)), step=0.5, name="may be removed, at most (%): "
        ),
    }
    for i, (name, words) in enumerate(state.names.items()):
        # Names of levels stand in the list itself: a slider would show numbers.
        controls[f"level{i}"] = alt.binding_select(options=list(range(len(words))), labels=words, name=f"{name}: ")
    return controls


def _drawn(state: _State, bindings: dict) -> alt.LayerChart:
    alt = altair()
    words = _words(state) if state.levels is not None else {}
    params = [alt.param(name="records", value=int(state.grid["n"].iloc[0]))]
    params += [alt.param(name=n, value=v, bind=bindings.get(n, alt.Undefined)) for n, v in state.values().items()]
    params += [alt.param(name=name, expr=expression) for name, expression in words.items()]
    x = alt.X(
        "x:Q",
        scale=alt.Scale(domain=[0, 1], nice=False, padding=6),
        axis=alt.Axis(values=[0, 0.25, 0.5, 0.75, 1], format=".2~f"),
        title="Generalisation (0: none; 1: all at the top)",
    )
    y = alt.Y(
        "share:Q",
        scale=alt.Scale(domain=[0, 1], nice=False, padding=6),
        axis=alt.Axis(values=[0, 0.2, 0.4, 0.6, 0.8, 1], format="~%"),
        title="Records to be removed (%)",
    )
    layers = [_limit(y), _marks(state, x, y), *(_chosen(x, y) if words else [])]
    # With a name of its own, altair leaves the data where the words find them.
    return alt.layer(*layers, data=alt.InlineData(name="levels", values=_compact(state))).add_params(*params)


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
    counts = grid[list(range(1, last_k(grid)))].to_numpy().tolist()
    measured = zip(levels, counts, grid["weighted_level"], grid["n_classes"], grid["k_achieved"])
    return [
        {
            "node": ",".join(map(str, node)),
            "levels": node,
            "x": round(weighted / max(1, len(state.names)), 4),
            "classes": int(classes),
            "k": int(k),
            "up_to": up_to,
        }
        for node, up_to, weighted, classes, k in measured
    ]


def _limit(y: alt.Y) -> alt.Chart:
    alt = altair()
    line = alt.Chart(alt.InlineData(values=[{}])).transform_calculate(share="limit / 100")
    return line.mark_rule(color=GREY, strokeDash=[4, 4]).encode(y=y)


def _marks(state: _State, x: alt.X, y: alt.Y) -> alt.Chart:
    alt = altair()
    yes, no = _VERDICTS
    scale = {"color": [BLUE, ORANGE], "shape": ["circle", "triangle-down"]}
    told = {f"level_of_{i}": f"{json.dumps(words)}[datum.levels[{i}]]" for i, words in enumerate(state.names.values())}
    marks = (
        alt.Chart()
        .transform_calculate(removed=_REMOVED.format("datum"))
        .transform_calculate(
            share="datum.removed / records",
            verdict=f"{_WITHIN.format('datum.removed')} ? '{yes}' : '{no}'",
            **told,
        )
    )
    return marks.mark_point(filled=True, size=42, opacity=0.85).encode(
        x=x,
        y=y,
        color=alt.Color("verdict:N", scale=alt.Scale(domain=_VERDICTS, range=scale["color"]), title=None),
        shape=alt.Shape("verdict:N", scale=alt.Scale(domain=_VERDICTS, range=scale["shape"]), title=None),
        tooltip=[
            *(alt.Tooltip(f"level_of_{i}:N", title=name) for i, name in enumerate(state.names)),
            alt.Tooltip("removed:Q", title="records to be removed", format=","),
            alt.Tooltip("share:Q", title="of the file", format=".3~p"),
            alt.Tooltip("classes:Q", title="classes", format=","),
            alt.Tooltip("k:Q", title="smallest class", format=","),
        ],
    )


def _chosen(x: alt.X, y: alt.Y) -> tuple:
    """The chosen node, and its words below the axis."""
    alt = altair()
    node = (
        alt.Chart()
        .transform_filter("datum.node == node")
        .transform_calculate(share=f"({_REMOVED.format('datum')}) / records")
    )
    diamond = node.mark_point(
        filled=True, shape="diamond", size=230, color=BLACK, stroke="white", strokeWidth=2, opacity=1
    )
    words = alt.Chart(alt.InlineData(values=[{}])).mark_text(
        align="left", baseline="top", lineHeight=_LINE, text=alt.ExprRef("lines")
    )
    return diamond.encode(x=x, y=y), words.encode(x=alt.value(0), y=alt.value(_HEIGHT + _BELOW))
