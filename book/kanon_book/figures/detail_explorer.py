"""The explorer of the study's choice: detail of geography, detail of age, sampling fraction."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import product, starmap
from typing import TYPE_CHECKING, Any

from kanon_book.figures.log import LEAST, LINE, STROKE, SYMBOLS, check_some, drawable, log_axis
from kanon_lab.digits import percent
from kanon_lab.errors import OptionError, shortened
from kanon_lab.sample import detail_grid
from kanon_lab.show import style
from kanon_lab.show.colors import BLACK, LIGHT_GREY, ORANGE
from kanon_lab.show.controls import Explorer, Shown, bound, drawn, ipywidgets, show_state, table
from kanon_lab.show.style import SHARE, alt, inline_rounded, layered, live, params, tooltips

if TYPE_CHECKING:
    import pandas as pd

    from kanon_lab.roles import KeySpec

# Columns of `kanon_lab.sample.expected_study` that the explorer says and draws.
_SHOWN = ("fraction", "u1", "u2", "u", "p_c", "p_d", "p_identification")
_SHOWN += ("true_p_c", "true_p_d", "true_p_identification")
_ESTIMATE, _TRUTH, _OTHERS = "the study's estimate", "with true shares", "estimates at other levels of detail"
_NOTE = "Marks: the chosen sampling fraction"
# Pixels from the drawing to the words below the name of its axis.
_HEIGHT, _BELOW = 320, 46
_RISK = "p_identification"
_FACTORS = {"p(b): in the sample": "p_b", "p(c): unique in the population": "p_c"}
_FACTORS |= {"p(d): sure of the match": "p_d", "p(identification)": "p_identification"}
# The result in words, a line each: what a telephone has room for.
_LINES = "{name},", "sample of {fraction}:", "identified {risk},", "with true shares {truth}"
# Of the chosen `row`: what Vega says of it besides.
_COUNTS = "'u1 ' + format(row.u1, ',.0f') + ', u2 ' + format(row.u2, ',.0f') + ', u ' + format(row.u, ',.0f')"
_NUMBERS = {"p(c)": "p_c", "p(d)": "p_d"}


@dataclass(frozen=True)
class _State:
    """One state of the explorer: a `detail_grid`, the labels of each variable, rising fractions; and what is chosen."""

    grid: pd.DataFrame
    levels: dict[str, list[str]]
    fractions: list[float]
    chosen: dict[str, str]
    fraction: float

    @classmethod
    def of(cls, grid: pd.DataFrame, fraction: float | None, start: dict[str, str]) -> _State:
        """The state asked for: by default the first labels, and the middle fraction."""
        style.check_columns(grid, _SHOWN, "subsample.detail_grid(cells, spec, levels, fractions)")
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
        is_here = self.grid["fraction"] == self.fraction
        for name, label in self.chosen.items():
            is_here &= self.grid[name] == label
        return self.grid[is_here].iloc[0]

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
        numbers = {"fraction": self.fraction, "risk": row[_RISK], "truth": row[f"true_{_RISK}"]}
        shares = {part: percent(share) for part, share in numbers.items()}
        return " ".join(_LINES).format(name=self.name, **shares) + "."

    def rows(self) -> list[dict]:
        """The grid, combination by combination, each in order of fractions."""
        combinations = list(product(*self.levels.values()))
        number = {labels: place for place, labels in enumerate(combinations)}
        labels_of = list(self.grid[list(self.levels)].itertuples(index=False, name=None))
        rows = self.grid[list(_SHOWN)].assign(
            place=[number[labels] for labels in labels_of],
            name=[", ".join(map(str, labels)) for labels in labels_of],
            at=[self.fractions.index(fraction) for fraction in self.grid["fraction"]],
        )
        return inline_rounded(rows.sort_values(["place", "at"])).values

    def values(self) -> dict[str, int]:
        """Of the controls: positions of the labels and of the fraction."""
        levels = {f"level{i}": labels.index(self.chosen[name]) for i, (name, labels) in enumerate(self.levels.items())}
        return levels | {"step": self.fractions.index(self.fraction)}


def detail_explorer(grid: pd.DataFrame, /, *, fraction: float | None = None, **start: str) -> alt.LayerChart:
    """The probability of identification by sampling fraction, with controls for the detail of each variable.

    Estimate and truth of the chosen combination, the estimates of the others in grey, and marks at the chosen fraction,
    with the result in words as its title. It carries a row a combination and fraction.

    Parameters
    ----------
    grid : DataFrame
        From `kanon_lab.sample.detail_grid`.
    fraction : float, optional
        The fraction of the grid shown first; by default the middle one.
    **start : str
        For a variable the label shown first, by default its first one.
    """
    state = _State.of(grid, fraction, start)
    layers = [*_drawn(state), style.words_at("numbers", 0, _HEIGHT + _BELOW, line=LINE)]
    return live(
        layered(layers, "detail", state.rows(), _controls(state)),
        title=alt.TitleParams(alt.ExprRef("words"), subtitle=_NOTE),
        subject=state.subject,
        state=state.description,
        height=_HEIGHT,
    )


def explore_detail(
    cells: pd.DataFrame,
    spec: KeySpec | Iterable[str] | str | None = None,
    levels: Mapping[str, Mapping[str | int, Mapping[str, Any] | str | None]] | None = None,
    fractions: Iterable[float] = (),
    /,
    *,
    persons: str | None = None,
    fraction: float | None = None,
    **start: str,
) -> Explorer:
    """An explorer of the detail and the sampling fraction of a release, for JupyterLab.

    Of ``level0``, ``level1`` ... for the variables in order, and ``step``, the position of the fraction. As the last
    line of a cell it shows itself.

    Parameters
    ----------
    cells, spec, levels, fractions, persons
        A population that is known; as in `kanon_lab.sample.detail_grid`. Without `spec`, `cells` is a finished grid.
    fraction, **start
        Shown first, as in `detail_explorer`.
    """
    ipywidgets()
    grid = cells if spec is None else detail_grid(cells, spec, levels or {}, fractions, persons=persons)
    first = _State.of(grid, fraction, start)
    template = drawn(detail_explorer(grid, fraction=fraction, **start))

    def tell(values: dict[str, Any]) -> Shown:
        chosen = {name: labels[values[f"level{i}"]] for i, (name, labels) in enumerate(first.levels.items())}
        state = replace(first, chosen=chosen, fraction=first.fractions[values["step"]])
        return show_state(template, values, state.description, _table(state.row))

    return Explorer(bound(template), tell)


def _table(row: pd.Series) -> str:
    """Each factor as the study estimates it, by the tangent, and with true shares."""
    rows = []
    for name, column in _FACTORS.items():
        tangent, true = (row.get(f"{kind}_{column}") for kind in ("tangent", "true"))
        if column == "p_b":
            tangent = true = row[column]
        elif column == "p_identification":
            tangent = row[column] / (row["p_c"] * row["p_d"]) * row["tangent_p_c"] * row["tangent_p_d"]
        rows.append((name, *map(percent, (row[column], tangent, true))))
    heads = ("Probability", "the study's ruler", "tangent", "true shares")
    return table("What is estimated, and what is true", heads, rows, chosen=len(rows) - 1)


def _controls(state: _State) -> list[alt.Parameter]:
    """Lists of levels and fractions, and the result in words."""
    bindings, place, count = {}, "0", len(state.fractions)
    for number, (name, labels) in enumerate(state.levels.items()):
        bindings[f"level{number}"] = alt.binding_select(
            options=list(range(len(labels))), labels=[str(label) for label in labels], name=f"{name}: "
        )
        place = f"({place}) * {len(labels)} + level{number}"
    # A slider would show its position, and not the fraction.
    bindings["step"] = alt.binding_select(
        options=list(range(count)), labels=list(map(percent, state.fractions)), name="sampling fraction: "
    )
    parts = {"fraction": "row.fraction", "risk": f"row.{_RISK}", "truth": f"row.true_{_RISK}"}
    shares = {part: style.share_expression(field) for part, field in parts.items()}
    words = {
        "place": place,
        "row": f"data('detail')[place * {count} + step]",
        "words": style.lines_expression(_LINES, name="row.name", **shares),
        "numbers": f"[{_COUNTS}, {', '.join(starmap(_say_factor, _NUMBERS.items()))}]",
        "told": "[join(words, ' ') + '; ' + join(numbers, '; ')]",
    }
    return params(state.values(), bindings, words)


def _say_factor(name: str, column: str) -> str:
    """An expression: a factor of the chosen row as estimated, and in truth."""
    estimate, truth = style.share_expression(f"row.{column}"), style.share_expression(f"row.true_{column}")
    return f"'{name} ' + {estimate} + ', ' + 'in truth ' + {truth}"


def _drawn(state: _State) -> list[alt.Chart]:
    kinds = {"p_identification": _ESTIMATE, "true_p_identification": _TRUTH}
    shares = state.grid[list(kinds)].stack()
    check_some(drawable(shares), "p(identification)")
    shares = shares[drawable(shares)]
    ends = min(state.fractions) * 0.97, max(state.fractions) * 1.03
    x = log_axis("X", "fraction", ends, "Sampling fraction (log scale)", grid=False)
    y = log_axis("Y", "p", (shares.min() / 1.3, shares.max() * 1.3), "p(identification), log scale")
    legend = alt.Legend(title=None, columns=1, symbolType=STROKE, **SYMBOLS)
    names, dashes = [*kinds.values(), _OTHERS], ([7, 4], [1, 0], [1, 0])
    looks = style.told_apart("what:N", names, color=(ORANGE, BLACK, LIGHT_GREY), dash=dashes, legend=legend)
    # What is 0 is said in words, and has no place on the axis.
    others = alt.Chart().transform_calculate(p="datum.p_identification").transform_filter(f"datum.p >= {LEAST}")
    others = others.transform_calculate(what=f"'{_OTHERS}'").mark_line(strokeWidth=1).encode(**looks)
    chosen = (
        alt.Chart()
        .transform_filter("datum.place == place")
        .transform_fold(list(kinds), ["kind", "p"])
        .transform_filter(f"datum.p >= {LEAST}")
        .transform_calculate(what=f"({json.dumps(kinds)})[datum.kind]")
        .encode(
            x=x,
            y=y,
            color=looks["color"],
            tooltip=tooltips(
                ("name:N", "detail"),
                ("what:N", "shown"),
                ("fraction:Q", "sampling fraction", SHARE),
                ("p:Q", "p(identification)", SHARE),
            ),
        )
    )
    now = chosen.transform_filter("datum.at == step")
    return [
        others.encode(x=x, y=y, detail="place:N", tooltip=tooltips(("name:N", "detail"))),
        chosen.mark_line(strokeWidth=2.5).encode(strokeDash=looks["strokeDash"]),
        chosen.mark_point(size=110, opacity=0, filled=True, aria=False),
        now.mark_point(filled=True, size=140, stroke="white", strokeWidth=1.5, opacity=1),
    ]
