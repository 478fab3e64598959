"""The risk-utility map: every recipe by the risk that it leaves and what it takes; explorers of it and of recipes."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from itertools import takewhile
from typing import Any

import pandas as pd

from kanon_lab.digits import number, percent
from kanon_lab.errors import DataError, OptionError, shortened
from kanon_lab.recipes.risk_map import RiskUtilityMap, risk_utility_map
from kanon_lab.recipes.tradeoff import (
    MEASURES,
    USUAL_LOSS,
    USUAL_RISK,
    check_required,
    frontier,
    is_measure,
    least_loss,
    measure_of,
    meeting,
    middle_step,
    risk_and_loss,
    risk_steps,
)
from kanon_lab.show import style
from kanon_lab.show.colors import BLACK, BLUE, GREY, LIGHT_GREY, ORANGE
from kanon_lab.show.controls import Explorer, Shown, drawn, ipywidgets, moved, table
from kanon_lab.show.style import alt

_HEIGHT, _LINE = 300, 16
# Pixels from the drawing to the name of the loss below its axis, and to the words below that.
_NAME, _BELOW = 30, 56
_VERDICTS = ("beaten by none", "beaten by another", "misses a limit")
_LOOKS = {"color": [BLUE, ORANGE, GREY], "shape": ["circle", "triangle-up", "cross"]}
_OWN = "square: your recipe"
_HEADING = "Risk left, utility lost"
_MARKS = "Line: the least risk for each loss"
_KIND = "Scatter plot"
# Rows of a table, at most: the chosen recipe and those beside it on the frontier.
_ROWS = 9
# Characters of a line of words, at most; digits of a number, at least, and steps of an axis, at most.
_WIDEST, _DIGITS, _TICKS = 46, 4, 10

# The result in words.
_WORDS = {
    "chosen": "best[loss][round(limit / step)]",
    "row": "chosen < 0 ? null : data('recipes')[chosen]",
    "found": "row ? 'least loss ' + format(row.losses[loss], forms[loss]) : 'no recipe meets it'",
    "cost": "split(risk_name + '|at most ' + format(limit * unit, risk_form) + ': ' + found, '|')",
    "lines": "row ? row.lines : ['The smallest risk of a recipe is ' + format(smallest[loss], risk_form)]",
    "told": "[join(cost, ' ') + ', ' + names[loss] + '. ' + join(lines, ', ')]",
}


def risk_utility(
    results: RiskUtilityMap | pd.DataFrame,
    *,
    risk: str = USUAL_RISK,
    loss: str = USUAL_LOSS,
    at_most: float | None = None,
) -> alt.LayerChart:
    """The recipes of a risk-utility map by loss and risk, with those that no other beats.

    Parameters
    ----------
    results : RiskUtilityMap or DataFrame
        The map, or its ``points`` or ``worst``. Of a map whose recipes were tried with several seeds, thin lines show
        one standard deviation to either side of the mean.
    risk, loss : str
        Measures; see `kanon_lab.recipes.MEASURES`.
    at_most : float, optional
        The required risk, drawn as a line; the cheapest recipe that meets it is marked and put into words.

    References
    ----------
    Duncan, Keller-McNulty & Stokes (2001), Disclosure risk vs. data utility: the R-U confidentiality map.

    Examples
    --------
    >>> recipes = pd.DataFrame({"label": ["a", "b"], "repeats": 1, "error": None})
    >>> recipes = recipes.assign(global_risk=[0.1, 0.02], non_uniform_entropy=[0.1, 0.3])
    >>> kanon_lab.show.risk_utility(recipes, at_most=0.05).description.split(". ")[-1]
    'With global risk at most 5%, the cheapest is b: information lost (non-uniform entropy) 30%.'
    """
    state = _State.of(_points_of(results), risk, [loss], at_most)
    marks = _MARKS if at_most is None else f"{_MARKS}; diamond: the cheapest at or below the rule"
    marks += f"; {_OWN}" if state.has_own else ""
    spread = _spread(state, results.spread) if isinstance(results, RiskUtilityMap) else []
    if spread:
        marks += "; thin grey: how far the seeds of a recipe scatter (standard deviation)"
    return style.finish(
        _drawn(state, spread=spread),
        title=_HEADING,
        subtitle=marks,
        description=f"{state.subject(_KIND)} {state.describe()}",
        height=_HEIGHT,
    )


def tradeoff_explorer(
    results: RiskUtilityMap | pd.DataFrame,
    *,
    risk: str = USUAL_RISK,
    losses: Iterable[str] | None = None,
    loss: str | None = None,
    at_most: float | None = None,
) -> alt.LayerChart:
    """The risk-utility map with controls for the required risk and the measure of loss.

    Parameters
    ----------
    results, risk
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
    >>> recipes = pd.DataFrame({"label": ["a", "b"], "repeats": 1, "error": None})
    >>> recipes = recipes.assign(global_risk=[0.1, 0.02], non_uniform_entropy=[0.1, 0.3])
    >>> kanon_lab.show.tradeoff_explorer(recipes, at_most=0.2).description.split(". ")[-1]
    'With global risk at most 10%, the cheapest is a: information lost (non-uniform entropy) 10%.'
    """
    points = _points_of(results)
    losses = _varied_losses(points, risk) if losses is None else list(dict.fromkeys(losses))
    state = _State.of(points, risk, losses, at_most, loss).on_slider()
    return style.live(
        _drawn(state, controls=True),
        title=alt.TitleParams(
            alt.ExprRef("cost"), subtitle=[f"{_MARKS};", "diamond: the cheapest at or below the rule"]
        ),
        subject=state.subject(f"{_KIND} with controls"),
        state=state.describe(),
        height=_HEIGHT,
    )


def explore_recipes(
    frame: pd.DataFrame | RiskUtilityMap,
    recipe: Mapping[str, Any] | None = None,
    grid: Mapping[str, Any] | None = None,
    *,
    repeats: int = 1,
    workers: int | None = None,
    risk: str = USUAL_RISK,
    loss: str = USUAL_LOSS,
    at_most: float = 0.05,
) -> Explorer:
    """An explorer of many recipes on one file, for JupyterLab.

    Parameters
    ----------
    frame, recipe, grid, repeats, workers
        As in `kanon_lab.recipes.risk_utility_map`; or, as `frame` alone, a finished map.
    risk, loss : str
        The measures shown first; see `kanon_lab.recipes.MEASURES`.
    at_most : float
        The required risk shown first, taken down to a step of the slider.

    Returns
    -------
    Explorer
        Of ``risk``, ``loss`` and ``limit``, the required risk (of a share in per cent). The recipe stands below the
        table, as text of a recipe file. As the last line of a cell it shows itself.

    Examples
    --------
    >>> survey = pd.DataFrame({"age": [1, 2, 21, 22], "sex": list("ffmm")})
    >>> recipe = {"key_variables": ["age"], "steps": [{"suppress": {"k_required": "$k"}}]}
    >>> explorer = kanon_lab.show.explore_recipes(survey, recipe, {"k": [2, 3]}, workers=1)
    >>> explorer.values["risk"]
    'global_risk'
    """
    ipywidgets()
    results = frame
    if not isinstance(results, RiskUtilityMap):
        results = risk_utility_map(results, recipe or {}, grid, repeats=repeats, workers=workers)
    points, templates = results.points, {}
    start = _State.of(points, risk, [loss], at_most).on_slider()

    def tell(values: dict[str, Any]) -> Shown:
        risk, loss = values["risk"], values["loss"]
        try:
            state = _State.of(points, risk, [loss], None)
        except DataError as error:  # no recipe has both
            return Shown(escape(str(error)))
        state = _required_at(state, values["limit"])
        if (risk, loss) not in templates:
            templates[risk, loss] = drawn(risk_utility(results, risk=risk, loss=loss, at_most=state.at_most))
        drawing = moved(templates[risk, loss], state.values(), f"{state.subject(_KIND)} {state.describe()}")
        front = results.frontier(risk=risk, loss=loss)
        try:
            best = results.cheapest(at_most=state.at_most or 0, risk=risk, loss=loss)
        except OptionError as error:
            return Shown(escape(str(error)), _table(front, None, risk, loss), drawing)
        notes = "".join(f" <i>Note: {escape(note)}.</i>" for note in results.notes(risk))
        sentence = escape(state.describe()) + notes
        return Shown(sentence, _table(front, best, risk, loss), drawing, _recipe(results.recipes[best["label"]]))

    def follow(name: str, values: dict[str, Any]) -> dict[str, dict[str, Any]]:
        if name == "limit":
            return {}
        try:
            # The required risk of another measure says nothing.
            state = _State.of(points, values["risk"], [values["loss"]], None)
        except DataError:
            return {"limit": slider | {"disabled": True}}
        return {"limit": _slider(_required_at(state, values["limit"]) if name == "loss" else state.on_slider())}

    slider = _slider(start)
    chosen = {"risk": _measures(points, "risk") | {"value": risk}, "loss": _measures(points, "loss") | {"value": loss}}
    return Explorer(chosen | {"limit": slider}, tell, follow=follow)


@dataclass(frozen=True)
class _State:
    """What is shown: the recipes with the cost of each measure under its name, and one required risk and loss."""

    rows: pd.DataFrame
    fronts: dict[str, pd.DataFrame]
    risk: str
    loss: str
    at_most: float | None

    @classmethod
    def of(
        cls, points: pd.DataFrame, risk: str, losses: list[str], at_most: float | None, loss: str | None = None
    ) -> _State:
        if at_most is not None:
            check_required(at_most, measure_of(risk, "risk"))
        if not losses or loss not in (None, *losses):
            raise OptionError(f"loss must be one of {', '.join(losses) or 'the losses of the map'}, not {loss!r}")
        for name in losses:
            risk_and_loss(points, risk=risk, loss=name)  # refuses what cannot be compared
        points = points[points["error"].isna() & points[risk].notna()].reset_index(drop=True)
        fronts = {name: frontier(points, risk=risk, loss=name) for name in losses}
        rows = points.assign(**{name: measure_of(name).cost(points[name]) for name in (risk, *losses)})
        usual = USUAL_LOSS if USUAL_LOSS in losses else losses[0]
        return cls(rows, fronts, risk, usual if loss is None else loss, at_most)

    def on_slider(self) -> _State:
        """The same with the required risk at a step of the slider: by default the middle of the frontier."""
        if self.at_most is None:
            return replace(self, at_most=middle_step(self.fronts[self.loss], self.steps))
        return replace(self, at_most=max(step for step in self.steps if step <= self.at_most))

    @property
    def has_own(self) -> bool:
        """Whether one's own recipe is among them."""
        return "own" in self.rows and bool(self.rows["own"].any())

    @property
    def unmet(self) -> pd.Series:
        """The limits that each misses, in words; missing where it meets all, or none is set."""
        return self.rows["unmet"] if "unmet" in self.rows else pd.Series(None, index=self.rows.index, dtype=object)

    @property
    def unit(self) -> float:
        """What the required risk is shown in: per cent of a share, or records."""
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
        losses = " or ".join(measure_of(name).label for name in self.fronts)
        return f"{kind} of {recipes}: {measure_of(self.risk).label}, against loss: {losses}."

    def describe(self) -> str:
        """What it shows in this state."""
        front = self.fronts[self.loss]
        among = " of those that meet every limit" if meeting(front).any() else ""
        best = f"{len(front):,} recipe{' is' if len(front) == 1 else 's are'} beaten by no other{among}."
        if self.unmet.notna().any() and not among:
            best += " None meets every limit."
        if self.has_own:
            own = int(self.rows["own"].to_numpy().argmax())
            unmet = self.unmet.iloc[own]
            place = "one of these" if own in front.index else "beaten by another"
            best += f" Your recipe {f'misses {unmet}' if isinstance(unmet, str) else f'is {place}'}."
        if self.at_most is None:
            return best
        chosen = self.best(self.loss, self.at_most)
        asked = f"With {measure_of(self.risk).label} at most {self.worded(self.risk, self.at_most)}"
        if chosen < 0:
            return f"{best} {asked}, none."
        row: Any = self.rows.loc[chosen]
        loss = f"{measure_of(self.loss).label} {self.worded(self.loss, row[self.loss])}"
        return f"{best} {asked}, the cheapest is {row['label']}: {loss}."


