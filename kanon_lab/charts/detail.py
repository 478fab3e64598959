"""The explorer of the study's choice: detail of geography, detail of age, sampling fraction. Without a kernel."""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import product, starmap
from typing import TYPE_CHECKING

from kanon_lab.charts.axes import (
    LEAST,
    LINE,
    STROKE,
    SYMBOLS,
    by_name,
    check_some,
    drawable,
    inline_rounded,
    log_shares,
    share_expression,
)
from kanon_lab.charts.style import BLACK, LIGHT_GREY, ORANGE, altair, check_columns, finish, title
from kanon_lab.digits import percent
from kanon_lab.errors import OptionError, shortened

if TYPE_CHECKING:
    import altair as alt
    import pandas as pd

#: Columns of `kanon_lab.subsample.expected_study` that the explorer says and draws.
SHOWN = ("fraction", "u1", "u2", "u", "p_c", "p_d", "p_identification")
SHOWN += ("true_p_c", "true_p_d", "true_p_identification")
_ESTIMATE, _TRUTH = "the study's estimate", "with true shares"
_HEADING, _NOTE = "Risk by detail and fraction", "Grey: estimates with other detail"
# Pixels from the drawing to the words below the name of its axis.
_HEIGHT, _BELOW = 320, 46
_RISK = "p_identification"
# Of the chosen `row`: what Vega says of it.
_COUNTS = "'u1 ' + format(row.u1, ',.0f') + ', u2 ' + format(row.u2, ',.0f') + ', u ' + format(row.u, ',.0f')"
_NUMBERS = {"p(c)": "p_c", "p(d)": "p_d"}
# The factors can be counted; their product is a formula, with true shares too.
_IN_TRUTH = ("in truth", "with true shares")


