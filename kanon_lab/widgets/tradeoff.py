"""The explorer of the risk-utility map: the required risk, by which measure, and what is counted as loss."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import TYPE_CHECKING, Any

from kanon_lab.digits import percent
from kanon_lab.errors import DataError, OptionError, shortened
from kanon_lab.tradeoff import MEASURES, RiskUtilityMap, costs, measure_of, risk_utility_map
from kanon_lab.tradeoff.best import USUAL_LOSS, USUAL_RISK, check_required, middle_step, risk_steps
from kanon_lab.widgets.parts import WORDY, drawing, ipywidgets, status, table, template

if TYPE_CHECKING:
    import pandas as pd

# Rows of the table, at most: the chosen recipe and those beside it on the frontier.
_ROWS = 9


def explore_recipes(
    frame: pd.DataFrame,
    recipe: Mapping[str, Any],
    grid: Mapping[str, Any] | None = None,
    *,
    repeats: int = 1,
    workers: int | None = None,
    risk: str = USUAL_RISK,
    loss: str = USUAL_LOSS,
    at_most: float = 0.05,
) -> RecipeExplorer:
    """An explorer of many recipes on one file, for JupyterLab.

    Parameters
    ----------
    frame, recipe, grid, repeats, workers
        As in `kanon_lab.tradeoff.risk_utility_map`. A finished map is shown by ``RecipeExplorer(found)``.
    risk, loss : str
        The measures shown first; see `kanon_lab.tradeoff.MEASURES`.
    at_most : float
        The required risk shown first, taken down to a step of the slider.

    Returns
    -------
    RecipeExplorer
        As the last line of a cell it shows itself.

    Raises
    ------
    DataError, OptionError
        As in `kanon_lab.tradeoff.risk_utility_map` and `kanon_lab.tradeoff.costs`.
    MissingPackageError
        Where ipywidgets or altair is not installed.
    """
    ipywidgets()
    found = risk_utility_map(frame, recipe, grid, repeats=repeats, workers=workers)
    return RecipeExplorer(found, risk=risk, loss=loss, at_most=at_most)


class RecipeExplorer:
    """Controls, a sentence, a chart, a table and a recipe that follow them.

    Attributes
    ----------
    risk, loss : Dropdown
        The measures.
    at_most : SelectionSlider
        The required risk.
    sentence, chart, table, recipe
        What they change; `recipe` is the cheapest one as text of a recipe file. The chart is a Vega-Lite output, which
        JupyterLab draws by itself.
    box
        All of them, as shown.
    """

    def __init__(
        self, found: RiskUtilityMap, *, risk: str = USUAL_RISK, loss: str = USUAL_LOSS, at_most: float = 0.05
    ) -> None:
        costs(found.points, risk=risk, loss=loss)  # refuses measures that are not in the map
        self._found = found
        self._build(risk, loss)
        self._draw(check_required(at_most, measure_of(risk)))

    def _build(self, risk: str, loss: str) -> None:
        widgets = ipywidgets()
        self.risk = widgets.Dropdown(options=self._measures("risk"), value=risk, description="risk", **WORDY)
        self.loss = widgets.Dropdown(options=self._measures("loss"), value=loss, description="loss", **WORDY)
        self.at_most = widgets.SelectionSlider(options=[("", 0.0)], description="risk at most", **WORDY)
        self.sentence, self.table, self.recipe = widgets.HTML(), widgets.HTML(), widgets.HTML()
        self.chart = widgets.Output()
        controls = [self.risk, self.loss, self.at_most]
        self.box = widgets.VBox([*controls, self.sentence, self.chart, self.table, self.recipe])
        self.risk.observe(self._change_risk, "value")
        self.loss.observe(self._change_loss, "value")
        self.at_most.observe(self._refresh, "value")

    def _measures(self, kind: str) -> list[tuple[str, str]]:
        """Names of the measures of a kind that this map has, each after its words."""
        names = [name for name in self._found.points if _is_measure_of(name, kind)]
        order = list(MEASURES)
        names.sort(key=lambda name: order.index(name) if name in order else len(order))
        return [(measure_of(name).label, name) for name in names if self._found.points[name].notna().any()]

    def _change_risk(self, change: dict) -> None:
        self._draw(None)  # the required risk of another measure says nothing

    def _change_loss(self, change: dict) -> None:
        self._draw(self.at_most.value)

    def _draw(self, at_most: float | None) -> None:
        """Draw anew, with a slider that fits the risks and stands at or below `at_most`, by default in the middle."""
        from kanon_lab.charts import risk_utility

        try:
            steps = risk_steps(costs(self._found.points, **self._axes)["risk"].max())
        except DataError as error:  # no recipe has both
            self._clear(error)
            return
        self.at_most.disabled = False
        if at_most is None:
            start = middle_step(self._found.frontier(**self._axes), steps)
        else:
            start = max(step for step in steps if step <= at_most)
        self.at_most.unobserve(self._refresh, "value")
        self.at_most.options = [(_worded(self.risk.value, step), step) for step in steps]
        self.at_most.value = start
        self.at_most.observe(self._refresh, "value")
        self._template = template(risk_utility(self._found, **self._axes, at_most=start))
        self._refresh()

    def _clear(self, error: DataError) -> None:
        self.at_most.disabled = True
        self.sentence.value = status(escape(str(error)))
        self.table.value, self.recipe.value, self.chart.outputs = "", "", ()

    @property
    def _axes(self) -> dict[str, str]:
        return {"risk": self.risk.value, "loss": self.loss.value}

    def _refresh(self, change: dict | None = None) -> None:
        from kanon_lab.charts.tradeoff import moved

        front = self._found.frontier(**self._axes)
        try:
            best = self._found.cheapest(at_most=self.at_most.value, **self._axes)
        except OptionError as error:
            best = None
            self.sentence.value = status(escape(str(error)))
        else:
            self.sentence.value = status(self._sentence(best, len(front)))
        self.table.value = self._table(front, best)
        self.recipe.value = "" if best is None else self._recipe(best["label"])
        self.chart.outputs = drawing(moved(self._template, self._found, **self._axes, at_most=self.at_most.value))

    def _sentence(self, best: pd.Series, of_front: int) -> str:
        risk, loss = (
            f"{escape(measure_of(name).label)} <b>{_worded(name, best[kind])}</b>" for kind, name in self._axes.items()
        )
        return (
            f"<b>{escape(best['label'])}</b> costs least: {loss}, at {risk}. Of {len(self._found.points):,} recipes "
            f"{of_front:,} {'is' if of_front == 1 else 'are'} beaten by no other."
            f"{''.join(f' <i>Note: {escape(note)}.</i>' for note in self._found.notes(self.risk.value))}"
        )

    def _table(self, front: pd.DataFrame, best: pd.Series | None) -> str:
        place = 0 if best is None else front.index.get_loc(best.name)
        first = max(0, min(place - _ROWS // 2, len(front) - _ROWS))
        rows = [
            (shortened(row["label"], 80), *(_worded(self._axes[kind], row[kind]) for kind in ("risk", "loss")))
            for _, row in front.iloc[first : first + _ROWS].iterrows()
        ]
        heads = ("Recipe", measure_of(self.risk.value).label, measure_of(self.loss.value).label)
        chosen = -1 if best is None else place - first
        return table("Beaten by no other, the least risk first", heads, rows, chosen=chosen)

    def _recipe(self, label: str) -> str:
        from kanon_lab.protection.yaml_file import dump_yaml

        text = dump_yaml(self._found.recipes[label])
        return f"<details><summary>The recipe, as a file</summary><pre>{escape(text)}</pre></details>"

    def _repr_mimebundle_(self, **kwargs: Any) -> dict:
        return self.box._repr_mimebundle_(**kwargs)


def _is_measure_of(name: str, kind: str) -> bool:
    try:
        measure_of(name, kind)
    except OptionError:
        return False
    return True


def _worded(name: str, value: float) -> str:
    return percent(value) if measure_of(name).share else f"{value:,.4g}"