def _points_of(results: RiskUtilityMap | pd.DataFrame) -> pd.DataFrame:
    points = results.points if isinstance(results, RiskUtilityMap) else results
    style.check_columns(points, ("label", "repeats", "error"), "risk_utility_map(...).points")
    return points


def _varied_losses(points: pd.DataFrame, risk: str) -> list[str]:
    """The losses that differ between the recipes that have the risk."""
    names = [name for name in MEASURES if name in points and MEASURES[name].kind == "loss"]
    if risk in points:
        of_risk = points[points[risk].notna()]
        # Where no recipe has the risk, the first loss is refused with the reason.
        names = [name for name in names if of_risk[name].notna().any()] or names[:1]
    return [name for name in names if risk_and_loss(points, risk=risk, loss=name)["loss"].nunique() > 1]


def _lines(row: Mapping[Any, Any]) -> list[str]:
    """A recipe in lines: its parameters, or its name."""
    names = [*takewhile(lambda name: name != "repeats", row)][1:]
    return [shortened(f"{name}: {row[name]}", _WIDEST) for name in names] or [shortened(row["label"], _WIDEST)]


def _drawn(state: _State, *, spread: Sequence[pd.DataFrame] = (), controls: bool = False) -> alt.LayerChart:
    # Given, since a diamond that no recipe earns would leave the axis without ends.
    fixed = {**state.values(), "unit": state.unit, "ends": _ends(state, spread)}
    parameters = style.params(fixed)
    forms: dict[str, Any] = {"format": state.form(state.loss)}
    if controls:
        parameters = [*_controls(state), *style.params({"ends": fixed["ends"]})]
        forms = {"labelExpr": "format(datum.value, forms[loss])"}
    else:
        parameters += style.params({"loss": list(state.fronts).index(state.loss)})
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
    layers = [
        alt.Chart(style.inline(ends, 8)).mark_rule(color=LIGHT_GREY, clip=True).encode(x=x, y=y, **{end: f"{end}:Q"})
        for ends in spread
        for end in ends.columns.intersection(["x2", "y2"])
    ]
    front = _placed().transform_filter("datum.front[loss]")
    layers.append(front.mark_line(color=BLUE, strokeWidth=1.5, interpolate="step-after").encode(x=x, y=y))
    layers.append(_marks(state, x, y))
    if state.at_most is not None:
        layers += [
            style.line_at(y, y="limit * unit"),
            style.diamond_at(_placed().transform_filter("datum.number == chosen"), x, y),
        ]
    if state.has_own:
        own = _placed().transform_filter("datum.own")
        mark = own.mark_point(shape="square", filled=False, size=260, strokeWidth=2, opacity=1, stroke=BLACK)
        layers.append(mark.encode(x=x, y=y))
    if controls:
        # The name of the loss below its axis, and below that the cheapest recipe.
        middle = alt.ExprRef("width / 2")
        layers.append(style.words_at("names[loss]", middle, _HEIGHT + _NAME, line=_LINE, align="center"))
        layers.append(style.words_at("lines", 0, _HEIGHT + _BELOW, line=_LINE))
    return style.layered(layers, "recipes", _compact(state), parameters)


