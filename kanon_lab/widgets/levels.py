"""The explorer of generalisation: the level of each hierarchy, k and how many records may be removed."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import TYPE_CHECKING, Any

from kanon_lab.digits import percent
from kanon_lab.errors import OptionError, shortened
from kanon_lab.lattice import LOSSES, level_grid, search
from kanon_lab.widgets.parts import WORDY, drawing, ipywidgets, status, table, template

if TYPE_CHECKING:
    import pandas as pd

    from kanon_lab.keys import KeySpec
    from kanon_lab.recode import Hierarchy

K_MAX = 20


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
) -> LevelExplorer:
    """An explorer of the levels of hierarchies, k and how many records may be removed, for JupyterLab.

    Parameters
    ----------
    frame : DataFrame
        One row a record. Not changed.
    hierarchies : mapping of str to Hierarchy
        By key variable.
    spec : KeySpec, optional
        By default the variables of `hierarchies` are the keys.
    k : int
        The k required that is shown first, 1 to `k_max`.
    levels : mapping of str to int, optional
        The levels shown first, 0 where none is given.
    suppression_limit : float
        Share (0-1) of the records that may be removed, shown first.
    loss : str
        What the button for the best levels makes least: one of `kanon_lab.lattice.LOSSES`.
    k_max : int, optional
        The largest k required that can be chosen, at least 2; by default 20, or `k` if that is more.

    Returns
    -------
    LevelExplorer
        As the last line of a cell it shows itself.

    Raises
    ------
    DataError, OptionError
        As in `kanon_lab.lattice.level_grid`; or for a start that does not exist.
    MissingPackageError
        Where ipywidgets or altair is not installed.
    """
    if not isinstance(k, int) or k < 1:
        raise OptionError(f"k must be a whole number, at least 1, not {k!r}")
    k_max = max(K_MAX, k) if k_max is None else k_max
    if not isinstance(k_max, int) or k_max < 2:
        raise OptionError(f"k_max must be a whole number, at least 2, not {k_max!r}")
    return LevelExplorer(frame, hierarchies, spec, k, levels or {}, suppression_limit, loss, k_max)


class LevelExplorer:
    """Controls, a sentence, a chart and a table that follow them.

    Attributes
    ----------
    k : IntSlider
    limit : FloatSlider
        Share of the records that may be removed, in per cent.
    levels : dict of str to SelectionSlider
        By variable that has a choice; the value is the level, its name is shown.
    best : Button
        Moves the levels to the optimum of `kanon_lab.lattice.search` for the present k and limit.
    sentence, chart, table, answer
        What they change; `answer` is the button's. The chart is a Vega-Lite output, which JupyterLab draws by itself.
    box
        All of them, as shown.
    """

    def __init__(
        self,
        frame: pd.DataFrame,
        hierarchies: Mapping[str, Hierarchy],
        spec: KeySpec | None,
        k: int,
        levels: Mapping[str, int],
        suppression_limit: float,
        loss: str,
        k_max: int,
    ) -> None:
        from kanon_lab.charts import nodes

        if loss not in LOSSES:
            raise OptionError(f"loss must be one of {', '.join(LOSSES)}, not {loss!r}")
        self._frame, self._hierarchies, self._spec, self._loss = frame, hierarchies, spec, loss
        self._grid = level_grid(frame, hierarchies, spec=spec, k_max=k_max - 1)
        self._names = {name: hierarchy.level_names for name, hierarchy in hierarchies.items()}
        chart = nodes(self._grid, self._names, k_required=k, suppression_limit=suppression_limit, chosen=levels)
        self._template = template(chart)
        self._moving = False
        self._build(k, k_max, levels, 100 * suppression_limit)
        self._refresh()

    def _build(self, k: int, k_max: int, levels: Mapping[str, int], limit: float) -> None:
        widgets = ipywidgets()
        self.k = widgets.IntSlider(k, 1, k_max, description="k required", **WORDY)
        self.limit = widgets.FloatSlider(
            limit,
            min=0,
            max=max(20, limit),
            step=0.5,
            readout_format=".1f",
            description="may be removed, at most (%)",
            **WORDY,
        )
        self.levels = {
            name: widgets.SelectionSlider(
                options=[(words, level) for level, words in enumerate(names)],
                value=levels.get(name, 0),
                description=name,
                **WORDY,
            )
            for name, names in self._names.items()
            if len(names) > 1
        }
        self.best = widgets.Button(description="Move to the best levels", layout={"width": "auto"})
        self.sentence, self.answer, self.table = widgets.HTML(), widgets.HTML(), widgets.HTML()
        self.chart = widgets.Output()
        controls = [self.k, self.limit, *self.levels.values(), widgets.HBox([self.best, self.answer])]
        self.box = widgets.VBox([*controls, self.sentence, self.chart, self.table])
        self.best.on_click(self._find_best)
        for control in (self.k, self.limit, *self.levels.values()):
            control.observe(self._refresh, "value")

    @property
    def chosen(self) -> dict[str, int]:
        """The level of each variable."""
        return {name: control.value for name, control in self.levels.items()}

    def _find_best(self, button: Any) -> None:
        try:
            found = search(
                self._frame,
                self._hierarchies,
                spec=self._spec,
                k_required=self.k.value,
                suppression_limit=self.limit.value / 100,
                loss=self._loss,
            )
        except OptionError as error:
            self.answer.value = status(escape(str(error)))
            return
        # Several sliders move: one answer is enough.
        self._moving = True
        for name, control in self.levels.items():
            control.value = found.levels[name]
        self._moving = False
        self._refresh()
        loss = f"{found.loss:,.0f}" if found.loss >= 1000 else f"{found.loss:.3g}"
        self.answer.value = status(f"Least {self._loss.replace('_', ' ')}: {loss}")

    def _refresh(self, change: dict | None = None) -> None:
        from kanon_lab.charts.levels import moved

        if self._moving:
            return
        self.answer.value = ""
        self.sentence.value = status(self._sentence())
        self.table.value = self._table()
        spec = moved(
            self._template,
            self._grid,
            self._names,
            k_required=self.k.value,
            suppression_limit=self.limit.value / 100,
            chosen=self.chosen,
        )
        self.chart.outputs = drawing(spec)

    def _measured(self, levels: Mapping[str, int]) -> tuple[int, int, int, int]:
        """Records to be removed, records, classes and k achieved of a node."""
        from kanon_lab.charts.levels import node_at, removed_at

        row = node_at(self._grid, levels)
        removed = int(removed_at(row, self.k.value).iloc[0])
        return removed, *(int(row[column].iloc[0]) for column in ("n", "n_classes", "k_achieved"))

    def _sentence(self) -> str:
        from kanon_lab.charts.levels import within

        removed, n, classes, k = self._measured(self.chosen)
        words = ", ".join(f"{name}: {self._words(name, level)}" for name, level in self.chosen.items())
        verdict = "within" if within(removed, self.limit.value / 100, n) else "over"
        return (
            f"<b>{removed:,}</b> of {n:,} records (<b>{percent(removed / n)}</b>) must be removed with "
            f"{escape(words)}: {verdict} the limit of {self.limit.value:g}%. "
            f"{'There are' if classes > 1 else 'There is'} {classes:,} class{'es' * (classes > 1)} of "
            f"{n / classes:,.1f} records on average; the smallest has {k:,} record{'s' * (k > 1)}."
        )

    def _table(self) -> str:
        """The chosen node, and its neighbours one level up."""
        names = {"as chosen": self.chosen}
        for name, level in self.chosen.items():
            if level + 1 < len(self._names[name]):
                names[f"{name}: {self._words(name, level + 1)}"] = self.chosen | {name: level + 1}
        rows = []
        for words, levels in names.items():
            removed, n, classes, k = self._measured(levels)
            rows.append((words, f"{removed:,}", percent(removed / n), f"{classes:,}", f"{k:,}"))
        heads = ("One level up", "to be removed", "of the records", "classes", "smallest class")
        return table("What one more step would bring", heads, rows, chosen=0)

    def _words(self, name: str, level: int) -> str:
        return shortened(self._names[name][level])

    def _repr_mimebundle_(self, **kwargs: Any) -> dict:
        return self.box._repr_mimebundle_(**kwargs)
