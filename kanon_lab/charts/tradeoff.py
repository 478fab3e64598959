"""The risk-utility map: every recipe by the risk that it leaves and what it takes, and an explorer without a kernel."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from typing import TYPE_CHECKING

import pandas as pd

from kanon_lab.charts.style import BLACK, BLUE, GREY, LIGHT_GREY, ORANGE, TITLE_WIDTH, altair, finish, inline, title
from kanon_lab.charts.tradeoff_state import MapState, points_of, told_of, varied_losses
from kanon_lab.tradeoff import RiskUtilityMap, measure_of
from kanon_lab.tradeoff.best import USUAL_LOSS, USUAL_RISK

if TYPE_CHECKING:
    import altair as alt

_HEIGHT, _LINE = 300, 16
# Pixels from the drawing to the name of the loss below its axis, and to the words below that.
_NAME, _BELOW = 30, 56
_VERDICTS = ("beaten by none", "beaten by another")
_HEADING = "Risk left, utility lost"
_MARKS = "Line: the least risk for each loss"
# Positions of a slider, about.
_STEPS = 50
_KIND = "Scatter plot"

# The result in words: signals of their own, because the title shows them and a page tells them to screen readers.
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
        Measures; see `kanon_lab.tradeoff.MEASURES`.
    at_most : float, optional
        The required risk, drawn as a line; the cheapest recipe that meets it is marked and put into words.

    Returns
    -------
    altair.LayerChart

    Raises
    ------
    DataError, OptionError
        As in `kanon_lab.tradeoff.costs`, or a required risk that cannot be one.

    References
    ----------
    Duncan, Keller-McNulty & Stokes (2001), Disclosure risk vs. data utility: the R-U confidentiality map.
    """
    state = MapState.of(points_of(found), risk, [loss], at_most)
    marks = _MARKS if at_most is None else f"{_MARKS}; diamond: the cheapest at or below the rule"
    spread = _spread(state, found.spread) if isinstance(found, RiskUtilityMap) else []
    if spread:
        marks += "; thin grey: how far the seeds of a recipe scatter (standard deviation)"
    return finish(
        _drawn(state, spread=spread),
        title=title(_HEADING, marks),
        description=state.description(_KIND),
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

    Raises
    ------
    DataError, OptionError
        As in `risk_utility`; or no loss differs between the recipes that have the risk.
    """
    alt = altair()
    points = points_of(found)
    losses = varied_losses(points, risk) if losses is None else list(dict.fromkeys(losses))
    state = MapState.of(points, risk, losses, at_most, loss).on_slider()
    kind = f"{_KIND} with controls"
    chart = finish(
        _drawn(state, controls=True),
        title=alt.TitleParams(
            alt.ExprRef("cost"), subtitle=[f"{_MARKS};", "diamond: the cheapest at or below the rule"]
        ),
        description=state.description(kind),
        height=_HEIGHT,
    )
    return chart.properties(usermeta={"live": {"signal": "told", "description": state.subject(kind)}})


def moved(spec: dict, found: RiskUtilityMap | pd.DataFrame, *, risk: str, loss: str, at_most: float) -> dict:
    """The specification of `risk_utility`, moved to another required risk.

    Building a chart takes a tenth of a second, most of it validation; a slider cannot wait for that.

    Parameters
    ----------
    spec : dict
        ``risk_utility(found, risk=risk, loss=loss, at_most=...).to_dict()``.
    found, risk, loss, at_most
        As in `risk_utility`.

    Returns
    -------
    dict
        A new specification; `spec` is left as it is.
    """
    state = MapState.of(points_of(found), risk, [loss], at_most)
    values = state.values()
    params = [each | {"value": values[each["name"]]} if each["name"] in values else each for each in spec["params"]]
    return spec | {"params": params, "description": state.description(_KIND)}


def _drawn(state: MapState, *, spread: Iterable[pd.DataFrame] = (), controls: bool = False) -> alt.LayerChart:
    alt = altair()
    spread = list(spread)
    # Given, since a diamond that no recipe earns would leave the axis without ends.
    fixed = {**state.values(), "unit": state.unit, "ends": _ends(state, spread)}
    params = [alt.param(name=name, value=value) for name, value in fixed.items()]
    forms = {"format": state.form(state.loss)}
    if controls:
        params = [*_controls(state), alt.param(name="ends", value=fixed["ends"])]
        forms = {"labelExpr": "format(datum.value, forms[loss])"}
    else:
        params.append(alt.param(name="loss", value=list(state.fronts).index(state.loss)))
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
        layers += [_required(y), _diamond(x, y)]
    if controls:
        layers += _words()
    # With a name of its own, altair leaves the data where the words find them.
    return alt.layer(*layers, data=alt.InlineData(name="recipes", values=_compact(state))).add_params(*params)


def _controls(state: MapState) -> list[alt.Parameter]:
    alt = altair()
    losses, steps = list(state.fronts), [round(step / state.unit, 10) for step in state.steps]
    names = [measure_of(loss).label for loss in losses]
    told = f"{measure_of(state.risk).label}, at most{' (%)' if state.unit < 1 else ''}: "
    limit = alt.binding_range(min=0, max=steps[-1], step=steps[1], name=told)
    bound = {"limit": limit, "loss": alt.binding_select(options=list(range(len(losses))), labels=names, name="loss: ")}
    fixed = {
        "best": [[state.best(loss, step) for step in state.steps] for loss in losses],
        "step": steps[1],
        "unit": state.unit,
        "names": names,
        "forms": [state.form(loss) for loss in losses],
        "smallest": [float(front["risk"].iloc[0]) for front in state.fronts.values()],
        "risk_name": "|".join(textwrap.wrap(_capital(measure_of(state.risk).label), TITLE_WIDTH)),
        "risk_form": state.form(state.risk),
        "limit": state.values()["limit"],
        "loss": losses.index(state.loss),
    }
    params = [alt.param(name=name, value=value, bind=bound.get(name, alt.Undefined)) for name, value in fixed.items()]
    return params + [alt.param(name=name, expr=expression) for name, expression in _WORDS.items()]


def _ends(state: MapState, spread: Iterable[pd.DataFrame]) -> list[list[float]]:
    """For each loss the least and the most that is drawn of it."""
    drawn = [state.rows[list(state.fronts)]]
    for ends in spread:
        drawn += [ends[[column]].set_axis([state.loss], axis=1) for column in ("x", "x2") if column in ends]
    return [[float(each.min()), float(each.max())] for _, each in pd.concat(drawn).items()]


def _compact(state: MapState) -> list[dict]:
    fronts = [set(front.index) for front in state.fronts.values()]
    costs_of = state.rows[list(state.fronts)].astype(object).where(state.rows[list(state.fronts)].notna(), None)
    return [
        {
            "number": number,
            "label": row["label"],
            "lines": told_of(row),
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
    shape = alt.Scale(domain=_VERDICTS, range=["circle", "triangle-up"])
    color = alt.Scale(domain=_VERDICTS, range=[BLUE, ORANGE])
    return points.mark_point(filled=True, size=50, opacity=0.85).encode(
        x=x,
        y=y,
        color=alt.Color("verdict:N", scale=color, title=None),
        shape=alt.Shape("verdict:N", scale=shape, title=None),
        tooltip=[
            alt.Tooltip("label:N", title="recipe"),
            alt.Tooltip("y:Q", title=measure_of(state.risk).label, format=state.form(state.risk)),
            alt.Tooltip("lost:N", title="loss"),
        ],
    )


def _required(y: alt.Y) -> alt.Chart:
    alt = altair()
    line = alt.Chart(alt.InlineData(values=[{}])).transform_calculate(y="limit * unit")
    return line.mark_rule(color=GREY, strokeDash=[4, 4]).encode(y=y)


def _diamond(x: alt.X, y: alt.Y) -> alt.Chart:
    best = _placed().transform_filter("datum.number == chosen")
    mark = best.mark_point(
        filled=True, shape="diamond", size=230, color=BLACK, stroke="white", strokeWidth=2, opacity=1
    )
    return mark.encode(x=x, y=y)


def _words() -> list[alt.Chart]:
    """The name of the loss below its axis, and below that the cheapest recipe."""
    alt = altair()
    texts = {"names[loss]": (_NAME, "center", alt.value("width")), "lines": (_BELOW, "left", 0)}
    found = []
    for signal, (below, align, place) in texts.items():
        text = alt.Chart(alt.InlineData(values=[{}])).mark_text(
            align=align, baseline="top", lineHeight=_LINE, text=alt.ExprRef(signal)
        )
        x = alt.value(alt.ExprRef("width / 2")) if align == "center" else alt.value(place)
        found.append(text.encode(x=x, y=alt.value(_HEIGHT + below)))
    return found


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