def _controls(state: _State) -> list[alt.Parameter]:
    losses = list(state.fronts)
    names = [measure_of(loss).label for loss in losses]
    bindings = {
        "limit": _required_slider(state),
        "loss": alt.binding_select(options=list(range(len(losses))), labels=names, name="loss: "),
    }
    fixed = {
        "best": [[state.best(loss, step) for step in state.steps] for loss in losses],
        "step": round(state.steps[1] / state.unit, 10),
        "unit": state.unit,
        "names": names,
        "forms": [state.form(loss) for loss in losses],
        "smallest": [float(front["risk"].iloc[0]) for front in state.fronts.values()],
        "risk_name": "|".join(textwrap.wrap(_capital(measure_of(state.risk).label), style.TITLE_WIDTH)),
        "risk_form": state.form(state.risk),
        "limit": state.values()["limit"],
        "loss": losses.index(state.loss),
    }
    return style.params(fixed, bindings, _WORDS)


def _required_slider(state: _State) -> alt.BindRange:
    """The slider of the required risk."""
    words = f"{measure_of(state.risk).label}, at most{' (%)' if state.unit < 1 else ''}: "
    largest, step = (round(state.steps[end] / state.unit, 10) for end in (-1, 1))
    return alt.binding_range(min=0, max=largest, step=step, name=words)


