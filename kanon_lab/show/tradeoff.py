"""The risk-utility map: every recipe by the risk that it leaves and what it takes, and an explorer of it."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import TYPE_CHECKING, Any

import pandas as pd

from kanon_lab.digits import number, percent
from kanon_lab.errors import OptionError, shortened
from kanon_lab.recipes.frontier import (
    MEASURES,
    USUAL_LOSS,
    USUAL_RISK,
    check_required,
    costs,
    frontier,
    least_loss,
    measure_of,
    middle_step,
    risk_steps,
)
from kanon_lab.recipes.risk_map import RiskUtilityMap
from kanon_lab.show.style import (
    BLUE,
    LIGHT_GREY,
    TITLE_WIDTH,
    altair,
    by_verdict,
    check_columns,
    diamond_at,
    finish,
    inline,
    line_at,
    live,
    params,
    signals,
    title,
    words_at,
)

if TYPE_CHECKING:
    import altair as alt

_HEIGHT, _LINE = 300, 16
# Pixels from the drawing to the name of the loss below its axis, and to the words below that.
_NAME, _BELOW = 30, 56
_VERDICTS = ("beaten by none", "beaten by another")
_HEADING = "Risk left, utility lost"
_MARKS = "Line: the least risk for each loss"
KIND = "Scatter plot"
# Characters of a line of words, at most; digits of a number, at least, and steps of an axis, at most.
_WIDEST, _DIGITS, _TICKS = 46, 4, 10

# The result in words.
_WORDS = {
    "chosen": "best[loss][round(limit / step)]",
    "row": "chosen < 0 ? null : data('recipes')[chosen]",
    "found": "row ? 'least loss ' + format(row.losses[loss], forms[loss]) : 'no recipe meets it'",
    "cost": "split(risk_name + '|at most ' + format(limit * unit, risk_form) + ': ' + found, '|')",
    "lines": "row ? row.lines : ['The smallest that one reaches is ' + format(smallest[loss], risk_form)]",
    "told": "[join(cost, ' ') + ', ' + names[loss] + '. ' + join(lines, ', ')]",
}


def risk_utility(
    found: RiskUtilityMap | pd.DataFrame,
    *,
    risk: str = USUAL_RISK,
    loss: str = USUAL_LOSS,
    at_most: float | None = None,
) -> alt.LayerChart:
    """The recipes of a risk-utility map by loss and risk, with those that no other beats.

    Parameters
    ----------
    found : RiskUtilityMap or DataFrame
        The map, or its ``points`` or ``worst``. Of a map whose recipes were tried with several seeds, thin lines show
        one standard deviation to either side of the mean.
    risk, loss : str
        Measures; see `kanon_lab.recipes.MEASURES`.
    at_most : float, optional
        The required risk, drawn as a line; the cheapest recipe that meets it is marked and put into words.

    Returns
    -------
    altair.LayerChart

    References
    ----------
    Duncan, Keller-McNulty & Stokes (2001), Disclosure risk vs. data utility: the R-U confidentiality map.

    Examples
    --------
    >>> import kanon_lab
    >>> recipes = pd.DataFrame({"label": ["a", "b"], "repeats": 1, "error": None})
    >>> recipes = recipes.assign(global_risk=[0.1, 0.02], non_uniform_entropy=[0.1, 0.3])
    >>> kanon_lab.show.risk_utility(recipes, at_most=0.05).description.split(". ")[-1]
    'With global risk at most 5%, the cheapest is b: information lost (non-uniform entropy) 30%.'
    """
    state = MapState.of(points_of(found), risk, [loss], at_most)
    marks = _MARKS if at_most is None else f"{_MARKS}; diamond: the cheapest at or below the rule"
    spread = _spread(state, found.spread) if isinstance(found, RiskUtilityMap) else []
    if spread:
        marks += "; thin grey: how far the seeds of a recipe scatter (standard deviation)"
    return finish(
        _drawn(state, spread=spread),
        title=title(_HEADING, marks),
        description=f"{state.subject(KIND)} {state.told()}",
        height=_HEIGHT,
    )


def tradeoff_explorer(
    found: RiskUtilityMap | pd.DataFrame,
    *,
    risk: str = USUAL_RISK,
    losses: Iterable[str] | None = None,
    loss: str | None = None,
    at_most: float | None = None,
) -> alt.LayerChart:
    """The risk-utility map with controls for the required risk and the measure of loss.

    Parameters
    ----------
    found, risk
        As in `risk_utility`.
    losses : iterable of str, optional
        The measures to choose from; by default those in the map that differ between recipes.
    loss : str, optional
        The one shown first, by default ``non_uniform_entropy`` or else the first.
    at_most : float, optional
        The required risk shown first, taken down to a step of the slider; by default from the middle of the frontier.

    Returns
    -------
    altair.LayerChart
        It carries a row for each recipe: 500 recipes and 8 losses are about 100 kB.

    Examples
    --------
    >>> import kanon_lab
    >>> recipes = pd.DataFrame({"label": ["a", "b"], "repeats": 1, "error": None})
    >>> recipes = recipes.assign(global_risk=[0.1, 0.02], non_uniform_entropy=[0.1, 0.3])
    >>> kanon_lab.show.tradeoff_explorer(recipes, at_most=0.2).description.split(". ")[-1]
    'With global risk at most 10%, the cheapest is a: information lost (non-uniform entropy) 10%.'
    """
    alt = altair()
    points = points_of(found)
    losses = _varied_losses(points, risk) if losses is None else list(dict.fromkeys(losses))
    state = MapState.of(points, risk, losses, at_most, loss).on_slider()
    return live(
        _drawn(state, controls=True),
        title=alt.TitleParams(
            alt.ExprRef("cost"), subtitle=[f"{_MARKS};", "diamond: the cheapest at or below the rule"]
        ),
        subject=state.subject(f"{KIND} with controls"),
        state=state.told(),
        height=_HEIGHT,
    )


@dataclass(frozen=True)
class MapState:
    """What is shown: the recipes with the cost of each measure under its name, and one required risk and loss."""

    rows: pd.DataFrame
    fronts: dict[str, pd.DataFrame]
    risk: str
    loss: str
    at_most: float | None

    @classmethod
    def of(
        cls, points: pd.DataFrame, risk: str, losses: list[str], at_most: float | None, loss: str | None = None
    ) -> MapState:
        if at_most is not None:
            check_required(at_most, measure_of(risk, "risk"))
        if not losses or loss not in (None, *losses):
            raise OptionError(f"loss must be one of {', '.join(losses) or 'the losses of the map'}, not {loss!r}")
        for each in losses:
            costs(points, risk=risk, loss=each)  # refuses what cannot be compared
        points = points[points["error"].isna() & points[risk].notna()].reset_index(drop=True)
        fronts = {each: frontier(points, risk=risk, loss=each) for each in losses}
        rows = points.assign(**{each: measure_of(each).cost(points[each]) for each in (risk, *losses)})
        usual = USUAL_LOSS if USUAL_LOSS in losses else losses[0]
        return cls(rows, fronts, risk, usual if loss is None else loss, at_most)

    def on_slider(self) -> MapState:
        """The same with the required risk at a step of the slider: by default the middle of the frontier."""
        if self.at_most is None:
            return replace(self, at_most=middle_step(self.fronts[self.loss], self.steps))
        return replace(self, at_most=max(step for step in self.steps if step <= self.at_most))

    @property
    def unit(self) -> float:
        """What the required risk is told in: per cent of a share, or records."""
        return 0.01 if measure_of(self.risk).share else 1.0

    @property
    def steps(self) -> list[float]:
        """The required risks to choose from."""
        return risk_steps(self.rows[self.risk].max())

    def best(self, loss: str, at_most: float | None) -> int:
        """Position of the cheapest recipe, or -1."""
        place = None if at_most is None else least_loss(self.fronts[loss], at_most)
        return -1 if place is None else int(self.fronts[loss].index[place])

    def values(self) -> dict[str, Any]:
        """Of the parameters of a chart without controls."""
        limit = None if self.at_most is None else round(self.at_most / self.unit, 10)
        return {"limit": limit, "chosen": self.best(self.loss, self.at_most)}

    def form(self, name: str) -> str:
        """How Vega writes the measure."""
        return f".{self._digits(name)}~p" if measure_of(name).share else f",.{self._digits(name)}~r"

    def worded(self, name: str, value: float) -> str:
        """The same in Python."""
        return (percent if measure_of(name).share else number)(value, digits=self._digits(name))

    def _digits(self, name: str) -> int:
        """Digits that count, of the largest value, so that steps of an axis look different, and whole numbers whole."""
        largest, least = float(self.rows[name].abs().max()), float(self.rows[name].min())
        if not largest > 0:
            return _DIGITS
        top, step = math.floor(math.log10(largest)), (largest - least) / _TICKS
        whole = 0 if measure_of(name).share else top + 1
        return max(_DIGITS, whole, 1 + top - math.floor(math.log10(step)) if step > 1e-9 * largest else 0)

    def subject(self, kind: str) -> str:
        """What the chart shows in any of its states."""
        recipes = f"{len(self.rows):,} recipe{'s' * (len(self.rows) != 1)}"
        losses = " or ".join(measure_of(each).label for each in self.fronts)
        return f"{kind} of {recipes}: {measure_of(self.risk).label} that is left, against loss: {losses}."

    def told(self) -> str:
        """What it shows in this state."""
        front = self.fronts[self.loss]
        best = f"{len(front):,} of them {'is' if len(front) == 1 else 'are'} beaten by no other."
        if self.at_most is None:
            return best
        chosen = self.best(self.loss, self.at_most)
        asked = f"With {measure_of(self.risk).label} at most {self.worded(self.risk, self.at_most)}"
        if chosen < 0:
            return f"{best} {asked}, none."
        row = self.rows.loc[chosen]
        loss = f"{measure_of(self.loss).label} {self.worded(self.loss, row[self.loss])}"
        return f"{best} {asked}, the cheapest is {row['label']}: {loss}."


def points_of(found: RiskUtilityMap | pd.DataFrame) -> pd.DataFrame:
    points = found.points if isinstance(found, RiskUtilityMap) else found
    check_columns(points, ("label", "repeats", "error"), "risk_utility_map(...).points")
    return points


def _varied_losses(points: pd.DataFrame, risk: str) -> list[str]:
    """The losses that differ between the recipes that have the risk."""
    names = [name for name in MEASURES if name in points and MEASURES[name].kind == "loss"]
    if risk in points:
        of_risk = points[points[risk].notna()]
        # Where no recipe has the risk, the first loss is refused with the reason.
        names = [name for name in names if of_risk[name].notna().any()] or names[:1]
    return [name for name in names if costs(points, risk=risk, loss=name)["loss"].nunique() > 1]


def _told_of(row: dict[str, Any]) -> list[str]:
    """A recipe in lines: its parameters, or its name."""
    names = [*takewhile(lambda name: name != "repeats", row)][1:]
    return [shortened(f"{name}: {row[name]}", _WIDEST) for name in names] or [shortened(row["label"], _WIDEST)]


def _drawn(state: MapState, *, spread: Iterable[pd.DataFrame] = (), controls: bool = False) -> alt.LayerChart:
    alt = altair()
    spread = list(spread)
    # Given, since a diamond that no recipe earns would leave the axis without ends.
    fixed = {**state.values(), "unit": state.unit, "ends": _ends(state, spread)}
    given = params(fixed)
    forms = {"format": state.form(state.loss)}
    if controls:
        given = [*_controls(state), *params({"ends": fixed["ends"]})]
        forms = {"labelExpr": "format(datum.value, forms[loss])"}
    else:
        given += params({"loss": list(state.fronts).index(state.loss)})
    between = [alt.ExprRef(f"ends[loss][{end}]") for end in (0, 1)]
    x = alt.X(
        "x:Q",
        scale=alt.Scale(domain=between, nice=True, padding=10),
        axis=alt.Axis(**forms, tickCount=4, labelFlush=False, labelOverlap=True),
        title=None if controls else _axis(state.loss),
    )
    highest = max(float(state.rows[state.risk].max()), 0 if controls else state.at_most or 0)
    y = alt.Y(
        "y:Q",
        scale=alt.Scale(domain=[0, 1.06 * highest or 1], nice=False),
        axis=alt.Axis(format=state.form(state.risk), tickCount=6),
        title=_axis(state.risk),
    )
    layers = [*_whiskers(spread, x, y), _line(x, y), _marks(state, x, y)]
    if state.at_most is not None:
        layers += [
            line_at(y, y="limit * unit"),
            diamond_at(_placed().transform_filter("datum.number == chosen"), x, y),
        ]
    if controls:
        # The name of the loss below its axis, and below that the cheapest recipe.
        middle = alt.ExprRef("width / 2")
        layers.append(words_at("names[loss]", middle, _HEIGHT + _NAME, line=_LINE, align="center"))
        layers.append(words_at("lines", 0, _HEIGHT + _BELOW, line=_LINE))
    # With a name of its own, altair leaves the data where the words find them.
    return alt.layer(*layers, data=alt.InlineData(name="recipes", values=_compact(state))).add_params(*given)


def _controls(state: MapState) -> list[alt.Parameter]:
    alt = altair()
    losses = list(state.fronts)
    names = [measure_of(loss).label for loss in losses]
    bindings = {
        "limit": required_slider(state),
        "loss": alt.binding_select(options=list(range(len(losses))), labels=names, name="loss: "),
    }
    fixed = {
        "best": [[state.best(loss, step) for step in state.steps] for loss in losses],
        "step": round(state.steps[1] / state.unit, 10),
        "unit": state.unit,
        "names": names,
        "forms": [state.form(loss) for loss in losses],
        "smallest": [float(front["risk"].iloc[0]) for front in state.fronts.values()],
        "risk_name": "|".join(textwrap.wrap(_capital(measure_of(state.risk).label), TITLE_WIDTH)),
        "risk_form": state.form(state.risk),
        "limit": state.values()["limit"],
        "loss": losses.index(state.loss),
    }
    return [*params(fixed, bindings), *signals(_WORDS)]


def required_slider(state: MapState) -> alt.BindRange:
    """The slider of the required risk."""
    words = f"{measure_of(state.risk).label}, at most{' (%)' if state.unit < 1 else ''}: "
    largest, step = (round(state.steps[each] / state.unit, 10) for each in (-1, 1))
    return altair().binding_range(min=0, max=largest, step=step, name=words)


def _ends(state: MapState, spread: Iterable[pd.DataFrame]) -> list[list[float]]:
    """For each loss the least and the most that is drawn of it."""
    shown = [state.rows[list(state.fronts)]]
    for ends in spread:
        shown += [ends[[column]].set_axis([state.loss], axis=1) for column in ("x", "x2") if column in ends]
    return [[float(each.min()), float(each.max())] for _, each in pd.concat(shown).items()]


def _compact(state: MapState) -> list[dict]:
    fronts = [set(front.index) for front in state.fronts.values()]
    costs_of = state.rows[list(state.fronts)].astype(object).where(state.rows[list(state.fronts)].notna(), None)
    return [
        {
            "number": number,
            "label": row["label"],
            "lines": _told_of(row),
            "risk": float(f"{row[state.risk]:.9g}"),
            "losses": [None if cost is None else float(f"{cost:.9g}") for cost in costs_of.loc[number]],
            "front": [number in front for front in fronts],
        }
        for number, row in enumerate(state.rows.to_dict("records"))
    ]


def _placed() -> alt.Chart:
    return (
        altair()
        .Chart()
        .transform_calculate(x="datum.losses[loss]", y="datum.risk")
        .transform_filter("isValid(datum.x)")
    )


def _line(x: alt.X, y: alt.Y) -> alt.Chart:
    front = _placed().transform_filter("datum.front[loss]")
    return front.mark_line(color=BLUE, strokeWidth=1.5, interpolate="step-after").encode(x=x, y=y)


def _marks(state: MapState, x: alt.X, y: alt.Y) -> alt.Chart:
    alt = altair()
    yes, no = _VERDICTS
    forms = ", ".join(f"'{state.form(loss)}'" for loss in state.fronts)
    points = _placed().transform_calculate(
        verdict=f"datum.front[loss] ? '{yes}' : '{no}'", lost=f"format(datum.x, [{forms}][loss])"
    )
    return points.mark_point(filled=True, size=50, opacity=0.85).encode(
        x=x,
        y=y,
        **by_verdict(_VERDICTS, ["circle", "triangle-up"]),
        tooltip=[
            alt.Tooltip("label:N", title="recipe"),
            alt.Tooltip("y:Q", title=measure_of(state.risk).label, format=state.form(state.risk)),
            alt.Tooltip("lost:N", title="loss"),
        ],
    )


def _spread(state: MapState, spread: pd.DataFrame) -> list[pd.DataFrame]:
    """One standard deviation to either side, in both measures, of the recipes in which something is random."""
    rows = state.rows[["label", state.risk, state.loss]].merge(spread, on="label", suffixes=("", "_sd"))
    names = {"y": state.risk, "x": state.loss}
    found = []
    for axis, name in names.items():
        other = "x" if axis == "y" else "y"
        sd = rows[f"{name}_sd"]
        ends = rows[[]].assign(**{axis: rows[name] - sd, "end": rows[name] + sd, other: rows[names[other]]})[sd > 0]
        ends = ends.dropna().rename(columns={"end": f"{axis}2"})
        if len(ends):
            found.append(ends)
    return found


def _whiskers(spread: Iterable[pd.DataFrame], x: alt.X, y: alt.Y) -> list[alt.Chart]:
    found = []
    for ends in spread:
        end = "x2" if "x2" in ends else "y2"
        rule = altair().Chart(inline(ends, 8)).mark_rule(color=LIGHT_GREY, clip=True)
        found.append(rule.encode(x=x, y=y, **{end: f"{end}:Q"}))
    return found


def _axis(name: str) -> str:
    return f"{_capital(measure_of(name).label)}{' (%)' if measure_of(name).share else ''}"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
