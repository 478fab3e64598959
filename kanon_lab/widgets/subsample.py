"""The explorer of the study's choice: detail of geography, detail of age, sampling fraction."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape
from typing import TYPE_CHECKING, Any

from kanon_lab.subsample import detail_grid
from kanon_lab.widgets.parts import WORDY, drawing, ipywidgets, status, table, template

if TYPE_CHECKING:
    import pandas as pd

    from kanon_lab.keys import KeySpec

_FACTORS = {"p(b): in the sample": "p_b", "p(c): unique in the population": "p_c"}
_FACTORS |= {"p(d): sure of it": "p_d", "p(identification)": "p_identification"}


def explore_detail(
    cells: pd.DataFrame,
    spec: KeySpec | Iterable[str] | str,
    levels: Mapping[str, Mapping[str | int, Mapping[str, Any] | str | None]],
    fractions: Iterable[float],
    /,
    *,
    persons: str | None = None,
    fraction: float | None = None,
    **start: str,
) -> DetailExplorer:
    """An explorer of the detail and the sampling fraction of a release, for JupyterLab.

    Parameters
    ----------
    cells, spec, levels, fractions, persons
        A population that is known; as in `kanon_lab.subsample.detail_grid`. A finished grid is shown by
        ``DetailExplorer(grid)``.
    fraction : float, optional
        Shown first, one of `fractions`; by default the middle one.
    **start : str
        By variable the label shown first, by default its first one.

    Returns
    -------
    DetailExplorer
        As the last line of a cell it shows itself.

    Raises
    ------
    DataError, OptionError
        As in `kanon_lab.subsample.detail_grid`; or for a start that does not exist.
    MissingPackageError
        Where ipywidgets or altair is not installed.
    """
    ipywidgets()
    return DetailExplorer(detail_grid(cells, spec, levels, fractions, persons=persons), fraction=fraction, **start)


class DetailExplorer:
    """Controls, a sentence, a chart and a table that follow them.

    Attributes
    ----------
    levels : dict of str to Dropdown
        By variable.
    fraction : SelectionSlider
    sentence, chart, table
        What they change. The chart is a Vega-Lite output, which JupyterLab draws by itself.
    box
        All of them, as shown.
    """

    def __init__(self, grid: pd.DataFrame, /, *, fraction: float | None = None, **start: str) -> None:
        from kanon_lab.charts import detail_explorer
        from kanon_lab.charts.detail import DetailState
        from kanon_lab.digits import percent

        self._grid, self._words = grid, percent
        state = DetailState.of(grid, fraction, start)
        self._template = template(detail_explorer(grid, controls=False))
        widgets = ipywidgets()
        self.levels = {
            name: widgets.Dropdown(
                options=[(str(label), label) for label in labels], value=state.chosen[name], description=name, **WORDY
            )
            for name, labels in state.levels.items()
        }
        self.fraction = widgets.SelectionSlider(
            options=[(percent(each), each) for each in state.fractions],
            value=state.fraction,
            description="sampling fraction",
            **WORDY,
        )
        self.sentence, self.table, self.chart = widgets.HTML(), widgets.HTML(), widgets.Output()
        controls = [*self.levels.values(), self.fraction]
        self.box = widgets.VBox([*controls, self.sentence, self.chart, self.table])
        for control in controls:
            control.observe(self._refresh, "value")
        self._refresh()

    @property
    def row(self) -> pd.Series:
        """The grid's row of what is chosen."""
        from kanon_lab.charts.detail import DetailState

        return DetailState.of(self._grid, self.fraction.value, self._chosen).row

    @property
    def _chosen(self) -> dict[str, str]:
        return {name: control.value for name, control in self.levels.items()}

    def _refresh(self, change: dict | None = None) -> None:
        from kanon_lab.charts.detail import moved

        row = self.row
        self.sentence.value = status(self._sentence(row))
        self.table.value = self._table(row)
        self.chart.outputs = drawing(moved(self._template, self._grid, fraction=self.fraction.value, **self._chosen))

    def _sentence(self, row: pd.Series) -> str:
        detail = escape(", ".join(map(str, self._chosen.values())))
        return (
            f"{detail}: of {row['n1']:,.0f} records expected in the sample, {row['u1']:,.0f} are unique. The study "
            f"puts the probability of identification at <b>{self._words(row['p_identification'])}</b>; with true "
            f"shares it is <b>{self._words(row['true_p_identification'])}</b>."
        )

    def _table(self, row: pd.Series) -> str:
        """Each factor as the study estimates it, by the tangent, and with true shares."""
        rows = []
        for name, column in _FACTORS.items():
            tangent, true = (row.get(f"{kind}_{column}") for kind in ("tangent", "true"))
            if column == "p_b":
                tangent = true = row[column]
            elif column == "p_identification":
                tangent = row[column] / (row["p_c"] * row["p_d"]) * row["tangent_p_c"] * row["tangent_p_d"]
            rows.append((name, *map(self._words, (row[column], tangent, true))))
        heads = ("Probability", "the study's ruler", "tangent", "true shares")
        return table("What is estimated, and what is true", heads, rows, chosen=len(rows) - 1)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict:
        return self.box._repr_mimebundle_(**kwargs)