def _ends(state: _State, spread: Sequence[pd.DataFrame]) -> list[list[float]]:
    """For each loss the least and the most that is drawn of it."""
    whiskers = [ends[[end]].set_axis([state.loss], axis=1) for ends in spread for end in ("x", "x2") if end in ends]
    shown = pd.concat([state.rows[list(state.fronts)], *whiskers])
    return [[float(values.min()), float(values.max())] for _, values in shown.items()]


def _compact(state: _State) -> list[dict]:
    return [
        {
            "number": number,
            "label": row["label"],
            "lines": _lines(row),
            "risk": style.rounded_number(row[state.risk]),
            "losses": [None if pd.isna(row[loss]) else style.rounded_number(row[loss]) for loss in state.fronts],
            "front": [number in front.index for front in state.fronts.values()],
            **({"unmet": row["unmet"]} if isinstance(row.get("unmet"), str) else {}),
            **({"own": True} if row.get("own") else {}),
        }
        for number, row in enumerate(state.rows.to_dict("records"))
    ]


def _placed() -> alt.Chart:
    return alt.Chart().transform_calculate(x="datum.losses[loss]", y="datum.risk").transform_filter("isValid(datum.x)")


def _marks(state: _State, x: alt.X, y: alt.Y) -> alt.Chart:
    yes, no, misses = _VERDICTS
    some = bool(state.unmet.notna().any())
    rows = {"legend": alt.Legend(columns=2)} if some else {}  # three beside each other are too wide for a telephone
    forms = ", ".join(f"'{state.form(loss)}'" for loss in state.fronts)
    points = _placed().transform_calculate(
        verdict=f"datum.unmet ? '{misses}' : datum.front[loss] ? '{yes}' : '{no}'",
        lost=f"format(datum.x, [{forms}][loss])",
    )
    words = [("label:N", "recipe"), ("y:Q", measure_of(state.risk).label, state.form(state.risk)), ("lost:N", "loss")]
    return points.mark_point(filled=True, size=50, opacity=0.85).encode(
        x=x,
        y=y,
        **style.told_apart("verdict:N", _VERDICTS[: 2 + some], **_LOOKS, title=None, **rows),
        tooltip=style.tooltips(*words, *([("unmet:N", "limits missed")] if some else [])),
    )


