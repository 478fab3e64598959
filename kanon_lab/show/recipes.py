"""The explorer of many recipes on one file: the measures of risk and loss, and the required risk."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from html import escape
from typing import TYPE_CHECKING, Any

from kanon_lab.digits import percent
from kanon_lab.errors import DataError, OptionError, shortened
from kanon_lab.recipes.frontier import MEASURES, USUAL_LOSS, USUAL_RISK, is_measure, measure_of
from kanon_lab.recipes.risk_map import RiskUtilityMap, risk_utility_map
from kanon_lab.show.controls import Explorer, Shown, drawn, ipywidgets, moved, table
from kanon_lab.show.tradeoff import KIND, MapState, required_slider, risk_utility

if TYPE_CHECKING:
    import pandas as pd

# Rows of the table, at most: the chosen recipe and those beside it on the frontier.
_ROWS = 9


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
    >>> import kanon_lab
    >>> survey = pd.DataFrame({"age": [1, 2, 21, 22], "sex": list("ffmm")})
    >>> recipe = {"key_variables": ["age"], "steps": [{"suppress": {"k_required": "$k"}}]}
    >>> explorer = kanon_lab.show.explore_recipes(survey, recipe, {"k": [2, 3]}, workers=1)
    >>> explorer.values["risk"]
    'global_risk'
    """
    ipywidgets()
    found = frame
    if not isinstance(found, RiskUtilityMap):
        found = risk_utility_map(frame, recipe, grid, repeats=repeats, workers=workers)
    points, templates = found.points, {}
    start = MapState.of(points, risk, [loss], at_most).on_slider()

    def tell(values: dict[str, Any]) -> Shown:
        risk, loss = values["risk"], values["loss"]
        try:
            state = MapState.of(points, risk, [loss], None)
        except DataError as error:  # no recipe has both
            return Shown(escape(str(error)))
        state = _required_at(state, values["limit"])
        if (risk, loss) not in templates:
            templates[risk, loss] = drawn(risk_utility(found, risk=risk, loss=loss, at_most=state.at_most))
        drawing = moved(templates[risk, loss], state.values(), f"{state.subject(KIND)} {state.told()}")
        front = found.frontier(risk=risk, loss=loss)
        try:
            best = found.cheapest(at_most=state.at_most, risk=risk, loss=loss)
        except OptionError as error:
            return Shown(escape(str(error)), _table(front, None, risk, loss), drawing)
        sentence = _sentence(found, best, len(front), {"risk": risk, "loss": loss})
        return Shown(sentence, _table(front, best, risk, loss), drawing, _recipe(found.recipes[best["label"]]))

    def follow(name: str, values: dict[str, Any]) -> dict[str, dict[str, Any]]:
        if name == "limit":
            return {}
        try:
            # The required risk of another measure says nothing.
            state = MapState.of(points, values["risk"], [values["loss"]], None)
        except DataError:
            return {"limit": slider | {"disabled": True}}
        return {"limit": _slider(_required_at(state, values["limit"]) if name == "loss" else state.on_slider())}

    slider = _slider(start)
    chosen = {"risk": _measures(points, "risk") | {"value": risk}, "loss": _measures(points, "loss") | {"value": loss}}
    return Explorer(chosen | {"limit": slider}, tell, follow=follow)


def _measures(points: pd.DataFrame, kind: str) -> dict[str, Any]:
    """A list of the measures of a kind that this map has, each by its words."""
    names = [name for name in points if is_measure(name) and measure_of(name).kind == kind]
    names = [name for name in names if points[name].notna().any()]
    order = list(MEASURES)
    names.sort(key=lambda name: order.index(name) if name in order else len(order))
    labels = [measure_of(name).label for name in names]
    return {"input": "select", "name": kind, "options": names, "labels": labels}


def _slider(state: MapState) -> dict[str, Any]:
    """The required risk, as a page binds it."""
    return required_slider(state).to_dict() | {"value": state.values()["limit"]}


def _required_at(state: MapState, limit: float) -> MapState:
    """The state with the required risk where the slider stands."""
    step = round(limit * state.unit / state.steps[1])
    return replace(state, at_most=state.steps[min(step, len(state.steps) - 1)])


def _sentence(found: RiskUtilityMap, best: pd.Series, of_front: int, axes: dict[str, str]) -> str:
    risk, loss = (f"{escape(measure_of(name).label)} <b>{_worded(name, best[kind])}</b>" for kind, name in axes.items())
    return (
        f"<b>{escape(best['label'])}</b> costs least: {loss}, at {risk}. Of {len(found.points):,} recipes "
        f"{of_front:,} {'is' if of_front == 1 else 'are'} beaten by no other."
        f"{''.join(f' <i>Note: {escape(note)}.</i>' for note in found.notes(axes['risk']))}"
    )


def _table(front: pd.DataFrame, best: pd.Series | None, risk: str, loss: str) -> str:
    place = 0 if best is None else front.index.get_loc(best.name)
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

    return f"<details><summary>The recipe, as a file</summary><pre>{escape(dump_yaml(recipe))}</pre></details>"


def _worded(name: str, value: float) -> str:
    return percent(value) if measure_of(name).share else f"{value:,.4g}"