@dataclass(frozen=True)
class DetailState:
    """One state of the explorer.

    Attributes
    ----------
    grid : DataFrame
        As from `kanon_lab.subsample.detail_grid`.
    levels : dict of str to list of str
        By variable its labels, in order.
    fractions : list of float
        Those of the grid, rising.
    chosen : dict of str to str
        The label of each variable.
    fraction : float
        One of `fractions`.
    """

    grid: pd.DataFrame
    levels: dict[str, list[str]]
    fractions: list[float]
    chosen: dict[str, str]
    fraction: float

    @classmethod
    def of(cls, grid: pd.DataFrame, fraction: float | None, start: dict[str, str]) -> DetailState:
        """The state asked for: by default the first labels, and the middle fraction.

        Raises
        ------
        OptionError
            The frame is no such grid, or the state is not in it.
        """
        check_columns(grid, SHOWN, "subsample.detail_grid(cells, spec, levels, fractions)")
        names = list(grid.columns[: list(grid.columns).index("fraction")])
        levels = {name: list(dict.fromkeys(grid[name])) for name in names}
        fractions = sorted(set(grid["fraction"]))
        size = len(fractions)
        for labels in levels.values():
            size *= len(labels)
        if not names or len(grid) != size or grid.duplicated([*names, "fraction"]).any():
            raise OptionError("the explorer needs each combination of levels and fraction once: use detail_grid(...)")
        fraction = fractions[len(fractions) // 2] if fraction is None else fraction
        if fraction not in fractions:
            raise OptionError(f"the grid has no fraction {fraction!r}: give detail_grid that one too")
        for name, label in start.items():
            if label not in levels.get(name, ()):
                raise OptionError(f"the grid has no level {shortened(repr(label))} of {shortened(repr(name))}")
        return cls(grid, levels, fractions, {name: labels[0] for name, labels in levels.items()} | start, fraction)

    @property
    def row(self) -> pd.Series:
        """The grid's row of this state."""
        found = self.grid["fraction"] == self.fraction
        for name, label in self.chosen.items():
            found &= self.grid[name] == label
        return self.grid[found].iloc[0]

    @property
    def place(self) -> int:
        """Number of the chosen combination, the last variable's labels changing fastest."""
        number = 0
        for name, labels in self.levels.items():
            number = number * len(labels) + labels.index(self.chosen[name])
        return number

    @property
    def name(self) -> str:
        """The chosen labels."""
        return ", ".join(map(str, self.chosen.values()))

    @property
    def subject(self) -> str:
        """What the chart shows in any of its states."""
        levels = "; ".join(f"{name}: {', '.join(map(str, labels))}" for name, labels in self.levels.items())
        return (
            "Line chart of the probability of identification, estimated and with true shares, by sampling fraction, on "
            f"logarithmic axes, by detail of {levels}."
        )

    @property
    def description(self) -> str:
        """What the chart shows in this state."""
        row = self.row
        return (
            f"{self.subject} With {self.name} and a fraction of {percent(self.fraction)}: estimated "
            f"{percent(row['p_identification'])}, with true shares {percent(row['true_p_identification'])}."
        )

    def rows(self) -> list[dict]:
        """The grid, combination by combination, each in order of fractions."""
        combinations = list(product(*self.levels.values()))
        number = {labels: place for place, labels in enumerate(combinations)}
        names = list(self.levels)
        rows = self.grid[list(SHOWN)].assign(
            place=[number[labels] for labels in self.grid[names].itertuples(index=False, name=None)],
            name=[", ".join(map(str, labels)) for labels in self.grid[names].itertuples(index=False, name=None)],
            at=[self.fractions.index(fraction) for fraction in self.grid["fraction"]],
        )
        return inline_rounded(rows.sort_values(["place", "at"])).values

    def values(self) -> dict[str, int]:
        """What the chart is told of this state."""
        return {"place": self.place, "step": self.fractions.index(self.fraction)}


def detail_explorer(
    grid: pd.DataFrame, /, *, fraction: float | None = None, controls: bool = True, **start: str
) -> alt.LayerChart:
    """The probability of identification by sampling fraction, with controls for the detail of each variable.

    Parameters
    ----------
    grid : DataFrame
        From `kanon_lab.subsample.detail_grid`.
    fraction : float, optional
        Shown first, a fraction of the grid; by default the middle one.
    controls : bool
        With controls (a list a variable and one of the fractions, drawn by Vega) and the result in words as its title.
        Without them the chart shows one state: the widgets bring controls of their own.
    **start : str
        By variable the label shown first, by default its first one.

    Returns
    -------
    altair.LayerChart
        Estimate and truth of the chosen combination, the estimates of the others in grey, and marks at the chosen
        fraction. It carries a row a combination and fraction.

    Raises
    ------
    OptionError
        For a frame that is no such grid, a start that is not in it, or probabilities none of which can be drawn.
    """
    alt = altair()
    state = DetailState.of(grid, fraction, start)
    values = state.values()
    params = [alt.param(name=name, value=value) for name, value in values.items()]
    if controls:
        params = _controls(state)
    # With a name of its own, altair leaves the data where the words find them.
    data = alt.InlineData(name="detail", values=state.rows())
    chart = finish(
        alt.layer(*_drawn(state), *([_numbers()] if controls else []), data=data).add_params(*params),
        title=alt.TitleParams(alt.ExprRef("words"), subtitle=_NOTE) if controls else title(_HEADING, _NOTE),
        description=state.description,
        height=_HEIGHT,
    )
    return chart.properties(usermeta={"live": {"signal": "told", "description": state.subject}}) if controls else chart


def moved(spec: dict, grid: pd.DataFrame, /, *, fraction: float, **chosen: str) -> dict:
    """The specification of an explorer without controls, moved to another state.

    Building a chart takes a tenth of a second, most of it validation; a slider cannot wait for that.

    Parameters
    ----------
    spec : dict
        ``detail_explorer(grid, controls=False).to_dict()``.
    grid, fraction, **chosen
        As in `detail_explorer`.

    Returns
    -------
    dict
        A new specification; `spec` is left as it is.

    Raises
    ------
    OptionError
        For a state that is not in the grid.
    """
    state = DetailState.of(grid, fraction, chosen)
    values = state.values()
    params = [param | {"value": values[param["name"]]} for param in spec["params"]]
    return spec | {"params": params, "description": state.description}


def _controls(state: DetailState) -> list[alt.Parameter]:
    """Lists of levels and fractions, and the result in words: signals, which the title shows and a page speaks."""
    alt = altair()
    params, place = [], "0"
    for number, (name, labels) in enumerate(state.levels.items()):
        bound = alt.binding_select(
            options=list(range(len(labels))), labels=[str(label) for label in labels], name=f"{name}: "
        )
        params.append(alt.param(name=f"level{number}", value=labels.index(state.chosen[name]), bind=bound))
        place = f"({place}) * {len(labels)} + level{number}"
    count = len(state.fractions)
    # A slider would show its position, and not the fraction.
    shown = alt.binding_select(
        options=list(range(count)), labels=list(map(percent, state.fractions)), name="sampling fraction: "
    )
    risk, truth = _told("identified", _RISK)
    factors = [f"{estimate} + ' ' + {counted}" for estimate, counted in starmap(_told, _NUMBERS.items())]
    words = {
        "place": place,
        "row": f"data('detail')[place * {count} + step]",
        # A line each: what a telephone has room for.
        "words": f"[row.name + ',', 'sample of ' + format(row.fraction, '.3~p') + ':', {risk}, {truth}]",
        "numbers": f"[{_COUNTS}, {', '.join(factors)}]",
        "told": "[join(words, ' ') + '; ' + join(numbers, '; ')]",
    }
    params.append(alt.param(name="step", value=state.values()["step"], bind=shown))
    return params + [alt.param(name=name, expr=expression) for name, expression in words.items()]


def _numbers() -> alt.Chart:
    """The other numbers of the chosen row, below the axis and its title."""
    alt = altair()
    text = alt.Chart(alt.InlineData(values=[{}])).mark_text(
        align="left", baseline="top", lineHeight=LINE, text=alt.ExprRef("numbers")
    )
    return text.encode(x=alt.value(0), y=alt.value(_HEIGHT + _BELOW))


def _told(name: str, column: str) -> tuple[str, str]:
    """Two expressions: an estimate of the chosen row, with a comma, and the truth."""
    estimate, truth = share_expression(f"row.{column}"), share_expression(f"row.true_{column}")
    return f"'{name} ' + {estimate} + ','", f"'{_IN_TRUTH[column == _RISK]} ' + {truth}"


def _drawn(state: DetailState) -> list[alt.Chart]:
    alt = altair()
    kinds = {"p_identification": _ESTIMATE, "true_p_identification": _TRUTH}
    shares = state.grid[list(kinds)].stack()
    check_some(drawable(shares), "p(identification)")
    shares = shares[drawable(shares)]
    ends = min(state.fractions) * 0.97, max(state.fractions) * 1.03
    x = log_shares("X", "fraction", ends, "Sampling fraction (log scale)", grid=False)
    y = log_shares("Y", "p", (shares.min() / 1.3, shares.max() * 1.3), "p(identification), log scale")
    legend = alt.Legend(title=None, columns=1, symbolType=STROKE, **SYMBOLS)
    names = list(kinds.values())
    color = alt.Color("what:N", scale=by_name(names, (ORANGE, BLACK)), legend=legend)
    dash = alt.StrokeDash("what:N", scale=by_name(names, ([7, 4], [1, 0])), legend=legend)
    # What is 0 is said in words, and has no place on the axis.
    others = alt.Chart().transform_calculate(p="datum.p_identification").transform_filter(f"datum.p >= {LEAST}")
    others = others.mark_line(color=LIGHT_GREY, strokeWidth=1)
    chosen = (
        alt.Chart()
        .transform_filter("datum.place == place")
        .transform_fold(list(kinds), ["kind", "p"])
        .transform_filter(f"datum.p >= {LEAST}")
        .transform_calculate(what=f"({json.dumps(kinds)})[datum.kind]")
        .encode(
            x=x,
            y=y,
            color=color,
            tooltip=[
                alt.Tooltip("name:N", title="detail"),
                alt.Tooltip("what:N", title="shown"),
                alt.Tooltip("fraction:Q", title="sampling fraction", format=".3~p"),
                alt.Tooltip("p:Q", title="p(identification)", format=".3~p"),
            ],
        )
    )
    now = chosen.transform_filter("datum.at == step")
    return [
        others.encode(x=x, y=y, detail="place:N"),
        chosen.mark_line(strokeWidth=2.5).encode(strokeDash=dash),
        chosen.mark_point(size=110, opacity=0, filled=True, aria=False),
        now.mark_point(filled=True, size=140, stroke="white", strokeWidth=1.5, opacity=1),
    ]