def _spread(state: _State, spread: pd.DataFrame) -> list[pd.DataFrame]:
    """One standard deviation to either side, in both measures, of the recipes in which something is random."""
    rows = state.rows[["label", state.risk, state.loss]].merge(spread, on="label", suffixes=("", "_sd"))
    x, y, sd_x, sd_y = (rows[name] for name in (state.loss, state.risk, f"{state.loss}_sd", f"{state.risk}_sd"))
    upright = pd.DataFrame({"y": y - sd_y, "y2": y + sd_y, "x": x})[sd_y > 0]
    across = pd.DataFrame({"x": x - sd_x, "x2": x + sd_x, "y": y})[sd_x > 0]
    return [ends for ends in (upright.dropna(), across.dropna()) if len(ends)]


def _axis(name: str) -> str:
    return f"{_capital(measure_of(name).label)}{' (%)' if measure_of(name).share else ''}"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _measures(points: pd.DataFrame, kind: str) -> dict[str, Any]:
    """A list of the measures of a kind that this map has, each by its words."""
    names = [name for name in points.columns if is_measure(name) and measure_of(name).kind == kind]
    names = [name for name in names if points[name].notna().any()]
    order = list(MEASURES)
    names.sort(key=lambda name: order.index(name) if name in order else len(order))
    labels = [measure_of(name).label for name in names]
    return {"input": "select", "name": kind, "options": names, "labels": labels}


def _slider(state: _State) -> dict[str, Any]:
    """The required risk, as a page binds it."""
    return _required_slider(state).to_dict() | {"value": state.values()["limit"]}


def _required_at(state: _State, limit: float) -> _State:
    """The state with the required risk where the slider stands."""
    step = round(limit * state.unit / state.steps[1])
    return replace(state, at_most=state.steps[min(step, len(state.steps) - 1)])


def _table(front: pd.DataFrame, best: pd.Series | None, risk: str, loss: str) -> str:
    place = 0 if best is None else list(front.index).index(best.name)
    first = max(0, min(place - _ROWS // 2, len(front) - _ROWS))
    rows = [
        (shortened(row["label"], 80), _worded(risk, row["risk"]), _worded(loss, row["loss"]))
        for _, row in front.iloc[first : first + _ROWS].iterrows()
    ]
    heads = ("Recipe", measure_of(risk).label, measure_of(loss).label)
    chosen = -1 if best is None else place - first
    return table("Beaten by no other, the least risk first", heads, rows, chosen=chosen)


def _recipe(recipe: Mapping[str, Any]) -> str:
    from kanon_lab.recipes.yaml_file import dump_yaml

    return f"<details><summary>The recipe, as a file</summary><pre>{escape(dump_yaml(dict(recipe)))}</pre></details>"


def _worded(name: str, value: float) -> str:
    return percent(value) if measure_of(name).share else f"{value:,.4g}"
